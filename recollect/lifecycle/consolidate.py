"""Merges three or more similar notes about the same files into one.

In: notes of one type and the same files. Out: one note that keeps the facts of all.
"""

import hashlib
from collections.abc import Sequence

from recollect.core import ids
from recollect.core.values import Record
from recollect.lifecycle.extractive_summary import extract

LEAST = 3
MOST_FACTS = 30


def merge_notes(observations: Sequence[Record]) -> Record:
    """One note for all of them, based on the newest, with every fact once."""
    newest = observations[-1]
    facts = dict.fromkeys(fact for one in reversed(observations) for fact in one.facts)
    texts = [one.summary or one.title for one in reversed(observations)]
    found = extract(texts, 1500, 60)
    titles = dict.fromkeys(one.title for one in observations)
    details = dict.fromkeys(one.detail for one in observations if one.detail)
    rest = ["Also named: " + ", ".join(found.words)] if found.words else []
    digest = hashlib.blake2b(digest_size=8)
    for one in observations:
        digest.update(one.record_id.encode())
    number = int.from_bytes(digest.digest(), "big") | 1
    return Record(
        record_id=ids.RECORD + ids.derive_ulid(newest.record_id.removeprefix(ids.RECORD), number),
        namespace=newest.namespace,
        kind="observation",
        title=newest.title,
        summary=" ".join(found.sentences)[:4000],
        detail="\n\n".join(["\n".join(titles), *rest, *details])[:20_000],
        facts=tuple(facts)[:MOST_FACTS],
        concepts=tuple(dict.fromkeys(name for one in observations for name in one.concepts))[:50],
        files=newest.files,
        observation_type=newest.observation_type,
        tool_class=newest.tool_class,
        category=newest.category,
        strategy=newest.strategy,
        author=newest.author,
        session_id=newest.session_id,
        position=newest.position,
        importance=max(one.importance for one in observations),
        confidence=max(one.confidence for one in observations),
        valid_from=newest.valid_from,
        citations=newest.citations,
        source_event_ids=tuple(
            dict.fromkeys(e for one in observations for e in one.source_event_ids)
        )[:500],
    )
