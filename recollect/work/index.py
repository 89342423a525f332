"""What was done in one project, in memory: what ranking reads.

In: the work of turns, in the order of time; one that comes again takes the place of what it was.
Out: counts by file, person and branch, and the turns that hold a word. Files and turns are numbered
in the order in which they came, so that numpy can read what is counted; numpy itself is loaded by
whoever ranks. A renamed file keeps its number. Dropped and filled again whenever something was
taken out.
"""

import math
import sys
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from recollect.core.tuning import WORK_FILES
from recollect.core.values import Action, Record, TurnWork
from recollect.work.git_ignored import nothing_ignored
from recollect.work.paths import base, subject_of
from recollect.work.terms import Postings, terms

MAIN = frozenset(("main", "master", "trunk", "develop", "HEAD", ""))
DAY_S = 86_400.0
MOST_DEFINED = 60  # names of a turn that edited nothing
MOST_EDITED = 200  # names of a file, those that were edited last


@dataclass(slots=True)
class IndexedTurn:
    """What ranking needs of one turn."""

    number: int
    session_id: str
    files: tuple[int, ...]
    weights: tuple[float, ...]  # of `files`: how much the turn had to do with each
    # What commands named that was no known file: it may become one.
    loose: tuple[str, ...]
    terms: tuple[str, ...]
    # In the text of its edits, once for each file; of a turn that edited nothing, what the files
    # define that it read.
    names: tuple[str, ...]


@dataclass(slots=True)
class NameUse:
    """How a name came up so far."""

    sessions: int = 0  # that edited text with it, or were shown where it is defined
    last_session: str = ""
    last_at: float = 0.0  # when text with it was edited
    branch: str = ""  # and where


@dataclass(slots=True)
class SessionWork:
    turns: dict[str, IndexedTurn] = field(default_factory=dict)
    files: dict[str, set[int]] = field(default_factory=dict)  # by person


@dataclass(slots=True)
class BranchWork:
    files: dict[int, float] = field(default_factory=dict)  # when last touched there
    sessions: dict[str, float] = field(default_factory=dict)  # when last there
    commits: dict[str, tuple[float, str, tuple[str, ...]]] = field(default_factory=dict)  # by turn


class CommandRuns:
    """When sessions last ran a command, and how it ended last."""

    __slots__ = ("_weight", "last", "last_at", "sessions")

    def __init__(self, first: Action, at: float) -> None:
        self.last = first
        self.last_at = at
        self.sessions: dict[str, float] = {}
        self._weight = 0.0  # of all sessions, as of `last_at`

    def add(self, action: Action, session_id: str, at: float) -> None:
        before = self.sessions.get(session_id)
        if before is None or before < at:
            if before is not None:
                self._weight -= _faded(self.last_at - before)
            if at > self.last_at:
                self._weight *= _faded(at - self.last_at)
            self._weight += _faded(self.last_at - at)
            self.sessions[session_id] = at
        if at >= self.last_at:
            self.last, self.last_at = action, at

    def weight(self, at: float) -> float:
        """The sessions that ran it; those of long ago count for less."""
        return self._weight * _faded(at - self.last_at)


def _faded(age_s: float) -> float:
    return math.exp(-max(0.0, age_s) / (WORK_FILES.run_days * DAY_S))


def _path_words(path: str) -> dict[str, int]:
    folders, _, name = path.rpartition("/")
    counts = dict.fromkeys(terms(folders), 1)
    for term in terms(name.rsplit(".", 1)[0]):
        counts[term] = counts.get(term, 0) + WORK_FILES.name_weight
    return counts


class ProjectWork:
    """Not thread-safe by itself."""

    def __init__(self) -> None:
        self.is_ignored: Callable[[str], bool] = nothing_ignored  # by the repository
        self.path: list[str] = []  # of every known file, by number; "" for one that was replaced
        self.number: dict[str, int] = {}  # of every known file, by path
        self._renamed: dict[str, tuple[int, float]] = {}  # by its old path: which file, and since
        self._replaced: dict[int, int] = {}  # by a file that was renamed to it
        self.by_name: dict[str, set[str]] = defaultdict(set)  # base name -> paths
        self.tests_of: dict[str, set[str]] = defaultdict(set)  # base name -> paths of its tests
        self.often: array[int] = array("q")  # by file, the sessions that touched it
        self.last: array[float] = array("d")  # by file, when
        self.by_person: dict[str, array[int]] = {}  # as `often`, of one person
        self.by_branch: dict[str, BranchWork] = defaultdict(BranchWork)
        self.of_session: dict[str, SessionWork] = defaultdict(SessionWork)
        self.runs: dict[str, CommandRuns] = {}  # by the command's normal form
        self.usual: dict[str, CommandRuns] = {}  # of them, those that several sessions ran
        self.symbols: dict[str, tuple[int, ...]] = {}  # a name -> files that define it
        self.defined: dict[int, list[str]] = {}  # a file -> the names that it defines
        self.edited: dict[int, dict[str, None]] = {}  # a file -> names in the text of its edits
        self.names: dict[str, NameUse] = {}  # by name
        self.turn: list[IndexedTurn | None] = []  # by number; None for one that was replaced
        self.words = Postings()  # of turns
        self.path_words = Postings()  # of files
        self.defined_words = Postings()  # of files: the names that they define

    def add(self, work: TurnWork) -> None:
        session = self.of_session[work.session_id]
        before = session.turns.get(work.turn_id)
        if before is not None:
            self.words.remove(before.number, before.terms)
            self.turn[before.number] = None
        at = work.at.timestamp()
        # Each row comes with strings of its own; of equal ones, one is kept.
        counts = {sys.intern(term): count for term, count in work.terms.items()}
        for place, action in enumerate(work.actions):
            if action.was:
                self._know_before_rename(action.was, work.actions[:place])
                self._rename(action.was, action.path, at)
            elif action.how == "edit" and self._renamed.get(action.path, (0, at))[1] < at:
                del self._renamed[action.path]  # there is a new file of that name
        touched = self._touched(work.actions)
        loose = [one.path for one in work.actions if self._is_loose(one)]
        edited = [name for names in work.edited.values() for name in names]
        defined = [name for name, _ in work.defines]
        turn = IndexedTurn(
            number=len(self.turn),
            session_id=sys.intern(work.session_id),
            files=tuple(touched),
            weights=tuple(touched.values()),
            loose=tuple(dict.fromkeys(loose)),
            terms=tuple(counts),
            names=tuple(map(sys.intern, edited or defined[:MOST_DEFINED])),
        )
        self.turn.append(turn)
        session.turns[work.turn_id] = turn
        self.words.add(turn.number, counts)
        self._count(work, session, [*turn.files, *self._resolved(turn.loose)], at)
        for action in work.actions:
            if action.command:
                runs = self.runs.get(action.command)
                if runs is None:
                    runs = self.runs[action.command] = CommandRuns(action, at)
                runs.add(action, work.session_id, at)
                if len(runs.sessions) >= WORK_FILES.command_sessions:
                    self.usual[action.command] = runs
        for name, path in work.defines:
            self._define(name, self._number_of(path))
            self._use_name(name, work)
        for path, some in work.edited.items():
            self._hold(self._number_of(path), some)
        for name in edited:
            use = self._use_name(name, work)
            if at >= use.last_at:
                use.last_at, use.branch = at, sys.intern(work.branch)

    def _hold(self, number: int, names: Iterable[str]) -> None:
        """These were edited last there; of many, the oldest go."""
        held = self.edited.setdefault(number, {})
        for name in map(sys.intern, names):
            held.pop(name, None)
            held[name] = None
        for name in list(held)[: max(0, len(held) - MOST_EDITED)]:
            del held[name]

    def _use_name(self, name: str, work: TurnWork) -> NameUse:
        use = self.names.setdefault(name, NameUse())
        if use.last_session != work.session_id:
            use.sessions += 1
            use.last_session = work.session_id
        return use

    def _touched(self, actions: Iterable[Action]) -> dict[int, float]:
        """Files with how much was done to each. What a command names is one when a tool has touched
        it too, or when it is named with its folder and nothing else has its name."""
        found: dict[int, float] = {}
        for one in actions:
            if one.path and not one.path.endswith("/") and not self._is_loose(one):
                number = self._number_of(one.path)
                found[number] = max(found.get(number, 0.0), getattr(WORK_FILES, one.how))
        return found

    def _is_loose(self, action: Action) -> bool:
        if not action.path or action.how != "run" or self._known(action.path) is not None:
            return False
        return "/" not in action.path or bool(self.by_name.get(base(action.path)))

    def _known(self, path: str) -> int | None:
        """The file that has this path, or had it."""
        number = self.number.get(path)
        if number is None and path in self._renamed:
            number = self._renamed[path][0]
        return number

    def _resolved(self, loose: Iterable[str]) -> list[int]:
        """The files that commands mean by these names: of several with the same base name the one
        that was touched last."""
        found = []
        for path in loose:
            known = self._known(path)
            if known is None:
                same = [self.number[one] for one in self.by_name.get(base(path), ())]
                known = max(same, key=lambda one: (self.last[one], one), default=None)
            if known is not None:
                found.append(known)
        return found

    def goes_on(self, session_id: str, branch: str, person: str) -> bool:
        """Whether a session that begins on this branch goes on from that one: it worked on the
        branch; or both are on a main branch, or on none that is known, and it was this person's. A
        new branch begins something else. One of which nothing is known may have been."""
        if branch not in MAIN:
            known = self.by_branch.get(branch)
            return known is not None and session_id in known.sessions
        session = self.of_session.get(session_id)
        elsewhere = any(session_id in one.sessions for one in self.by_branch.values())
        return session is None or (person in session.files and not elsewhere)

    def touched(self, turn: IndexedTurn) -> dict[int, float]:
        """Files of a turn with how much it had to do with each."""
        found: dict[int, float] = {}
        for file, weight in zip(turn.files, turn.weights, strict=True):
            number = self._replaced.get(file, file)
            found[number] = max(found.get(number, 0.0), weight)
        for number in self._resolved(turn.loose):
            found[number] = max(found.get(number, 0.0), WORK_FILES.run)
        return found

    def _number_of(self, path: str) -> int:
        known = self._known(path)
        if known is not None:
            return known
        number = len(self.path)
        self.path.append("")
        self.often.append(0)
        self.last.append(0.0)
        self._call(number, path)
        return number

    def _call(self, number: int, path: str) -> None:
        """Give a file its path."""
        self.path[number] = path
        self.number[path] = number
        name = base(path)
        self.by_name[name].add(path)
        subject = subject_of(name)
        if subject:
            self.tests_of[subject].add(path)
        self.path_words.add(number, _path_words(path))

    def _uncall(self, number: int) -> None:
        path = self.path[number]
        self.path[number] = ""
        del self.number[path]
        self.by_name[base(path)].discard(path)
        self.tests_of[subject_of(base(path))].discard(path)
        self.path_words.remove(number, _path_words(path))

    def _know_before_rename(self, old: str, before: Iterable[Action]) -> None:
        """A file that the same turn touched before it was renamed is known by its old path."""
        for one in before:
            inside = old.endswith("/") and one.path.startswith(old)
            if one.how != "run" and (one.path == old or inside):
                self._number_of(one.path)

    def _rename(self, old: str, new: str, at: float) -> None:
        """Files that nobody has touched are not known, and need no new name."""
        if old.endswith("/"):
            for path in [one for one in self.number if one.startswith(old)]:
                self._rename(path, new + path[len(old) :], at)
            return
        number = self.number.get(old)
        if number is None or old == new:
            return
        self._uncall(number)
        self._renamed.pop(new, None)
        there = self.number.get(new)
        if there is None:
            self._call(number, new)
        else:
            self._merge(number, there)
        self._renamed[old] = (number if there is None else there, at)

    def _merge(self, old: int, new: int) -> None:
        """One known file was renamed to another one, which inherits what is known of it."""
        for replaced in [one for one, by in self._replaced.items() if by == old]:
            self._replaced[replaced] = new
        self._replaced[old] = new
        self._renamed = {
            path: (new if number == old else number, since)
            for path, (number, since) in self._renamed.items()
        }
        self.last[new] = max(self.last[new], self.last[old])
        self.last[old] = 0.0
        self.often[old] = 0
        for person in self.by_person:
            self._counts_of(person)[old] = 0
        for session in self.of_session.values():
            had = any(new in files for files in session.files.values())
            for person, files in session.files.items():
                if old in files:
                    files.discard(old)
                    self.by_person[person][new] += new not in files
                    files.add(new)
            self.often[new] += not had and any(new in files for files in session.files.values())
        for branch in self.by_branch.values():
            if old in branch.files:
                branch.files[new] = max(branch.files.pop(old), branch.files.get(new, 0.0))
        names = self.defined.pop(old, [])
        if names:
            self.defined_words.remove(old, {term for name in names for term in terms(name)})
        for name in names:
            self.symbols[name] = tuple(one for one in self.symbols[name] if one != old)
            self._define(name, new)
        here = self.edited.pop(new, {})
        self._hold(new, [*self.edited.pop(old, {}), *here])

    def _count(self, work: TurnWork, session: SessionWork, files: list[int], at: float) -> None:
        mine = session.files.setdefault(work.person, set())
        others = [some for person, some in session.files.items() if person != work.person]
        person = self._counts_of(work.person)
        for number in files:
            if number not in mine:
                mine.add(number)
                person[number] += 1
                self.often[number] += not any(number in some for some in others)
            self.last[number] = max(at, self.last[number])
        if work.branch not in MAIN:
            branch = self.by_branch[work.branch]
            branch.sessions[work.session_id] = max(at, branch.sessions.get(work.session_id, at))
            for number in files:
                branch.files[number] = max(at, branch.files.get(number, 0.0))
            if work.commits:
                branch.commits[work.turn_id] = (at, work.session_id, work.commits)

    def _counts_of(self, person: str) -> "array[int]":
        counts = self.by_person.setdefault(person, array("q"))
        counts.extend([0] * (len(self.path) - len(counts)))
        return counts

    def _define(self, name: str, number: int) -> None:
        held = self.symbols.get(name, ())
        if number not in held:
            self.symbols[name] = (*held, number)
            self.defined.setdefault(number, []).append(name)
            for term in terms(name):
                self.defined_words.add(number, {term: 1})


def last_summary(
    records: Iterable[Record], work: ProjectWork, branch: str, person: str
) -> Record | None:
    """The newest summary of a session that this one goes on from; None when only others have
    worked, or elsewhere. Branch and person are those of its session here: a summary has neither."""
    return max(
        (
            one
            for one in records
            if one.traits.is_summary
            and (one.session_id or "") in work.of_session
            and work.goes_on(one.session_id or "", branch, person)
        ),
        key=lambda one: one.valid_from,
        default=None,
    )
