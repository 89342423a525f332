"""Compares statements by their content words.

In: texts. Out: their statements (sentences, list items) as sets of hashed words, and texts without
certain statements. Words are hashed so that a tombstone does not repeat what was forgotten.
"""

import functools
import hashlib
import re
from collections.abc import Callable, Iterator

from recollect.extract.normalised_text import content_words

Words = frozenset[int]

# The share of the shorter statement's words that the longer must hold, by where they come from.
NEAR = 0.6  # the same origin
WHOLE = 1.0  # texts that repeat others of unknown origin, mostly word for word
LEAST = 2  # statements with fewer words must be equal
WIDE_LEAST = 3  # words that a statement needs to be hidden whatever its origin
_ROOM = 5  # a statement longer than three times the shorter one and this must hold all of it
_CUT = re.compile(r"(?<=[.!?…;])\s+|(?<=[。！？；])")
_LABEL = re.compile(r"(?:[-*•] )?\w{1,20}: ")
_JOINED = re.compile(r"[._/'-]+")  # a path is its parts
_WIDE = "\u2e80"  # from here on, scripts that put no space between words
_ENDINGS = ("ing", "ed", "es", "s")


def statements(text: str) -> Iterator[Words]:
    """The statements of a text, without empty ones."""
    for line in text.splitlines():
        for part in _CUT.split(line):
            words = word_hashes(part)
            if words:
                yield words


def word_hashes(text: str) -> Words:
    """The hashed content words of a text, without endings."""
    found: set[int] = set()
    for name in content_words(text):
        for word in _JOINED.split(name):
            if max(word, default="") >= _WIDE:
                found.update(_hash(word[at : at + 2]) for at in range(max(1, len(word) - 1)))
            elif word:
                found.add(_hash(_plain(word)))
    return frozenset(found)


def same_statement(one: Words, other: Words, share: float = NEAR) -> bool:
    """Whether two statements say the same: this share of the shorter one's words, or all of them
    where the other is much longer, are in the longer one."""
    shorter, longer = sorted((one, other), key=len)
    if len(shorter) < LEAST:
        return bool(shorter) and shorter == longer
    wanted = share if len(longer) <= 3 * len(shorter) + _ROOM else 1.0
    return len(shorter & longer) >= wanted * len(shorter)


def contained_in(part: Words, whole: Words) -> bool:
    """Whether a statement is part of another, whatever their origin."""
    return len(part) >= WIDE_LEAST and part <= whole


def without_statements(text: str, hidden: Callable[[Words], bool]) -> str:
    """A text without hidden statements; unchanged when it has none."""
    lines = text.split("\n")
    kept = [_line(line, hidden) for line in lines]
    if kept == lines:
        return text
    return "\n".join(
        now for now, before in zip(kept, lines, strict=True) if now.strip() or not before.strip()
    ).strip()


def _line(line: str, hidden: Callable[[Words], bool]) -> str:
    parts = _CUT.split(line)
    stays = [part for part in parts if not hidden(word_hashes(part))]
    if len(stays) == len(parts):
        return line
    label = _LABEL.match(parts[0])
    if stays and label and stays[0] is not parts[0]:
        stays[0] = label.group() + stays[0]
    return " ".join(stays)


def _plain(word: str) -> str:
    """Without the endings of plural and tense."""
    for ending in _ENDINGS:
        if len(word) >= len(ending) + 4 and word.endswith(ending):
            return word[: -len(ending)]
    return word


@functools.lru_cache(maxsize=1 << 16)
def _hash(word: str) -> int:
    return int.from_bytes(
        hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=4).digest(), "big"
    )
