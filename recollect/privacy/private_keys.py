"""Finds private keys in PEM, OpenSSH, PGP and PuTTY form, completely.

In: a text. Out: spans from header to footer, or to the end of the key's body when it is cut. What
can go wrong: a body split over string literals or JSON strings; each piece is a span of its own, so
that what is between them (quotes, commas) stays and the document stays well-formed. Or lines with a
prefix (a diff's sign, a number, a file name): the prefix of the header or footer tells that of the
other lines.
"""

import re
from collections.abc import Iterator

from recollect.privacy.patterns import pattern

_FAR = 1 << 16  # no private key is longer
_LONGEST = 400  # nor a line of one, with what stands before it
# Line ends, real or escaped any number of times, and the marks of quoted or commented lines.
_GAP = r"(?:[\s>#*|]|\\++[nrt])"
# What stands between two string literals, or two strings of a JSON array.
_JOIN = rf"""{_GAP}*+\\*+["'`][\s+.,()\[\]\\]{{0,60}}+[rbfuRBFU]?+\\*+["'`]"""
_BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
_HEADER = r"(?:Proc-Type|DEK-Info|Comment|Version|Hash|Subject|x-[\w-]{1,40}+): [^\n\\\"']{0,120}+"
_LABEL = (
    r"-{4,5} ?(?:(BEGIN)|END) (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
    r"|(Private-Lines): \d{1,3}"
)
# What is in no body of a key: other characters, and a backslash that ends no line.
_FOREIGN = r"[^\s>#*|A-Za-z0-9+/=:,_.\\-]|(?<!\\)\\++(?![nrt])"
# A last line may be short, if a quote, the end or the footer follows.
_PIECE_LAST = rf"""[A-Za-z0-9+/]{{1,63}}+={{0,2}}+(?={_GAP}*+(?:\\*+["'`]|\Z|-----))"""
_PIECE_ONLY = rf"[A-Za-z0-9+/=]{{1,15}}+(?={_JOIN}-----END)"
_PIECE = (
    rf"(?:{_GAP}*+(?:{_HEADER}|[A-Za-z0-9+/=_]{{16,}}+|{_PIECE_ONLY}))++(?:{_GAP}++{_PIECE_LAST})?+"
    rf"(?:{_GAP}*+=[A-Za-z0-9+/]{{4}}\b)?+"
)
_LINE_END = r"\r?\n|(?<!\\)\\++n|\Z"


def find_keys(text: str) -> Iterator[tuple[int, int]]:
    """Spans of private keys. A header with nothing after it, as in a parser's source, is none."""
    label = pattern(_LABEL)
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
    label = pattern(_LABEL)
    footer = label.search(text, pos, text.find("PRIVATE KEY", pos, pos + _FAR) + 24)
    if footer is not None and footer[1] is None:
        body = text[pos : footer.start()]
        if pattern(_FOREIGN).search(body) is None and re.search(r"[A-Za-z0-9+/]{8}", body):
            return [(start, footer.end())], footer.end()
    spans: list[tuple[int, int]] = []
    while True:
        piece = pattern(_PIECE).match(text, pos)
        if piece is None:
            joint = pattern(_JOIN).match(text, pos)
            if joint is None:
                break
            start = joint.end()
            piece = pattern(_PIECE).match(text, start)
            if piece is None:
                break
        pos = piece.end()
        spans.append((start, pos))
        start = pos
    if not spans and (end := _marked_end(text, start, pos)) > pos:
        return [(start, end)], end
    return spans, pos


def _marked_end(text: str, start: int, pos: int) -> int:
    """Where the body ends whose lines have the same before them as the header at `start`."""
    lead = _lead(text, start)
    end = pos
    line = _next_line(text, pos)
    full = empty = 0
    while 0 < line < pos + _FAR and empty < 4:
        stop = pattern(_LINE_END).search(text, line, line + _LONGEST).start()  # type: ignore[union-attr]
        size = _body(text, line, stop, lead)
        if size < 0 or (0 < size < 16 and not full):
            break
        end = stop if size else end
        full += size >= 16
        empty = empty + 1 if size == 0 else 0
        if 0 < size < 16:
            break  # a short line is the last
        line = _next_line(text, stop)
    return end if full else pos


def _next_line(text: str, pos: int) -> int:
    """Where the next line begins, or 0: the text or a very long line goes on to its end."""
    found = pattern(_LINE_END).search(text, pos, pos + _LONGEST)
    return found.end() if found is not None and found.end() > found.start() else 0


def _marked_start(text: str, floor: int, start: int) -> int:
    """Where the body begins whose lines have the same before them as the footer at `start`."""
    lead = _lead(text, start)
    first = line = start - len(lead)
    full = 0
    while line > floor:
        stop = line - 1 if text[line - 1] == "\n" else line - 2
        below = line
        line = _line_start(text, max(floor, stop - _LONGEST), stop)
        size = _body(text, line, stop, lead)
        if size <= 0 or below <= line or (size < 16 and below < start - len(lead)):
            break  # only the last line of a key is short
        full += size >= 16
        first = line
    return first if full else start


def _lead(text: str, start: int) -> str:
    """What stands before a label on its line."""
    return text[_line_start(text, max(0, start - 160), start) : start]


def _line_start(text: str, floor: int, pos: int) -> int:
    """Where the line begins, be its end a real one or an escaped one."""
    real = text.rfind("\n", floor, pos)
    escaped = text.rfind("\\n", max(floor, real), pos)
    return escaped + 2 if escaped >= 0 else real + 1 if real >= 0 else floor


def _body(text: str, start: int, end: int, lead: str) -> int:
    """How much of a key the line holds: 0 for a header or an empty line, -1 if it is none."""
    if end - start >= _LONGEST:
        return -1
    line = text[start:end].rstrip(" \t\r\\")
    if line.startswith(lead):
        body = line[len(lead) :]
    else:
        body = line[len(line.rstrip(_BASE64)) :]
        if lead[-1:] == body[:1] == "+":  # of the diff, not of the key
            body = body[1:]
        if _shape(line[: len(line) - len(body)]) != _shape(lead):
            return 0 if _shape(line) == _shape(lead.rstrip()) else -1
    if not body.strip(_BASE64):
        return len(body)
    return 0 if re.match(_HEADER, body) else -1


def _shape(lead: str) -> str:
    """ "  12:" and "   9:" are of one shape; so are `a.pem:1:` and `a.pem-2-` of grep."""
    marks = re.sub(r"\w+", "0", lead.lstrip())
    return re.sub(r"\s+", " ", marks).replace("-", ":")


def _tail(text: str, floor: int, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A footer whose header was cut off: the lines of base64 right before it."""
    if _lead(text, start).strip() and (first := _marked_start(text, floor, start)) < start:
        yield first, end
        return
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
