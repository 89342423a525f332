"""Each boost by itself: of two memories that say the same it puts the worthier first, and it never
puts the worthier before one that answers better."""

from dataclasses import replace
from typing import Any

import pytest

from recollect.core.tuning import PRIORS
from recollect.retrieve import score
from recollect.retrieve.engine import SearchEngine
from recollect.retrieve.index import Document

NOW = 1_800_000_000_000_000
YEAR = 365 * 24 * score.HOUR

TOPICS = (
    ("retry", "queue", "backoff"), ("invoice", "rounding", "cents"), ("login", "cookie", "expiry"),
    ("deploy", "canary", "rollback"), ("schema", "migration", "lock"), ("parser", "unicode", "bom"),
    ("cache", "eviction", "ttl"), ("webhook", "signature", "replay"), ("search", "stemming", "idf"),
    ("upload", "chunk", "resume"), ("timezone", "cron", "drift"), ("linter", "import", "cycle"),
)  # fmt: skip

Change = dict[str, Any]
BOOSTS: dict[str, tuple[Change, Change]] = {  # the worthier, the other
    "importance": ({"importance": 9}, {"importance": 3}),
    "confidence": ({"confidence": 1.0}, {"confidence": 0.5}),
    "freshness": ({"freshness": "fresh"}, {"freshness": "orphaned"}),
    "derived": ({"derived": True}, {"derived": False}),
    "access": ({"access_count": 40}, {"access_count": 0}),
    "recency": ({"time": NOW - score.HOUR}, {"time": NOW - YEAR}),
}


def first(documents: list[Document], question: str) -> str:
    engine = SearchEngine(None)
    filler = [Document(id=f"z{n}", text=topic[n % 3]) for n, topic in enumerate(TOPICS)]
    engine.add("n", [*filler, *documents])
    return next(
        one.id
        for one in engine.search(question, ["n"], floor=False, now=NOW).results
        if one.id in ("mine", "other")
    )


def answers(boost: str, *, better: bool) -> float:
    """The share of topics in which the worthier memory comes first. With `better` the other one
    says more of what is asked. Half of the time the worthier is also the newer record."""
    worthier, other = BOOSTS[boost]
    hits = 0
    for number, (a, b, c) in enumerate(TOPICS):
        same = f"the {a} uses a {b} and we wrote it down for the {a} of this service"
        asked = f"how does the {a} handle the {b} with {c}"
        mine = Document(id="mine", text=same, created=number % 2)
        yours = Document(
            id="other", text=f"{same} with {c}" if better else same, created=1 - number % 2
        )
        hits += first([replace(mine, **worthier), replace(yours, **other)], asked) == "mine"
    return hits / len(TOPICS)


@pytest.mark.parametrize("boost", BOOSTS)
def test_among_equals_the_worthier_comes_first(boost: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert answers(boost, better=False) == 1.0
    if boost == "freshness":
        monkeypatch.setattr(score, "STALE", {})
    else:
        monkeypatch.setattr(score, "PRIORS", replace(PRIORS, **{boost: 0.0}))
    assert answers(boost, better=False) == 0.5


@pytest.mark.parametrize("boost", BOOSTS)
def test_a_better_answer_stays_before_a_worthier_memory(boost: str) -> None:
    assert answers(boost, better=True) == 0.0
