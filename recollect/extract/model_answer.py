"""Parses a model's answer into candidates and claims.

In: the answer, its batch, and the memories that were shown with it. Out: an Extraction. The answer
is untrusted: it is scrubbed and cut to the limits of a record, a citation counts only if it is an
event of the batch, and only what was shown can be outdated. An unreadable answer raises
UnreadableAnswer; an empty one or <skip/> gives no memory.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import get_args

from recollect import privacy
from recollect.core import ids
from recollect.core.errors import ExtractionFailed
from recollect.core.kinds import KnowledgeType, ObservationType, kind_of
from recollect.core.one_line import one_line
from recollect.core.values import Author, Candidate, Record, SourceType, StoredEvent
from recollect.extract.entries import author_of
from recollect.extract.interface import (
    Claim,
    Dropped,
    EntityClaim,
    Extraction,
    FactClaim,
    PreferenceClaim,
    RelationClaim,
)
from recollect.extract.normalised_text import hash_of_words
from recollect.extract.tagged_text import MOST_CHARS, Element, elements, holds, plain
from recollect.store.interface import Batch

MOST_MEMORIES = 50
MOST_CLAIMS = 100
MOST_LISTED = 20  # facts, concepts or files of one memory
CONFIDENCE = 0.8
TITLE, SUMMARY, FACT, CONCEPT, FILE = 200, 4000, 500, 100, 500  # D05
_TYPES = frozenset(get_args(ObservationType))
_SORTS = frozenset(get_args(KnowledgeType))
_USERS_OWN = frozenset({"constraint", "preference"})
DISTRUST: tuple[Author, ...] = ("web", "file", "tool", "assistant", "user")


class UnreadableAnswer(ExtractionFailed):
    """The answer held nothing that can be read."""


def parse(text: str, batch: Batch, known: Sequence[Record] = ()) -> Extraction:
    """Raises UnreadableAnswer."""
    text = text[:MOST_CHARS]
    if not text.strip():
        return Extraction()
    found = list(elements(text, "memory"))
    made = [_candidate(element, batch) for element in found[:MOST_MEMORIES]]
    candidates = tuple(one for one in made if one is not None)
    claims = tuple(_claims(text, batch))
    outdated = {one.attributes.get("id") for one in elements(text, "outdated")}
    anew = {hash_of_words(one.record.title, one.record.summary) for one in candidates}
    ended = tuple(  # but the user's words, and what is written anew in the same words
        one.record_id
        for one in known
        if one.record_id in outdated and one.author != "user"
        if hash_of_words(one.title, one.summary) not in anew
    )
    if not candidates and not claims and not ended:
        empty = any(not one.inner.strip() for one in elements(text, "memories"))
        if holds(text, "memory") or not (empty or holds(text, "skip")):
            raise UnreadableAnswer()
        return Extraction()
    dropped = [Dropped("", "malformed") for one in made if one is None]
    dropped += [Dropped("", "too many") for _ in found[MOST_MEMORIES:]]
    return Extraction(candidates=candidates, claims=claims, dropped=tuple(dropped), ended=ended)


def _candidate(element: Element, batch: Batch) -> Candidate | None:
    if holds(element.inner, "memory"):
        return None  # one inside another: whose title is whose?
    title = one_line(first(element, "title"), TITLE)
    if not title:
        return None
    cited = _cited(element, batch)
    support = cited or batch.events
    sort = element.attributes.get("sort", "")
    observation_type = element.attributes.get("type", "")
    author, knowledge_type = _author_and_type(sort, cited)
    sessions = {one.event.session_id for one in support}
    record = Record(
        record_id=ids.new_id(ids.RECORD),
        namespace=batch.namespace,
        kind=kind_of(observation_type, knowledge_type),
        title=title,
        summary=first(element, "summary")[:SUMMARY],
        facts=listed(element, "fact", FACT),
        concepts=listed(element, "concept", CONCEPT),
        files=listed(element, "file", FILE),
        observation_type=observation_type if observation_type in _TYPES else None,  # type: ignore[arg-type]
        knowledge_type=knowledge_type,
        category="preference" if sort == "preference" and author == "user" else None,
        strategy="llm-summary",
        author=author,
        session_id=sessions.pop() if len(sessions) == 1 else None,
        importance=_importance(element.attributes.get("importance", "")),
        confidence=CONFIDENCE,
        valid_from=max(one.event.valid_time for one in support),
        source_event_ids=tuple(one.event.event_id for one in support),
    )
    return Candidate(record=record)


def _author_and_type(
    sort: str, cited: Sequence[StoredEvent]
) -> tuple[Author, KnowledgeType | None]:
    """The author, and which belief it may be; None makes it a note. Only a prompt can become a
    constraint or a preference."""
    authors = {author_of(one) for one in cited}
    worst = least_trusted(authors)
    if sort in _USERS_OWN:
        if cited and all(one.event.kind == "prompt" for one in cited):
            return "user", "constraint"
        return ("assistant" if worst == "user" else worst), None
    outside: Author = worst if authors <= {"web", "file", "tool"} else "assistant"
    if sort in _SORTS:
        return outside, sort  # type: ignore[return-value]
    return outside, None


def least_trusted(authors: Collection[Author]) -> Author:
    """A memory of several sources is trusted as little as the worst of them."""
    for author in DISTRUST:
        if author in authors:
            return author
    return "assistant"


def _cited(element: Element, batch: Batch) -> tuple[StoredEvent, ...]:
    """The events of this batch that it cites, in the batch's order; other ids are ignored."""
    named = {one.text for one in elements(element.inner, "source")}
    return tuple(one for one in batch.events if one.event.event_id in named)


def first(element: Element, name: str) -> str:
    """The text of the first element of this name inside another."""
    return next((clean(one.inner) for one in elements(element.inner, name)), "")


def listed(element: Element, name: str, most: int) -> tuple[str, ...]:
    texts = (one_line(clean(one.inner), most) for one in elements(element.inner, name))
    return tuple(dict.fromkeys(text for text in texts if text))[:MOST_LISTED]


def clean(text: str) -> str:
    """A model's text, scrubbed like everything that is stored."""
    return privacy.scrub(plain(text)).strip()


def _importance(text: str) -> int:
    return min(10, max(1, int(text))) if text.isascii() and text.isdecimal() else 5


# --- claims -------------------------------------------------------------------------------------


def _claims(text: str, batch: Batch) -> list[Claim]:
    at = max(one.event.valid_time for one in batch.events)
    found: list[Claim] = []
    for element in elements(text, "memory", "entity", "claim", "relation"):
        made = None if element.name == "memory" else _claim(element, batch, at)
        if made is not None and len(found) < MOST_CLAIMS:
            found.append(made)
        elif element.name == "memory" and (wanted := _preference(element, batch)):
            found.append(wanted)
    return found[:MOST_CLAIMS]


def _claim(element: Element, batch: Batch, at: datetime) -> Claim | None:
    cited = _cited(element, batch)
    event_ids = tuple(one.event.event_id for one in cited)
    said = {name: one_line(clean(value), 250) for name, value in element.attributes.items()}
    authors = {author_of(one) for one in cited}
    author = least_trusted(authors)
    source: SourceType = "stated" if author == "user" else "inferred"
    confidence = _unit(said.get("confidence", ""))
    match element.name, said:
        case "entity", {"name": str(name), "type": str(kind)} if name and kind:
            description = one_line(clean(element.inner), 1000)
            return EntityClaim(name, kind[:64], description, event_ids=event_ids)
        case "claim", {"subject": str(a), "predicate": str(b), "object": str(c)} if a and b and c:
            return FactClaim(a, b[:128], c, at, author, source, confidence, event_ids)
        case "relation", {"from": str(a), "to": str(b), "type": str(c)} if a and b and c:
            return RelationClaim(a, b, c[:64], at, source, confidence, event_ids)
    return None


def _preference(element: Element, batch: Batch) -> PreferenceClaim | None:
    """The claim of a memory that is a preference stated by the user."""
    cited = _cited(element, batch)
    title = one_line(first(element, "title"), FACT)
    if element.attributes.get("sort") != "preference" or not title:
        return None
    if not cited or any(one.event.kind != "prompt" for one in cited):
        return None
    return PreferenceClaim(
        category="stated",
        key=one_line(first(element, "concept") or title, 128),
        value=title,
        at=max(one.event.valid_time for one in cited),
        source_type="stated",
        event_ids=tuple(one.event.event_id for one in cited),
    )


def _unit(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        return 0.7
    return value if 0.0 <= value <= 1.0 else 0.7
