"""Parses a prompt into what search uses: words, stems, phrases, identifiers, dates.

In: any text, even a pasted file. Out: a `Query`, and its `Terms`, weighted by the statistics of the
store. Of a long prompt only the rarest words are kept. Nothing here raises.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from recollect.core import porter
from recollect.core.text_words import STOP_WORDS, words
from recollect.core.tuning import MATCHING
from recollect.retrieve.dates import Date, dates_in
from recollect.retrieve.vocabulary import GRAM_BITS, grams_of

if TYPE_CHECKING:
    from recollect.retrieve.index import Index

MOST_STEMS = 48  # of a long prompt the rarest are kept
MOST_UNKNOWN = 16  # words that no memory holds: only their 4-grams can match
GIST = 45  # words embedded of the head and of the tail of a long prompt: more take more time
_READ = 2000  # characters of the head and of the tail in which they are looked for

_PHRASE = re.compile(r'"([^"\n]{2,200})"|`([^`\n]{2,200})`')
_IDENTIFIER = re.compile(
    r"(?<![\w./-])(?=[\w./-]*\w/[\w./-])[\w./-]++|\b\w++\.\w{1,5}\b|\b\w+_\w+|"
    r"(?<![a-z])[a-z]++[A-Z]\w*|[A-Z]{1,6}-?\d{2,}|(?<!\d)v?\d++\.\d+\S*"
)


@dataclass(frozen=True, slots=True)
class Query:
    text: str
    words: tuple[str, ...]  # distinct, in order
    stems: tuple[str, ...]  # of `words`, one each
    dates: tuple[Date, ...]

    @property
    def gist(self) -> str:
        """The text to embed: of a long prompt its head and its tail, where the request is."""
        pieces = self.text[:_READ].split()
        if len(pieces) <= 2 * GIST:
            return self.text
        return " ".join(pieces[:GIST] + self.text[-_READ:].split()[-GIST:])

    @property
    def phrases(self) -> tuple[str, ...]:
        """What the prompt puts in quotes or backticks."""
        return tuple(first or second for first, second in _PHRASE.findall(self.text))

    @property
    def identifiers(self) -> tuple[str, ...]:
        """Paths, file names, names in snake_case and camelCase, error codes, versions."""
        return tuple(dict.fromkeys(_IDENTIFIER.findall(self.text[:20_000])))


Intent = Literal["recall", "preference", "procedure", "person", "place", "time", "reason", "task"]
_INTENTS: tuple[tuple[Intent, str], ...] = (
    ("recall", r"\b(remember|recall|last time|previously|what did (we|i|you)|did we)\b"),
    ("preference", r"\b(i (prefer|like|want|use)|my (preferred|favou?rite|usual))\b"),
    ("procedure", r"\b(how (do|can|should|to)|steps?|walk me through|runbook)\b"),
    ("person", r"\b(who|whose|whom)\b"),
    ("place", r"\b(where|which (file|folder|directory|repo\w*))\b"),
    ("time", r"\b(when|what (day|date))\b"),
    ("reason", r"\bwhy\b"),
)


def intent(text: str) -> Intent:
    """What kind of answer a prompt wants, by rules; most prompts are tasks."""
    head = text[:4000]
    return next((name for name, rule in _INTENTS if re.search(rule, head, re.IGNORECASE)), "task")


def parse(text: str) -> Query:
    distinct = tuple(dict.fromkeys(words(text)))
    return Query(text, distinct, tuple(map(porter.stem, distinct)), dates_in(text))


@dataclass(frozen=True)
class Terms:
    """A query weighted by the statistics of the store: rare terms count more."""

    stems: tuple[str, ...]
    stem_idf: NDArray[np.float64]  # reduced for stop words
    known: float  # the share of the query's weight whose words the store holds
    grams: NDArray[np.uint32]
    gram_idf: NDArray[np.float64]
    documents: int
    mean_grams: float
    mean_session_window: float

    @cached_property
    def gram_number(self) -> NDArray[np.uint16]:
        """gram -> 1 + its index in `grams`, 0 for all others."""
        number = np.zeros(1 << GRAM_BITS, dtype=np.uint16)
        number[self.grams] = np.arange(1, len(self.grams) + 1)
        return number


def weigh(query: Query, indexes: Sequence["Index"]) -> Terms:
    """Weights by the statistics of all these namespaces together, so that scores compare."""
    session_windows = sum(index.session_windows.count for index in indexes)
    documents = sum(index.count for index in indexes)
    chosen, unknown = _choose(query, indexes, session_windows)
    stems = tuple(chosen)
    weights = np.array(list(chosen.values()), dtype=np.float64)
    kept = [
        word
        for word, stem in zip(query.words, query.stems, strict=True)
        if stem in chosen or word in unknown
    ]
    grams = np.unique(grams_of(kept)[0])
    holders = sum((index.gram_documents[grams] for index in indexes), np.zeros(len(grams)))
    grams, holders = grams[holders > 0], holders[holders > 0]
    absent = len(unknown) * float(idf(np.zeros(1), session_windows)[0])
    present = float(weights.sum())
    return Terms(
        stems,
        weights,
        present / (present + absent) if present else 0.0,
        grams,
        idf(holders, documents),
        documents,
        sum(index.total_grams for index in indexes) / max(1, documents),
        sum(index.session_windows.total for index in indexes) / max(1, session_windows),
    )


def idf(holders: NDArray[Any], total: int) -> NDArray[np.float64]:
    """Inverse document frequency, never negative."""
    return np.log1p((total - holders + 0.5) / (holders + 0.5))


def _choose(
    query: Query, indexes: Sequence["Index"], session_windows: int
) -> tuple[dict[str, float], set[str]]:
    """The stems to search with and their weights, and the words that no memory holds."""
    holders: dict[str, int] = {}
    stop: set[str] = set()
    unknown: list[str] = []
    for word, stem in zip(query.words, query.stems, strict=True):
        if stem not in holders:
            holders[stem] = sum(index.session_windows_with(stem) for index in indexes)
        if word in STOP_WORDS:
            stop.add(stem)
        elif holders[stem] == 0:
            unknown.append(word)
    names = [stem for stem, count in holders.items() if count]
    weights = idf(np.array([holders[stem] for stem in names], dtype=np.float64), session_windows)
    weights *= [MATCHING.stop_weight if stem in stop else 1.0 for stem in names]
    order = np.argsort(-weights, kind="stable")[:MOST_STEMS]
    chosen = {names[at]: float(weights[at]) for at in sorted(order.tolist())}
    return chosen, set(unknown[:MOST_UNKNOWN])
