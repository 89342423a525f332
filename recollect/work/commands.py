"""Shell lines in a normal form: which program was run for which purpose.

In: a shell line. Out: its commands in a form that is equal whenever the same thing was run
(without directories and incidental options), the files it names, and the subject of a commit. A
script inside a line is not read.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from recollect.work.paths import base, looks_like_file, words_of

MOST_CHARS = 160
MOST_LINE = 8_000
MOST_TOLD = 4
_HERE_DOCUMENT = re.compile(r"<<-?[ \t]*(['\"]?)(\w{1,40})\1[^\n]*\n")
_SEPARATOR = re.compile(r"&&|\|\||[;|\n]")
_REDIRECT = re.compile(r"\d?>>?[ \t]*(?:&\d|[^\s;&|]{1,200})|<[ \t]*[^\s;&|<]{1,200}")
_PREFIX = re.compile(
    r"^(?:\w{1,60}=\S{0,200}\s+|(?:time|sudo|nohup|exec|command)\s+|timeout\s+(?:-\S+\s+)?\d\S{0,8}\s+|env\s+)"
)
_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.){0,4000}\"|'[^']{0,4000}'")
GIT_COMMIT = re.compile(r"\bgit\s+(?:-C\s+\S+\s+)?commit\b")
# An option whose text follows: as a here-document with this end, or in these quotes.
HERE = r"""(?:"\$\(cat\s++<<-?\s*+\\?['"]?(?P<end>\w++)['"]?[ \t]*+\n|(?P<quote>["']))"""
_MESSAGE = re.compile(r"(?<=\s)(?:-[a-z]*m|--message)[\s=]*+" + HERE)
# A message from a file, and the here-document that is that file or was written to it just before.
_MESSAGE_FILE = re.compile(r"(?<=\s)(?:-[a-z]*F|--file)[\s=]*+")
_DOCUMENT = re.compile(
    r"<<-?[ \t]{0,4}+\\?(?P<quote>)['\"]?(?P<end>\w{1,40}+)['\"]?[^\n]{0,200}+\n"
)
_CLOSING = {'"': re.compile(r'(?<!\\)"'), "'": re.compile(r"(?<!\\)'")}
MOST_TEXTS = 8  # of one command
# Programs that change nothing: what their arguments name is not acted on.
_READING = words_of(
    """
    ls cat head tail less more grep egrep rg ag find fd tree wc cd pwd echo printf which type file
    stat du df sort uniq cut tr jq yq diff cmp date true false test [ ps pgrep lsof top whoami id
    man basename dirname realpath readlink md5sum sha256sum base64 od xxd strings seq sleep history
    """
)
_GIT_READING = frozenset(
    f"git {word}"
    for word in words_of("status diff log show blame grep ls-files rev-parse branch merge-base")
)
_BARE = re.compile(r"[\w@][\w@:+-]*$")
# Programs that only look, move about or keep house: having run them says nothing about how this
# project is built, tested or started.
_LOOKING = _READING | words_of(
    """
    awk sed xargs tee export source . set unset alias kill pkill env touch mkdir rm cp mv ln chmod
    chown tar zip unzip curl wget open code vim nano gh git hg svn for while if do done then else fi
    case esac { } ( ) wait read local return exit
    """
)
_INTERPRETERS = words_of("bash sh zsh python python3 node ruby perl php")


@dataclass(frozen=True, slots=True)
class Step:
    """One command of a line: its normal form, empty for one that only looks, and the files that it
    names."""

    form: str
    files: tuple[str, ...]


def steps(line: str) -> list[Step]:
    """The commands of a shell line, in order."""
    found = []
    for part in _parts(_without_documents(line[:MOST_LINE])):
        words = part.split()
        if not words:
            continue
        files = tuple(dict.fromkeys(_file_of(word) for word in words[1:]))
        found.append(Step(_form(part), tuple(name for name in files if name)))
    return found


def words_of_parts(line: str) -> list[list[str]]:
    """The words of each command of a shell line, without quotes and without what stands before the
    program."""
    return [
        [word.strip("\"'") for word in _without_prefixes(part).split()]
        for part in _parts(_without_documents(line[:MOST_LINE]))
    ]


@dataclass(frozen=True, slots=True)
class ActingStep:
    """One command that may change something, without what stands in quotes, in lower case."""

    words: tuple[str, ...]  # the program and what follows, without options
    told: int  # how many of the first are bare words: the program and its subcommands
    flags: frozenset[str]  # names of options


def acting_steps(line: str) -> list[ActingStep]:
    """The commands of a shell line that do more than look, in order."""
    found = []
    for part in _parts(_without_documents(line[:MOST_LINE])):
        given = _without_prefixes(_QUOTED.sub(" ", part)).lower().split()
        if not given:
            continue
        program = base(given[0])
        if program in _INTERPRETERS and given[1:2] == ["-m"]:
            given = given[2:]
        elif program in _READING or " ".join([program, *given[1:2]]) in _GIT_READING:
            continue
        else:
            given[0] = given[0].removeprefix("./")
        words = [word for word in given if word[0] != "-"]
        flags = frozenset(word.lstrip("-").partition("=")[0] for word in given if word[0] == "-")
        told = next((n for n, word in enumerate(words) if not _BARE.match(word)), len(words))
        if words:
            found.append(ActingStep(tuple(words), max(1, min(told, MOST_TOLD)), flags))
    return found


def _without_documents(line: str) -> str:
    """Without here-documents, which are prose or programs."""
    kept, at = [], 0
    while (start := _HERE_DOCUMENT.search(line, at)) is not None:
        kept.append(line[at : start.start()])
        lines = line[start.end() :].splitlines(keepends=True)
        last = next((n for n, one in enumerate(lines) if one.strip() == start[2]), len(lines) - 1)
        at = start.end() + sum(len(one) for one in lines[: last + 1])
        kept.append("\n")
    return "".join([*kept, line[at:]])


def _parts(line: str) -> list[str]:
    """Cut at separators that stand outside quotes."""
    held: list[str] = []

    def hide(match: re.Match[str]) -> str:
        held.append(match[0])
        return f"\x00{len(held) - 1}\x00"

    hidden = _QUOTED.sub(hide, line.replace("\x00", " "))
    parts = _SEPARATOR.split(_REDIRECT.sub(" ", hidden))
    return [
        re.sub(r"\x00(\d+)\x00", lambda m: held[int(m[1])], part).strip(" &()") for part in parts
    ]


def _without_prefixes(part: str) -> str:
    while (cut := _PREFIX.match(part)) is not None:
        part = part[cut.end() :]
    return part


def _form(part: str) -> str:
    text = " ".join(_without_prefixes(part).split())
    first, _, rest = text.partition(" ")
    program = first.rsplit("/", 1)[-1]
    if program in _LOOKING or len(text) > MOST_CHARS or not re.match(r"[\w./@~]", text):
        return ""
    # A script given on the command line is another one each time.
    if program in _INTERPRETERS and (not rest or rest.startswith(("-c", "-e", "- ", "<"))):
        return ""
    return text


def _file_of(word: str) -> str:
    word = word.strip("\"'`,:;()[]{}")
    if word.startswith("-"):
        word = word.partition("=")[2]
    word = re.sub(r":\d+(?::\d+)?$", "", word).removesuffix("/...")
    return word.removeprefix("./") if looks_like_file(word) else ""


def commit_subject(line: str) -> str:
    """The first line of the message of a `git commit`, or ""."""
    line = line[:MOST_LINE] if GIT_COMMIT.search(line[:MOST_LINE]) else ""
    said = (one.strip() for text in message_texts(line) for one in text.splitlines())
    return next(filter(None, said), "").replace('\\"', '"')[:MOST_CHARS]


def message_texts(line: str) -> list[str]:
    """The parts of the message that a `git commit` was given: by options, or as a file in the form
    of a here-document."""
    found = [text for _, text in given_texts(_MESSAGE, line)]
    if not found and _MESSAGE_FILE.search(line):
        found = [text for _, text in given_texts(_DOCUMENT, line)][:1]
    return found


def given_texts(option: re.Pattern[str], command: str) -> Iterator[tuple[re.Match[str], str]]:
    """The texts that are given to an option. One without its end is left out."""
    at = 0
    for _ in range(MOST_TEXTS):
        found = option.search(command, at)
        if found is None:
            return
        at = found.end()
        rest = command[at:]
        if found["quote"]:
            end = _CLOSING[found["quote"]].search(rest)
            text = rest[: end.start()] if end else ""
        else:
            lines = rest.split("\n")
            ends = (n for n, line in enumerate(lines) if line.strip(" \t").startswith(found["end"]))
            text = "\n".join(lines[: next(ends, 0)])
        if text:
            at += len(text)
            yield found, text


def printed(output: Any) -> str:
    """What a command printed, as far as its host tells."""
    if isinstance(output, str):
        return output
    if isinstance(output, dict):
        named = [
            output.get(key) for key in ("stderr", "stdout", "output", "error", "content", "text")
        ]
        return "\n".join(one for one in named if isinstance(one, str))
    return ""


MOST_ERROR_CHARS = 120
_ERROR = re.compile(
    r"(?:errors?|exception|\b(?:fail(?:ed|ure|ures)?|fatal|panic|cannot|could ?n[o']t|unable to|"
    r"undefined|unresolved|not found|no such|denied|refused|timed out|traceback|assert\w*))\b",
    re.I,
)
_NONE = re.compile(r"\b(?:0|no) (?:errors?|fail\w*)\b", re.I)
_ESCAPE = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")


def first_error(output: Any) -> str:
    """The first line of what a command printed that reads like an error, shortened."""
    for line in printed(output)[:40_000].splitlines():
        plain = " ".join(_ESCAPE.sub("", line).split())
        if plain and _ERROR.search(plain) and not _NONE.search(plain):
            return plain[:MOST_ERROR_CHARS]
    return ""
