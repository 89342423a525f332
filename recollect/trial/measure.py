"""Measures what was said at prompts by what the sessions then did.

In: sessions of one project, and what was said at their prompts. Out: a mark for each prompt, and
figures. The definitions are those of the benchmark `replay_bench.py`, so that its figures and these
agree:

A prompt *needs* the files that its session touches from there on, that earlier sessions touched,
that the prompt does not name, and that the session has not touched yet. A file is its base name;
one that is said with a directory must be in it. A prompt's *runs* are the build, test and lint
commands that the session runs from there on and earlier sessions ran. Earlier sessions are those
that had ended when this one began; prompts without any are not counted.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any

from recollect.core.values import Event, JsonBody
from recollect.trial.transcripts import PastSession, prompt_text
from recollect.work.paths import base, inside, words_of

FIRST = 5  # so many of the files that are said count
CHARS_PER_TOKEN = 4
BASELINE_FILES = 5
_LONGEST_COMMAND = 160

# --- what a text names, what a command line does ---

_WORD = re.compile(r"[\w.@/-]+")
_EXTENSION = re.compile(
    r"\w\.(?:go|md|py|sh|tsx?|jsx?|jsonl?|ya?ml|toml|rs|txt|mod|sum|log|cfg|sql|html|s?css|rb"
    r"|java|kts?|cs|php|swift|scala|cc?|cpp|hh?|hpp|mm?|lua|vue|svelte|exs?|proto|tf|gradle|xml"
    r"|ipynb|lock|env|ini|conf)(?![\w/])"
)
_WHOLE_NAMES = words_of("Makefile Dockerfile .gitignore .gitattributes")


def files_named(text: str) -> Iterator[str]:
    """The files that a text names, as they are written there, without a leading slash."""
    for word in _WORD.findall(text):
        if "//" in word:  # an address
            continue
        path = word.rstrip(".-@/")
        if base(path) not in _WHOLE_NAMES:
            ends = [found.end() for found in _EXTENSION.finditer(word)]
            path = word[: ends[-1]] if ends else ""
        if "@" in base(path):
            path = path.rpartition("@")[2]
        if path:
            yield path.removeprefix("/")


_HERE_DOCUMENT = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?")
_MESSAGE = re.compile(r"-m\s+(?:\"(?:[^\"\\]|\\.)*\"|'[^']*')", re.DOTALL)
_SEPARATOR = re.compile(r"&&|[;|\n]")
_REDIRECT = re.compile(r"\d?>&\d|\d?>\s*\S+")
_BEFORE = re.compile(r"\s*(?:\w+=\S*\s+)+|\s*(?:time|timeout \d+\w?)\s+")
# Programs that build, test and lint, with the sub-commands that do; none: all of them.
_BUILDING = {
    "go": words_of("test build vet generate mod"),
    "mise": words_of("run r"),
    "npm": words_of("test run"),
    "bun": words_of("test run"),
    **dict.fromkeys(
        words_of(
            """
            golangci-lint gofmt goimports gotestsum make pnpm yarn pytest cargo ruff mypy
            shellcheck pre-commit tox jest tsc
            just nox vitest eslint biome mvn gradle ./gradlew bundle rake rspec dotnet phpunit
            composer ctest cmake bazel swift mix sbt
            """
        ),
        frozenset[str](),
    ),
}
_PYTEST = re.compile(r"python3? -m pytest\b")


def commands_in(line: str, root: str = "") -> list[str]:
    """The build, test and lint commands of a shell line, in a form that is equal whenever the same
    is run."""
    found = []
    for part in _SEPARATOR.split(without_documents(line)):
        before = _BEFORE.match(part)
        part = _REDIRECT.sub(" ", part[before.end() :] if before else part)
        part = " ".join(part.split()).strip(" &")
        if root:
            part = part.replace(root.rstrip("/") + "/", "")
        if len(part) < _LONGEST_COMMAND and _builds(part):
            found.append(part)
    return found


def _builds(command: str) -> bool:
    program, _, rest = command.partition(" ")
    if _PYTEST.match(command):
        return True
    wanted = _BUILDING.get(program)
    return wanted is not None and (not wanted or rest.partition(" ")[0] in wanted)


def without_documents(line: str) -> str:
    """Without here-documents, which are prose or programs."""
    kept, at = [], 0
    for start in _HERE_DOCUMENT.finditer(line):
        if start.start() < at:
            continue  # it stands inside another one
        end = _find_word(line, "\n" + start[1], start.end())
        if end >= 0:
            kept += [line[at : start.start()], " "]
            at = end + 1 + len(start[1])
    return "".join([*kept, line[at:]])


def _find_word(text: str, wanted: str, at: int = 0, after: str = "_") -> int:
    """Where a text begins with no letter or digit, and none of the signs `after`, behind it."""
    while (at := text.find(wanted, at)) >= 0:
        behind = text[at + len(wanted) : at + len(wanted) + 1]
        if not (behind.isalnum() or (behind and behind in after)):
            return at
        at += 1
    return -1


# --- what a session did ---


@dataclass
class TurnDigest:
    """What was done in one turn: base names of files with the time of the last touch, paths in the
    repository, commands."""

    files: dict[str, datetime] = field(default_factory=dict)
    paths: set[str] = field(default_factory=set)
    commands: set[str] = field(default_factory=set)


def digest(session: PastSession) -> list[TurnDigest]:
    return [_digest(turn) for turn in session.turns]


def _digest(turn: Iterable[Event]) -> TurnDigest:
    found = TurnDigest()
    for event in turn:
        if event.kind != "tool_use" or not isinstance(event.body, JsonBody):
            continue
        call = event.body.data
        if not isinstance(call, dict):
            continue
        where, root = event.source.project_path or "", event.source.root
        for name in _touched(call):
            path = inside(name, where, root) or base(name)
            found.files[base(path)] = event.valid_time
            found.paths.add(path)
        command = call.get("command")
        if isinstance(command, str) and command:
            found.commands.update(commands_in(command, root))
    return found


def _touched(call: Mapping[str, Any]) -> Iterator[str]:
    """What was read, edited or searched, or named in a command. A question to a language server is
    about a name, and touches no file."""
    asks = call.get("tool") == "LSP"
    for name in () if asks else call.get("files") or ():
        if isinstance(name, str) and "." in base(name)[1:]:
            yield name
    command = call.get("command")
    if isinstance(command, str) and command:
        yield from files_named(_MESSAGE.sub(" ", without_documents(command)))


# --- what a prompt needs ---


@dataclass(frozen=True)
class Case:
    """One prompt, and what its session does from there on."""

    session: str
    turn: int
    prompt: str
    need: frozenset[str]
    run: frozenset[str]
    paths: frozenset[str]  # that it touches from there on
    before: frozenset[str]  # files that it has touched
    known_commands: frozenset[str]
    most_touched: tuple[str, ...]
    last_touched: tuple[str, ...]


def cases(sessions: Sequence[PastSession], prompts: int | None = None) -> Iterator[Case]:
    """The first prompts of each session of one project, in the order of time."""
    digests = {one.name: digest(one) for one in sessions}
    ending = sorted(sessions, key=lambda one: one.ended)
    files: Counter[str] = Counter()
    commands: Counter[str] = Counter()
    last: dict[str, datetime] = {}
    for session in sorted(sessions, key=lambda one: one.started):
        while ending and ending[0].ended < session.started:
            ended = ending.pop(0)
            for turn in digests[ended.name]:
                last.update(turn.files)
            files.update(sorted(set().union(*(turn.files for turn in digests[ended.name]))))
            commands.update(set().union(*(turn.commands for turn in digests[ended.name])))
        if session.history_only or (not files and not commands and not last):
            continue
        yield from _cases_of(session, digests[session.name], prompts, files, commands, last)


def _cases_of(
    session: PastSession,
    done: Sequence[TurnDigest],
    prompts: int | None,
    files: Counter[str],
    commands: Counter[str],
    last: Mapping[str, datetime],
) -> Iterator[Case]:
    before: set[str] = set()
    for number, turn in enumerate(session.turns[:prompts]):
        text = prompt_text(turn)
        lower = text.lower()
        rest = done[number:]
        after = set().union(*(one.files for one in rest))

        yield Case(
            session=session.name,
            turn=number,
            prompt=text,
            need=frozenset(one for one in after if files[one] and one.lower() not in lower)
            - before,
            run=frozenset(
                one
                for one in set().union(*(part.commands for part in rest))
                if commands[one] and one not in text
            ),
            paths=frozenset().union(*(one.paths for one in rest)),
            before=frozenset(before),
            known_commands=frozenset(commands),
            most_touched=_new((name for name, _ in files.most_common()), lower, before),
            last_touched=_new(sorted(last, key=last.__getitem__, reverse=True), lower, before),
        )
        before.update(done[number].files)


def _new(names: Iterable[str], lower: str, before: Collection[str]) -> tuple[str, ...]:
    new = (one for one in names if one.lower() not in lower and one not in before)
    return tuple(islice(new, BASELINE_FILES))


# --- marks and figures ---


@dataclass(frozen=True)
class PromptMark:
    """How one prompt was answered."""

    case: Case
    text: str
    files: tuple[str, ...]  # named, new to the session and to the prompt
    right: frozenset[str]  # those among them that were needed
    commands: frozenset[str]  # named
    needed_by_now: bool  # a needed file was named at this prompt or an earlier one

    @property
    def spoke(self) -> bool:
        return bool(self.text.strip())

    @property
    def first_right(self) -> frozenset[str]:
        return self.right & set(self.files[:FIRST])

    @property
    def commands_right(self) -> frozenset[str]:
        return self.commands & self.case.run


class Marker:
    """Marks the prompts of sessions in order; knows what was said before in each."""

    def __init__(self) -> None:
        self._said: dict[str, set[str]] = {}

    def mark(self, case: Case, text: str) -> PromptMark:
        said = self._said.setdefault(case.session, set())
        named: dict[str, str] = {}
        lower = case.prompt.lower()
        for path in files_named(text):
            name = base(path)
            if name not in named and name.lower() not in lower and name not in case.before:
                named[name] = path
        right = frozenset(name for name, path in named.items() if _needed(case, path))
        files = tuple(named)
        by_now = bool(right & set(files[:FIRST])) or any(_needed(case, one) for one in said)
        said.update(named[name] for name in files[:FIRST])
        return PromptMark(case, text, files, right, _commands_named(case, text), by_now)


def _needed(case: Case, path: str) -> bool:
    if base(path) not in case.need:
        return False
    if "/" not in path:
        return True
    same = [one for one in case.paths if base(one) == base(path)]
    return any(one == path or one.endswith("/" + path) or "/" not in one for one in same)


def _commands_named(case: Case, text: str) -> frozenset[str]:
    """The longest of the known commands that a text names."""
    found = [one for one in case.known_commands if one not in case.prompt and _names(text, one)]
    return frozenset(
        one for one in found if not any(one != other and one in other for other in found)
    )


def _names(text: str, command: str) -> bool:
    at = -1
    while (at := _find_word(text, command, at + 1, after="_:./-")) >= 0:
        before = text[at - 1 : at]
        if not (before.isalnum() or (before and before in "_-")):
            return True
    return False


@dataclass(frozen=True)
class Figures:
    """Rates over prompts; `need` and `run` count those that need a known file or run a known
    command."""

    prompts: int
    spoke: int
    tokens: float  # at a prompt where it spoke
    need: int
    files_hit: int
    files_hit_by_now: int
    first_need: int
    first_hit: int
    run: int
    commands_hit: int
    files_said: int  # of those that count, at prompts with a need
    files_right: int


def figures(marks: Sequence[PromptMark]) -> Figures:
    need = [one for one in marks if one.case.need]
    first = [one for one in need if one.case.turn == 0]
    run = [one for one in marks if one.case.run]
    spoke = [one for one in marks if one.spoke]
    characters = sum(len(one.text) for one in spoke)
    return Figures(
        prompts=len(marks),
        spoke=len(spoke),
        tokens=characters / CHARS_PER_TOKEN / max(1, len(spoke)),
        need=len(need),
        files_hit=sum(bool(one.first_right) for one in need),
        files_hit_by_now=sum(one.needed_by_now for one in need),
        first_need=len(first),
        first_hit=sum(bool(one.first_right) for one in first),
        run=len(run),
        commands_hit=sum(bool(one.commands_right) for one in run),
        files_said=sum(len(one.files[:FIRST]) for one in need),
        files_right=sum(len(one.first_right) for one in need),
    )
