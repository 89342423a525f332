"""When agents would be asked for a summary: `python -m tests.bench.summary_requests FOLDER ...`.

In: folders with transcripts of Claude Code (`*.jsonl`, `*.jsonl.gz`), each read as one user's, in
order of time. Out, for each: how many sessions that Claude Code compacted by itself were asked at a
prompt before that (and in how many of these the compaction came in that very turn), and how many
that it never compacted were asked for nothing. Sessions whose file begins with a compaction, and
those that a user compacted, count as neither.
"""

import glob
import gzip
import os
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from recollect.hosts import hooks
from recollect.hosts.claude_format import is_tool_result, text_parts
from recollect.hosts.reading import read_object, section, word
from recollect.inject.summary_request import TAIL, ContextLimits

HOST = "claude-code"
_NO_PROMPT = ("<command", "<local-command", "<bash", "<task-notification", "[Request interrupted")


class Moment(NamedTuple):
    """A prompt or a compaction, and where its line begins."""

    what: str  # prompt, auto, manual
    offset: int


def moments(transcript: bytes) -> Iterator[Moment]:
    at = 0
    seen: set[str] = set()  # a resumed session may repeat lines
    for raw in transcript.splitlines(keepends=True):
        line = read_object(raw)[0] or {}
        key = word(line, "uuid")
        if line.get("isSidechain") is not True and (not key or key not in seen):
            seen.add(key)
            if line.get("subtype") == "compact_boundary":
                yield Moment(word(section(line, "compactMetadata"), "trigger") or "auto", at)
            elif _is_prompt(line):
                yield Moment("prompt", at)
        at += len(raw)


def _is_prompt(line: dict[str, Any]) -> bool:
    hidden = ("isMeta", "isVisibleInTranscriptOnly", "isCompactSummary")
    content = section(line, "message").get("content")
    if line.get("type") != "user" or any(line.get(one) for one in hidden):
        return False
    text = text_parts(content).strip()
    return bool(text) and not is_tool_result(content) and not text.startswith(_NO_PROMPT)


def outcome(transcript: bytes, limits: ContextLimits) -> str:
    """What came first, and whether the session was asked before it."""
    adapter = hooks.adapter(HOST)
    ended, prompts, asked_at, before = "never", 0, 0, 0
    for moment in moments(transcript):
        if moment.what != "prompt":
            if ended == "never":
                ended, before = moment.what, prompts
            continue
        prompts += 1
        end = transcript[max(0, moment.offset - TAIL) : moment.offset]
        size = adapter.context_size(end)
        if size is not None and limits.nearly_full(HOST, size) and not asked_at:
            asked_at = prompts
    if not prompts or (ended != "never" and not before):
        return "left out"
    if not asked_at or (ended != "never" and asked_at > before):
        return f"{ended}, not asked"
    same = ended != "never" and asked_at == before
    return f"{ended}, asked in that very turn" if same else f"{ended}, asked"


def first_time(transcript: bytes) -> str:
    lines = (read_object(raw)[0] or {} for raw in transcript.splitlines()[:50])
    return next((time for line in lines if (time := word(line, "timestamp"))), "")


def main() -> None:
    for folder in sys.argv[1:]:
        transcripts = []
        for path in glob.glob(os.path.join(folder, "*.jsonl*")):
            with gzip.open(path) if path.endswith(".gz") else open(path, "rb") as file:
                transcripts.append(file.read())
        limits = ContextLimits()
        found = Counter(outcome(one, limits) for one in sorted(transcripts, key=first_time))
        print(f"{folder}: {len(transcripts)} sessions")
        for what, number in sorted(found.items()):
            print(f"  {number:5d}  {what}")


if __name__ == "__main__":
    main()
