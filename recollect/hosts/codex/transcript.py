"""Codex CLI: `~/.codex/sessions/YYYY/MM/DD/rollout-<time>-<session>.jsonl`, items and events.

In: the home. Out: transcripts and their events. The first line names the session and its directory;
what the host tells the model in the user's name is left out.
"""

import glob
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from recollect.hosts import transcript_files as files
from recollect.hosts.codex.facts import FACTS
from recollect.hosts.reading import Data, moment, prose, section, word
from recollect.hosts.transcript import Transcript, TranscriptEvent, TurnJoiner, of_lines, reader

_MESSAGES = (b'"type":"message"', b'"type":"function_call"', b'"type":"custom_tool_call"')
_EXIT = re.compile(r"^(?:Process exited with code|Exit code:) (\d+)", re.MULTILINE)
_SPEAKS = "user_message"
_SAID = "user.text"


def find(home: str, env: Mapping[str, str]) -> Iterator[Transcript]:
    root = glob.escape(env.get("CODEX_HOME") or os.path.join(home, ".codex"))
    places = (("sessions", "**", "rollout-*.jsonl"), ("archived_sessions", "rollout-*.jsonl"))
    for place in places:
        for path in sorted(glob.glob(os.path.join(root, *place), recursive=True)):
            found = describe(path)
            if found is not None:
                yield found


def describe(path: str) -> Transcript | None:
    for line in files.first_objects(path, most=5):
        payload = section(line, "payload")
        if line.get("type") == "session_meta" and word(payload, "id", "session_id"):
            if section(payload, "source").get("subagent") is not None:
                return None  # a subagent's result is in the call that started it
            session = word(payload, "id", "session_id")
            return of_lines(FACTS.name, session, path, word(payload, "cwd"), line, _MESSAGES, read)
    return None


def read(transcript: Transcript, talk: TurnJoiner) -> Iterator[TranscriptEvent]:
    session = transcript.session_id
    told_as_events = files.occurrences(transcript.path, (f'"{_SPEAKS}"'.encode(),)) > 0
    for number, line in files.objects(transcript.path):
        at = moment(line.get("timestamp"))
        payload = section(line, "payload")
        talk.branch = word(section(payload, "git"), "branch") or talk.branch
        key = f"{session} {word(payload, 'id') or f'line {number}'}"
        match line.get("type"), payload.get("type"):
            case "event_msg", "user_message" if told_as_events:
                yield from talk.prompt(key, at, payload.get("message"))
            case "response_item", "message":
                if payload.get("role") == "assistant":
                    talk.text(at, prose(payload.get("content")))
                elif not told_as_events and _by_the_user(payload):
                    yield from talk.prompt(key, at, prose(payload.get("content")))
            case "response_item", "function_call" | "custom_tool_call" | "local_shell_call":
                talk.calls(word(payload, "call_id", "id"), *_call(payload))
            case "response_item", "function_call_output" | "custom_tool_call_output":
                output, failed = _outcome(payload.get("output"))
                # Some models number their calls anew in each session.
                yield from talk.result(session, word(payload, "call_id"), at, output, failed)


def _by_the_user(payload: Data) -> bool:
    if payload.get("role") != "user":
        return False
    kinds = section(payload, "internal_chat_message_metadata_passthrough").get("content_item_kinds")
    return not isinstance(kinds, list) or _SAID in kinds


def _call(payload: Data) -> tuple[str, Any]:
    """The tool and its arguments, as its hook would name them."""
    name = word(payload, "name") or "shell"
    arguments: Any = payload.get("arguments")
    if isinstance(arguments, str):
        try:
            arguments = msgspec.json.decode(arguments)
        except (msgspec.MsgspecError, RecursionError):
            arguments = {"input": arguments}
    elif arguments is None:
        given = payload.get("input")
        arguments = {"command": given} if given is not None else payload.get("action")
    if name == "exec_command" and isinstance(arguments, dict) and "cmd" in arguments:
        return "Bash", {"command": arguments["cmd"]}
    return name, arguments


def _outcome(output: Any) -> tuple[Any, bool | None]:
    if isinstance(output, str):
        if output.startswith("{"):
            try:
                return msgspec.json.decode(output), None
            except (msgspec.MsgspecError, RecursionError):
                return output, None
        code = _EXIT.search(output[:2000])
        return output, code[1].strip("0") != "" if code else None
    return output, None


READER = reader(find, describe)
