"""Normalised text and its hash, content words, and names.

In: any text. Out: a form in which near-equal statements are equal, and a short hash of it.
"""

import functools
import hashlib
import re

_WORD = re.compile(r"[^\W_]+(?:[._/'-]+[^\W_]+)*", re.UNICODE)

_WIDE = re.compile(r"[\u2e80-\U0003ffff]+")  # no space between words
_PAIR = re.compile(r"..?")


def word_set(text: str) -> frozenset[str]:
    """A set of words, written as a text."""
    return frozenset(text.split())


_EMPTY = word_set(
    """a an the and or but so to of in on at for with by from as is are was were be been it its this
    that these those i you we they he she my your our their please also just now then there here do
    does did done can could will would should may might have has had not no yes ok okay me us them
    if when what which who how why all any some more very really too again up out into than"""
)
# Specific names: a path, an identifier, a number, a quoted or a capitalised name.
_NAME = re.compile(
    r"(?<![\w-])[\w-]++\.[a-zA-Z]\w{0,8}\b|\b\w+[_/]\w+|\b[a-z]+[A-Z]\w*|\b[A-Z]{2,}\w*|"
    r"\b[A-Z][a-z]+[A-Z]\w*|\b\w++\(\)|"
    r"(?<!\w)--?[A-Za-z][\w-]+|\b\d+(?:[.,:]\d+)*\b|\"[^\"]{2,60}\"|'[^']{3,60}'"
)
# Of these, what stands in code: a file, an identifier, a call, an option.
_CODE = re.compile(
    r"(?<![\w.-])[\w-]++(?:\.[a-zA-Z]\w{0,8})++|\b\w++/(?!\S)|\b[^\W_]++_\w|\b[a-z]++[A-Z]|"
    r"\b[A-Z][a-z]++[A-Z]|\b\w++\(\)|(?<!\w)--?[A-Za-z][\w-]|\w(?:=|::)\w|\^\{|\w\[\w{0,40}\]"
)


def normalised(text: str) -> str:
    """Lower case, without punctuation and function words."""
    return _normalised(text[:6000])


@functools.lru_cache(512)  # the rules compare the same sentences many times
def _normalised(text: str) -> str:
    words = (word.lower() for word in _WORD.findall(text))
    return " ".join(word for word in words if word not in _EMPTY)


def hash_of_words(*parts: str) -> str:
    """The content hash of what was extracted: the same words that carry meaning, whatever their
    form. What people write and what is imported has other recipes (`content_hash.py`)."""
    text = "\n".join(normalised(part) for part in parts)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def content_words(text: str) -> list[str]:
    return normalised(text).split()


def distinct_words(text: str) -> set[str]:
    """The content words of a text, each once. In scripts that put no space between words, two
    characters count as one."""
    found: set[str] = set()
    for word in content_words(text):
        wide = _WIDE.findall(word)
        found.update(part for run in wide for part in _PAIR.findall(run))
        found.update(filter(None, _WIDE.split(word)))
    return found


def names(text: str) -> list[str]:
    """The specific names in a text."""
    return _NAME.findall(text[:4000])


def names_code(text: str) -> bool:
    """Whether a text names something that stands in code, and not only numbers, acronyms, commits
    or branches, as talk about the state of the work does."""
    return _CODE.search(text[:4000]) is not None
