"""Continue: `~/.continue/sessions/<session>.json`, of its editors and its `cn`.

In: the home. Out: transcripts and their events. Messages have no times: the session's beginning
stands in `sessions.json`, and its end is when the file was last written.
"""

import glob
import os
from collections.abc import Iterator, Mapping

import msgspec

from recollect.hosts import transcript_files as files
from recollect.hosts.claude_format import text_parts
from recollect.hosts.continue_cli.facts import FACTS
from recollect.hosts.reading import Data, moment, section, word
from recollect.hosts.transcript import Transcript, TranscriptEvent, TurnJoiner, reader


def find(home: str, env: Mapping[str, str]) -> Iterator[Transcript]:
    root = env.get("CONTINUE_GLOBAL_DIR") or os.path.join(home, ".continue")
    folder = os.path.join(root, "sessions")
    created = _beginnings(folder)
    for path in sorted(glob.glob(os.path.join(glob.escape(folder), "*.json"))):
        if found := _described(path, created):
            yield found


def describe(path: str) -> Transcript | None:
    return _described(path, _beginnings(os.path.dirname(path)))


def _beginnings(folder: str) -> dict[str, object]:
    """When sessions began, by their ids."""
    listed = _dicts(files.anything(os.path.join(folder, "sessions.json")))
    return {word(one, "sessionId"): one.get("dateCreated") for one in listed}


def _described(path: str, created: Mapping[str, object]) -> Transcript | None:
    about = files.document(path)
    session, history = word(about, "sessionId"), _dicts(about.get("history"))
    if not session or not history:
        return None
    ended = files.changed(path)
    began = str(created.get(session) or "")
    return Transcript(
        host=FACTS.name,
        session_id=session,
        path=path,
        cwd=word(about, "workspaceDirectory").removeprefix("file://"),
        began=moment(int(began) if began.isdecimal() else began) or ended,
        ended=ended,
        messages=len(history),
        bytes=files.size(path),
        read=read,
    )


def read(transcript: Transcript, talk: TurnJoiner) -> Iterator[TranscriptEvent]:
    for number, item in enumerate(_dicts(files.document(transcript.path).get("history"))):
        message = section(item, "message")
        text = text_parts(message.get("content"))
        if message.get("role") == "user":
            yield from talk.prompt(f"{transcript.session_id} {number}", None, text)
        elif message.get("role") == "assistant":
            talk.text(None, text)
            for state in _dicts(item.get("toolCallStates")):
                yield from _tool(talk, transcript.session_id, state)


def _tool(talk: TurnJoiner, session: str, state: Data) -> Iterator[TranscriptEvent]:
    function = section(section(state, "toolCall"), "function")
    output = "\n".join(word(one, "content") for one in _dicts(state.get("output")))
    failed = True if state.get("status") in ("errored", "canceled") else None
    call = f"{session} {word(state, 'toolCallId')}"
    arguments = state.get("parsedArgs") or _decoded(word(function, "arguments"))
    yield from talk.tool(call, None, word(function, "name"), arguments, {"output": output}, failed)


def _decoded(text: str) -> object:
    try:
        return msgspec.json.decode(text)
    except msgspec.MsgspecError:
        return text


def _dicts(values: object) -> list[Data]:
    return [one for one in values if isinstance(one, dict)] if isinstance(values, list) else []


READER = reader(find, describe)
