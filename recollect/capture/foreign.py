"""What is not the user's text: blocks that hosts and memory tools put into prompts.

In: any text. Out: the same text without those blocks. Nothing can go wrong, and the work is linear
in the length of the text; an unclosed foreign tag is left alone, an unclosed block of ours is cut.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Literal

Fate = Literal["drop", "unwrap"]

# How the line begins that asks an agent to record what a prompt changed (`inject/hints.py`). It
# stands outside our block, since it is no quoted data.
HINT = (
    "If this sets, changes or ends a standing rule, decision or fact, record it with recollect "
    "remember/correct"
)
# The line that asks an agent, once a session, for a summary (`inject/summary_request.py`).
SUMMARY_REQUEST = (
    "The context is nearly full. First call recollect store_summary once: decisions and why, "
    "findings, what is open."
)

# Blocks by the name of their tag: first what hosts inject, then slash commands and shell escapes
# that were typed at the prompt, then other memory tools.
_DROPPED = """
    hook_context system-reminder system_reminder session_context current_datetime
    environment_context environment_details user_instructions turn_aborted
    qwen:session-start-context qwen:user-prompt-submit-context user-prompt-submit-hook
    session-start-hook task-notification ide_opened_file ide_selection ide_diagnostics
    open_and_recently_viewed_files steering-reminder kiro-ide-message
    local-command-caveat local-command-stdout local-command-stderr command-name command-message
    command-contents bash-stdout bash-stderr
    agentmemory-context cavemem-context claude-mem-context hindsight_memories honcho-context
    kiro-learn-context kiro-memory kiro-memory-context mem0-context memory-context memory_context
    mempalace-context openmemory-context relevant-memories relevant_memories supermemory-context
"""
_UNWRAPPED = "user_query command-args bash-input user-memory-input"  # the user wrote what is inside
BLOCKS: dict[str, Fate] = {
    **dict.fromkeys(_DROPPED.split(), "drop"),
    **dict.fromkeys(_UNWRAPPED.split(), "unwrap"),
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


def strip_own(text: str) -> str:
    """The text without what Recollect injected; everything else stays as it is."""
    return strip_foreign(text, own_only=True)


def strip_foreign(text: str, *, own_only: bool = False) -> str:
    """The text without any known block, or without those that Recollect injected."""
    text = _HINT_LINE.sub("", text) if HINT in text else text
    text = text.replace(SUMMARY_REQUEST, "")
    tag = "<recollect id=" if own_only else "<"
    if tag not in text and "[recollect " not in text:
        return text
    text = _without(text, _cuts(text, own_only=own_only))
    # An own block that lost its end is cut to the end; a mention within a sentence is no block.
    opening = _OWN_OPENING.search(text)
    return text[: opening.start()] if opening else text


def _cuts(text: str, *, own_only: bool) -> Iterator[tuple[int, int]]:
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
                yield opening.start(), tag.end()
            else:
                yield opening.span()
                yield tag.span()


def _block(name: str, attributes: str | None) -> str:
    """Which block a tag belongs to; an own one closes only with its id, which no content knows."""
    if name in BLOCKS:
        return name
    own = _OWN.match(attributes) if name == "recollect" and attributes else None
    return f"recollect {own[1]}" if own else ""


def _without(text: str, cuts: Iterable[tuple[int, int]]) -> str:
    """Remove the union of the cuts; each gap becomes a line break."""
    kept: list[str] = []
    at = 0
    for start, end in sorted(cuts):
        if start >= at:
            kept.append(text[at:start])
        at = max(at, end)
    kept.append(text[at:])
    return "\n".join(kept)
