"""Whether a statement says again what an older one says.

In: two statements. Out: yes or no: the same content words and values, the same of them denied, and
the same direction ("before", "after"). It is meant to be certain, not complete: what only says the
same again is not kept, so that nothing that changes an older statement may be taken for it.
"""

import functools
import re
from typing import NamedTuple

from recollect.core.text_words import STOP_WORDS, stem, words
from recollect.extract.normalised_text import word_set
from recollect.extract.rules.patterns import CHANGES, SINCE_WHEN
from recollect.reconcile.ending_pairs import read

LEAST = 2  # content words
_READ = 600  # characters of a statement
_CLAUSES = re.compile(r"[,;:.!?](?:\s|$)|\bbut\b", re.IGNORECASE)
_DENIES = re.compile(
    r"\b(?:not|no|never|don'?t|\w+n't|without|avoid|stop|instead of|rather than|nicht|nie"
    r"|kein\w{0,2})\b",
    re.IGNORECASE,
)
# What makes a statement firmer or more polite, and says nothing else.
_LIGHT = word_set("all always any as decided don each ever every instead never rather remember")
_NO_CONTENT = frozenset(map(stem, STOP_WORDS | _LIGHT))
# Words that turn a statement round although they are no content.
_DIRECTIONS = word_set(
    "above after again before below down less more most off only out over under up"
)


class _Said(NamedTuple):
    content: frozenset[str]
    denied: frozenset[str]
    directions: frozenset[str]


def restates(new: str, old: str) -> bool:
    one, other = _said(new), _said(old)
    if len(one.content) < LEAST or one != other or read(new).values != read(old).values:
        return False
    # "Moved from A to B" and "moved from B to A" have the same words.
    ordered = any(map(_tells_change, (new, old)))
    return not ordered or words(new[:_READ]) == words(old[:_READ])


def _tells_change(text: str) -> bool:
    found = (one[0] for one in CHANGES.finditer(text[:_READ]))
    return any(not SINCE_WHEN.fullmatch(one) and not _DENIES.fullmatch(one) for one in found)


@functools.lru_cache(maxsize=4096)
def _said(text: str) -> _Said:
    text = text[:_READ].replace("’", "'")
    content, denied, directions = set[str](), set[str](), set[str]()
    for clause in _CLAUSES.split(text):
        found = _DENIES.search(clause)
        content |= _content(clause)
        denied |= _content(clause[found.end() :]) if found else set()
        directions |= _DIRECTIONS.intersection(words(clause))
    return _Said(frozenset(content), frozenset(denied), frozenset(directions))


def _content(text: str) -> set[str]:
    return {stem(one) for one in words(text)} - _NO_CONTENT
