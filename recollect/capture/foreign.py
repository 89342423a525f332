"""What is not the user's text: blocks that hosts and memory tools put into prompts.

In: any text. Out: the same text without those blocks. Nothing can go wrong, and the work is linear
in the length of the text; an unclosed foreign tag is left alone, an unclosed block of ours is cut.
"""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

Fate = Literal["drop", "unwrap"]

# How the line begins that asks an agent to record what a prompt changed (`inject/hints.py`). It
# stands outside our block, since it is no quoted data.
HINT = (
    "If this sets, changes or ends a standing rule, decision or fact, record it with recollect "
    "remember/correct"
)

# Every known block by the name of its tag; "unwrap" keeps what is inside: the user wrote it.
BLOCKS: dict[str, Fate] = {
    # hosts: injected context and reminders
    "hook_context": "drop",
    "system-reminder": "drop",
    "system_reminder": "drop",
    "session_context": "drop",
    "current_datetime": "drop",
    "environment_context": "drop",
    "environment_details": "drop",
    "user_instructions": "drop",
    "turn_aborted": "drop",
    "qwen:session-start-context": "drop",
    "qwen:user-prompt-submit-context": "drop",
    "user-prompt-submit-hook": "drop",
    "session-start-hook": "drop",
    "task-notification": "drop",
    "ide_opened_file": "drop",
    "ide_selection": "drop",
    "ide_diagnostics": "drop",
    "open_and_recently_viewed_files": "drop",
    "steering-reminder": "drop",
    "kiro-ide-message": "drop",
    "user_query": "unwrap",
    # hosts: slash commands and shell escapes typed at the prompt
    "local-command-caveat": "drop",
    "local-command-stdout": "drop",
    "local-command-stderr": "drop",
    "command-name": "drop",
    "command-message": "drop",
    "command-contents": "drop",
    "command-args": "unwrap",
    "bash-input": "unwrap",
    "bash-stdout": "drop",
    "bash-stderr": "drop",
    "user-memory-input": "unwrap",
    # other memory tools
    "agentmemory-context": "drop",
    "cavemem-context": "drop",
    "claude-mem-context": "drop",
    "hindsight_memories": "drop",
    "honcho-context": "drop",
    "kiro-learn-context": "drop",
    "kiro-memory": "drop",
    "kiro-memory-context": "drop",
    "mem0-context": "drop",
    "memory-context": "drop",
    "memory_context": "drop",
    "mempalace-context": "drop",
    "openmemory-context": "drop",
    "relevant-memories": "drop",
    "relevant_memories": "drop",
    "supermemory-context": "drop",
}

# A tag must stand on one line: a removed block leaves a line break, so nothing can close up over
# the gap into a tag that was not there. Quotes may be escaped: text inside JSON comes here too.
_TAG = re.compile(
    r"<(/?)([A-Za-z][A-Za-z0-9_:-]{2,40})([ \t][^<>\n]*)?>|\[(/?)recollect ([0-9a-f]{4,16})\]"
)
# Our own mark once had angle brackets; transcripts have it still.
_OWN = re.compile(r'[ \t]id=\\*"([\w.-]{1,64})\\*"$')
_OWN_OPENING = re.compile(
    r'(?:\[recollect [0-9a-f]{4,16}\]|<recollect id=\\*"[\w.-]{1,64}\\*">)(?:[ \t]*\r?\n|\\+n)',
    re.IGNORECASE,
)
_HINT_LINE = re.compile(
    re.escape(HINT) + r'(?: \(related: \[[0-9a-z]{1,26}\] \\*+"[^"\n]{0,200}+"\))?\.'
)


class _Cut(NamedTuple):
    """From where to where text is removed."""

    start: int
    end: int


def strip_foreign(text: str) -> str:
    """The text without any known block."""
    text = _HINT_LINE.sub("", text) if HINT in text else text
    if "<" not in text and "[recollect " not in text:
        return text
    return _without_own_rest(_without(text, list(_cuts(text, own_only=False))))


def strip_own(text: str) -> str:
    """The text without what Recollect injected; everything else stays as it is."""
    text = _HINT_LINE.sub("", text) if HINT in text else text
    if "<recollect id=" not in text and "[recollect " not in text:
        return text
    return _without_own_rest(_without(text, list(_cuts(text, own_only=True))))


def _cuts(text: str, *, own_only: bool) -> Iterator[_Cut]:
    """Pair every opening tag with its closing tag, as brackets pair; single tags pair with none."""
    opened: dict[str, list[re.Match[str]]] = {}
    for tag in _TAG.finditer(text):
        key = f"recollect {tag[5]}" if tag[5] else _block(tag[2].lower(), tag[3])
        if not key or (own_only and key in BLOCKS):
            continue
        if not (tag[1] or tag[4]):
            opened.setdefault(key, []).append(tag)
        elif opened.get(key):
            opening = opened[key].pop()
            if BLOCKS.get(key, "drop") == "drop":
                yield _Cut(opening.start(), tag.end())
            else:
                yield _Cut(opening.start(), opening.end())
                yield _Cut(tag.start(), tag.end())


def _block(name: str, attributes: str | None) -> str:
    """Which block a tag belongs to; an own one closes only with its id, which no content knows."""
    if name in BLOCKS:
        return name
    own = _OWN.match(attributes) if name == "recollect" and attributes else None
    return f"recollect {own[1]}" if own else ""


def _without(text: str, cuts: list[_Cut]) -> str:
    """Remove the union of the cuts; each gap becomes a line break."""
    kept: list[str] = []
    at = 0
    for cut in sorted(cuts):
        if cut.start >= at:
            kept.append(text[at : cut.start])
        at = max(at, cut.end)
    kept.append(text[at:])
    return "\n".join(kept)


def _without_own_rest(text: str) -> str:
    """Cut at an own block that lost its end; a mention within a sentence is no block."""
    opening = _OWN_OPENING.search(text)
    return text[: opening.start()] if opening else text
