"""Procedures: the same successful commands in the same order, at least three times.

In: turns of all sessions of a project, oldest first. Out: claims with the steps as templates. What
varies (versions, texts, hashes) is taken out before runs are compared. Looking at a certain file or
address is a step, too, between others that do something. `runs_of` reads a session, `procedures`
compares what was read.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
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
FEWEST_ACTING = 2  # steps that do more than look
MOST_STEPS = 8
MOST_FOUND = 5
MOST_SEEN = 60  # steps of a turn
ASKED_CHARS = 300

# What looks at a certain file or address, as one does before and after a deployment.
_LOOKS_AT = re.compile(r"(?:cat|head|tail|less|jq|curl|nc)\s+\S")
# The purpose of a sequence, by its most specific step, or by what most of its prompts asked for.
_PURPOSES = (
    (re.compile(r"\b(?:release|publish|bump\w*|tag)\b"), "Release"),
    (re.compile(r"\b(?:deploy|rollout|helm upgrade|terraform apply|vercel)\b"), "Deploy"),
    (re.compile(r"\bmigrat\w*\b"), "Migrate"),
    (re.compile(r"\bpr create\b"), "Open a pull request"),
    (re.compile(r"\bgit (?:push|commit)\b"), "Commit and push"),
    (re.compile(r"\b(?:build|compile)\b"), "Build"),
    (re.compile(r"\b(?:tests?|pytest|check|lint)\b"), "Check"),
)


@dataclass(frozen=True, slots=True)
class CommandRun:
    """The commands of one turn that succeeded."""

    kinds: tuple[str, ...]  # the family of each step; what only looks, with what it looks at
    acting: tuple[int, ...]  # which of them do something
    steps: tuple[str, ...]  # as they were, as templates
    event_ids: tuple[str, ...]  # of the call that shows each
    asked: str  # the beginning of the prompt
    at: datetime


def runs_of(turns: Iterable[Turn]) -> tuple[CommandRun, ...]:
    """The runs that are long enough to be a procedure."""
    found = map(_run, turns)
    return tuple(
        run for run in found if len(run.kinds) >= FEWEST_STEPS and len(run.acting) >= FEWEST_ACTING
    )


def procedures(runs: Sequence[CommandRun], fresh: frozenset[str]) -> list[ProcedureClaim]:
    """Repeated sequences that include new events, longest first, none inside another."""
    seen: dict[tuple[str, ...], list[CommandRun]] = {}
    for run in runs:
        for gram in set(_grams(run)):
            seen.setdefault(gram, []).append(run)
    found: list[ProcedureClaim] = []
    taken: list[tuple[str, ...]] = []
    for gram in sorted(seen, key=lambda one: (-len(one), -len(seen[one]), one)):
        shown = seen[gram]
        if len(shown) < FEWEST_RUNS or any(_inside(gram, other) for other in taken):
            continue
        if all(step.startswith("git ") for step in gram if not _LOOKS_AT.match(step)):
            continue  # everybody commits and pushes
        taken.append(gram)
        if any(fresh.intersection(run.event_ids) for run in shown):
            found.append(_claim(gram, shown, fresh))
        if len(found) == MOST_FOUND:
            break
    return found


def purpose_of(text: str) -> str:
    """What steps are for, by their words."""
    low = text.lower()
    return next((name for pattern, name in _PURPOSES if pattern.search(low)), "Routine")


def _run(turn: Turn) -> CommandRun:
    found: list[str] = []
    acting: list[int] = []
    events: list[str] = []
    whole: list[str] = []
    for call in turn.commands():
        if call.failed:
            continue
        for step in steps(call.command):
            looks = bool(patterns.LOOKING.match(step))
            if (looks and not _LOOKS_AT.match(step)) or not content_words(step):
                continue
            kind = template(step) if looks else family(step)
            if (not found or found[-1] != kind) and len(found) < MOST_SEEN:
                if not looks:
                    acting.append(len(found))
                found.append(kind)
                whole.append(template(step))
                events.append(call.event_id)
    return CommandRun(
        tuple(found), tuple(acting), tuple(whole), tuple(events), turn.asked[:ASKED_CHARS], turn.at
    )


def _grams(run: CommandRun) -> Iterator[tuple[str, ...]]:
    for places in _windows(run):
        gram = tuple(run.kinds[at] for at in places)
        acts = {run.kinds[at] for at in places if at in run.acting}
        if len(set(gram)) >= FEWEST_STEPS and len(acts) >= FEWEST_ACTING:
            yield gram


def _windows(run: CommandRun) -> Iterator[Sequence[int]]:
    """Stretches of a run, as places in it: of all its steps, and of those that do something."""
    for places in (range(len(run.kinds)), run.acting):
        for length in range(FEWEST_STEPS, min(MOST_STEPS, len(places)) + 1):
            for start in range(len(places) - length + 1):
                yield places[start : start + length]


def _inside(gram: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether its steps are in the other in the same order."""
    left = iter(other)
    return all(step in left for step in gram)


def _claim(
    gram: tuple[str, ...], shown: Sequence[CommandRun], fresh: frozenset[str]
) -> ProcedureClaim:
    whole = " ".join(gram)
    purpose = next(
        (name for pattern, name in _PURPOSES if pattern.search(whole) or _asked(pattern, shown)),
        "Routine",
    )
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


def _asked(pattern: re.Pattern[str], shown: Sequence[CommandRun]) -> bool:
    """Whether most of the prompts ask for it."""
    return 2 * sum(bool(pattern.search(run.asked.lower())) for run in shown) > len(shown)


def _latest(gram: tuple[str, ...], run: CommandRun) -> tuple[str, ...]:
    """The steps as the last run took them."""
    places = next(
        places for places in _windows(run) if tuple(run.kinds[at] for at in places) == gram
    )
    return tuple(run.steps[at] for at in places)
