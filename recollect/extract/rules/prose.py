"""Extracts sentences from what people paste and models write.

In: any text. Out: plain sentences, without code, tables, logs, quotes and markdown. Nothing raises;
a text is read up to a bound, so that the work is linear and small.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

MOST_CHARS = 12_000

_FENCE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_MARK = re.compile(r"^(?:(?:#{1,6}|[-*•+]|\[[ xX]\]|(?:\*\*)?#?\d{1,2}[.):])\s+)+")
_NUMBERED = re.compile(r"^\s*(?:#{1,6}\s*|[-*]\s+)?(?:\*\*)?(?:option\s+)?(\d)[.):]\s+(.+)$", re.I)
_LINK = re.compile(r"!?\[([^\]\n]{1,200})\]\([^)\s]{1,500}\)")
# Not the stars of **kwargs, nor of 2**8.
_EMPHASIS = re.compile(r"(?<![\w*])(\*{1,2})(?=[^\s*])([^*\n]{1,300}+)(?<=\S)\1(?![\w*])")
_EMOJI = re.compile("[\U0001f300-\U0001faff\u2600-\u27bf\ufe0f]")
_QUOTED = re.compile(r"^\s*(?:>|❯|\$ |\| |│|»|={3,}|-{3,}|\*{3,})")
# A line that a machine printed: stack frames, times, levels, paths with line numbers, trees.
_PRINTED = re.compile(
    r"""^\s*(?:
      at\s+[\w$.<>]+\( | File\s+"[^"]+",\s+line | \#\d+\s+0x | goroutine\s+\d+
    | \d{4}-\d\d-\d\d[T ]\d\d:\d\d | \[?\d\d:\d\d:\d\d | Traceback\b | Caused\s+by:
    | (?:ERROR|WARN|WARNING|INFO|DEBUG|FATAL|FAIL|PASS|E)\s{1,4}\S | [a-z]+Error:\s
    | Error:\s | [⨯✗✖×]\s | \d+\s+[+-]\s | npm\s(?:WARN|ERR!|notice) | \d+:\d+\s+(?:error|warning)\b
    | (?:remote|fatal|error|warning):\s | [\w./-]+\.\w{1,5}:\d+(?::\d+)?[:\s]
    | ---\s(?:FAIL|PASS) | =+\s | [|+`]-{2,} | diff\s--git | @@\s | (?:from|created\sby)\s+\S+/\S+
    | \[[\w:./-]{2,40}\]\s | panic: | \* What\swent\swrong | > Task | \d+\sfiles?\schanged
    | create\smode
    )""",
    re.VERBOSE,
)
_FAR_PATH = re.compile(r"(?<![\w./~])(?:/|~/)(?:[\w.@+-]+/){2,}([\w.@+-]+/[\w.@+-]+)")
_END = re.compile(r"(?<=[.!?…])(?<!/\.\.\.)[\"')\]*]{0,2}\s+(?=\S)|(?<=[。！？])(?=\S)")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|z\.B|bzw|approx|resp|no|mr|dr)|(?<![\w.-])[a-z])\.$", re.I
)
# A call of the command /recollect, in the forms of the agents (see `hosts/slash_command.py`).
_OWN_COMMAND = re.compile(r"\s*+(?:recollect:|[/$]recollect\b)\s*+(remember\b)?+", re.IGNORECASE)
_FORGETS = re.compile(r"(?:forget|drop|delete|remove|end|correct)\b", re.IGNORECASE)
_SYMBOLS = re.compile(r"[{}();=<>|\\\[\]]")
# What holds together: a sentence does not end inside code, brackets or a quotation.
_WHOLE = re.compile(r"`[^`]{1,300}`|\([^()]{1,300}\)|\"[^\"]{1,300}\"|“[^”]{1,300}”")
_PASSED = re.compile(r"(?:pass(?:ed|es)?|ok|done|yes|fixed)\b", re.IGNORECASE)
_RULER = re.compile(r"[|: -]+")  # the line below the head of a table
_HEADING = re.compile(r"^#{1,6}\s|^\*\*[^*]{1,100}\*\*:?$")
# Where a sentence that is too long may end: not inside a list, nor before what it depends on.
_CLAUSE = re.compile(r"[;:.] | [-—–]+ | \((?=[^()]*\)$)|, (?=(?:so|since|because)\b)")
_PAIRS = ("()", "[]", "{}")
# The last word before something that was cut off.
_DANGLES = re.compile(
    r"\b(?:shows?|that|to|for|with|as|the|an?|are|is|by|and|or|of|in|on|includes?|using|following|"
    r"which|where|either|because \S+)$|\b(?:it|which|that|now) (?:now )?\w+s$|"
    r"\b(?:it|which|that) now$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Sentence:
    """A sentence and where it stands."""

    text: str
    heading: str  # the heading above it
    listed: bool  # an item of a list, or a part of one
    is_heading: bool
    opens: bool  # the first of its line
    lead: str = ""  # what leads to the list that it is an item of: "It now has:"


def plain(text: str) -> str:
    """One line of markdown as plain text; names in backticks stay as they are."""
    text = _LINK.sub(r"\1", text)
    text = _EMPHASIS.sub(r"\2", _EMOJI.sub("", text)).replace("`", "")
    return " ".join(text.replace("\0", " ").split())


@lru_cache(maxsize=4096)
def lines(text: str) -> tuple[str, ...]:
    """The lines that are prose, without their markdown."""
    return tuple(plain(_bare(line)) for line in _prose(text))


def without_own_command(text: str) -> str:
    """A prompt that calls /recollect says only what stands behind `remember`: "forget X" is done by
    the agent that is asked to, and states nothing."""
    called = _OWN_COMMAND.match(text)
    if called is None:
        return text
    return text[called.end() :] if called[1] else ""


def asked_to_forget(text: str) -> str:
    """What a prompt that calls /recollect asks to forget, with the word for it; else empty."""
    called = _OWN_COMMAND.match(text)
    asked = text[called.end() :].strip() if called and not called[1] else ""
    return asked if _FORGETS.match(asked) else ""


@lru_cache(maxsize=4096)
def sentences(text: str) -> tuple[str, ...]:
    """The sentences of a text, in order. A line break ends one, as people write."""
    return tuple(one.text for one in placed_sentences(text))


@lru_cache(maxsize=1024)
def placed_sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of a text, each with where it stands."""
    found: list[Sentence] = []
    heading = lead = ""
    for line in _prose(text):
        bare = _bare(line)
        heads = _HEADING.match(line) is not None
        listed = not heads and _MARK.match(line) is not None
        if heads:
            heading = plain(bare).rstrip(" :")
        for number, part in enumerate(_split(bare)):
            if one := plain(part):
                lead = lead if listed else ""
                found.append(Sentence(one, heading, listed, heads, not number, lead))
                lead = one if one.endswith(":") and not heads else lead
    return tuple(found)


def fenced(text: str) -> list[str]:
    """The blocks of code in a text."""
    return [one[0] for one in _FENCE.finditer(text[:MOST_CHARS])]


def table_rows(text: str) -> list[Sentence]:
    """The rows of tables, each as one sentence: its first cell, and what the others say."""
    found: list[Sentence] = []
    heading, head = "", list[str]()
    for line in map(str.strip, _FENCE.sub("\n", text[:MOST_CHARS]).splitlines()):
        if _HEADING.match(line):
            heading = plain(_bare(line)).rstrip(" :")
        cells = [plain(cell) for cell in line.strip("|").split("|")] if line[:1] == "|" else []
        if not cells or _RULER.fullmatch(line):
            head = head if cells else []
            continue
        if not head:
            head = cells
            continue
        if len(cells) == len(head):
            told = [pair for pair in zip(head, cells, strict=True) if pair[1]]
            if told and told[0][1].strip("# ").isdigit():
                del told[0]
            if len(told) > 1 and not _PASSED.match(told[1][1]):
                rest = "; ".join(
                    f"{name} {cell}" if len(told) > 2 else cell for name, cell in told[1:]
                )
                found.append(Sentence(f"{told[0][1]}: {rest}", heading, True, False, True))
    return found


def _prose(text: str) -> Iterator[str]:
    for line in _FENCE.sub("\n", text[:MOST_CHARS]).splitlines():
        line = line.strip()
        if not line or _QUOTED.match(line) or _PRINTED.match(line):
            continue
        bare = plain(_bare(line))
        if bare and not _is_code(bare):
            yield line


def _bare(line: str) -> str:
    """A line without the marks of headings, lists and bold."""
    return _MARK.sub("", _EMPHASIS.sub(r"\2", line))


def options(text: str) -> dict[int, str]:
    """What a numbered list offers, by number."""
    found: dict[int, str] = {}
    for number, item in numbered(text):
        found.setdefault(number, item)
    return found


def numbered(text: str) -> list[tuple[int, str]]:
    """The items of all numbered lists."""
    found = map(_NUMBERED.match, text[:MOST_CHARS].splitlines())
    return [(int(item[1]), plain(item[2])) for item in found if item]


def shortened(text: str, most: int) -> str:
    """The text, or its first clauses; empty when it is too long and cannot be ended well: inside a
    list, brackets, a quotation or code."""
    text = " ".join(text.replace("**", "").split()).rstrip(" :;,")
    ends = [len(text), *(found.start() for found in reversed(list(_CLAUSE.finditer(text))))]
    for end in ends:
        head = text[:end].rstrip(" :;,")
        # A second colon may be one of a quotation.
        if end < len(text) and text[end] == ":" and ": " in head:
            continue
        if end <= most and len(head.split()) >= (4 if end < len(text) else 2) and is_whole(head):
            return head
    return ""


def is_whole(text: str) -> bool:
    """Whether no list, bracket or quotation is cut off in it."""
    return (
        not text.endswith(("…", "..."))
        and all(_are_closed(text, *pair) for pair in _PAIRS)
        and text.count('"') % 2 == 0
        and not _DANGLES.search(text)
    )


def _are_closed(text: str, opening: str, closing: str) -> bool:
    """Whether each bracket is closed, and none before it was opened."""
    depth = 0
    for mark in text:
        depth += (mark == opening) - (mark == closing)
        if depth < 0:
            return False
    return depth == 0


def cut(text: str, most: int) -> str:
    """At most `most` characters on one line, cut at a word."""
    flat = " ".join(text.replace("\0", " ").split())
    if len(flat) <= most:
        return flat
    head = flat[: most - 1]
    return (head.rsplit(" ", 1)[0] if " " in head[most // 2 :] else head).rstrip(" ,;:") + "…"


def capitalised(text: str) -> str:
    """With a capital first letter, unless a name comes first: `run_all`, `cmd/x.go`."""
    first = text.split(" ", 1)[0]
    named = (
        any(mark in first.rstrip(".,:;!?") for mark in "_./()") or first[1:] != first[1:].lower()
    )
    return text if named else text[:1].upper() + text[1:]


def with_short_paths(text: str, project: str) -> str:
    """With short paths: relative to the project, or only their end."""
    if project:
        text = text.replace(project + "/", "")
    return _FAR_PATH.sub(r"\1", text)


_LINE_NUMBERS = re.compile(
    r"(?<=\w):\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*\b| ?\(lines? [\d, -]+\)|"
    r" (?:at|on|in) lines? \d+(?:-\d+)?\b"
)


def without_line_numbers(text: str) -> str:
    """The next edit makes them wrong."""
    return _LINE_NUMBERS.sub("", text)


def _split(line: str) -> list[str]:
    whole = [one.span() for one in _WHOLE.finditer(line)]
    found, start = [], 0
    for end in _END.finditer(line):
        if any(first < end.start() < last for first, last in whole):
            continue
        if _ABBREVIATION.search(line[start : end.start()]):
            continue
        found.append(line[start : end.start()].strip())
        start = end.end()
    found.append(line[start:].strip())
    return [one for one in found if one]


def _is_code(line: str) -> bool:
    """Much punctuation and few words: code or output without a fence."""
    return len(_SYMBOLS.findall(line)) * 6 > len(line)
