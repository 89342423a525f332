"""Fits weights of the table in `core/tuning.py` to data, and shows what it would change.

In: benchmark sets, and transcripts of sessions. Out: tables; nothing is changed. Weights are judged
on data that was left out while they were fitted: a family of sets (its sets ask about the same
texts), or a fifth of the sessions. The search goes one weight at a time, up and down, and ends
after a given time; it moves a weight only for a gain that is larger than noise in small samples.
"""

import copy
import math
import os
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from recollect.bench import datasets
from recollect.bench.ingest import DirectIngest
from recollect.bench.vectors import CachedVectors
from recollect.core.tuning import (
    FILE_SIGNALS,
    SEARCH,
    SPEAKING,
    FileSignals,
    SearchWeights,
    Speaking,
    entries,
)
from recollect.core.values import TurnWork
from recollect.inject.speaking import chance_of_file, idleness, weight_of_prompt
from recollect.retrieve.score import Signals
from recollect.trial import transcripts
from recollect.trial.measure import cases
from recollect.trial.transcripts import PastSession, prompt_text
from recollect.work.index import ProjectWork
from recollect.work.likely_files import Ask, Likely, rank
from recollect.work.paths import base
from recollect.work.turn_work import person_of, work_of

MOST_QUESTIONS = 200  # of a set while fitting; it is judged on all
STEPS = (0.5, 0.75, 1.33, 2.0)
GAIN = 0.0005  # of the objective, for which a weight is moved
FOLDS = 5
MOST_SESSIONS = 1000  # the newest
FORESEEN = 8  # files of a prompt, as many as are told
PROMPTS = 3  # of a session, from its start
NEEDS = (
    "needs at least two families of benchmark sets, such as locomo_* and entire_* (--data DIR): "
    "what is fitted to one must be judged on another"
)
NEEDS_SESSIONS = "needs a folder with at least ten transcripts of one project (--sessions DIR)"

W = TypeVar("W", SearchWeights, FileSignals, Speaking)
Case = TypeVar("Case")
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Sample(Generic[Case]):
    """Cases that are left out together: a family of sets, or a part of the sessions."""

    name: str
    parts: dict[str, list[Case]]  # by set and level


@dataclass(frozen=True)
class Fit(Generic[W, Case]):
    """What is fitted, and how a case is scored: by two figures, larger is better."""

    weights: W
    score: Callable[[Case, W], tuple[float, float]]
    figures: tuple[str, str] = ("any@5", "NDCG@10")

    def scores(self, sample: Sample[Case], weights: W, most: int = 0) -> dict[str, Floats]:
        """Means by part."""
        return {
            name: np.mean([self.score(one, weights) for one in cases[: most or None]], axis=0)
            for name, cases in sample.parts.items()
        }

    def objective(self, samples: Sequence[Sample[Case]], weights: W) -> float:
        """The mean over samples, whatever their size."""
        means = [list(self.scores(one, weights, MOST_QUESTIONS).values()) for one in samples]
        return float(np.mean([np.mean(one) for one in means]))

    def fitted(self, samples: Sequence[Sample[Case]], seconds: float) -> W:
        """The best weights that were found one at a time, until none is better or time is up."""
        until = time.monotonic() + seconds
        best, value = self.weights, self.objective(samples, self.weights)
        moved = True
        while moved:
            moved = False
            for entry in entries("", best):
                for step in STEPS:
                    if time.monotonic() > until:
                        return best
                    wanted = min(entry.most, max(entry.least, getattr(best, entry.name) * step))
                    other = replace(best, **{entry.name: round(wanted, 4)})
                    found = self.objective(samples, other)
                    if found > value + GAIN:
                        best, value, moved = other, found, True
        return best

    def report(self, samples: Sequence[Sample[Case]], seconds: float) -> str:
        """Left-out scores of weights that were fitted to the rest; then a fit to everything."""
        share, began, cut_short = seconds / (len(samples) + 1), time.monotonic(), 0
        first, second = self.figures
        lines = ["left out".ljust(36) + f"{first} now, fitted".rjust(20) + second.rjust(16)]
        changes: list[Floats] = []
        found = []
        for one in samples:
            others = [other for other in samples if other is not one]
            found.append(self.fitted(others, share))
            cut_short += time.monotonic() - began >= share
            before, after = self.scores(one, self.weights), self.scores(one, found[-1])
            began = time.monotonic()
            for part in before:
                changes.append(after[part] - before[part])
                cells = [f"{before[part][at]:.3f} {after[part][at]:.3f}" for at in (0, 1)]
                lines.append(part.ljust(36) + cells[0].rjust(20) + cells[1].rjust(16))
        mean = np.mean(changes, axis=0)
        worst = float(np.min(changes, axis=0)[0])
        lines.append(
            f"mean change {mean[0]:+.4f} {first}, {mean[1]:+.4f} {second}; worst {worst:+.4f}"
        )
        whole = self.fitted(samples, share)
        cut_short += time.monotonic() - began >= share
        lines.append("weight".ljust(20) + "now".rjust(8) + "fitted".rjust(8) + "  without one")
        for field in fields(self.weights):
            now, new = getattr(self.weights, field.name), getattr(whole, field.name)
            each = [getattr(one, field.name) for one in found]
            mark = " <" if new != now else ""
            lines.append(
                f"{field.name:20}{now:8.3g}{new:8.3g}  {min(each):.3g} to {max(each):.3g}{mark}"
            )
        holds = mean.sum() > 0 and worst >= -0.005
        lines.append(
            "The gain holds on what was left out, and no part loses more than half a point."
            if holds
            else "No change holds on what was left out: keep the weights."
        )
        if cut_short:
            lines.append(
                f"Time was up in {cut_short} of {len(samples) + 1} searches: not all weights were "
                "tried. Give it more with --minutes."
            )
        return "\n".join(lines)


# --- search -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Question:
    """A question at one level, with everything that ranking knows about its candidates."""

    signals: Signals
    names: NDArray[np.int64]  # document -> the number of its document or session
    gold: frozenset[int]
    golds: int  # with those that are no candidates

    def score(self, weights: SearchWeights) -> tuple[float, float]:
        order = np.argsort(-self.signals.score(weights).total, kind="stable")
        first = dict.fromkeys(self.names[order[:200]].tolist())
        return _scored([name in self.gold for name in list(first)[:10]], self.golds)


def _scored(hits: Sequence[bool], golds: int) -> tuple[float, float]:
    gain = sum(1 / math.log2(at + 2) for at, hit in enumerate(hits) if hit)
    ideal = sum(1 / math.log2(at + 2) for at in range(min(10, golds)))
    return float(any(hits[:5])), gain / ideal


def search(sets: Sequence[datasets.BenchSet], vectors: CachedVectors, seconds: float) -> str:
    families: dict[str, dict[str, list[Question]]] = {}
    for one in sets:
        family = families.setdefault(one.name.split("_")[0], {})
        for level, question in _questions(one, vectors):
            family.setdefault(f"{one.name}, {level}", []).append(question)
    if len(families) < 2:
        return f"search: {NEEDS}"
    samples = [Sample(name, parts) for name, parts in families.items()]
    fit = Fit[SearchWeights, Question](SEARCH, Question.score)
    return "search\n" + fit.report(samples, seconds)


def _questions(
    one: datasets.BenchSet, vectors: CachedVectors
) -> Iterator[tuple[datasets.Level, Question]]:
    ingest = DirectIngest(vectors)
    group_of = {message.id: message.session for message in one.messages}
    alone = len(set(group_of.values())) == len(group_of)  # both levels are the same
    for store, questions in one.by_store():
        ingest.fill(store, one.store(store))
        for ask in sorted(questions, key=lambda ask: zlib.crc32(ask.id.encode())):
            if ask.abstention or not ask.gold_groups:
                continue
            signals, ids = ingest.signals(store, ask.text)
            for level in ("doc", "group"):
                gold = ask.golds(level)
                if not gold or (alone and level == "group" and ask.gold):
                    continue
                names = ids if level == "doc" else [group_of[id] for id in ids]
                number = {name: at for at, name in enumerate(dict.fromkeys(names))}
                yield (
                    level,
                    Question(
                        signals,
                        np.array([number[name] for name in names], dtype=np.int64),
                        frozenset(number[name] for name in gold if name in number),
                        len(gold),
                    ),
                )
        ingest.forget(store)


# --- work ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Prompt:
    """A prompt with the files that might be told, and those that the session then needed."""

    files: list[Likely]
    need: frozenset[str]  # base names
    text: str = ""
    later: bool = False  # not the first of its session

    def score(self, weights: FileSignals) -> tuple[float, float]:
        def total(one: Likely) -> float:
            now, other = FILE_SIGNALS, weights
            parts = one.parts.items()
            return math.fsum(
                getattr(other, name) / getattr(now, name) * part for name, part in parts
            )

        best = sorted(self.files, key=lambda one: (-total(one), one.path))[:10]
        return _scored([base(one.path) in self.need for one in best], len(self.need))

    def foreseen(self, weights: Speaking) -> tuple[float, float]:
        """How well it is foreseen which files are used: log likelihood, and the squared error."""
        idle = idleness(self.text, None)
        prompt = weight_of_prompt(self.text, later=self.later, idle=idle, by=weights)
        likelihood, error = [], []
        for one in self.files[:FORESEEN]:
            chance = chance_of_file(one.score, prompt, weights)
            used = base(one.path) in self.need
            likelihood.append(math.log(max(chance if used else 1 - chance, 1e-9)))
            error.append(-((chance - used) ** 2))
        return math.fsum(likelihood) / len(likelihood), math.fsum(error) / len(error)


def files(folder: str, seconds: float) -> str:
    """Which files come first; then how likely they are to be used."""
    if not os.path.isdir(folder):
        return f"file signals: {NEEDS_SESSIONS}"
    with tempfile.TemporaryDirectory(prefix="recollect-fit-") as unpacked:
        sources, _ = transcripts.in_folder(folder, unpacked, MOST_SESSIONS)
        sessions = transcripts.read(sources)
    parts: list[dict[str, list[Prompt]]] = [{} for _ in range(FOLDS)]
    for name, prompt in _prompts(sessions):
        fold = zlib.crc32(name.encode()) % FOLDS
        parts[fold].setdefault(f"sessions, part {fold + 1}", []).append(prompt)
    samples = [Sample(str(number), part) for number, part in enumerate(parts) if part]
    if len(samples) < FOLDS or len(sessions) < 2 * FOLDS:
        return f"file signals: {NEEDS_SESSIONS}"
    order = Fit[FileSignals, Prompt](FILE_SIGNALS, Prompt.score).report(
        [_those(one, lambda prompt: bool(prompt.need)) for one in samples], seconds / 2
    )
    chances = Fit[Speaking, Prompt](SPEAKING, Prompt.foreseen, ("likelihood", "-error")).report(
        [_those(one, lambda prompt: bool(prompt.files)) for one in samples], seconds / 2
    )
    return f"file signals\n{order}\n\nspeaking\n{chances}"


def _those(sample: Sample[Prompt], chosen: Callable[[Prompt], bool]) -> Sample[Prompt]:
    return Sample(
        sample.name,
        {name: list(filter(chosen, some)) for name, some in sample.parts.items()},
    )


def _prompts(sessions: Sequence[PastSession]) -> Iterator[tuple[str, Prompt]]:
    """The first prompts of each session that had an earlier one."""
    needs = {(one.session, one.turn): one.need for one in cases(sessions, PROMPTS)}
    ending = sorted(sessions, key=lambda one: one.ended)
    earlier = ProjectWork()
    for session in sorted(sessions, key=lambda one: one.started):
        while ending and ending[0].ended < session.started:
            for work in _works(ending.pop(0)):
                earlier.add(work)
        so_far = copy.deepcopy(earlier)
        for number, turn in enumerate(session.turns[:PROMPTS]):
            need, prompt = needs.get((session.name, number)), turn[0]
            if need is not None:
                ask = Ask(
                    prompt_text(turn),
                    prompt.valid_time.timestamp(),
                    prompt.session_id,
                    person_of(prompt),
                    prompt.source.branch,
                )
                yield session.name, Prompt(rank(so_far, ask), need, ask.text, number > 0)
            done = work_of(turn)
            if done is not None:
                so_far.add(done)


def _works(session: PastSession) -> Iterator[TurnWork]:
    return (work for turn in session.turns if (work := work_of(turn)) is not None)
