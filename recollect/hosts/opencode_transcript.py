"""OpenCode and its fork Kilo: a database such as `~/.local/share/opencode/opencode.db`, earlier a
tree of JSON files in `storage/`.

In: the home. Out: transcripts and their events. The database is only read. A session with a parent
is a subagent's; its result is in the call that started it.
"""

import glob
import os
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import Any

import msgspec

from recollect.core.foreign_database import opened
from recollect.hosts import transcript_files as files
from recollect.hosts.opencode_format import unquoted
from recollect.hosts.reading import Data, moment, section, word
from recollect.hosts.transcript import Reader, Transcript, TranscriptEvent, TurnJoiner

_FIRST, _FORKS = "opencode", ("kilo",)


def reader(host: str) -> Reader:
    """Of a host whose folder and database have its name."""
    return Reader(partial(find, host), partial(in_file, host))


def find(host: str, home: str, env: Mapping[str, str]) -> Iterator[Transcript]:
    data = env.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share")
    root = glob.escape(os.path.join(data, host))
    stored: set[str] = set()
    for path in sorted(glob.glob(os.path.join(root, f"{host}*.db"))):
        for found in _in_database(host, path):
            stored.add(found.session_id)
            yield found
    for path in sorted(glob.glob(os.path.join(root, "storage", "session", "*", "*.json"))):
        one = _in_files(host, path)
        if one is not None and one.session_id not in stored:
            yield one


def in_file(host: str, path: str) -> Iterator[Transcript]:
    """The sessions of a database, or of one file of an earlier version where it was written. Forks
    write the same, so the path tells whose it is."""
    fork = next((one for one in _FORKS if one in path.split(os.sep)[-1] or f"/{one}/" in path), "")
    if host != (fork or _FIRST):
        return
    found = list(_in_database(host, path))
    yield from found
    one = None if found else _in_files(host, path)
    if one is not None:
        yield one


# --- the database ---


def _in_database(host: str, path: str) -> Iterator[Transcript]:
    with opened(path) as database:
        if database is None or not {"session", "message", "part"} <= database.tables:
            return
        counts = database.counts("message", "session_id")
        for row in database.rows("session", order="time_created"):
            if row.get("parent_id") is None and counts.get(row.get("id")):
                yield _transcript(host, path, row, counts[row["id"]])


def _transcript(host: str, path: str, about: Data, messages: int) -> Transcript:
    times = section(about, "time")
    return Transcript(
        host=host,
        session_id=word(about, "id"),
        path=path,
        cwd=word(about, "directory"),
        began=moment(about.get("time_created") or times.get("created")),
        ended=moment(about.get("time_updated") or times.get("updated")),
        messages=messages,
        bytes=files.size(path),
        read=read,
    )


def read(transcript: Transcript, talk: TurnJoiner) -> Iterator[TranscriptEvent]:
    in_files = transcript.path.endswith(".json")
    messages = _file_messages(transcript) if in_files else _row_messages(transcript)
    for key, about, parts in messages:
        yield from _message(talk, key, about, parts)


def _row_messages(transcript: Transcript) -> Iterator[tuple[str, Data, list[Data]]]:
    with opened(transcript.path) as database:
        if database is None:
            return
        where = {"session_id": transcript.session_id}
        parts: dict[str, list[Data]] = {}
        for row in database.rows("part", where, order="id"):
            part = _decoded(row)
            parts.setdefault(word(row, "message_id"), []).append({"id": word(row, "id"), **part})
        for row in database.rows("message", where, order="id"):
            key = word(row, "id")
            yield key, _decoded(row), parts.get(key, [])


def _decoded(row: Data) -> Data:
    try:
        found = msgspec.json.decode(row.get("data") or b"{}")
    except (msgspec.MsgspecError, TypeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


# --- the files of earlier versions ---


def _in_files(host: str, path: str) -> Transcript | None:
    about = files.document(path)
    session = word(about, "id")
    if not session or about.get("parentID"):
        return None
    messages = len(glob.glob(os.path.join(glob.escape(_storage(path)), "message", session, "*")))
    if not messages:
        return None
    return _transcript(host, path, about, messages)


def _file_messages(transcript: Transcript) -> Iterator[tuple[str, Data, list[Data]]]:
    storage = glob.escape(_storage(transcript.path))
    for path in sorted(glob.glob(os.path.join(storage, "message", transcript.session_id, "*"))):
        about = files.document(path)
        key = word(about, "id")
        parts = sorted(glob.glob(os.path.join(storage, "part", glob.escape(key), "*.json")))
        yield key, about, [files.document(part) for part in parts]


def _storage(session_file: str) -> str:
    return os.path.dirname(os.path.dirname(os.path.dirname(session_file)))


# --- both ---


def _message(
    talk: TurnJoiner, key: str, about: Data, parts: list[Data]
) -> Iterator[TranscriptEvent]:
    at = moment(section(about, "time").get("created"))
    spoken = [
        part.get("text")
        for part in parts
        if part.get("type") == "text" and part.get("synthetic") is not True
    ]
    texts = [text for text in spoken if isinstance(text, str)]
    if about.get("role") == "user":
        yield from talk.prompt(key, at, unquoted("\n".join(texts)))
        return
    for part in parts:
        if part.get("type") == "tool":
            yield from _tool(talk, at, part)
    for text in texts:
        talk.text(moment(section(about, "time").get("completed")) or at, text)


def _tool(talk: TurnJoiner, at: datetime | None, part: Data) -> Iterator[TranscriptEvent]:
    state = section(part, "state")
    if state.get("status") not in ("completed", "error"):
        return
    output: Any = {"output": state.get("output"), "metadata": state.get("metadata")}
    failed = None
    if state.get("status") == "error":
        output, failed = {"error": state.get("error")}, True
    yield from talk.tool(
        word(part, "id", "callID"),
        moment(section(state, "time").get("end")) or at,
        word(part, "tool"),
        state.get("input"),
        output,
        failed,
    )
