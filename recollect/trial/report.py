"""Replays sessions and reports the result.

In: sessions, settings and options. Out: a report. The temporary home is removed at the end, also
after an interruption.
"""

import json
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from typing import Any

from recollect.core.settings import Settings
from recollect.trial import measure
from recollect.trial.measure import Figures, Marker, PromptMark
from recollect.trial.replay import Answer, LearnedMemories, Replay
from recollect.trial.transcripts import PastSession

PROMPTS = 3  # asked at the start of each session, as the benchmark does
FEW = 5  # with fewer sessions, rates say little
BEST, WORST = 2, 1


@dataclass(frozen=True)
class TrialReport:
    sessions: int
    projects: int
    turns: int
    scored_sessions: int  # that had earlier sessions to remember
    product: Figures
    most_touched: Figures
    last_touched: Figures
    best: tuple[PromptMark, ...]
    worst: tuple[PromptMark, ...]
    learned: LearnedMemories
    embeds: bool  # else it went by words alone
    seconds: float

    def as_json(self) -> dict[str, Any]:
        plain = asdict(replace(self, best=(), worst=()))
        return {
            **plain,
            "best": [_example(one) for one in self.best],
            "worst": [_example(one) for one in self.worst],
        }


def _example(mark: PromptMark) -> dict[str, Any]:
    return {
        "session": mark.case.session,
        "turn": mark.case.turn,
        "prompt": mark.case.prompt,
        "told": mark.text,
        "files_told": list(mark.files),
        "files_right": sorted(mark.right),
        "commands_right": sorted(mark.commands_right),
        "files_needed": sorted(mark.case.need),
        "commands_run": sorted(mark.case.run),
    }


def log_line(answer: Answer) -> str:
    """A line of the log that `replay_bench.py` reads."""
    return json.dumps({"session": answer.session, "turn": answer.turn, "text": answer.text})


def make(
    sessions: Sequence[PastSession],
    settings: Settings,
    home: str,
    *,
    prompts: int = PROMPTS,
    reached: Callable[[PastSession], None] = lambda session: None,
    answered: Callable[[Answer], None] = lambda answer: None,
) -> TrialReport:
    """`reached` and `answered` are called while it runs."""
    began = time.monotonic()
    first = min(one.started for one in sessions)
    with closing(Replay(settings, home, first)) as replay:
        answers = {}
        for one in replay.run(sessions, prompts, reached):
            answers[one.session, one.turn] = one.text
            answered(one)
        namespaces = dict.fromkeys(one.project.namespace for one in sessions)
        learned = replay.learned(namespaces)
    product, most, last = Marker(), Marker(), Marker()
    marks: dict[str, list[PromptMark]] = {"product": [], "most": [], "last": []}
    for namespace in namespaces:
        own = [one for one in sessions if one.project.namespace == namespace]
        for case in measure.cases(own, prompts):
            said = answers.get((case.session, case.turn), "")
            marks["product"].append(product.mark(case, said))
            marks["most"].append(most.mark(case, ", ".join(case.most_touched)))
            marks["last"].append(last.mark(case, ", ".join(case.last_touched)))
    asked = [one for one in sessions if not one.history_only]
    return TrialReport(
        sessions=len(asked),
        projects=len({one.project.namespace for one in asked}),
        turns=sum(len(one.turns) for one in asked),
        scored_sessions=len({one.case.session for one in marks["product"]}),
        product=measure.figures(marks["product"]),
        most_touched=measure.figures(marks["most"]),
        last_touched=measure.figures(marks["last"]),
        best=best(marks["product"]),
        worst=worst(marks["product"]),
        learned=learned,
        embeds=replay.embeds,
        seconds=time.monotonic() - began,
    )


def best(marks: Sequence[PromptMark]) -> tuple[PromptMark, ...]:
    """Where most was named that was then needed, in the fewest tokens; one of a session."""
    right = [one for one in marks if one.first_right or one.commands_right]
    right.sort(key=lambda one: (-len(one.first_right) - len(one.commands_right), len(one.text)))
    first: dict[str, PromptMark] = {}
    for one in right:
        first.setdefault(one.case.session, one)
    return tuple(first.values())[:BEST]


def worst(marks: Sequence[PromptMark]) -> tuple[PromptMark, ...]:
    """Where most was said, and nothing of it needed, though something was."""
    wrong = [
        one
        for one in marks
        if one.spoke and (one.case.need or one.case.run)
        and not one.right and not one.commands_right
    ]  # fmt: skip
    return tuple(sorted(wrong, key=lambda one: -len(one.text))[:WORST])
