"""Factory Droid: `~/.factory/sessions/<directory>/<session>.jsonl`, from its documentation.

In: the home. Out: transcripts and their events.
"""

import glob
import os
from collections.abc import Iterator, Mapping

from recollect.hosts import message_blocks
from recollect.hosts import transcript_files as files
from recollect.hosts.factory_droid.facts import FACTS
from recollect.hosts.reading import moment, section, word
from recollect.hosts.transcript import Transcript, TranscriptEvent, TurnJoiner, of_lines, reader

_MESSAGES = (b'"type":"message"', b'"type": "message"')


def find(home: str, env: Mapping[str, str]) -> Iterator[Transcript]:
    root = glob.escape(os.path.join(home, ".factory", "sessions"))
    for path in sorted(glob.glob(os.path.join(root, "**", "*.jsonl"), recursive=True)):
        if found := describe(path):
            yield found


def describe(path: str) -> Transcript | None:
    head = list(files.first_objects(path))
    about = next((line for line in head if line.get("type") == "session_start"), {})
    first = next((line for line in head if line.get("type") == "message"), {})
    if not about or not first:
        return None
    session = word(about, "id") or os.path.basename(path).removesuffix(".jsonl")
    return of_lines(FACTS.name, session, path, word(about, "cwd"), first, _MESSAGES, read)


def read(transcript: Transcript, talk: TurnJoiner) -> Iterator[TranscriptEvent]:
    for number, line in files.objects(transcript.path):
        if line.get("type") == "message":
            key = f"{transcript.session_id} {word(line, 'id') or number}"
            at = moment(line.get("timestamp"))
            yield from message_blocks.told(talk, key, at, section(line, "message"))


READER = reader(find, describe)
