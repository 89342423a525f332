"""A hook call from payload to answer.

In: a payload with the name of a host as the hook command was given it. Out: what it means, and
what the hook prints. A host that is not known gets an adapter that stores what it can read and
answers nothing. Nothing raises.
"""

from dataclasses import replace
from datetime import datetime
from functools import cache

from recollect.core.values import query_text
from recollect.hosts import registry
from recollect.hosts.adapter import Adapter, UnknownHost, answer_draft, prompt_draft
from recollect.hosts.payloads import Capture, Payload, with_answer
from recollect.hosts.reading import lines_between

CONTEXT_CHARS = 9_500  # Claude Code and Codex pass on about 10,000 whole, and cut what is more
ADAPTERS = registry.adapters()  # loaded with this module, not with the first hook call


def adapter(name: str) -> Adapter:
    """The adapter for this name or alias."""
    known = registry.names().get(name.strip().lower(), "")
    return ADAPTERS[known] if known in ADAPTERS else UnknownHost(name)


def capture(payload: Payload) -> Capture:
    """What a payload means; `Capture.host` is who sent it, which need not be the host that the
    hook was written for."""
    named = adapter(payload.host)
    data, repaired = named.read(payload)
    given = {*payload.env, *(data or ())}
    guest = (
        one for one in guests(named.name) if one.signs & given and one.sent(payload, data or {})
    )
    return next(guest, named).interpret(payload, data, repaired)


@cache
def guests(name: str) -> tuple[Adapter, ...]:
    """The hosts that run this one's hooks too, in the order in which they are asked: first those
    recognised by a field of their own, then by the shape of the payload; within each by name."""
    found = [one for one in ADAPTERS.values() if name in one.runs_hooks_of]
    return tuple(sorted(found, key=lambda one: (one.sent_by == "shape", one.name)))


def prompted_from_file(captured: Capture, file: bytes) -> Capture:
    """What a payload means, with the prompt of its turn from a file of the host's. The prompt comes
    with every event of the turn, under one key: it is stored once."""
    key, text = adapter(captured.host).prompt_in(file)
    draft = prompt_draft(text, key)
    if draft is None:
        return captured
    wants = captured.wants or ("prompt" if not captured.drafts and not captured.signal else None)
    drafts, query = (draft, *captured.drafts), query_text(draft.body)
    return replace(captured, drafts=drafts, wants=wants, query=query, note="")


def answered_from_transcript(
    captured: Capture,
    transcript: bytes,
    began: datetime | None = None,
    ended: datetime | None = None,
) -> Capture:
    """A stop with the answer that its transcript (or the end of it) holds, if it holds one that was
    given between these times."""
    lines = lines_between(transcript, began, ended) if ended else transcript
    draft = answer_draft(adapter(captured.host).final_answer(lines))
    return with_answer(captured, draft) if draft else captured
