"""What the graph contributes: hop questions with and without it, and contradictions end to end.

In: `data/hops` (an invented team's history, and questions whose answers are a step away from what
they name) and `data/contradictions` (histories in which something changed). Out: recall@5 with the
graph leg on and off, and in how many histories the current fact is injected. `python -m
tests.bench.knowledge` prints both; half of the hop questions were held back for that.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from recollect.core import ids, settings
from recollect.core.clock import ManualClock
from recollect.core.settings import Settings
from recollect.core.tuning import SearchWeights
from recollect.core.values import Arrival, Entity, Event, EventSource, Fact, TextBody
from recollect.daemon.runtime import Runtime
from recollect.embedding.backfill import Backfill
from recollect.embedding.embedder import Embedder
from recollect.extract.interface import Claim, EntityClaim, FactClaim, PreferenceClaim
from recollect.ingest.messages import RecallQuestion
from recollect.ingest.turns import turns_of
from recollect.inject import render
from recollect.reconcile import graph_claims
from recollect.reconcile.plan import LearningPlan, apply

DATA = os.path.join(os.path.dirname(__file__), "data")
ACTOR = "bench"
GLOBAL = f"/actor/{ACTOR}/"
START = datetime(2026, 6, 15, 12, tzinfo=UTC)
TOP = 5


class World:
    """A store of its own, with the product's recall."""

    def __init__(self, home: str, embedder: Embedder | None) -> None:
        self.clock = ManualClock(START)
        chosen = Settings(home=home, actor=ACTOR, reserve_mb=0, embedding=False)
        self.runtime = Runtime(chosen, self.clock)
        self.store, self.memories = self.runtime.store, self.runtime.memories
        self.it = self.runtime.load_recall()
        self.it.recall_now.limit_ms = 5000  # what is measured here is not how fast it is
        self._backfill = None
        if embedder is not None:
            self.it.engine.embedder = embedder
            self._backfill = Backfill(self.store, embedder, self.it.index_cache.embedded)

    def close(self) -> None:
        self.runtime.close()

    def say(self, namespace: str, text: str, at: datetime, session: str) -> tuple[str, str]:
        """Store a note as an event and its record; returns the ids of both."""
        event = Event(
            event_id=ids.new_ulid(int(at.timestamp() * 1000)),
            session_id=session,
            actor_id=ACTOR,
            namespace=namespace,
            kind="note",
            body=TextBody(content=text),
            valid_time=at,
            source=EventSource(surface="bench"),
        )
        self.store.events.put([Arrival(event=event, digest=event.event_id)])
        stored = self.store.events.get(namespace, event.event_id)
        assert stored is not None
        record = self.memories.add([turns_of([stored])[0].episode()])[0]
        return event.event_id, record.record_id

    def learn(self, namespace: str, claims: Sequence[Claim]) -> LearningPlan:
        plan = graph_claims.learn(self.store.graph, namespace, claims, self.clock.now())
        self.store.transaction(lambda tx: apply(tx, plan, ACTOR))
        return plan

    def settle(self, namespaces: Sequence[str]) -> None:
        while self._backfill is not None and self._backfill.step():
            pass
        self.it.index_cache.fill(namespaces)
        self.it.graphs.fill(namespaces)


@contextmanager
def world(embedder: Embedder | None) -> Iterator[World]:
    home = tempfile.mkdtemp(prefix="recollect-knowledge-")
    made = World(home, embedder)
    try:
        yield made
    finally:
        made.close()
        shutil.rmtree(home, ignore_errors=True)


# --- hops ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Hop:
    id: str
    half: str
    hops: int
    without: bool  # found among the first five without the graph
    found: bool


def hops(embedder: Embedder | None, weights: SearchWeights | None = None) -> list[Hop]:
    namespace = f"/actor/{ACTOR}/project/harbour/"
    weights = weights or SearchWeights()
    with world(embedder) as made:
        record_of = _load_history(made, namespace)
        outcomes = []
        for ask in rows("hops", "questions"):
            gold = {record_of[one] for one in ask["gold"]}
            _, bonus = made.it.graphs.walk(ask["text"], [namespace])
            found = []
            for reached in ({}, bonus):
                ranked = made.it.engine.search(
                    ask["text"], [namespace], limit=TOP, floor=False, weights=weights,
                    reached=reached,
                )  # fmt: skip
                found.append(bool(gold & {one.id for one in ranked.results}))
            outcomes.append(Hop(ask["id"], ask["half"], ask["hops"], *found))
        return outcomes


def _load_history(made: World, namespace: str) -> dict[str, str]:
    """The invented team's history; returns the memory of each message."""
    record_of: dict[str, str] = {}
    claims: list[Claim] = []
    for memory in rows("hops", "memories"):
        at = day(memory["day"])
        event, record_of[memory["id"]] = made.say(namespace, memory["text"], at, memory["day"])
        claims += [
            FactClaim(subject, predicate, said, at, "user", "stated", 0.8, (event,))
            for subject, predicate, said in memory["claims"]
        ]
    things = [
        EntityClaim(one["name"], one["type"], aliases=tuple(one["aliases"]))
        for one in rows("hops", "entities")
    ]
    for first in range(0, len(claims), 20):
        made.learn(namespace, claims[first : first + 20])
    made.learn(namespace, things)
    made.settle([namespace])
    return record_of


def hop_table(name: str, outcomes: Sequence[Hop]) -> str:
    lines = [f"hop questions, recall@{TOP}, {name}".ljust(48) + "n   off    on   points"]
    groups = {
        "tuning half": [one for one in outcomes if one.half == "tune"],
        "kept half": [one for one in outcomes if one.half == "report"],
        "kept half, one hop": [o for o in outcomes if o.half == "report" and o.hops == 1],
        "kept half, two hops": [o for o in outcomes if o.half == "report" and o.hops == 2],
    }
    for label, some in groups.items():
        off, on = share(some, "without"), share(some, "found")
        figures = f"{len(some):2d}  {off:.3f} {on:.3f}  {gain(some):+.1f}"
        lines.append(f"  {label}".ljust(47) + figures)
    return "\n".join(lines)


def share(outcomes: Sequence[Hop], what: str) -> float:
    return float(sum(getattr(one, what) for one in outcomes)) / max(1, len(outcomes))


def gain(outcomes: Sequence[Hop]) -> float:
    """Points of recall@5 that the graph leg gives."""
    return 100 * (share(outcomes, "found") - share(outcomes, "without"))


# --- contradictions -----------------------------------------------------------------------------


@dataclass(frozen=True)
class HistoryVerdict:
    id: str
    kind: str
    current: bool  # what holds now is injected
    stale: bool  # what no longer holds is injected as if it did
    text: str


def contradictions(embedder: Embedder | None) -> list[HistoryVerdict]:
    verdicts = []
    with world(embedder) as made:
        for history in rows("contradictions", "histories"):
            namespace = f"/actor/{ACTOR}/project/{history['id']}/"
            for number, said in enumerate(history["said"]):
                at = day(said["day"])
                event, _ = made.say(namespace, said["text"], at, f"{history['id']}-{number}")
                made.learn(namespace, [_claim(said, at, event)])
                made.clock.advance(minutes=1)
            made.settle([namespace, GLOBAL])
            verdicts.append(verdict(made, namespace, history))
    return verdicts


def _claim(said: dict[str, Any], at: datetime, event: str) -> Claim:
    if "preference" in said:
        category, key, value = said["preference"]
        return PreferenceClaim(category, key, value, at, said["source"], event_ids=(event,))
    subject, predicate, object = said["fact"]
    return FactClaim(
        subject, predicate, object, at, said["author"], said["source"], event_ids=(event,)
    )


def verdict(made: World, namespace: str, history: dict[str, Any]) -> HistoryVerdict:
    session = f"ask-{history['id']}"
    question = RecallQuestion("prompt", history["ask"], (namespace, GLOBAL), session, None, 9500)
    recalled = made.it.recall_now(question)
    text = render.parse(recalled.context) or ""
    start = made.it.recall_now(
        replace(question, trigger="session-start", session_id=f"s-{session}")
    )
    told = [line for line in text.split("\n") if line.startswith("- ")]
    rules = (render.parse(start.context) or "").split("\n")
    begun = [line for line in rules if line.startswith(render.RULES)]
    holds = [line for line in told if "(no longer so" not in line and not _dated(line)]
    stale = [
        line
        for line in [*holds, *begun]
        for old in history["old"]
        if _mentions(line, old) and not _mentions(line, history["current"])
    ]
    # A memory of an old state may be told with its date; it must say that it is over.
    stale += [
        line
        for line in told
        if _dated(line) and "(no longer so" not in line and "preference" not in history["said"][0]
        for old in history["old"]
        if _mentions(line, old) and not _mentions(line, history["current"])
    ]
    # The fact itself, or the belief that says it with its date: only one of both is told.
    current = any(
        _mentions(line, history["current"])
        for line in [*told, *begun]
        if "(no longer so" not in line
    )
    return HistoryVerdict(history["id"], history["kind"], current, bool(stale), text)


def _mentions(line: str, value: str) -> bool:
    return value.casefold() in line.casefold().replace("/./", "/")


def _dated(line: str) -> bool:
    return line.startswith("- 20")


def contradiction_table(verdicts: Sequence[HistoryVerdict]) -> str:
    lines = ["contradictions".ljust(30) + "n   current   old as current"]
    kinds = list(dict.fromkeys(one.kind for one in verdicts))
    for kind in [*kinds, "all"]:
        some = [one for one in verdicts if kind in (one.kind, "all")]
        right, wrong = sum(one.current for one in some), sum(one.stale for one in some)
        figures = f"{len(some):2d}  {100 * right / len(some):6.1f} %  {wrong:8d}"
        lines.append(f"  {kind}".ljust(29) + figures)
    return "\n".join(lines)


# --- the cost -----------------------------------------------------------------------------------


def walk_ms(entities: int = 5000, asked: int = 200) -> float:
    """CPU milliseconds of a walk in a large graph, on average."""
    namespace = f"/actor/{ACTOR}/project/large/"
    with world(None) as made:
        things: list[Any] = []
        for number in range(entities):
            things.append(
                Entity(entity_id=f"ent_{number}", namespace=namespace, name=f"svc{number}x",
                       type="service")
            )  # fmt: skip
        for number in range(4 * entities):
            things.append(
                Fact(fact_id=f"fact_{number}", namespace=namespace,
                     entity_id=f"ent_{number % entities}", subject=f"svc{number % entities}x",
                     predicate="depends_on", object=f"svc{number * 7 % entities}x",
                     valid_from=START - timedelta(days=1))
            )  # fmt: skip
        made.store.transaction(lambda tx: tx.put_graph(*things))
        made.it.graphs.fill([namespace])
        began = time.process_time()
        for number in range(asked):
            made.it.graphs.walk(f"what does svc{number}x depend on, and who owns it?", [namespace])
        return 1000 * (time.process_time() - began) / asked


def rows(folder: str, name: str) -> list[dict[str, Any]]:
    with open(os.path.join(DATA, folder, f"{name}.jsonl"), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(hour=12, tzinfo=UTC)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="tests.bench.knowledge", description=__doc__)
    parser.add_argument("--models", help="the models directory")
    parser.add_argument("--words", action="store_true", help="by words alone, without the model")
    parser.add_argument("--failures", action="store_true", help="show what went wrong")
    options = parser.parse_args(arguments)
    embedder = None
    if not options.words:
        embedder = Embedder(options.models or settings.load().models)
        embedder.load()
    found = hops(embedder)
    verdicts = contradictions(embedder)
    out = [
        hop_table("by words alone" if options.words else "hybrid", found),
        contradiction_table(verdicts),
        f"a walk among 5,000 things and 20,000 facts: {walk_ms():.1f} ms of CPU",
    ]
    if options.failures:
        out += [f"missed: {one.id}" for one in found if not one.found and one.half == "tune"]
        out += [f"{o.id} {o.kind} {o}" for o in verdicts if not o.current or o.stale]
    sys.stdout.write("\n".join(out) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
