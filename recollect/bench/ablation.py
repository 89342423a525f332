"""What each signal contributes: the same run without it.

In: sets and an `Ingest`. Out: a table of any@5 and NDCG@10, one line per variant. Each store is
filled once and asked in every variant, so that a difference is due to the signal alone.
"""

from dataclasses import fields, replace

from recollect.bench.ingest import Variant
from recollect.bench.metrics import mean
from recollect.bench.retrieval import OURS, QuestionOutcome
from recollect.core.tuning import SearchWeights


def variants() -> dict[str, Variant]:
    """The product, without each signal in turn, and its other modes."""
    whole = SearchWeights()
    found = {OURS: Variant()}
    for one in fields(SearchWeights):
        found[f"no {one.name}"] = Variant(weights=replace(whole, **{one.name: 0.0}))
    found["keyword mode"] = Variant(mode="keyword")
    found["semantic mode"] = Variant(mode="semantic")
    found["rrf fusion"] = Variant(fusion="rrf")
    return found


def table(outcomes: list[QuestionOutcome]) -> str:
    columns = list(dict.fromkeys((o.set, o.level) for o in outcomes))
    lines = ["any@5/NDCG@10".ljust(20) + " ".join(f"{s[:9]}.{lv[0]}" for s, lv in columns)]
    for row in dict.fromkeys(o.row for o in outcomes):
        cells, sums = [], [0.0, 0.0]
        for column in columns:
            values = mean([o.values for o in outcomes if (o.set, o.level, o.row) == (*column, row)])
            cells.append(f"{100 * values['any@5']:5.1f}/{100 * values['NDCG@10']:4.1f}")
            sums[0] += values["any@5"]
            sums[1] += values["NDCG@10"]
        middle = [100 * total / len(columns) for total in sums]
        lines.append(row.ljust(20) + " ".join(cells) + f"  mean {middle[0]:.2f}/{middle[1]:.2f}")
    return "\n".join(lines)
