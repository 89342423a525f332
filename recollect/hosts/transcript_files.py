"""Reading files in which hosts keep their sessions.

In: a path. Out: the objects of a file with one per line, with their line numbers; size, times and
counts without parsing it all. A line that is not JSON is skipped; two objects on one line, which a
host that died while writing leaves behind, are both read. A file that vanished counts as empty.
"""

import json
import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from recollect.core import safe_files
from recollect.hosts.reading import Data, moment

# A line is a message with what its tools showed, a document a whole session; what is larger was
# not written by a host.
_LINE_BYTES = 64 << 20
_DOCUMENT_BYTES = 128 << 20
_EDGE = 256 << 10
_CHUNK = 4 << 20
_DECODER = json.JSONDecoder(strict=False)


def objects(path: str) -> Iterator[tuple[int, Data]]:
    try:
        with safe_files.open_plain(path) as file:
            for number, raw in enumerate(safe_files.lines(file, _LINE_BYTES)):
                for found in _in_line(raw):
                    yield number, found
    except OSError:
        return


def first_objects(path: str, most: int = 40) -> Iterator[Data]:
    for number, found in objects(path):
        if number >= most:
            return
        yield found


def last_time(path: str) -> datetime | None:
    """The time of the last line that has one, from the file's end."""
    try:
        edge = safe_files.read_end(path, _EDGE)
    except OSError:
        return None
    # The first may be the end of a line.
    for raw in reversed(edge.splitlines()[1 if len(edge) == _EDGE else 0 :]):
        for found in _in_line(raw):
            at = moment(found.get("timestamp"))
            if at is not None:
                return at
    return changed(path)


def changed(path: str) -> datetime | None:
    try:
        return datetime.fromtimestamp(os.stat(path).st_mtime, UTC)
    except OSError:
        return None


def occurrences(path: str, marks: Sequence[bytes]) -> int:
    """How often these bytes occur in a file: a quick count of messages."""
    total = 0
    try:
        with safe_files.open_plain(path) as file:
            longest = max(map(len, marks)) - 1
            rest = b""
            while chunk := file.read(_CHUNK):
                block = rest + chunk
                rest = block[-longest:] if longest else b""
                total += sum(block.count(mark) - rest.count(mark) for mark in marks)
            total += sum(rest.count(mark) for mark in marks)
    except OSError:
        return 0
    return total


def size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def document(path: str) -> Data:
    """A file that holds one JSON object; empty when it does not."""
    found = anything(path)
    return found if isinstance(found, dict) else {}


def anything(path: str) -> Any:
    """What a JSON file holds; None when it cannot be read."""
    try:
        return msgspec.json.decode(safe_files.read_whole(path, _DOCUMENT_BYTES))
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _in_line(raw: bytes) -> list[Data]:
    if not raw.strip():
        return []
    try:
        found = [msgspec.json.decode(raw)]
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        found = _glued(raw.decode("utf-8", "replace").strip())
    return [one for one in found if isinstance(one, dict)]


def _glued(text: str) -> list[Any]:
    found = []
    while text.startswith("{"):
        try:
            one, end = _DECODER.raw_decode(text)
        except (ValueError, RecursionError):
            break
        found.append(one)
        text = text[end:].lstrip()
    return found
