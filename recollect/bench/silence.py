"""How often retrieval stays silent when it should, and what that costs.

In: several sets and an `Ingest`. Out: by set, the share of silence for questions of another set, of
another store, and with the gold removed; and any@5 with and without the floor. One threshold serves
all. Which questions are asked depends on their ids alone, so that two runs compare.
"""

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from recollect.bench.datasets import BenchQuestion, BenchSet
from recollect.bench.ingest import Ingest, Variant
from recollect.bench.metrics import groups

STORES = 40  # of a set with many
OWN, OTHER_SET, OTHER_STORE, REMOVED = 1000, 300, 100, 100  # questions of each kind, at most

Item = TypeVar("Item", BenchQuestion, tuple[str, list[BenchQuestion]])

KINDS = ("another set", "another store", "gold removed", "abstention")


@dataclass
class SilenceTally:
    name: str
    asked: dict[str, int] = field(default_factory=dict)
    silent: dict[str, int] = field(default_factory=dict)
    answered: int = 0
    free: float = 0.0  # any@5 without a floor
    floored: float = 0.0

    def note(self, kind: str, silent: bool) -> None:
        self.asked[kind] = self.asked.get(kind, 0) + 1
        self.silent[kind] = self.silent.get(kind, 0) + silent

    def share(self, kind: str) -> float | None:
        return self.silent[kind] / self.asked[kind] if self.asked.get(kind) else None

    @property
    def cost(self) -> float:
        """Points of any@5 that the floor costs."""
        return 100 * (self.free - self.floored) / max(1, self.answered)


def run(data: BenchSet, others: Iterable[BenchSet], ingest: Ingest) -> SilenceTally:
    tally = SilenceTally(data.name)
    stores = _some(list(data.by_store()), STORES)
    own = {ask.id for ask in data.questions}
    foreign = [ask for other in others for ask in _foreign(other, own)]
    for store, questions in stores:
        ingest.fill(store, data.store(store))
        _answerable(data, store, _some(questions, OWN // len(stores) + 1), ingest, tally)
        for ask in _some(foreign, OTHER_SET // len(stores) + 1, salt=store):
            tally.note("another set", _silent(ingest, store, ask))
        elsewhere = [ask for ask in data.questions if ask.store != store]
        for ask in _some(elsewhere, OTHER_STORE // len(stores) + 1, salt=store):
            tally.note("another store", _silent(ingest, store, ask))
        for ask in _some(questions, REMOVED // len(stores) + 1, salt="gone"):
            if ask.gold_groups and not ask.abstention:
                _without_gold(data, store, ask, ingest, tally)
        ingest.forget(store)
    return tally


def table(tallies: list[SilenceTally]) -> str:
    lines = [
        "set".ljust(26)
        + "".join(kind.rjust(16) for kind in KINDS)
        + "any@5  with floor  cost".rjust(28)
    ]
    for one in tallies:
        cells = "".join(_percent(one.share(kind)).rjust(16) for kind in KINDS)
        count = max(1, one.answered)
        costs = f"{one.free / count:12.3f}{one.floored / count:9.3f}{one.cost:7.1f}"
        lines.append(one.name.ljust(26) + cells + costs)
    shares = [share for one in tallies if (share := one.share("another set")) is not None]
    costs_of = [one.cost for one in tallies]
    if shares:
        lines.append(
            f"another set: {_percent(sum(shares) / len(shares))} silent on average; cost "
            f"{sum(costs_of) / len(costs_of):.2f} points on average, {max(costs_of):.1f} at most"
        )
    return "\n".join(lines)


def _answerable(
    data: BenchSet, store: str, questions: list[BenchQuestion], ingest: Ingest, tally: SilenceTally
) -> None:
    group_of = {message.id: message.session for message in data.messages}
    for ask in questions:
        ranked = ingest.ask(store, ask.text, 50, Variant())
        if ask.abstention:
            tally.note("abstention", _silent(ingest, store, ask))
        elif ask.gold_groups:
            ids = [result.id for result in ranked.results]
            names = ids if ask.gold else groups(ids, group_of)
            hit = float(bool(set(names[:5]) & (ask.gold or ask.gold_groups)))
            tally.answered += 1
            tally.free += hit
            tally.floored += hit * (not _silent(ingest, store, ask))


def _without_gold(
    data: BenchSet, store: str, ask: BenchQuestion, ingest: Ingest, tally: SilenceTally
) -> None:
    gone = [
        message
        for message in data.store(store)
        if message.id in ask.gold or (not ask.gold and message.session in ask.gold_groups)
    ]
    ingest.remove(store, [message.id for message in gone])
    tally.note("gold removed", _silent(ingest, store, ask))
    ingest.add(store, gone)


def _silent(ingest: Ingest, store: str, ask: BenchQuestion) -> bool:
    return not ingest.ask(store, ask.text, 5, Variant(floor=True)).results


def _foreign(other: BenchSet, own: set[str]) -> Iterator[BenchQuestion]:
    """Questions of another set, unless it is this one in another form."""
    if not own & {ask.id for ask in other.questions}:
        yield from _some(list(other.questions), 60)


def _some(items: list[Item], most: int, *, salt: str = "") -> list[Item]:
    """At most so many of them, chosen by a hash of their ids."""

    def mixed(item: Item) -> int:
        name = item.id if isinstance(item, BenchQuestion) else item[0]
        return zlib.crc32((salt + name).encode())

    return sorted(items, key=mixed)[:most]


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.0f} %"
