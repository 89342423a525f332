"""Which files the rest of a session will need, from what earlier ones did.

In: a prompt, who asks, on which branch, what the session did so far. Out: files, best first, each
with what spoke for it. Eleven signals, each scaled to its own largest value; the weights are
measured (docs/decisions/brief.md). A signal is an array with a value for every file, since a
project may have thousands.
"""

import functools
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from recollect.core.tuning import FILE_SIGNALS, WORK_FILES
from recollect.work import bm25
from recollect.work.bm25 import Scores
from recollect.work.index import DAY_S, MAIN, ProjectWork, SessionWork
from recollect.work.paths import base, looks_like_file, subject_of
from recollect.work.terms import terms
from recollect.work.turn_work import NAME_CHARS

MOST = 50  # files that are ranked; nobody is told of more
_NAME = re.compile(r"\w{4,80}")
_FILE = re.compile(r"[\w./@+-]{3,200}")


@dataclass(frozen=True)
class Ask:
    """Who asks what, when and where."""

    text: str
    at: float
    session: str = ""
    person: str = ""
    branch: str = ""


@dataclass
class Likely:
    path: str
    score: float
    parts: dict[str, float] = field(default_factory=dict)


class LikeTurns:
    """Turns of other sessions that are most like what is asked, with their scores; they vote."""

    def __init__(self, work: ProjectWork, ask: Ask) -> None:
        self._work, self._ask = work, ask
        self.session = work.of_session.get(ask.session) or SessionWork()

    @cached_property
    def prompt(self) -> list[tuple[int, float]]:
        return self.to(terms(self._ask.text))

    @cached_property
    def branch(self) -> list[tuple[int, float]]:
        return [] if self._ask.branch in MAIN else self.to(terms(self._ask.branch))

    def to(self, wanted: Iterable[str]) -> list[tuple[int, float]]:
        scores = bm25.search(self._work.words, wanted)
        scores[[turn.number for turn in self.session.turns.values()]] = 0.0
        return bm25.best(scores, WORK_FILES.voters)


def rank(
    work: ProjectWork, ask: Ask, most: int = MOST, like: LikeTurns | None = None
) -> list[Likely]:
    """Files that the session has not touched and the prompt does not name, best first."""
    like = like or LikeTurns(work, ask)
    touched = {number for turn in like.session.turns.values() for number in work.touched(turn)}
    parts: dict[str, Scores] = {}
    total = np.zeros(len(work.path))
    for name, values in _signals(work, ask, like, touched):
        values[list(touched)] = 0.0
        highest = values.max(initial=0.0)
        if highest > 0:
            parts[name] = getattr(FILE_SIGNALS, name) * values / highest
            total += parts[name]
    numbers = _best(work, total, ask.text.lower(), most)
    found = [Likely(work.path[number], float(total[number])) for number in numbers]
    for name, some in parts.items():
        for one, part in zip(found, some[numbers].tolist(), strict=True):
            if part > 0:
                one.parts[name] = part
    return found


def _best(work: ProjectWork, total: Scores, prompt: str, most: int) -> list[int]:
    """The best files that a prompt does not name. How many it names is not known before, so that
    more are looked at until there are enough."""
    looked_at = 2 * most
    while True:
        found = np.flatnonzero(total > 0)
        whole = len(found) <= looked_at
        if not whole:
            found = found[total[found] >= np.partition(total[found], -looked_at)[-looked_at]]
        ordered = sorted(found.tolist(), key=lambda one: (-total[one], work.path[one]))
        kept = [one for one in ordered if base(work.path[one]).lower() not in prompt]
        if whole or len(kept) >= most:
            return kept[:most]
        looked_at *= 4


def _signals(
    work: ProjectWork, ask: Ask, like: LikeTurns, touched: Set[int]
) -> Iterator[tuple[str, Scores]]:
    """Each with an array of its own."""
    size = len(work.path)
    yield "often", np.log1p(np.frombuffer(work.often, np.int64))
    yield "recent", _fading(ask.at - np.frombuffer(work.last), WORK_FILES.recent_days)
    mine = np.frombuffer(work.by_person.get(ask.person, b""), np.int64)
    yield "person", np.concatenate([np.log1p(mine), np.zeros(size - len(mine))])
    prompt = terms(ask.text)
    branch = work.by_branch.get(ask.branch)
    if ask.branch not in MAIN:
        if branch is not None:
            at = np.fromiter(branch.files.values(), np.float64)
            values = np.zeros(size)
            values[list(branch.files)] = _fading(ask.at - at, WORK_FILES.branch_days)
            yield "branch", values
        yield "branch_words", _votes(work, like.branch)
    yield "prompt", _votes(work, like.prompt)
    recent = list(like.session.turns.values())[-WORK_FILES.context_turns :]
    if recent:
        yield "context", _votes(work, like.to({term for turn in recent for term in turn.terms}))
    voters = WORK_FILES.voters
    yield "name", _array(size, bm25.best(bm25.search(work.path_words, prompt), 2 * voters))
    yield "pair", _array(size, _pairs(work, ask.text, touched).items())
    yield "defines", _array(size, bm25.best(bm25.search(work.defined_words, prompt), voters))
    yield "symbol", _array(size, _by_symbol(work, ask.text).items())


def _array(size: int, values: Iterable[tuple[int, float]]) -> Scores:
    found = np.zeros(size)
    for number, value in values:
        found[number] = value
    return found


def _fading(age_s: Scores, days: float) -> Scores:
    return np.exp(np.minimum(0.0, -age_s) / (days * DAY_S))


def _votes(work: ProjectWork, voters: Iterable[tuple[int, float]]) -> Scores:
    """Turns vote for the files they touched."""
    found = np.zeros(len(work.path))
    for number, score in voters:
        turn = work.turn[number]
        assert turn is not None  # one that was replaced holds no words
        for file, weight in work.touched(turn).items():
            found[file] += score * weight
    return found


def _pairs(work: ProjectWork, text: str, touched: Set[int]) -> Mapping[int, float]:
    named = {base(word) for word in _FILE.findall(text) if looks_like_file(word)}
    named |= {base(work.path[number]) for number in touched}
    found: dict[int, float] = {}
    for name in named:
        subject = subject_of(name)
        for path in work.by_name.get(subject, ()) if subject else ():
            found[work.number[path]] = 1.0
        for path in work.tests_of.get(name, ()):
            found[work.number[path]] = 1.0
    return found


def _by_symbol(work: ProjectWork, text: str) -> Mapping[int, float]:
    found: dict[int, float] = {}
    for name in set(_NAME.findall(text)):
        files = work.symbols.get(name, ())
        for number in files:
            found[number] = found.get(number, 0.0) + 1 / len(files)
    return found


def likely_names(
    work: ProjectWork,
    ask: Ask,
    likely: Sequence[Likely],
    told: Collection[str],
    like: LikeTurns | None = None,
) -> dict[str, list[str]]:
    """Names that a session may need, by the path of the likely file that they stand in: those in
    the text of its edits, and those that it defines. As for files, signals of equal weight: turns
    like the prompt and like the branch's name that edited text with it, words it shares with the
    prompt, how recently it was edited, in how many sessions it came up, its file, its branch. One
    that comes up everywhere tells nothing."""
    like = like or LikeTurns(work, ask)
    files = {work.number[one.path]: one for one in likely if one.path in work.number}
    common = max(WORK_FILES.rare_sessions, WORK_FILES.rare_share * len(work.of_session))
    prompt = set(terms(ask.text))
    votes = [_votes_for_names(work, voters) for voters in (like.prompt, like.branch)]
    voted = {name for some in votes for name in some}
    sessions: dict[str, float] = {}
    places: dict[str, Likely] = {}  # the likeliest file that it stands in
    scores: dict[str, float] = {}
    for number, name in _names_in(work, files):
        place = files[number]
        if name in scores:
            if place.score > places[name].score:
                places[name] = place
            continue
        use = work.names.get(name)
        if use is None or use.sessions > common or len(name) not in NAME_CHARS:
            continue
        if name in ask.text or f"name {name}" in told:
            continue
        own = _terms_of_name(name)
        shared = len(own & prompt) / max(1, len(own))
        if not shared and name not in voted:
            continue
        recent = math.exp(-max(0.0, ask.at - use.last_at) / (WORK_FILES.recent_days * DAY_S))
        here = use.branch == ask.branch and ask.branch not in MAIN
        scores[name] = shared + recent + here
        sessions[name] = use.sessions
        places[name] = place
    scored_files = {name: place.score for name, place in places.items()}
    for values in (*votes, sessions, scored_files):
        highest = max((values.get(name, 0.0) for name in scores), default=0.0)
        for name in scores if highest else ():
            scores[name] += values.get(name, 0.0) / highest
    most = WORK_FILES.names_later if like.session.turns else WORK_FILES.names
    best = sorted(scores, key=lambda name: (-scores[name], name))[:most]
    found: dict[str, list[str]] = {}
    for name in best:
        found.setdefault(places[name].path, []).append(name)
    return found


@functools.lru_cache(maxsize=20_000)
def _terms_of_name(name: str) -> frozenset[str]:
    return frozenset(terms(name))


def _names_in(work: ProjectWork, files: Iterable[int]) -> Iterator[tuple[int, str]]:
    for number in files:
        for name in dict.fromkeys((*work.edited.get(number, ()), *work.defined.get(number, ()))):
            yield number, name


def _votes_for_names(work: ProjectWork, voters: Iterable[tuple[int, float]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for number, score in voters:
        turn = work.turn[number]
        for name in turn.names if turn is not None else ():
            found[name] = found.get(name, 0.0) + score
    return found
