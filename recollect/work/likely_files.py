"""Which files the rest of a session will need, from what earlier ones did.

In: a prompt, who asks, on which branch, what the session did so far. Out: files, best first, each
with what spoke for it. Eleven signals, each scaled to its own largest value; the weights are
measured (docs/decisions/brief.md). A signal is an array with a value for every file, since a
project may have thousands.
"""

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

import numpy as np

from recollect.core.tuning import FILE_SIGNALS, WORK_FILES
from recollect.work import bm25
from recollect.work.bm25 import Scores
from recollect.work.index import DAY_S, MAIN, ProjectWork, SessionWork
from recollect.work.paths import base, looks_like_file, subject_of
from recollect.work.terms import terms

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


def rank(work: ProjectWork, ask: Ask, most: int = MOST) -> list[Likely]:
    """Files that the session has not touched and the prompt does not name, best first."""
    session = work.of_session.get(ask.session) or SessionWork()
    touched = {number for turn in session.turns.values() for number in work.touched(turn)}
    parts: dict[str, Scores] = {}
    total = np.zeros(len(work.path))
    for name, values in _signals(work, ask, session, touched):
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
    work: ProjectWork, ask: Ask, session: SessionWork, touched: Set[int]
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
        yield "branch_words", _votes(work, terms(ask.branch), session)
    yield "prompt", _votes(work, prompt, session)
    recent = list(session.turns.values())[-WORK_FILES.context_turns :]
    if recent:
        yield "context", _votes(work, {term for turn in recent for term in turn.terms}, session)
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


def _votes(work: ProjectWork, wanted: Iterable[str], without: SessionWork) -> Scores:
    """The turns that are most like it vote for the files they touched; those of the session that
    asks have no vote."""
    scores = bm25.search(work.words, wanted)
    scores[[turn.number for turn in without.turns.values()]] = 0.0
    found = np.zeros(len(work.path))
    for number, score in bm25.best(scores, WORK_FILES.voters):
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


MOST_NAMES = 3
SHORTEST = 5
LONGEST = 32  # a longer one costs more than it tells


def likely_names(
    work: ProjectWork, ask: Ask, likely: Sequence[Likely], told: Collection[str]
) -> dict[str, list[str]]:
    """Names of the likely files that a session may need (functions and types worked on before), by
    the path of their file. A name counts by the turns like the prompt in which it was defined, by
    the words it shares with the prompt, and by how recently and in how many sessions it came up;
    one that comes up everywhere tells nothing."""
    files = {work.number[one.path]: one.path for one in likely if one.path in work.number}
    prompt = set(terms(ask.text))
    votes: dict[str, float] = {}
    for number, score in bm25.best(bm25.search(work.words, prompt), WORK_FILES.voters):
        turn = work.turn[number]
        if turn is None or turn.session_id == ask.session:
            continue
        for name in turn.names:
            votes[name] = votes.get(name, 0.0) + score
    common = max(WORK_FILES.rare_sessions, WORK_FILES.rare_share * len(work.of_session))
    scores: dict[str, float] = {}
    for name, vote in votes.items():
        use = work.names.get(name)
        if use is None or use.sessions > common or not SHORTEST <= len(name) <= LONGEST:
            continue
        if name in ask.text:
            continue
        if f"name {name}" in told or files.keys().isdisjoint(work.symbols.get(name, ())):
            continue
        own = set(terms(name))
        shared = len(own & prompt) / max(1, len(own))
        recent = math.exp(-max(0.0, ask.at - use.last_at) / (WORK_FILES.recent_days * DAY_S))
        here = 2.0 if use.branch == ask.branch and ask.branch not in MAIN else 1.0
        scores[name] = vote * (0.2 + shared) * (0.3 + recent) * here * math.sqrt(use.sessions)
    best = sorted(scores, key=lambda name: (-scores[name], name))[:MOST_NAMES]
    found: dict[str, list[str]] = {}
    for name in best:
        path = next(files[number] for number in work.symbols[name] if number in files)
        found.setdefault(path, []).append(name)
    return found
