"""What the user said later about a statement that is about to be told.

In: a judged and ordered draft. Out: the same draft, in which a statement of the user is told with
the user's own later words about the same matter, if there are any that may have changed it and of
which nothing was made that ended it. Which one holds is not decided here: whoever reads both can.
An older statement alone, told as if it held, is worse than a longer line.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from recollect.core.tuning import ENDINGS
from recollect.core.values import Record
from recollect.extract.rules import vetoes
from recollect.extract.rules.statements import own_sentences
from recollect.inject import render
from recollect.inject.draft import BriefLine, Draft, Sources, memory_line
from recollect.reconcile.ending_pairs import (
    change,
    may_be_about,
    may_change,
    only_orders,
    read,
    score,
    shares,
)
from recollect.reconcile.related_beliefs import cosine
from recollect.reconcile.restatements import restates
from recollect.reconcile.unread_statements import MOST_READ, may_state

MOST_LINES = 12  # of a brief that are looked at
TOLD_BESIDE = "told with the older statement that it may change"

Allowed = Callable[[Sequence[BriefLine]], Sequence[BriefLine]]


def add_later_words(sources: Sources, draft: Draft, allowed: Allowed) -> None:
    """`allowed`: those of some lines that may be told."""
    if draft.question.trigger == "tool" or sources.engine.embedder is None:
        return
    lines = [one for one in draft.kept if one.record is not None and _states(one.record)]
    for line in lines[:MOST_LINES]:
        assert line.record is not None
        later = None if line.why_not else _later(sources, line.record, allowed)
        if later is None:
            continue
        words = _said(later) if later.traits.is_turn else later.title
        short = render.shortened(render.one_line(words), ENDINGS.later_chars)
        line.note += f' (since then the user said: "{short}")'
        draft.notes.setdefault("later", {})[line.id] = later.record_id
        for other in draft.kept:
            if other.record is not None and other is not line and _is_same(other.record, later):
                other.why_not = TOLD_BESIDE


def _states(record: Record) -> bool:
    """Whether it tells what the user said. A dispute is told with its newer side."""
    if record.traits.is_belief:
        return record.author == "user" and record.state == "current"
    return record.traits.is_turn and not vetoes.QUESTION.search(record.title)


@lru_cache(maxsize=1024)
def _statement(prompt: str) -> str:
    if len(prompt) > MOST_READ:
        return ""
    own = [one for one in own_sentences(prompt) if not vetoes.QUESTION.search(one)]
    if any("takes back" in vetoes.effects(one) or vetoes.LAUGHS.search(one) for one in own):
        return ""
    said = " ".join(one for one in own if not vetoes.is_no_statement(one))
    return said if said and may_state(said) else ""


def _said(turn: Record) -> str:
    """What of a turn's prompt may be a statement. Somebody else's decision counts here: it is told
    in the user's words, and nothing ends by it."""
    return _statement(turn.title)


def _later(sources: Sources, old: Record, allowed: Allowed) -> Record | None:
    """The later words of the user that most likely changed a statement."""
    model = sources.index_cache.model
    rows = sources.store.vectors.of(old.namespace, model, [old.record_id])
    vector = next((row.vector for row in rows if row.part == 0), None)
    if vector is None:
        return None
    found = sources.engine.nearest(
        np.frombuffer(vector, "<f4"), old.namespace, ENDINGS.later_nearest
    )
    later = [
        one
        for one in sources.records([old.namespace], found)
        if one.valid_from > old.valid_from
        and set(one.source_event_ids).isdisjoint(old.source_event_ids)
        and (one.traits.is_turn or (one.traits.is_belief and one.stands and one.author == "user"))
    ]
    was = old.title
    scored: list[tuple[float, float, Record]] = []
    for one in later:
        said = _said(one) if one.traits.is_turn else one.title
        if not said or not may_be_about(said, was) or restates(said, was):
            continue
        if read(said).words.isdisjoint(read(was).words) and not _same_kind(said, was):
            continue
        fresh = sources.engine.vector(said)
        if fresh is None:
            return None
        blob = np.asarray(fresh, dtype="<f4").tobytes()
        changes = change(said, blob)
        # Less than what disputes a belief is enough, for nothing ends; a task like another is not.
        if not may_change(said, was, 0.0 if only_orders(said, was) else 1.0):
            continue
        near = cosine(blob, vector)
        scored.append((score(read(said), read(was), near, changes), changes, one))
    sure = zip(shares([one for one, _, _ in scored]), scored, strict=True)
    likely = [
        (share, one)
        for share, (_, changes, one) in sure
        if share >= (ENDINGS.later if changes >= ENDINGS.changes else ENDINGS.later_plain)
    ]
    likely.sort(key=lambda pair: -pair[0])
    told = {line.id for line in allowed([memory_line(one, 1.0) for _, one in likely])}
    return next((one for _, one in likely if one.record_id in told), None)


def _same_kind(said: str, was: str) -> bool:
    return not read(said).kinds.keys().isdisjoint(read(was).kinds)


def _is_same(record: Record, later: Record) -> bool:
    return not set(record.source_event_ids).isdisjoint(later.source_event_ids)
