"""GitHub Copilot CLI: `~/.copilot/session-state/<session>/events.jsonl`, one per line.

In: the home. Out: transcripts and their events.
"""

import glob
import os
from collections.abc import Iterator, Mapping

from recollect.hosts import transcript_files as files
from recollect.hosts.copilot.facts import FACTS
from recollect.hosts.reading import Data, moment, section, word
from recollect.hosts.transcript import Transcript, TranscriptEvent, TurnJoiner, of_lines, reader

_MESSAGES = (b'"type":"user.message"', b'"type":"assistant.message"')


def find(home: str, env: Mapping[str, str]) -> Iterator[Transcript]:
    root = env.get("COPILOT_HOME") or os.path.join(home, ".copilot")
    pattern = os.path.join(glob.escape(root), "session-state", "*", "events.jsonl")
    for path in sorted(glob.glob(pattern)):
        found = describe(path)
        if found is not None:
            yield found


def describe(path: str) -> Transcript | None:
    for line in files.first_objects(path, most=5):
        data = section(line, "data")
        if line.get("type") == "session.start":
            session = word(data, "sessionId") or os.path.basename(os.path.dirname(path))
            cwd = word(section(data, "context"), "cwd", "gitRoot")
            return of_lines(FACTS.name, session, path, cwd, line, _MESSAGES, read)
    return None


def read(transcript: Transcript, talk: TurnJoiner) -> Iterator[TranscriptEvent]:
    for number, line in files.objects(transcript.path):
        at = moment(line.get("timestamp"))
        data = section(line, "data")
        if word(data, "parentToolCallId"):
            continue  # a subagent's
        key = word(line, "id") or f"{transcript.session_id} line {number}"
        match line.get("type"):
            case "user.message":
                yield from talk.prompt(key, at, data.get("content"))
            case "assistant.message":
                talk.text(at, data.get("content"))
            case "tool.execution_start":
                talk.calls(word(data, "toolCallId"), word(data, "toolName"), data.get("arguments"))
            case "tool.execution_complete":
                result = {"textResultForLlm": word(section(data, "result"), "content")}
                call = word(data, "toolCallId")
                yield from talk.result(transcript.session_id, call, at, result, _failed(data))


def _failed(data: Data) -> bool:
    code = section(data, "shellExecution").get("exitCode")
    return data.get("success") is False or (isinstance(code, int) and code != 0)


READER = reader(find, describe)
