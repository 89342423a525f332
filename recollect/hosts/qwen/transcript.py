"""Qwen Code: `~/.qwen/projects/<directory>/chats/<session>.jsonl`: Claude's lines, Gemini's parts.

In: the home. Out: transcripts and their events.
"""

import glob
import os
from collections.abc import Iterator, Mapping
from typing import Any

from recollect.hosts import transcript_files as files
from recollect.hosts.qwen.facts import FACTS
from recollect.hosts.reading import Data, moment, prose, section, word
from recollect.hosts.transcript import Transcript, TranscriptEvent, TurnJoiner, of_lines, reader

_MESSAGES = (b'"type":"user"', b'"type":"assistant"')


def find(home: str, env: Mapping[str, str]) -> Iterator[Transcript]:
    root = env.get("QWEN_HOME") or os.path.join(home, ".qwen")
    pattern = os.path.join(glob.escape(root), "projects", "*", "chats", "*.jsonl")
    for path in sorted(glob.glob(pattern)):
        found = describe(path)
        if found is not None:
            yield found


def describe(path: str) -> Transcript | None:
    for line in files.first_objects(path):
        if line.get("isSidechain") is True:
            return None
        spoken = line.get("type") in ("user", "assistant")
        if spoken and "parts" in section(line, "message") and word(line, "sessionId"):
            session = word(line, "sessionId")
            return of_lines(FACTS.name, session, path, word(line, "cwd"), line, _MESSAGES, read)
    return None


def read(transcript: Transcript, talk: TurnJoiner) -> Iterator[TranscriptEvent]:
    for number, line in files.objects(transcript.path):
        at = moment(line.get("timestamp"))
        key = word(line, "uuid") or f"{transcript.session_id} line {number}"
        parts = _parts(section(line, "message").get("parts"))
        match line.get("type"):
            case "user" if line.get("provenance", "real_user") == "real_user":
                yield from talk.prompt(key, at, _spoken(parts))
            case "assistant":
                talk.text(at, _spoken(parts))
                for part in parts:
                    call = section(part, "functionCall")
                    if call:
                        talk.calls(word(call, "id"), word(call, "name"), call.get("args"))
            case "tool_result":
                yield from _results(talk, transcript.session_id, at, line, parts)


def _results(
    talk: TurnJoiner, session: str, at: Any, line: Data, parts: list[Data]
) -> Iterator[TranscriptEvent]:
    failed = True if word(section(line, "toolCallResult"), "status") == "error" else None
    for part in parts:
        answer = section(part, "functionResponse")
        response = section(answer, "response")
        output = {"llmContent": word(response, "output", "error")}
        yield from talk.result(session, word(answer, "id"), at, output, failed)


def _parts(value: Any) -> list[Data]:
    return [part for part in value if isinstance(part, dict)] if isinstance(value, list) else []


def _spoken(parts: list[Data]) -> str:
    return prose([part for part in parts if "text" in part and part.get("thought") is not True])


READER = reader(find, describe)
