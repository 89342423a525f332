"""What was done in one project, in memory: what ranking reads.

In: the work of turns, in any order; one that comes again takes the place of what it was. Out:
counts by file, person and branch, and the turns that hold a word. Dropped and filled again whenever
something was taken out.
"""

import math
from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping

from recollect.core.tuning import MATCHING, WORK_FILES
from recollect.core.values import Action, TurnWork
from recollect.work.pairs import subject_of
from recollect.work.paths import base
from recollect.work.terms import terms

MAIN = frozenset(("main", "master", "trunk", "develop", "HEAD", ""))


class Terms:
    """Documents found by BM25."""

    def __init__(self) -> None:
        self._postings: dict[str, tuple[array[int], array[int]]] = {}
        self._lengths: array[int] = array("I")
        self._total = 0

    def add(self, counts: Mapping[str, int]) -> int:
        number = len(self._lengths)
        length = sum(counts.values())
        self._lengths.append(length)
        self._total += length
        for term, count in counts.items():
            documents, often = self._postings.setdefault(term, (array("I"), array("I")))
            documents.append(number)
            often.append(count)
        return number

    def empty(self, number: int) -> None:
        """It is found no more: what it held counts for nothing."""
        self._total -= self._lengths[number]
        self._lengths[number] = 0

    def search(self, wanted: Iterable[str]) -> dict[int, float]:
        size = len(self._lengths)
        scores: dict[int, float] = defaultdict(float)
        mean = self._total / size if size else 1.0
        b = MATCHING.b
        for term in set(wanted):
            held = self._postings.get(term)
            if held is None:
                continue
            documents, often = held
            rarity = math.log(1 + (size - len(documents) + 0.5) / (len(documents) + 0.5))
            for number, count in zip(documents, often, strict=True):
                length = self._lengths[number]
                if length:
                    norm = count + MATCHING.k1 * (1 - b + b * length / mean)
                    scores[number] += rarity * count * (MATCHING.k1 + 1) / norm
        return scores


class ProjectWork:
    """Not thread-safe by itself."""

    def __init__(self) -> None:
        self.sessions: dict[str, set[str]] = defaultdict(set)  # by file
        self.last: dict[str, float] = {}
        self.by_person: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        self.by_branch: dict[str, dict[str, float]] = defaultdict(dict)
        self.by_name: dict[str, set[str]] = defaultdict(set)  # base name -> paths
        self.paths = Terms()
        self.path: dict[str, int] = {}  # every known file, with its number in `paths`
        self._numbered: list[str] = []  # the files by that number
        self._now: dict[str, tuple[str, float]] = {}  # what a file is called since it was renamed
        self.tests_of: dict[str, set[str]] = defaultdict(set)  # base name -> paths of its tests
        self.symbols: dict[str, set[str]] = defaultdict(set)
        self.commands: dict[str, dict[str, Action]] = defaultdict(dict)  # form -> session -> last
        self.ran_at: dict[str, dict[str, float]] = defaultdict(dict)
        self.on_branch: dict[str, dict[str, TurnWork]] = defaultdict(dict)
        self.turns = Terms()
        self.turn: list[TurnWork] = []
        self.names_in: dict[str, dict[str, int]] = {}  # by file, the terms of what it defines
        self._files: tuple[Terms, list[str]] | None = None
        self._number: dict[str, int] = {}
        self.of_session: dict[str, dict[str, TurnWork]] = defaultdict(dict)

    def add(self, work: TurnWork) -> None:
        known = self._number.get(work.turn_id)
        if known is not None:
            self.turns.empty(known)
        self._number[work.turn_id] = self.turns.add(work.terms)
        self.turn.append(work)
        self.of_session[work.session_id][work.turn_id] = work
        at = work.at.timestamp()
        for action in work.actions:
            if action.was:
                self._rename(action.was, action.path, at)
            elif action.how == "edit" and self._now.get(action.path, ("", at))[1] < at:
                del self._now[action.path]  # there is a new file of that name
        for path in self.touched(work):
            self.sessions[path].add(work.session_id)
            self.last[path] = max(at, self.last.get(path, 0.0))
            self.by_person[work.person][path].add(work.session_id)
            if work.branch not in MAIN:
                recent = self.by_branch[work.branch]
                recent[path] = max(at, recent.get(path, 0.0))
        for action in work.actions:
            if action.command:
                self.commands[action.command][work.session_id] = action
                self.ran_at[action.command][work.session_id] = at
        if work.branch not in MAIN:
            self.on_branch[work.branch][work.turn_id] = work
        for name, path in work.defines:
            path = self._now.get(path, (path, 0.0))[0]
            if path not in self.symbols[name]:
                self.symbols[name].add(path)
                held = self.names_in.setdefault(path, {})
                for term in terms(name):
                    held[term] = held.get(term, 0) + 1
                self._files = None

    def latest_turns(self) -> list[TurnWork]:
        """Every turn once, as it was last given."""
        return [one for turns in self.of_session.values() for one in turns.values()]

    def touched(self, work: TurnWork) -> dict[str, float]:
        """Files of a turn with how much it had to do with each."""
        found: dict[str, float] = {}
        for one in work.actions:
            path = self.known_path(one)
            if path:
                found[path] = max(found.get(path, 0.0), getattr(WORK_FILES, one.how))
        return found

    def known_path(self, action: Action) -> str:
        """The file of an action. What a command names is one when a tool has touched it too, or it
        is named with its folder; a bare name means the only file of that name."""
        path = self._now.get(action.path, (action.path, 0.0))[0]
        if not path or path.endswith("/"):  # a folder, which was renamed
            return ""
        name = base(path)
        if path not in self.path:
            if action.how == "run":
                same = self.by_name.get(name, ())
                if "/" not in path or same:
                    return max(same, key=lambda one: self.last.get(one, 0.0)) if same else ""
            self.by_name[name].add(path)
            subject = subject_of(name)
            if subject:
                self.tests_of[subject].add(path)
            folders, _, name = path.rpartition("/")
            counts = dict.fromkeys(terms(folders), 1)
            for term in terms(name.rsplit(".", 1)[0]):
                counts[term] = counts.get(term, 0) + WORK_FILES.name_weight
            self.path[path] = self.paths.add(counts)
            self._numbered.append(path)
        return path

    def _rename(self, old: str, new: str, at: float) -> None:
        """The new name inherits what is known of the old one; files that nobody has touched are
        not known."""
        if old.endswith("/"):
            for path in [one for one in self.path if one.startswith(old)]:
                self._rename(path, new + path[len(old) :], at)
            return
        if old not in self.path:
            return
        self._now = {
            one: (new if now == old else now, since)
            for one, (now, since) in self._now.items()
            if one != new
        }
        self.known_path(Action(how="edit", path=new))
        self._now[old] = new, at
        self.paths.empty(self.path.pop(old))
        self.by_name[base(old)].discard(old)
        self.tests_of[subject_of(base(old))].discard(old)
        self.sessions[new] |= self.sessions.pop(old, set())
        self.last[new] = max(self.last.get(new, 0.0), self.last.pop(old, 0.0))
        for sessions in self.by_person.values():
            if old in sessions:
                sessions[new] |= sessions.pop(old)
        for recent in self.by_branch.values():
            if old in recent:
                recent[new] = max(recent.get(new, 0.0), recent.pop(old))
        for paths in self.symbols.values():
            if old in paths:
                paths.discard(old)
                paths.add(new)
        held = self.names_in.setdefault(new, {})
        for term, count in self.names_in.pop(old, {}).items():
            held[term] = held.get(term, 0) + count
        self._files = None

    def named(self, wanted: Iterable[str], most: int) -> dict[str, float]:
        """The files whose paths hold these terms, best first."""
        best = sorted(self.paths.search(wanted).items(), key=lambda item: -item[1])[:most]
        return {self._numbered[number]: score for number, score in best}

    def defining(self, wanted: Iterable[str], most: int) -> dict[str, float]:
        """The files whose definitions are named by these terms, best first."""
        if self._files is None:
            index = Terms()
            for held in self.names_in.values():
                index.add(held)
            self._files = index, list(self.names_in)
        index, paths = self._files
        best = sorted(index.search(wanted).items(), key=lambda item: -item[1])[:most]
        return {paths[number]: score for number, score in best}
