"""pi: `~/.pi/agent/sessions/<directory>/<time>_<session>.jsonl`, one line per entry.

In: the home. Out: transcripts and their events. What extensions said (`custom_message`) is skipped.
"""

import glob
import os
from collections.abc import Iterator, Mapping

from recollect.hosts import message_blocks
from recollect.hosts import transcript_files as files
from recollect.hosts.pi.facts import FACTS
from recollect.hosts.reading import moment, section, word
from recollect.hosts.transcript import Transcript, TranscriptEvent, TurnJoiner, of_lines, reader

_MESSAGES = (b'"type":"message"', b'"type": "message"')


def find(home: str, env: Mapping[str, str]) -> Iterator[Transcript]:
    root = env.get("PI_CODING_AGENT_DIR") or os.path.join(home, ".pi", "agent")
    for path in sorted(glob.glob(os.path.join(glob.escape(root), "sessions", "*", "*.jsonl"))):
        if found := describe(path):
            yield found


def describe(path: str) -> Transcript | None:
    head = next(files.first_objects(path, 1), {})
    session = word(head, "id")
    if head.get("type") != "session" or not session:
        return None
    return of_lines(FACTS.name, session, path, word(head, "cwd"), head, _MESSAGES, read)


def read(transcript: Transcript, talk: TurnJoiner) -> Iterator[TranscriptEvent]:
    for number, line in files.objects(transcript.path):
        at = moment(line.get("timestamp"))
        key = f"{transcript.session_id} {word(line, 'id') or number}"
        if line.get("type") == "message":
            yield from message_blocks.told(talk, key, at, section(line, "message"))
        elif line.get("type") == "compaction":
            yield from talk.compacted(key, at, line.get("summary"))


READER = reader(find, describe)
