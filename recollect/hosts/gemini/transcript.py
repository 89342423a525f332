"""Gemini CLI: `~/.gemini/tmp/<project>/chats/session-*.jsonl` (earlier: `.json`).

In: the home. Out: transcripts and their events. A message is written again when it grows: the last
version counts. The project's path stands beside the chats, or in `projects.json`.
"""

import glob
import os
from collections.abc import Iterator, Mapping
from typing import Any

from recollect.core import safe_files
from recollect.hosts import transcript_files as files
from recollect.hosts.gemini.facts import FACTS
from recollect.hosts.reading import Data, moment, prose, word
from recollect.hosts.transcript import Transcript, TranscriptEvent, TurnJoiner, reader

_MESSAGES = (b'"type":"user"', b'"type":"gemini"', b'"type": "user"', b'"type": "gemini"')


def find(home: str, env: Mapping[str, str]) -> Iterator[Transcript]:
    root = os.path.join(env.get("GEMINI_CLI_HOME") or home, ".gemini")
    for path in sorted(glob.glob(os.path.join(glob.escape(root), "tmp", "*", "chats", "*.json*"))):
        if found := describe(path):
            yield found


def describe(path: str) -> Transcript | None:
    """One file; its directory is known only where Gemini keeps it."""
    head = _head(path)
    session, whole = word(head, "sessionId"), "messages" in head
    if not session or "startTime" not in head or head.get("kind") == "subagent":
        return None
    return Transcript(
        host=FACTS.name,
        session_id=session,
        path=path,
        cwd=_directory(os.path.dirname(os.path.dirname(path))),
        began=moment(head.get("startTime")),
        ended=moment(head.get("lastUpdated")) if whole else files.last_time(path),
        messages=files.occurrences(path, _MESSAGES),
        bytes=files.size(path),
        read=read,
    )


def _head(path: str) -> Data:
    """The first line, or the whole of a file that is one document."""
    first = next(files.first_objects(path, 1), {})
    return first if "sessionId" in first else files.document(path)


def _directory(folder: str) -> str:
    own = safe_files.path_or_nothing(os.path.join(folder, ".project_root"))
    if own:
        return str(own)
    root = os.path.dirname(os.path.dirname(folder))
    known = files.document(os.path.join(root, "projects.json")).get("projects")
    named = known.items() if isinstance(known, dict) else ()
    return next((str(path) for path, name in named if name == os.path.basename(folder)), "")


def read(transcript: Transcript, talk: TurnJoiner) -> Iterator[TranscriptEvent]:
    for key, message in _messages(transcript.path).items():
        at = moment(message.get("timestamp"))
        content = message.get("content")
        if message.get("type") == "user":
            yield from talk.prompt(key, at, _spoken(content))
        elif message.get("type") == "gemini":
            talk.text(at, _spoken(content))
            for call in message.get("toolCalls") or ():
                if isinstance(call, dict):
                    yield from _tool(talk, key, at, call)


def _messages(path: str) -> dict[str, Data]:
    """By id, in the order in which they first came."""
    listed = _head(path).get("messages")
    if listed is not None:
        found = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    else:
        found = [line for _, line in files.objects(path)]
    merged: dict[str, Data] = {}
    for message in found:
        key = word(message, "id")
        if key and "type" in message:
            merged[key] = message
    return merged


def _spoken(content: Any) -> str:
    """Text without the tools' results that travel under the user's name."""
    if isinstance(content, list):
        return prose([part for part in content if isinstance(part, dict) and "text" in part])
    return prose(content)


def _tool(talk: TurnJoiner, key: str, at: Any, call: Data) -> Iterator[TranscriptEvent]:
    shown = call.get("result")
    text = "\n".join(_outputs(shown)) if isinstance(shown, list) else prose(shown)
    failed = True if word(call, "status") in ("error", "cancelled") else None
    yield from talk.tool(
        f"{key} {word(call, 'id', 'name')}",
        moment(call.get("timestamp")) or at,
        word(call, "name"),
        call.get("args"),
        {"llmContent": text},
        failed,
    )


def _outputs(results: list[Any]) -> Iterator[str]:
    for result in results:
        answer = result.get("functionResponse") if isinstance(result, dict) else None
        response = answer.get("response") if isinstance(answer, dict) else None
        if isinstance(response, dict):
            yield word(response, "output", "error")


READER = reader(find, describe)
