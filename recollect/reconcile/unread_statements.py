"""Prompts of which the rules read nothing, and that may state or change something nonetheless.

In: the prompts of a batch, or the turns of a project. Out: those that the detector of statements
takes for one, as beliefs that are only proposed. They are for comparison: the planner of beliefs
keeps one only where it seems to change another, or was changed by another.
"""

import hashlib
from collections.abc import Iterator
from datetime import datetime

from recollect.core import ids
from recollect.core.tuning import ENDINGS
from recollect.core.values import Candidate, Record, TextBody
from recollect.extract.interface import Extraction
from recollect.extract.normalised_text import hash_of_words
from recollect.extract.quality_gate import REDACTED
from recollect.extract.rules import classify, vetoes
from recollect.extract.rules.prose import capitalised, cut
from recollect.extract.rules.statements import own_sentences
from recollect.extract.standing import standing
from recollect.reconcile.ending_pairs import change
from recollect.store.interface import Batch, RecordFilter, Store

TITLE_CHARS = 190
MOST_TURNS = 300  # of a project, the newest
MOST_READ = 400  # characters of a prompt; a longer one is a task
_HARMLESS: frozenset[vetoes.Effect] = frozenset(("everywhere", "passing", "nothing"))


def proposed(
    namespace: str, session_id: str | None, event_id: str, said: str, at: datetime, mark: bytes
) -> Record:
    """A belief with the words of a prompt. `mark` tells who makes it: ids must differ."""
    title = cut(capitalised(" ".join(said.split())), TITLE_CHARS)
    digest = hashlib.blake2b(mark, digest_size=6).digest()
    return Record(
        record_id=ids.RECORD + ids.derive_ulid(event_id, 1 + int.from_bytes(digest, "big")),
        namespace=namespace,
        kind="knowledge",
        title=title,
        concepts=classify.concepts(title, ()),
        knowledge_type="decision",
        category=classify.category(title),
        strategy="rules",
        author="user",
        state="proposed",
        source_type="stated",
        session_id=session_id,
        importance=classify.importance("decision", ""),
        confidence=0.5,
        valid_from=at,
        source_event_ids=(event_id,),
        content_hash=hash_of_words(title),
    )


def unread(extraction: Extraction, batch: Batch) -> Iterator[Candidate]:
    """The prompts of a batch that may state something, and of which no belief was made."""
    read = {
        event_id
        for one in extraction.candidates
        if one.record.traits.is_belief
        for event_id in one.record.source_event_ids
    }
    for stored in batch.events:
        event = stored.event
        if event.kind != "prompt" or not isinstance(event.body, TextBody):
            continue
        said = own_statement(event.body.content)
        if event.event_id not in read and said:
            at = min(event.valid_time, stored.transaction_time)
            yield Candidate(
                record=proposed(
                    event.namespace, event.session_id, event.event_id, said, at, b"unread"
                )
            )


def stating_turns(store: Store, namespace: str, before: datetime) -> Iterator[Record]:
    """The turns of a project whose prompts may state something, and of which no belief was made,
    as beliefs that are not stored."""
    page = store.records.page(namespace, RecordFilter(kind="episode"), limit=MOST_TURNS)
    turns = [
        one
        for one in page.items
        if one.source_event_ids and one.valid_from < before and own_statement(one.title)
    ]
    made = store.records.of_events(
        namespace, [event_id for one in turns for event_id in one.source_event_ids]
    )
    known = {one for some in made.values() for one in some}
    beliefs = {
        event_id
        for one in store.records.get(namespace, sorted(known))
        if one.traits.is_belief
        for event_id in one.source_event_ids
    }
    for one in turns:
        if beliefs.isdisjoint(one.source_event_ids):
            yield one


def as_belief(turn: Record) -> Record:
    return proposed(
        turn.namespace, turn.session_id, turn.source_event_ids[0],
        own_statement(turn.title) or turn.title, turn.valid_from, b"turn",
    )  # fmt: skip


def own_statement(prompt: str) -> str:
    """What of a short prompt may be a statement of the user: without questions and what somebody
    else said; nothing if it was taken back or said in jest."""
    if (
        len(prompt) > MOST_READ
        or REDACTED in prompt
        or vetoes.QUOTATION in vetoes.own_words(prompt)
    ):
        return ""
    sentences = own_sentences(prompt)
    own = [one for one in sentences if not vetoes.QUESTION.search(one)]
    effects = [vetoes.effects(one).keys() for one in own]
    if any(
        not some <= _HARMLESS or vetoes.LAUGHS.search(one)
        for one, some in zip(own, effects, strict=True)
    ):
        return ""
    said = " ".join(one for one, some in zip(own, effects, strict=True) if "nothing" not in some)
    # What is left beside a question must be a statement by itself.
    return said if said and may_state(prompt if len(own) == len(sentences) else said) else ""


def may_state(prompt: str) -> bool:
    """Whether a short prompt may be a statement, or tells of a change. Less than what a hint takes
    is enough: it is kept only where it is clearly about another statement."""
    if len(prompt) > MOST_READ:
        return False
    return standing(prompt).probability >= ENDINGS.stated or change(prompt, None) >= ENDINGS.changes
