"""Find private keys in PEM, OpenSSH, PGP and PuTTY form, the whole of each.

In: a text. Out: spans from header to footer, or as far as the key's body goes when it is cut.
What can go wrong: a body split over string literals or JSON strings; each piece is a span of its
own, so that what stands between them (quotes, commas) stays and the document stays well-formed.
"""

import re
from collections.abc import Iterator
from functools import cache

from recollect.privacy.patterns import compiled

_FAR = 1 << 16  # no private key is longer
# Line ends, real or escaped any number of times, and the marks of quoted or commented lines.
_GAP = r"(?:[\s>#*|]|\\++[nrt])"
# What stands between two string literals, or two strings of a JSON array.
_JOIN = rf"""{_GAP}*+\\*+["'`][\s+.,()\[\]\\]{{0,60}}+[rbfuRBFU]?+\\*+["'`]"""
_HEADER = r"(?:Proc-Type|DEK-Info|Comment|Version|Hash|Subject|x-[\w-]{1,40}+): [^\n\\\"']{0,120}+"


@cache
def _label() -> re.Pattern[str]:
    return compiled(
        r"-{4,5} ?(?:(BEGIN)|END) (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
        r"|(Private-Lines): \d{1,3}"
    )


@cache
def _whole() -> re.Pattern[str]:
    return compiled(rf"(?:{_GAP}|[A-Za-z0-9+/=:,_.-])*+\Z")


@cache
def _piece() -> re.Pattern[str]:
    # A last line may be short, if a quote, the end or the footer follows.
    last = rf"""[A-Za-z0-9+/]{{1,63}}+={{0,2}}+(?={_GAP}*+(?:\\*+["'`]|\Z|-----))"""
    only = rf"[A-Za-z0-9+/=]{{1,15}}+(?={_JOIN}-----END)"
    return compiled(
        rf"(?:{_GAP}*+(?:{_HEADER}|[A-Za-z0-9+/=_]{{16,}}+|{only}))++(?:{_GAP}++{last})?+"
        rf"(?:{_GAP}*+=[A-Za-z0-9+/]{{4}}\b)?+"
    )


@cache
def _join() -> re.Pattern[str]:
    return compiled(_JOIN)


def find_keys(text: str) -> Iterator[tuple[int, int]]:
    """Spans of private keys. A header with nothing after it, as in a parser's source, is none."""
    if "PRIVATE KEY" not in text and "Private-Lines" not in text:
        return
    label = _label()
    pos = floor = 0
    while (found := label.search(text, pos)) is not None:
        pos = found.end()
        if found[1] is None and found[2] is None:
            yield from _tail(text, floor, found.start(), found.end())
            floor = pos
            continue
        spans, pos = _from_header(text, found.start(), found.end())
        floor = pos
        yield from spans


def _from_header(text: str, start: int, pos: int) -> tuple[list[tuple[int, int]], int]:
    label = _label()
    footer = label.search(text, pos, text.find("PRIVATE KEY", pos, pos + _FAR) + 24)
    if footer is not None and footer[1] is None:
        body = text[pos : footer.start()]
        if _whole().match(body) and re.search(r"[A-Za-z0-9+/]{8}", body):
            return [(start, footer.end())], footer.end()
    spans: list[tuple[int, int]] = []
    while True:
        piece = _piece().match(text, pos)
        if piece is None:
            joint = _join().match(text, pos)
            if joint is None:
                break
            start = joint.end()
            piece = _piece().match(text, start)
            if piece is None:
                break
        pos = piece.end()
        spans.append((start, pos))
        start = pos
    return spans, pos


def _tail(text: str, floor: int, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A footer whose header was cut off: the lines of base64 right before it."""
    first = start
    lines = text[max(floor, start - _FAR) : start].replace("\\n", "\n ").split("\n")
    for number, line in enumerate(reversed(lines)):
        bare = line.strip()
        if number and not re.fullmatch(r"[A-Za-z0-9+/=_]{1,}", bare):
            last = re.search(r"(?<![A-Za-z0-9+/=_])[A-Za-z0-9+/=_]{16,}+\s*+\Z", line[-128:])
            first -= len(last[0]) + 1 if last is not None else 0
            break
        if number == 0 and bare:
            break
        first -= len(line) + (number > 0)
    body = text[first:start]
    if re.search(r"[A-Za-z0-9+/]{16}", body):
        yield first + len(body) - len(body.lstrip()), end
