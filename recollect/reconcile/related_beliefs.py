"""Finds the beliefs that a sentence may be about: by words, names and vectors.

In: standing beliefs and a sentence, with its vector or none. Out: beliefs with a score between 0
and 1, best first.
"""

import functools
import math
from collections import Counter
from collections.abc import Callable, Sequence

from recollect.core.ids import RECORD
from recollect.core.values import Record
from recollect.extract.statement_match import Words, word_hashes
from recollect.store.interface import RecordFilter, Store

MOST_BELIEFS = 2000  # of one namespace, the newest
_PAGE = 500


def standing(store: Store, namespaces: Sequence[str], *, proposed: bool = False) -> list[Record]:
    """The beliefs that hold somewhere in these namespaces, newest first in each; with `proposed`,
    also those that may."""
    found: list[Record] = []
    for namespace in dict.fromkeys(namespaces):
        place, read = None, 0
        while read < MOST_BELIEFS:
            page = store.records.page(
                namespace, RecordFilter(kind="knowledge"), before=place, limit=_PAGE
            )
            found += [
                one for one in page.items if one.stands or (proposed and one.state == "proposed")
            ]
            place, read = page.next, read + len(page.items)
            if place is None:
                break
    return found


def refused(store: Store, namespace: str) -> list[Record]:
    """What the user refused or ended by hand, the newest."""
    over = RecordFilter(kind="knowledge", state="ended")
    found = store.records.page(namespace, over, limit=_PAGE).items
    return [one for one in found if one.ended_by == "user"]


def ended_since(store: Store, namespace: str) -> list[Record]:
    """What newer statements ended, the last one to end first."""
    found = store.records.beliefs(namespace, by="valid_until", state="ended", limit=_PAGE)
    return [one for one in found if one.ended_by.startswith(RECORD)]


def related(beliefs: Sequence[Record], text: str, most: int = 3) -> list[tuple[Record, float]]:
    """Those of the beliefs that a sentence may be about."""
    said = word_hashes(text)
    weight = rarity(beliefs)
    scored = []
    for one in beliefs:
        about = words_of(one)
        least = min(weight(said), weight(about))
        score = weight(said & about) / least if least else 0.0
        if score > 0:
            scored.append((one, round(score, 4)))
    scored.sort(key=lambda pair: (-pair[1], pair[0].record_id))
    return scored[:most]


def words_of(belief: Record) -> Words:
    return _words(f"{belief.title} {belief.subject} {belief.value}")


@functools.lru_cache(maxsize=4096)
def _words(text: str) -> Words:
    return word_hashes(text)


def rarity(beliefs: Sequence[Record]) -> Callable[[Words], float]:
    """What words weigh: more if fewer of the beliefs have them, nothing if none has."""
    spread = Counter(word for one in beliefs for word in words_of(one))

    def weight(words: Words) -> float:
        return sum(math.log(1 + len(beliefs) / spread[word]) for word in words if word in spread)

    return weight


def cosines(store: Store, beliefs: Sequence[Record], vector: bytes, model: str) -> dict[str, float]:
    """How near stored beliefs are in meaning."""
    found: dict[str, float] = {}
    for namespace in dict.fromkeys(one.namespace for one in beliefs):
        ids = [one.record_id for one in beliefs if one.namespace == namespace]
        for row in store.vectors.of(namespace, model, ids):
            if row.part == 0:
                found[row.source_id] = cosine(vector, row.vector)
    return found


def cosine(one: bytes, other: bytes) -> float:
    import numpy as np  # not before it is needed: whoever asks without a vector does not wait

    if len(one) != len(other):
        return 0.0
    mine, theirs = (np.frombuffer(some, dtype="<f4").astype(np.float64) for some in (one, other))
    length = float(np.linalg.norm(mine) * np.linalg.norm(theirs))
    return float(mine @ theirs) / length if math.isfinite(length) and length > 0 else 0.0
