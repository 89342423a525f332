"""Which files the rest of a session will need, from what earlier ones did.

In: a prompt, who asks, on which branch, what the session did so far. Out: files, best first, each
with what spoke for it. Eleven signals, each scaled to its own largest value; the weights are
measured (docs/decisions/brief.md).
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from recollect.core.tuning import FILE_SIGNALS, WORK_FILES
from recollect.work.index import MAIN, ProjectWork
from recollect.work.pairs import subject_of
from recollect.work.paths import base, looks_like_file
from recollect.work.terms import terms

DAY_S = 86_400.0
_NAME = re.compile(r"\w{4,80}")


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


def rank(work: ProjectWork, ask: Ask) -> list[Likely]:
    """Files that the session has not touched and the prompt does not name, best first."""
    mine = list(work.of_session.get(ask.session, {}).values())
    touched = {path for turn in mine for path in work.touched(turn)}
    signals = dict(_signals(work, ask, touched))
    found: dict[str, Likely] = {}
    for name, values in signals.items():
        values = {path: value for path, value in values.items() if path not in touched}
        most = max(values.values(), default=0.0)
        if most <= 0:
            continue
        for path, value in values.items():
            one = found.setdefault(path, Likely(path, 0.0))
            part = getattr(FILE_SIGNALS, name) * value / most
            one.parts[name] = part
            one.score += part
    low = ask.text.lower()
    kept = [one for one in found.values() if base(one.path).lower() not in low]
    return sorted(kept, key=lambda one: (-one.score, one.path))


def _signals(
    work: ProjectWork, ask: Ask, touched: set[str]
) -> Iterator[tuple[str, Mapping[str, float]]]:
    yield "often", {path: math.log1p(len(some)) for path, some in work.sessions.items()}
    yield (
        "recent",
        {path: _fading(ask.at - at, WORK_FILES.recent_days) for path, at in work.last.items()},
    )
    yield (
        "person",
        {path: math.log1p(len(some)) for path, some in work.by_person.get(ask.person, {}).items()},
    )
    prompt = terms(ask.text)
    if ask.branch not in MAIN:
        yield (
            "branch",
            {
                path: _fading(ask.at - at, WORK_FILES.branch_days)
                for path, at in work.by_branch.get(ask.branch, {}).items()
            },
        )
        yield "branch_words", _votes(work, terms(ask.branch), ask.session)
    yield "prompt", _votes(work, prompt, ask.session)
    mine = list(work.of_session.get(ask.session, {}).values())[-WORK_FILES.context_turns :]
    if mine:
        yield "context", _votes(work, {term for turn in mine for term in turn.terms}, ask.session)
    yield "name", work.named(prompt, 2 * WORK_FILES.voters)
    yield "pair", _pairs(work, ask.text, touched)
    yield "defines", work.defining(prompt, WORK_FILES.voters)
    yield "symbol", _by_symbol(work, ask.text)


def _fading(age_s: float, days: float) -> float:
    return math.exp(-max(0.0, age_s) / (days * DAY_S))


def _votes(work: ProjectWork, wanted: Iterable[str], without: str = "") -> dict[str, float]:
    """The turns that are most like it vote for the files they touched."""
    scores = work.turns.search(wanted)
    best = sorted(scores.items(), key=lambda item: -item[1])
    found: dict[str, float] = defaultdict(float)
    left = WORK_FILES.voters
    for number, score in best:
        turn = work.turn[number]
        if turn.session_id == without:
            continue
        for path, weight in work.touched(turn).items():
            found[path] += score * weight
        left -= 1
        if not left:
            break
    return found


def _pairs(work: ProjectWork, text: str, touched: set[str]) -> dict[str, float]:
    named = {base(word) for word in re.findall(r"[\w./@+-]{3,200}", text) if looks_like_file(word)}
    named |= {base(path) for path in touched}
    found: dict[str, float] = {}
    for name in named:
        subject = subject_of(name)
        for path in work.by_name.get(subject, ()) if subject else ():
            found[path] = 1.0
        for path in work.tests_of.get(name, ()):
            found[path] = 1.0
    return found


def _by_symbol(work: ProjectWork, text: str) -> dict[str, float]:
    found: dict[str, float] = defaultdict(float)
    for name in set(_NAME.findall(text)):
        paths = work.symbols.get(name, ())
        for path in paths:
            found[path] += 1 / len(paths)
    return found
