"""The indexes of a graph in memory: entities by name, other rows by the words they share.

In: rows of the graph as they are written, and prompts. Out: the entities whose name or alias occurs
in the prompt as one to three words, whatever the case, punctuation and plural; and the rows that
hold at least so many of its stems. The store's full-text search would rank every row with any of
the words, which in a large graph takes longer than the rest of recall.
"""

from array import array
from collections.abc import Iterable
from functools import lru_cache
from typing import Generic, TypeVar

import numpy as np

from recollect.core.entity_keys import key, says_nothing, tail
from recollect.core.text_words import STOP_WORDS
from recollect.core.values import Entity

T = TypeVar("T")

MOST_WORDS = 120  # read of a prompt; of a longer one half from its head, half from its tail
_LONGEST = 3
_SPARE = 1000  # places of a list that may be empty in addition to as many as are taken
_EDGES = ".,;:!?()[]{}<>\"'`*“”‘’"


class EntityIndex:
    def __init__(self) -> None:
        self._owners: dict[str, set[str]] = {}
        self._keys: dict[str, set[str]] = {}

    def add(self, entity: Entity) -> None:
        self.remove(entity.entity_id)
        keys = set()
        for name in (entity.name, *entity.aliases):
            if says_nothing(name):
                continue
            whole = key(name)
            # A repository is also called by its last part, a file by its name alone.
            keys |= {whole, tail(whole), whole.rsplit("/", 1)[-1] if "/" in whole else ""}
        self._keys[entity.entity_id] = keys - {""}
        for one in keys - {""}:
            self._owners.setdefault(one, set()).add(entity.entity_id)

    def remove(self, entity_id: str) -> None:
        for one in self._keys.pop(entity_id, ()):
            self._owners[one].discard(entity_id)
            if not self._owners[one]:
                del self._owners[one]

    def owner(self, name: str) -> str | None:
        """The one entity of that name; None when there is none, or more than one."""
        return self.owner_of(key(name))

    def owner_of(self, known: str) -> str | None:
        """The same by the name's key."""
        found = self._owners.get(known, ())
        return next(iter(found)) if len(found) == 1 else None

    def named_in(self, text: str) -> dict[str, str]:
        """Entities that a prompt names, each with the words that name it; longer names first."""
        words = _words(text)
        found: dict[str, str] = {}
        taken: set[int] = set()
        for length in range(_LONGEST, 0, -1):
            for at in range(len(words) - length + 1):
                place = range(at, at + length)
                if taken.intersection(place):
                    continue
                phrase = " ".join(words[at : at + length])
                if words[at].casefold() in STOP_WORDS:
                    continue  # no name begins with one
                owners = self._owners.get(_key(phrase))
                if owners is not None and len(owners) == 1:
                    found.setdefault(next(iter(owners)), phrase)
                    taken.update(place)
        return found

    def __len__(self) -> int:
        return len(self._keys)


@lru_cache(maxsize=8192)
def _key(phrase: str) -> str:
    """Cached: prompts consist of the same words again and again."""
    return key(phrase)


def _words(text: str) -> list[str]:
    pieces = text[:8000].split()
    if len(pieces) > MOST_WORDS:
        pieces = pieces[: MOST_WORDS // 2] + text[-4000:].split()[-MOST_WORDS // 2 :]
    return [word for piece in pieces if (word := _bare(piece))]


def _bare(piece: str) -> str:
    word = piece.strip(_EDGES)
    for ending in ("'s", "’s", "s'", "s’"):
        if word.endswith(ending):
            return word[: -len(ending)] + ("s" if ending[0] == "s" else "")
    return word


class InvertedList(Generic[T]):
    """Which rows share words with a prompt. Not thread-safe by itself."""

    def __init__(self) -> None:
        self._things: list[T | None] = []
        self._number: dict[str, int] = {}  # id: place in the list
        self._holding: dict[str, array[int]] = {}  # stem: places

    def put(self, thing_id: str, thing: T, stems: Iterable[str]) -> None:
        self.drop(thing_id)
        if len(self._things) > 2 * len(self._number) + _SPARE:
            self._close_gaps()
        number = self._number[thing_id] = len(self._things)
        self._things.append(thing)
        for stem in set(stems):
            self._holding.setdefault(stem, array("I")).append(number)

    def drop(self, thing_id: str) -> None:
        number = self._number.pop(thing_id, None)
        if number is not None:
            self._things[number] = None

    def same_words(self, thing_id: str, thing: T) -> None:
        """Replace a row whose words did not change."""
        self._things[self._number[thing_id]] = thing

    def _close_gaps(self) -> None:
        """Renumber without the removed rows: otherwise a list that changes often only grows."""
        kept = np.array(sorted(self._number.values()), dtype=np.int64)
        place = np.full(len(self._things), -1, dtype=np.int64)
        place[kept] = np.arange(len(kept))
        self._things = [self._things[number] for number in kept.tolist()]
        self._number = {one: int(place[number]) for one, number in self._number.items()}
        for stem, places in list(self._holding.items()):
            moved = place[np.frombuffer(places, np.uint32)]
            left = array("I", moved[moved >= 0].astype(np.uint32).tobytes())
            if left:
                self._holding[stem] = left
            else:
                del self._holding[stem]

    def sharing(self, stems: frozenset[str], least: float, limit: int) -> list[tuple[T, int]]:
        """Rows that hold at least `least` of these stems, each with their number; most first, then
        oldest first."""
        lists = [self._holding[stem] for stem in stems if stem in self._holding]
        if len(lists) < least:
            return []
        counts = np.bincount(np.concatenate([np.frombuffer(one, np.uint32) for one in lists]))
        numbers = np.flatnonzero(counts >= least)
        numbers = numbers[np.argsort(-counts[numbers], kind="stable")]
        found: list[tuple[T, int]] = []
        for number in numbers.tolist():
            thing = self._things[number]
            if thing is not None:
                found.append((thing, int(counts[number])))
                if len(found) == limit:
                    break
        return found
