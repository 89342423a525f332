"""The retrieval benchmark: our ranking beside the baselines, question by question.

In: sets and an `Ingest`. Out: `QuestionOutcome`s, which can be summarised, saved and compared.
Vectors come from `CachedVectors`; everything else is computed.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from recollect.bench.baselines import Baselines
from recollect.bench.datasets import BenchQuestion, BenchSet, Level
from recollect.bench.ingest import Ingest, Variant
from recollect.bench.metrics import METRICS, error, groups, mean, measure
from recollect.bench.vectors import CachedVectors

OURS = "recollect"
DEPTH = 200  # of a ranking, so that sessions have ten of their own

Summary = dict[str, dict[str, dict[str, dict[str, float]]]]


@dataclass(frozen=True, slots=True)
class QuestionOutcome:
    """The result of one row for one question at one level."""

    set: str
    level: Level
    row: str
    question: str
    type: str
    values: dict[str, float]
    found: tuple[str, ...]  # the first ten


def run(
    data: BenchSet,
    ingest: Ingest,
    vectors: CachedVectors | None = None,
    variants: Mapping[str, Variant] | None = None,
) -> list[QuestionOutcome]:
    """Every question of a set, asked in every variant; baselines beside it if vectors are given."""
    outcomes: list[QuestionOutcome] = []
    group_of = {message.id: message.session for message in data.messages}
    for store, questions in data.by_store():
        messages = data.store(store)
        ingest.fill(store, messages)
        others = Baselines(messages, vectors) if vectors is not None else None
        for ask in questions:
            if ask.abstention or not ask.gold_groups:
                continue
            lists = {
                name: [result.id for result in ingest.ask(store, ask.text, DEPTH, how).results]
                for name, how in (variants or {OURS: Variant()}).items()
            }
            if others is not None:
                lists |= others.rankings(ask.text, DEPTH)
            for row, ids in lists.items():
                outcomes += _outcomes(data.name, row, ask, ids, group_of)
        if others is not None:
            others.close()
        ingest.forget(store)
    return outcomes


def _outcomes(
    name: str, row: str, ask: BenchQuestion, ids: list[str], group_of: dict[str, str]
) -> Iterator[QuestionOutcome]:
    for level in ("doc", "group"):
        gold = ask.golds(level)
        if gold:
            names = ids if level == "doc" else groups(ids, group_of)
            values = measure(names, gold)
            yield QuestionOutcome(name, level, row, ask.id, ask.type, values, tuple(names[:10]))


def summary(outcomes: Iterable[QuestionOutcome]) -> Summary:
    """{set: {level: {row: {metric: value}}}}"""
    found: Summary = {}
    for (name, level, row), rows in _grouped(outcomes, lambda o: (o.set, o.level, o.row)).items():
        found.setdefault(name, {}).setdefault(level, {})[row] = mean([o.values for o in rows])
    return found


def table(outcomes: list[QuestionOutcome]) -> str:
    """All rows of all sets, with one standard error of any@5 and the number of questions."""
    lines = ["set, level".ljust(34) + "row".ljust(11) + "".join(m.rjust(9) for m in METRICS)]
    by_row = _grouped(outcomes, lambda o: (o.set, o.level, o.row))
    for (name, level, row), rows in by_row.items():
        values = [outcome.values for outcome in rows]
        cells = "".join(f"{mean(values)[metric]:9.3f}" for metric in METRICS)
        note = f"  ±{error(values)['any@5']:.3f} n={len(rows)}" if row == OURS else ""
        lines.append(f"{name}, {level}".ljust(34) + row.ljust(11) + cells + note)
    return "\n".join(lines)


def by_type(outcomes: list[QuestionOutcome]) -> str:
    """Our row by type of question."""
    lines = ["set, level, type".ljust(60) + "n".rjust(5) + "".join(m.rjust(9) for m in METRICS)]
    ours = [outcome for outcome in outcomes if outcome.row == OURS]
    for (name, level, kind), rows in _grouped(ours, lambda o: (o.set, o.level, o.type)).items():
        cells = "".join(f"{mean([o.values for o in rows])[metric]:9.3f}" for metric in METRICS)
        lines.append(f"{name}, {level}, {kind}".ljust(60) + f"{len(rows):5d}" + cells)
    return "\n".join(lines)


def compare(before: Iterable[QuestionOutcome], after: Iterable[QuestionOutcome]) -> str:
    """Which questions our row gained and lost between two runs, by any@5."""
    old = {(o.set, o.level, o.question): o for o in before if o.row == OURS}
    lines: list[str] = []
    totals: dict[tuple[str, str], list[int]] = {}
    for outcome in after:
        was = old.get((outcome.set, outcome.level, outcome.question))
        if outcome.row != OURS or was is None:
            continue
        change = int(outcome.values["any@5"] - was.values["any@5"])
        total = totals.setdefault((outcome.set, outcome.level), [0, 0])
        if change:
            total[change < 0] += 1
            lines.append(f"{'+' if change > 0 else '-'} {outcome.set} {outcome.question}")
    sums = [f"{name}, {level}: +{up} -{down}" for (name, level), (up, down) in totals.items()]
    return "\n".join(sums + sorted(lines))


def _grouped(
    outcomes: Iterable[QuestionOutcome], key: Callable[[QuestionOutcome], tuple[str, str, str]]
) -> dict[tuple[str, str, str], list[QuestionOutcome]]:
    found: dict[tuple[str, str, str], list[QuestionOutcome]] = {}
    for outcome in outcomes:
        found.setdefault(key(outcome), []).append(outcome)
    return found
