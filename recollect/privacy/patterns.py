"""Regular expressions and word lists, as the finders of this room use them.

In: a pattern with possessive quantifiers. Out: it, compiled. Before 3.11.5 a possessive quantifier
of a whole group could lose captures and miss matches (CPython issues 101955 and 106052), so there
it is written in another way; those of single characters, which are sound, stay.
"""

import re
import sys
from functools import cache

_TRUSTED = sys.version_info >= (3, 11, 5)
_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*(?:\]|\Z)|\{\d*+,?\d*+\}|.", re.S)


def compiled(pattern: str, flags: int = 0) -> "re.Pattern[str]":
    return re.compile(pattern if _TRUSTED else plain(pattern), flags)


@cache
def pattern(source: str, flags: int = 0) -> "re.Pattern[str]":
    """Compiled at first use: the hook's fallback pays only for what its payload needs."""
    return compiled(source, flags)


def words(text: str) -> frozenset[str]:
    """A set of words, written as one text."""
    return frozenset(text.split())


def plain(pattern: str) -> str:
    """The pattern without possessive quantifiers of groups: `(?:…)*+` becomes `(?>(?:…)*)`, and
    `(…)?+`, whose capture an atomic group would lose as well, becomes `(…)?`."""
    out: list[str] = []
    captures = 0
    opened: list[tuple[int, int]] = []  # where a group begins, and the captures before it
    closed: tuple[int, int] | None = None  # the group that has just ended
    tokens = _TOKEN.findall(pattern)
    for at, token in enumerate(tokens):
        if token == "(":
            opened.append((len(out), captures))
            captures += tokens[at + 1 : at + 2] != ["?"]
        if closed is not None and token == "+" and out[-1] != ")":
            start, before = closed
            if captures == before:
                out.insert(start, "(?>")
                out.append(")")
            closed = None
            continue
        quantifier = closed is not None and (token in "*+?" or token[0] == "{")
        closed = closed if quantifier and out[-1] == ")" else None
        if token == ")":
            closed = opened.pop()
        out.append(token)
    return "".join(out)
