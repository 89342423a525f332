"""Claude Code: `~/.claude/projects/<directory>/<session>.jsonl`, one line per message.

In: the home. Out: transcripts and their events. Lines of subagents, of the host itself and of
unknown types are skipped. A resumed session may repeat an earlier one's lines: they carry the same
ids, so they are recognised.
"""

import glob
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from recollect.hosts import transcript_files as files
from recollect.hosts.claude_code.facts import FACTS
from recollect.hosts.reading import Data, moment, prose, section, word
from recollect.hosts.transcript import Transcript, TranscriptEvent, TurnJoiner, of_lines, reader

_COMMANDS = ("<command", "<local-command", "<bash", "<task-notification")
_MESSAGES = (b'"type":"user"', b'"type":"assistant"', b'"type": "user"', b'"type": "assistant"')


def find(home: str, env: Mapping[str, str]) -> Iterator[Transcript]:
    root = env.get("CLAUDE_CONFIG_DIR") or os.path.join(home, ".claude")
    for path in sorted(glob.glob(os.path.join(glob.escape(root), "projects", "*", "*.jsonl"))):
        found = describe(path)
        if found is not None:
            yield found


def describe(path: str) -> Transcript | None:
    """One file; None when no person speaks in it."""
    for line in files.first_objects(path, most=200):
        if line.get("isSidechain") is True:
            return None  # a subagent's own file
        cwd = word(line, "cwd")
        if "parts" in section(line, "message"):
            return None  # Qwen's
        if cwd and line.get("type") in ("user", "assistant"):
            session = word(line, "sessionId") or os.path.basename(path).split(".")[0]
            return of_lines(FACTS.name, session, path, cwd, line, _MESSAGES, read)
    return None


def read(transcript: Transcript, talk: TurnJoiner) -> Iterator[TranscriptEvent]:
    for number, line in files.objects(transcript.path):
        if line.get("isSidechain") is True or line.get("isMeta") is True:
            continue
        key = word(line, "uuid") or f"line {number}"
        talk.branch = word(line, "gitBranch") or talk.branch
        match line.get("type"):
            case "user":
                yield from _user(talk, key, line)
            case "assistant" if line.get("isApiErrorMessage") is not True:
                _assistant(talk, line)


def _user(talk: TurnJoiner, key: str, line: Data) -> Iterator[TranscriptEvent]:
    at = moment(line.get("timestamp"))
    content = section(line, "message").get("content")
    if line.get("isCompactSummary") is True:
        yield from talk.compacted(key, at, prose(content))
        return
    if line.get("isVisibleInTranscriptOnly") is True:
        return
    spoken: list[Any] = [content] if isinstance(content, str) else []
    parts = content if isinstance(content, list) else []
    for part in parts:
        kind = part.get("type") if isinstance(part, dict) else None
        if kind == "tool_result":
            failed = True if part.get("is_error") is True else None
            output = line.get("toolUseResult")
            # One line may answer several calls; the structured result is that of a single one.
            whole = output if len(parts) == 1 and output is not None else part.get("content")
            yield from talk.result(key, word(part, "tool_use_id"), at, whole, failed)
        elif kind == "text":
            spoken.append(part.get("text"))
    working = len(spoken) < len(parts)  # results of tools stand beside it
    for index, text in enumerate(spoken):
        typed = index == 0 and not working and not str(text).lstrip().startswith(_COMMANDS)
        for event in talk.prompt(key if index == 0 else f"{key}/{index}", at, text):
            yield replace(event, starts_turn=typed)


def _assistant(talk: TurnJoiner, line: Data) -> None:
    at = moment(line.get("timestamp"))
    content = section(line, "message").get("content")
    if isinstance(content, str):
        talk.text(at, content)
    for part in content if isinstance(content, list) else ():
        if not isinstance(part, dict):
            continue
        if part.get("type") == "text":
            talk.text(at, part.get("text"))
        elif part.get("type") == "tool_use":
            talk.calls(word(part, "id"), word(part, "name"), part.get("input"))


READER = reader(find, describe)
