"""Cline: the CLI's `~/.cline/data/sessions/<id>/<id>.messages.json`, and the extension's task
folders with an `api_conversation_history.json` each (from its documentation).

In: the home. Out: transcripts and their events. The extension keeps neither ids nor, in older
versions, times: a message's place is its key, and its time that of the task.
"""

import glob
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from recollect.hosts import message_blocks
from recollect.hosts import transcript_files as files
from recollect.hosts.claude_format import text_parts
from recollect.hosts.cline.adapter import TYPED
from recollect.hosts.cline.facts import FACTS
from recollect.hosts.reading import Data, moment, word
from recollect.hosts.transcript import Transcript, TranscriptEvent, TurnJoiner, reader

_TASK = "api_conversation_history.json"
_TASKS = f"globalStorage/saoudrizwan.claude-dev/tasks/*/{_TASK}"
_TAG = re.compile(r"<(/?)(task|feedback|user_message)>")
_CWD = re.compile(r"# Current (?:Working|Workspace) Directory \(([^()\n]{1,4096}+)\)")


def find(home: str, env: Mapping[str, str]) -> Iterator[Transcript]:
    here = glob.escape(home)
    for path in sorted(glob.glob(os.path.join(here, ".cline/data/sessions/*/*.messages.json"))):
        yield _session(path)
    tasks = [os.path.join(here, ".cline", "data", f"tasks/*/{_TASK}")]
    for code in (".config/Code/User", "Library/Application Support/Code/User"):
        tasks.append(os.path.join(here, code, _TASKS))
    for path in sorted(found for pattern in tasks for found in glob.glob(pattern)):
        yield _task(path)


def describe(path: str) -> Transcript | None:
    """One file, by the form of its messages; a session's directory is in the file beside it."""
    if not any(word(one, "role") and "content" in one for one in _messages(path)[:1]):
        return None
    return _session(path) if files.document(path) else _task(path)


def _session(path: str) -> Transcript:
    about = files.document(path.removesuffix(".messages.json") + ".json")
    session = word(files.document(path), "sessionId") or os.path.basename(os.path.dirname(path))
    ended = moment(about.get("ended_at")) or files.changed(path)
    return _transcript(path, session, word(about, "cwd"), about.get("started_at"), ended)


def _task(path: str) -> Transcript:
    first = next(iter(_messages(path)), {})
    cwd = _CWD.search(text_parts(first.get("content")))
    folder, name = os.path.split(path)
    task = os.path.basename(folder) if name == _TASK else name.partition(".")[0]
    began = first.get("ts") or (int(task) if task.isdecimal() else None)
    return _transcript(path, task, cwd[1] if cwd else "", began, files.changed(path))


def _transcript(path: str, session: str, cwd: str, began: Any, ended: Any) -> Transcript:
    return Transcript(
        host=FACTS.name,
        session_id=session,
        path=path,
        cwd=cwd,
        began=moment(began),
        ended=ended,
        messages=files.occurrences(path, (b'"role":',)),
        bytes=files.size(path),
        read=read,
    )


def read(transcript: Transcript, talk: TurnJoiner) -> Iterator[TranscriptEvent]:
    for number, message in enumerate(_messages(transcript.path)):
        key = f"{transcript.session_id} {word(message, 'id') or number}"
        at = moment(message.get("ts"))
        yield from message_blocks.told(talk, key, at, message, _typed)


def _typed(text: str) -> str:
    whole = TYPED.fullmatch(text.strip())
    said = [one.strip() for one in _between_tags(text)]
    return whole[1] if whole else "\n".join(said)


def _messages(path: str) -> list[Data]:
    found = files.anything(path)
    listed = found.get("messages") if isinstance(found, dict) else found
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


READER = reader(find, describe)


def _between_tags(text: str) -> Iterator[str]:
    """What stands between a tag of the user's words and its end."""
    opened: re.Match[str] | None = None
    for tag in _TAG.finditer(text):
        if not tag[1] and opened is None:
            opened = tag
        elif tag[1] and opened is not None and tag[2] == opened[2]:
            yield text[opened.end() : tag.start()]
            opened = None
