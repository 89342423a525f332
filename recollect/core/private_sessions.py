"""Private sessions: what makes one private, and the list of those that are or were.

In: prompts, the environment, the data directory. Out: whether a session is private, now or at a
time. Standard library only, because the hook asks here too.
"""

import hashlib
import json
import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

PRIVATE_VARIABLE = "RECOLLECT_PRIVATE"
PUBLIC_LINE = "recollect: public"
WORD, ENVIRONMENT = "word", "environment"
# The line, or the command `/recollect` (in Codex `$recollect`) with one of its words.
_WORD = re.compile(r"(?:recollect:|[/$]recollect)[ \t]{0,8}(private|public|off|on)", re.IGNORECASE)
_MEANS = {"off": "private", "on": "public"}
# A private session that was silent for so long is no longer shown; it is kept out all the same.
RUNNING_S = {WORD: 24 * 3600, ENVIRONMENT: 12 * 3600}


def private_environment(environ: Mapping[str, str]) -> bool:
    return environ.get(PRIVATE_VARIABLE, "").strip().lower() not in ("", "0", "false", "no", "off")


def privacy_word(prompt: str) -> str:
    """`private` or `public` when the first or the last line of a prompt is that word and nothing
    else."""
    lines = prompt.strip().splitlines()
    for line in (lines[:1] + lines[-1:]) if lines else ():
        found = _WORD.fullmatch(line.strip())
        if found is not None:
            word = found.group(1).lower()
            return _MEANS.get(word, word)
    return ""


def session_key(host: str, session_id: str | None, cwd: str) -> str:
    """What identifies a session across restarts. A host that names no session has one per
    directory."""
    return session_id or f"{host}@{cwd}"


@dataclass(frozen=True)
class PrivateSession:
    """A private session that is still open: its host, and what made it private."""

    host: str
    by: str


def describe(sessions: Sequence[PrivateSession]) -> tuple[str, str]:
    """One sentence about the open private sessions, and how they end."""
    hosts = ", ".join(sorted({one.host for one in sessions}))
    if len(sessions) == 1:
        told = f"A private session of {hosts} is running: nothing of it is kept."
    else:
        told = f"{len(sessions)} private sessions are running ({hosts}): nothing of them is kept."
    ways = {
        WORD: f"Private by a prompt: the line `{PUBLIC_LINE}` in a prompt, or its end, ends that.",
        ENVIRONMENT: f"Private by {PRIVATE_VARIABLE}: that ends with the session.",
    }
    kinds = {one.by for one in sessions}
    return told, " ".join(way for by, way in ways.items() if by in kinds)


class PrivateSessions:
    """Which sessions were private, and when: one small file each, named by a digest."""

    def __init__(self, directory: str) -> None:
        self._folder = os.path.join(directory, "private")

    def begin(self, key: str, host: str, at_ms: int, by: str) -> None:
        """`by` is the word in a prompt or the environment: only the former can be taken back."""
        spans = self._spans(key)
        if not spans or spans[-1][1] is not None:
            spans.append([at_ms, None])
        self._write(key, host, spans, by)

    def end(self, key: str, host: str, at_ms: int) -> None:
        spans = self._spans(key)
        if spans and spans[-1][1] is None:
            spans[-1][1] = max(at_ms, spans[-1][0])
            self._write(key, host, spans)

    def open(self, key: str) -> str:
        """What makes a session private now; empty when it is not."""
        if not os.path.isdir(self._folder):
            return ""  # none ever was
        data = _json(self._path(key))
        spans = data.get("spans")
        going_on = isinstance(spans, list) and bool(spans) and spans[-1][1] is None
        return str(data.get("by") or WORD) if going_on else ""

    def covers(self, key: str, at_ms: int) -> bool:
        """Whether a session was private at that time."""
        return any(
            since <= at_ms and (until is None or at_ms <= until)
            for since, until in self._spans(key)
        )

    def running(self) -> list[PrivateSession]:
        """The private sessions that are open and were active lately."""
        found = []
        try:
            names = os.listdir(self._folder)
        except OSError:
            return []
        for name in names:
            path = os.path.join(self._folder, name)
            data = _json(path)
            spans = data.get("spans") or [[0, 0]]
            try:
                age = time.time() - os.stat(path).st_mtime
            except OSError:
                continue
            by = ENVIRONMENT if data.get("by") == ENVIRONMENT else WORD
            if spans[-1][1] is None and age < RUNNING_S[by]:
                found.append(PrivateSession(str(data.get("host", "")), by))
        return found

    def note_activity(self, key: str) -> None:
        try:
            os.utime(self._path(key))
        except OSError:
            return  # it is gone: then it is not shown either

    def _path(self, key: str) -> str:
        digest = hashlib.blake2b(key.encode("utf-8", "replace"), digest_size=16).hexdigest()
        return os.path.join(self._folder, f"{digest}.json")

    def _spans(self, key: str) -> list[list[Any]]:
        spans = _json(self._path(key)).get("spans")
        return [list(one) for one in spans] if isinstance(spans, list) else []

    def _write(self, key: str, host: str, spans: list[list[Any]], by: str = "") -> None:
        from recollect.core import oslayer  # slow to load, and the hook seldom comes here

        oslayer.private_directory(self._folder)
        content = json.dumps({"host": host[:64], "spans": spans, "by": by})
        oslayer.replace_file(self._path(key), content.encode())


def _json(path: str) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            data = json.loads(file.read(1 << 16))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}
