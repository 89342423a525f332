"""Procedures: the same successful commands in the same order, at least three times.

In: turns of all sessions of a project, oldest first. Out: claims with the steps as templates. What
varies (versions, texts, hashes) is taken out before runs are compared. `runs_of` reads a session,
`procedures` compares what was read.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.extract.interface import ProcedureClaim
from recollect.extract.normalised_text import content_words
from recollect.extract.rules import patterns
from recollect.extract.rules.commands import family, steps, template
from recollect.extract.rules.prose import cut
from recollect.extract.rules.turns import Turn

FEWEST_RUNS = 3
FEWEST_STEPS = 3
MOST_STEPS = 8
MOST_FOUND = 5

# The purpose of a sequence, by its most specific step.
_PURPOSES = (
    (re.compile(r"\b(?:release|publish|bump\w*|tag)\b"), "Release"),
    (re.compile(r"\b(?:deploy|rollout|helm upgrade|terraform apply)\b"), "Deploy"),
    (re.compile(r"\bmigrat\w*\b"), "Migrate"),
    (re.compile(r"\bpr create\b"), "Open a pull request"),
    (re.compile(r"\bgit (?:push|commit)\b"), "Commit and push"),
    (re.compile(r"\b(?:build|compile)\b"), "Build"),
    (re.compile(r"\b(?:tests?|pytest|check|lint)\b"), "Check"),
)


@dataclass(frozen=True, slots=True)
class CommandRun:
    """The commands of one turn that succeeded."""

    kinds: tuple[str, ...]  # the family of each step
    steps: tuple[str, ...]  # as they were, as templates
    event_ids: tuple[str, ...]  # of the call that shows each
    at: datetime


def runs_of(turns: Iterable[Turn]) -> tuple[CommandRun, ...]:
    """The runs that are long enough to be a procedure."""
    return tuple(run for turn in turns if len((run := _run(turn)).kinds) >= FEWEST_STEPS)


def procedures(runs: Sequence[CommandRun], fresh: frozenset[str]) -> list[ProcedureClaim]:
    """Repeated sequences that include new events, longest first, none inside another."""
    seen: dict[tuple[str, ...], list[CommandRun]] = {}
    for run in runs:
        for gram in set(_grams(run.kinds)):
            seen.setdefault(gram, []).append(run)
    found: list[ProcedureClaim] = []
    taken: list[tuple[str, ...]] = []
    for gram in sorted(seen, key=lambda one: (-len(one), -len(seen[one]), one)):
        shown = seen[gram]
        if len(shown) < FEWEST_RUNS or any(_inside(gram, other) for other in taken):
            continue
        if all(step.startswith("git ") for step in gram):
            continue  # everybody commits and pushes
        taken.append(gram)
        if any(fresh.intersection(run.event_ids) for run in shown):
            found.append(_claim(gram, shown, fresh))
        if len(found) == MOST_FOUND:
            break
    return found


def _run(turn: Turn) -> CommandRun:
    found: list[str] = []
    events: list[str] = []
    whole: list[str] = []
    for call in turn.commands():
        if call.failed:
            continue
        for step in steps(call.command):
            if patterns.LOOKING.match(step) or not content_words(step):
                continue
            kind = family(step)
            if not found or found[-1] != kind:
                found.append(kind)
                whole.append(template(step))
                events.append(call.event_id)
    return CommandRun(tuple(found[:60]), tuple(whole[:60]), tuple(events[:60]), turn.at)


def _grams(run: tuple[str, ...]) -> list[tuple[str, ...]]:
    return [
        gram
        for length in range(FEWEST_STEPS, min(MOST_STEPS, len(run)) + 1)
        for start in range(len(run) - length + 1)
        if len(set(gram := run[start : start + length])) >= FEWEST_STEPS
    ]


def _inside(gram: tuple[str, ...], other: tuple[str, ...]) -> bool:
    return any(
        other[start : start + len(gram)] == gram for start in range(len(other) - len(gram) + 1)
    )


def _claim(
    gram: tuple[str, ...], shown: Sequence[CommandRun], fresh: frozenset[str]
) -> ProcedureClaim:
    whole = " ".join(gram)
    purpose = next((name for pattern, name in _PURPOSES if pattern.search(whole)), "Routine")
    events = dict.fromkeys(event for run in shown for event in run.event_ids)
    return ProcedureClaim(
        name=cut(f"{purpose}: {gram[0].split(' -')[0]} … {gram[-1].split(' -')[0]}", 190),
        trigger=f"asked to {purpose.lower()}",
        steps=_latest(gram, shown[-1]),
        at=shown[-1].at,
        confidence=round(min(0.9, 0.4 + 0.1 * len(shown)), 2),
        successes=len(shown),
        event_ids=tuple(events)[-100:],
        new=sum(not fresh.isdisjoint(run.event_ids) for run in shown),
    )


def _latest(gram: tuple[str, ...], run: CommandRun) -> tuple[str, ...]:
    """The steps as the last run took them."""
    start = next(at for at in range(len(run.kinds)) if run.kinds[at : at + len(gram)] == gram)
    return run.steps[start : start + len(gram)]
