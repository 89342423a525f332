"""Whether a sentence tells the same as another, by the words that say something.

In: texts. Out: their statements (sentences, items of a list) as sets of hashed words, and texts
without the statements that are not to be told. Hashes are kept and compared, not words, so that
what was forgotten is not repeated by whatever remembers to leave it out.
"""

import functools
import hashlib
import re
from collections.abc import Callable, Iterator

from recollect.extract.normalised_text import content_words

Words = frozenset[int]

NEAR = 0.6  # of the shorter one's words, for statements of one origin
LEAST = 2  # words that two statements of one origin must have
WIDE_LEAST = 3  # words of a statement that is looked for wherever it was said
_ROOM = 5  # a sentence that is much longer than what is looked for must hold all of it
_CUT = re.compile(r"(?<=[.!?…;])\s+|(?<=[。！？；])")
_LABEL = re.compile(r"(?:[-*•] )?\w{1,20}: ")
_JOINED = re.compile(r"[._/'-]+")  # a path is its parts
_WIDE = "\u2e80"  # from here on, scripts that put no space between words
_ENDINGS = ("ing", "ed", "es", "s")


def statements(text: str) -> Iterator[Words]:
    """The statements of a text that say anything."""
    for line in text.splitlines():
        for part in _CUT.split(line):
            words = telling(part)
            if words:
                yield words


def telling(text: str) -> Words:
    """The words of a text that carry meaning, in their plainest form, hashed."""
    found: set[int] = set()
    for name in content_words(text):
        for word in _JOINED.split(name):
            if max(word, default="") >= _WIDE:
                found.update(_hash(word[at : at + 2]) for at in range(max(1, len(word) - 1)))
            elif word:
                found.add(_hash(_plain(word)))
    return frozenset(found)


def near(one: Words, other: Words) -> bool:
    """Whether two statements of one origin tell the same: the shorter is mostly in the longer."""
    shorter, longer = sorted((one, other), key=len)
    if len(shorter) < LEAST:
        return bool(shorter) and shorter == longer
    wanted = NEAR if len(longer) <= 3 * len(shorter) + _ROOM else 1.0
    return len(shorter & longer) >= wanted * len(shorter)


def within(part: Words, whole: Words) -> bool:
    """Whether a statement is told inside another, wherever that was said."""
    return len(part) >= WIDE_LEAST and part <= whole


def without(text: str, hidden: Callable[[Words], bool]) -> str:
    """A text without the statements that are hidden; one with none of them comes back as it is."""
    lines = text.split("\n")
    kept = [_line(line, hidden) for line in lines]
    if kept == lines:
        return text
    return "\n".join(
        now for now, before in zip(kept, lines, strict=True) if now.strip() or not before.strip()
    ).strip()


def _line(line: str, hidden: Callable[[Words], bool]) -> str:
    parts = _CUT.split(line)
    stays = [part for part in parts if not hidden(telling(part))]
    if len(stays) == len(parts):
        return line
    label = _LABEL.match(parts[0])
    if stays and label and stays[0] is not parts[0]:
        stays[0] = label.group() + stays[0]
    return " ".join(stays)


def _plain(word: str) -> str:
    """Without the ending that number and tense put there."""
    for ending in _ENDINGS:
        if len(word) >= len(ending) + 4 and word.endswith(ending):
            return word[: -len(ending)]
    return word


@functools.lru_cache(maxsize=1 << 16)
def _hash(word: str) -> int:
    return int.from_bytes(
        hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=4).digest(), "big"
    )
