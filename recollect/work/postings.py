"""Which documents hold a term, and how often.

In: numbered documents as counts of terms. Out: packed arrays, which `bm25` reads without copying.
Needs no numpy, since whoever only writes must not load it.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping

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
