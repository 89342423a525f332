"""The entity index: which entities a prompt names.

In: entities as they are written, and prompts. Out: the entities whose name or alias occurs in the
prompt as one to three words, whatever the case, punctuation and plural.
"""

from functools import lru_cache

from recollect.core.entity_keys import key, says_nothing, tail
from recollect.core.text_words import STOP_WORDS
from recollect.core.values import Entity

MOST_WORDS = 120  # read of a prompt; of a longer one half from its head, half from its tail
_LONGEST = 3
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
