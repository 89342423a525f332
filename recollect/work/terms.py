"""The terms of texts, and which documents hold them.

In: any text; numbered documents as counts of terms. Out: terms in order, lower case, without the
commonest words; packed arrays, which `bm25` reads without copying. Needs no numpy, since whoever
only writes must not load it.
"""

import functools
import re
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping

from recollect.core import text_words
from recollect.core.text_words import stem

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_")


@functools.lru_cache(maxsize=20_000)
def _term(word: str) -> str:
    return "" if word in text_words.STOP_WORDS or len(word) < 2 else stem(word)


def terms(text: str) -> list[str]:
    """The terms of a text; `parseHTTPHeader` and `parse_http_header` give the same ones."""
    found = map(_term, text_words.words(_HUMP.sub(" ", text)))
    return [term for term in found if term]


BITS = 16  # of an entry, for how often; the number of the document stands above them
MOST_OFTEN = (1 << BITS) - 1


class Postings:
    def __init__(self) -> None:
        self.entries: dict[str, array[int]] = {}  # ascending
        self.lengths: array[int] = array("q")  # by document; 0 for one that holds nothing
        self.total = 0
        self.documents = 0  # that hold anything

    def add(self, number: int, counts: Mapping[str, int]) -> None:
        """Count these terms in a document, beside what it holds already."""
        self.lengths.extend([0] * (number + 1 - len(self.lengths)))
        first = number << BITS
        for term, count in counts.items():
            held = self.entries.get(term)
            if held is None:
                self.entries[term] = array("q", (first + min(count, MOST_OFTEN),))
            elif held[-1] < first:
                held.append(first + min(count, MOST_OFTEN))
            else:
                at = bisect_left(held, first)
                if held[at] >> BITS == number:
                    held[at] = first + min((held[at] & MOST_OFTEN) + count, MOST_OFTEN)
                else:
                    held.insert(at, first + min(count, MOST_OFTEN))
        length = sum(counts.values())
        self.documents += bool(length) and not self.lengths[number]
        self.lengths[number] += length
        self.total += length

    def remove(self, number: int, terms: Iterable[str]) -> None:
        """Take out a document that holds these terms and no others."""
        for term in terms:
            held = self.entries[term]
            del held[bisect_left(held, number << BITS)]
            if not held:
                del self.entries[term]
        self.documents -= bool(self.lengths[number])
        self.total -= self.lengths[number]
        self.lengths[number] = 0
