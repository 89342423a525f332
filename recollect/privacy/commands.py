"""Find passwords that stand as arguments of programs: `mysql -pX`, `echo X | sudo -S`.

In: a text (and its lower-case twin of equal length). Out: spans of the passwords.
What can go wrong: a sentence about a command reads like one. A plain word with another after it
is left, and so is what stands for a value: a variable, a stand-in, a path.
"""

from bisect import bisect_right
from collections.abc import Generator, Iterator
from functools import cache

from recollect.privacy import secret_values
from recollect.privacy.patterns import pattern
from recollect.privacy.rules.definition import Program

Span = tuple[int, int, str]
Word = tuple[int, int]

_FAR = 4096  # no command line that a person reads is longer
_BACK = 1024
_MOST_WORDS = 256
_NAME_CHARS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-.=:@")
_CALLED = r"(?:\.[a-z]{2,5})?+(?=[\s\"'`;|&)\\]|\Z)"
_QUOTE = r"""\\*+(["'`])"""
_PROSE_QUOTE = r"""(?<!\\)(?<![^\W_](?='\w))\\*+["'`]"""  # the apostrophe in "don't" is none
_BLANK = r"(?:[ \t]|\\\r?\n)*+"
# A backslash belongs to a word unless it escapes a quote, a blank or a line's end; two or four
# at its start are a Windows share.
_BARE = (
    r"""(?:[^\s"'`;|&()<>\\]|&(?=[^\s&"'`])|\\++(?![\\"'`nrt\s])"""
    r"""|(?<=[ \t])\\\\(?:\\\\)?(?=\w))++"""
)


@cache
def _by_name() -> dict[str, list[Program]]:
    from recollect.privacy.rules.programs import PROGRAMS  # when the first option occurs

    table: dict[str, list[Program]] = {}
    for program in PROGRAMS:
        for name in program.names:
            table.setdefault(name, []).append(program)
    return table


@cache
def program_names() -> frozenset[bytes]:
    return frozenset(name.encode() for name in _by_name())


def find_arguments(text: str, low: str, words: frozenset[bytes]) -> Iterator[Span]:
    """Passwords on command lines; `words` are the text's, as far as they are of interest."""
    for name in program_names() & words:
        if name == b"pass" and "pass insert" not in low:
            continue  # a word of Python and of prose
        yield from _find_program(text, low, name.decode())


def _find_program(text: str, low: str, name: str) -> Iterator[Span]:
    quotes = _Quotes(text)
    at = low.find(name)
    while at >= 0:
        end = at + len(name)
        if low[at - 1 : at] not in _NAME_CHARS and pattern(_CALLED).match(low, end):
            end = yield from _read(text, low, name, at, quotes.open_at(at))
        at = low.find(name, end)


class _Quotes:
    """Which quote, with its backslashes, is open at a place: a command in it ends where it does.
    Places are asked for in order, so that each part of a line is looked at once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._pos = 0
        self._open = ""

    def open_at(self, place: int) -> str:
        line = self._text.rfind("\n", self._pos, place) + 1
        start = max(self._pos, line, place - _BACK)
        if start != self._pos:
            self._open = ""
        for found in pattern(_PROSE_QUOTE).finditer(self._text, start, place):
            if not self._open:
                self._open = found[0]
            elif found[0] == self._open:
                self._open = ""
        self._pos = place
        return self._open


def _line_start(low: str, floor: int, hit: int) -> int:
    """Where the command's line begins; a line that ends in a backslash goes on in the next."""
    start = hit
    while (newline := low.rfind("\n", floor, start)) >= 0:
        if low[max(floor, newline - 1) : newline] != "\\":
            return newline + 1
        start = newline
    return floor


def _line_end(low: str, hit: int) -> int:
    limit = min(len(low), hit + _FAR)
    end = hit
    while (end := low.find("\n", end, limit)) >= 0:
        if low[end - 1] != "\\":
            return end
        end += 1
    return limit


def _read(text: str, low: str, name: str, at: int, around: str) -> Generator[Span, None, int]:
    """The secrets of one command, and where it ends."""
    end = _line_end(low, at)
    words, stop = _words(text, at, end, around)
    for program in _by_name()[name]:
        for span in _secrets(text, program, words):
            yield *span, "password"
        if program.stdin and _reads_stdin(text, program, words):
            start = _line_start(low, max(0, at - _BACK), at)
            for span in _piped(text, program, start, at, stop, end, around):
                yield *span, "password"
    return max(stop, at + len(name))


def _words(text: str, pos: int, limit: int, around: str) -> tuple[list[Word], int]:
    """The words of a command, as a shell would cut them, and where the command ends."""
    words: list[Word] = []
    while len(words) < _MOST_WORDS:
        pos = pattern(_BLANK).match(text, pos, limit).end()  # type: ignore[union-attr]
        end = _word_end(text, pos, limit, around)
        if end == pos:
            break
        words.append((pos, end))
        pos = end
    return words, pos


def _word_end(text: str, pos: int, limit: int, around: str) -> int:
    start = pos
    while pos < limit:
        bare = pattern(_BARE).match(text, pos, limit)
        if bare is not None:
            pos = bare.end()
            continue
        quote = pattern(_QUOTE).match(text, pos, limit)
        if quote is None or quote[0] == around or quote[1] == "`":
            break
        closed = text.find(quote[0], quote.end(), min(limit, quote.end() + 512))
        line = text.find("\n", quote.end(), limit)
        if closed < 0 or 0 <= line < closed or (pos > start and text[pos - 1].isspace()):
            break
        pos = closed + len(quote[0])
    return pos


def _inner(text: str, start: int, end: int) -> Word:
    """What a word says: without quotes about it."""
    quote = pattern(_QUOTE).match(text, start, end)
    if quote is not None and text.endswith(quote[0], quote.end(), end):
        return quote.end(), end - len(quote[0])
    return start, end


def _secrets(text: str, program: Program, words: list[Word]) -> Iterator[Word]:
    said = [text[slice(*_inner(text, *word))] for word in words]
    if program.when and not any(_has(said, word) for word in program.when.split("|")):
        return
    if program.unless and _has(said, program.unless):
        return
    for usage in program.flags:
        for at in range(1, len(words)):
            span = _match_flags(text, usage, said, words, at)
            if span is not None and _is_given(text, span, words, usage[0][0] == "-"):
                yield span
    places = _positions(said, program.valued)
    for usage in program.places:
        span = _match_places(text, usage, said, words, places)
        if span is not None and _is_given(text, span, words, True):
            yield span
            return


def _has(said: list[str], needed: str) -> bool:
    """Whether a word or a flag is there; short flags may stand together, as in `-nbB`."""
    if len(needed) == 2 and needed[0] == "-":
        return any(
            word[:1] == "-" and word[1:2] != "-" and len(word) <= 5 and needed[1] in word
            for word in said[1:]
        )
    return needed in said[1:]


def _match_flags(
    text: str, usage: tuple[str, ...], said: list[str], words: list[Word], at: int
) -> Word | None:
    *before, last = usage
    if not before:
        return _within(text, last, words[at])
    word = said[at]
    flag = before[0]
    if len(usage) == 2 and word.startswith(flag + "="):
        return _within(text, f"{flag}={last}", words[at])
    short = len(flag) == 2 and flag[0] == "-"
    together = short and len(word) <= 5 and word[1:].isalpha() and word[0] == "-"
    if word != flag and not (together and word.endswith(flag[1])):
        return None
    if at + len(before) >= len(words):
        return None
    return _within(text, last, words[at + len(before)])


def _positions(said: list[str], valued: frozenset[str]) -> list[int]:
    """The words that are neither options nor an option's value."""
    places: list[int] = []
    skip = False
    for at, word in enumerate(said[1:], 1):
        option = word[:1] == "-" or word in ("/add", "/y")
        option = option or (word[:1] == "/" != word[1:2] and ":" in word)
        if not option and not skip:
            places.append(at)
        together = word[:1] == "-" != word[1:2] and f"-{word[-1]}" in valued  # `-nbC 10`
        skip = option and (word in valued or together)
    return places


def _match_places(
    text: str, usage: tuple[str, ...], said: list[str], words: list[Word], places: list[int]
) -> Word | None:
    *before, last = usage
    anywhere = (usage[0][:1] in "/\\" and usage[0] != "\\*") or len(usage) == 1
    first = range(max(1, len(places))) if anywhere else range(1)
    for begin in first:
        if begin + len(before) >= len(places):
            break
        here = [said[places[begin + n]].lower() for n in range(len(before))]
        if all(_alike(form, word) for form, word in zip(before, here, strict=True)):
            span = _within(text, last, words[places[begin + len(before)]])
            if span is not None and not _is_setting(text[slice(*span)]):
                return span
        if len(usage) == 1 and last == "{}":
            break
    return None


def _is_setting(word: str) -> bool:
    name, sign, _ = word.partition("=")
    return bool(sign) and name.isalpha() and name.islower()  # `role=admin`


def _alike(form: str, word: str) -> bool:
    """`*` stands for any text, at either end or both."""
    core = form.strip("*")
    if form[0] == "*" and form[-1] == "*":
        return core in word
    if form[0] == "*":
        return word.endswith(core)
    return word.startswith(core) if form[-1] == "*" else word == core


def _within(text: str, form: str, word: Word) -> Word | None:
    """The part of a word that `{}` stands for in its form: `-p{}`, `*:{}`, `*/{}@*`."""
    start, end = word
    if form != "{}" and text[start:end][:1] in "\"'\\" and form[0] not in "\"'\\":
        start, end = _inner(text, start, end)
    left, _, right = form.partition("{}")
    if left[:1] == "*":
        at = text.find(left[1:], start + 1, end)
        if at < 0:
            return None
        start = at + len(left) - 1
    elif "*" in left:
        head, _, sign = left.partition("*")
        at = text.find(sign, start + len(head) + 1, end)
        if not text.startswith(head, start, end) or at < 0:
            return None
        start = at + len(sign)
    elif not text.startswith(left, start, end):
        return None
    else:
        start += len(left)
    if right:
        look = text.rfind if right[0] == "@" else text.find  # a password may hold an @
        end = look(right[0], start + 1, end)
        if end < 0:
            return None
    return _inner(text, start, end) if start < end else None


def _is_given(text: str, span: Word, words: list[Word], prose: bool) -> bool:
    """A value that stands where a program takes its password, and for nothing else."""
    value = text[slice(*span)]
    if not secret_values.is_given(value):
        return False
    if not (prose and value.isalpha() and value.islower()):
        return True
    # `docker login -p asks for it`: a plain word before another is a sentence.
    after = bisect_right(words, (span[1], 0))
    alone = len(value) < 8 and words[after - 1] == span
    return not alone or after == len(words) or not text[slice(*words[after])].isalpha()


def _reads_stdin(text: str, program: Program, words: list[Word]) -> bool:
    said = [text[start:end] for start, end in words]
    return any(not flag or _has(said, flag) for flag in program.stdin)


def _piped(
    text: str, program: Program, start: int, command: int, stop: int, end: int, around: str
) -> Iterator[Word]:
    """What `echo` or `printf` sends it, or what stands after `<<<`."""
    here = pattern(_BLANK).match(text, stop, end)
    stop = here.end() if here is not None else stop
    if text.startswith("<<<", stop, end):
        words, _ = _words(text, stop + 3, end, around)
        yield from _sent(text, program, words[:1])
    bar = text.rfind("|", start, command)
    if bar < 0 or bar - start > _BACK:
        return
    at = max(text.rfind("echo ", start, bar), text.rfind("printf ", start, bar))
    if at >= 0 and text.find("|", at, bar) < 0:
        words, _ = _words(text, at, bar, around)
        yield from _sent(text, program, words[1:])


def _sent(text: str, program: Program, words: list[Word]) -> Iterator[Word]:
    # Without an option of `echo`, and without the format of `printf`.
    said = ((word, text[slice(*word)]) for word in words)
    given = [word for word, one in said if one[:1] != "-" and "%s" not in one]
    if len(given) == 1:
        span = _within(text, program.piped, _inner(text, *given[0]))
        if span is not None and secret_values.is_given(text[slice(*span)]):
            yield span
