"""Extracts sentences from what people paste and models write.

In: any text. Out: plain sentences, without code, tables, logs, quotes and markdown. Nothing raises;
a text is read up to a bound, so that the work is linear and small.
"""

import re
from functools import lru_cache

MOST_CHARS = 12_000

_FENCE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_MARK = re.compile(r"^(?:(?:#{1,6}|[-*•+]|\[[ xX]\]|(?:\*\*)?#?\d{1,2}[.):])\s+)+")
_NUMBERED = re.compile(r"^\s*(?:#{1,6}\s*|[-*]\s+)?(?:\*\*)?(?:option\s+)?(\d)[.):]\s+(.+)$", re.I)
_LINK = re.compile(r"!?\[([^\]\n]{1,200})\]\([^)\s]{1,500}\)")
# Not the stars of **kwargs, nor of 2**8.
_BOLD = re.compile(r"(?<!\w)\*\*(?=\S)([^*\n]{1,300}+)(?<=\S)\*\*(?!\w)")
_EMOJI = re.compile("[\U0001f300-\U0001faff\u2600-\u27bf\ufe0f]")
_QUOTED = re.compile(r"^\s*(?:>|❯|\$ |\| |│|»|={3,}|-{3,}|\*{3,})")
# A line that a machine printed: stack frames, times, levels, paths with line numbers, trees.
_PRINTED = re.compile(
    r"""^\s*(?:
      at\s+[\w$.<>]+\( | File\s+"[^"]+",\s+line | \#\d+\s+0x | goroutine\s+\d+
    | \d{4}-\d\d-\d\d[T ]\d\d:\d\d | \[?\d\d:\d\d:\d\d | Traceback\b | Caused\s+by:
    | (?:ERROR|WARN|WARNING|INFO|DEBUG|FATAL|FAIL|PASS|E)\s{1,4}\S | [a-z]+Error:\s
    | (?:remote|fatal|error|warning):\s | [\w./-]+\.\w{1,5}:\d+(?::\d+)?[:\s]
    | ---\s(?:FAIL|PASS) | =+\s | [|+`]-{2,} | diff\s--git | @@\s | (?:from|created\sby)\s+\S+/\S+
    | panic: | \* What\swent\swrong | > Task | \d+\sfiles?\schanged | create\smode
    )""",
    re.VERBOSE,
)
_FAR_PATH = re.compile(r"(?<![\w./~])(?:/|~/)(?:[\w.@+-]+/){2,}([\w.@+-]+/[\w.@+-]+)")
_END = re.compile(r"(?<=[.!?…])(?<!/\.\.\.)[\"')\]*]{0,2}\s+(?=\S)")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|z\.B|bzw|approx|resp|no|mr|dr)|\b\w)\.$", re.I
)
_SYMBOLS = re.compile(r"[{}();=<>|\\\[\]]")


def plain(text: str) -> str:
    """One line of markdown as plain text; names in backticks stay as they are."""
    text = _LINK.sub(r"\1", text)
    text = _BOLD.sub(r"\1", _EMOJI.sub("", text)).replace("`", "")
    return " ".join(text.replace("\0", " ").split())


@lru_cache(maxsize=4096)
def lines(text: str) -> tuple[str, ...]:
    """The lines that are prose, without their markdown."""
    text = _FENCE.sub("\n", text[:MOST_CHARS])
    found = []
    for line in text.splitlines():
        if not line.strip() or _QUOTED.match(line) or _PRINTED.match(line):
            continue
        line = plain(_MARK.sub("", line.strip()))
        if line and not _is_code(line):
            found.append(line)
    return tuple(found)


@lru_cache(maxsize=4096)
def sentences(text: str) -> tuple[str, ...]:
    """The sentences of a text, in order. A line break ends one, as people write."""
    return tuple(one for line in lines(text) for one in _split(line))


@lru_cache(maxsize=1024)
def list_sentences(text: str) -> frozenset[str]:
    """The sentences in lists and headings, which are details."""
    marked = [line.strip() for line in text[:MOST_CHARS].splitlines() if _MARK.match(line.strip())]
    return frozenset(one for line in marked for one in _split(plain(_MARK.sub("", line))))


def options(text: str) -> dict[int, str]:
    """What a numbered list offers, by number."""
    found: dict[int, str] = {}
    for line in text[:MOST_CHARS].splitlines():
        item = _NUMBERED.match(line)
        if item:
            found.setdefault(int(item[1]), plain(item[2]))
    return found


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


def _split(line: str) -> list[str]:
    found, start = [], 0
    for end in _END.finditer(line):
        if _ABBREVIATION.search(line[start : end.start()]):
            continue
        found.append(line[start : end.start()].strip())
        start = end.end()
    found.append(line[start:].strip())
    return [one for one in found if one]


def _is_code(line: str) -> bool:
    """Much punctuation and few words: code or output without a fence."""
    return len(_SYMBOLS.findall(line)) * 6 > len(line)
