"""End-to-end benchmark from captured events to injected text: pipeline, turn writer, rules and
recall.

In: the contradiction histories as prompts and answers, and conversational sets. Out: in how many
histories the current fact is injected when no claims are given, and what the graph that the rules
make of conversations contributes, with the graph leg on and off. `python -m
tests.bench.end_to_end` prints the first, `--data DIRECTORY --sets NAME` the second.
"""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from recollect.bench import datasets, ingest
from recollect.bench.metrics import groups, mean, measure
from recollect.bench.product import CachedEmbedder
from recollect.bench.vectors import CachedVectors
from recollect.core import ids, settings
from recollect.core.clock import from_micros
from recollect.core.values import (
    Body,
    ChatMessage,
    Entity,
    Event,
    EventKind,
    EventSource,
    MessageBody,
    TextBody,
)
from recollect.embedding.embedder import Embedder
from recollect.extract.watcher import RunFollowUp
from tests.bench import knowledge
from tests.bench.knowledge import ACTOR, GLOBAL, HistoryVerdict, World

DEPTH = 50
METRICS = ("any@5", "all@5", "NDCG@10")


class EventWorld(World):
    """A world that gets only events, as from hooks."""

    def __init__(self, home: str, embedder: Any) -> None:
        super().__init__(home, embedder)
        self.runtime.turn_writer.start()
        self._learning = self.runtime.load_learning()

    def capture(self, namespace: str, text: str, at: datetime, session: str, author: str) -> str:
        """Store a prompt, or an answer of the agent to an empty prompt."""
        kind: EventKind = "prompt" if author == "user" else "session_summary"
        body: Body = TextBody(content=text)
        if author != "user":
            body = MessageBody(turns=(ChatMessage(role="assistant", content=text),))
        event = Event(
            event_id=ids.new_ulid(int(self.clock.now().timestamp() * 1000)),
            session_id=session,
            actor_id=ACTOR,
            namespace=namespace,
            kind=kind,
            body=body,
            valid_time=at,
            source=EventSource(surface="bench"),
        )
        self.runtime.pipeline.events([(event, event.event_id)])
        return event.event_id

    def extract(self, namespace: str) -> None:
        self.runtime.turn_writer.wait(600)
        after = RunFollowUp(again=True)
        while after.again and not after.wait_s:
            after = self._learning.worker.run(namespace)


@contextmanager
def run_history(embedder: Any) -> Iterator[EventWorld]:
    home = tempfile.mkdtemp(prefix="recollect-told-")
    made = EventWorld(home, embedder)
    try:
        yield made
    finally:
        made.close()
        shutil.rmtree(home, ignore_errors=True)


# --- contradictions -----------------------------------------------------------------------------


def contradictions(embedder: Embedder | None, name: str = "histories") -> list[HistoryVerdict]:
    """Histories as events: what the user says is a prompt, everything else an answer. `phrasings`
    and `wordings` were written after the rules, in other words than theirs."""
    verdicts = []
    with run_history(embedder) as made:
        for history in knowledge.rows("contradictions", name):
            namespace = f"/actor/{ACTOR}/project/{history['id']}/"
            for number, said in enumerate(history["said"]):
                at = knowledge.day(said["day"])
                session = f"{history['id']}-{number}"
                if said["author"] != "user":
                    made.capture(namespace, "Please have a look.", at, session, "user")
                made.capture(namespace, said["text"], at, session, said["author"])
                made.extract(namespace)
                made.clock.advance(minutes=1)
            made.settle([namespace, GLOBAL])
            verdicts.append(knowledge.verdict(made, namespace, history))
    return verdicts


# --- conversations ------------------------------------------------------------------------------


def conversations(one: datasets.BenchSet, vectors: CachedVectors) -> tuple[str, ...]:
    """Every message of a set as a prompt, so that the rules read it; then its questions, with and
    without the resulting graph."""
    values: dict[str, list[dict[str, float]]] = {"off": [], "on": []}
    things = facts = reached = 0
    with run_history(CachedEmbedder(vectors)) as made:
        for store, questions in one.by_store():
            namespace = f"/actor/{ACTOR}/project/{store}/"
            message_of: dict[str, str] = {}
            group_of: dict[str, str] = {}
            for message in one.store(store):
                at = knowledge.START if message.time is None else from_micros(message.time)
                session = message.session or message.id
                event = made.capture(namespace, message.text, at, session, "user")
                made.capture(namespace, "Noted.", at, session, "assistant")
                message_of[ids.RECORD + event] = message.id
                group_of[message.id] = message.session
            made.extract(namespace)
            made.settle([namespace])
            things += len(made.store.graph.all(namespace, Entity))
            facts += len(made.store.graph.facts(namespace))
            for ask in questions:
                if ask.abstention or not ask.gold_groups:
                    continue
                _, bonus = made.it.graphs.walk(ask.text, [namespace])
                reached += bool(bonus)
                for name, given in (("off", {}), ("on", bonus)):
                    ranked = made.it.engine.search(
                        ask.text, [namespace], limit=DEPTH, floor=False, reached=given
                    )
                    found = [message_of[r.id] for r in ranked.results if r.id in message_of]
                    level = "doc" if ask.gold else "group"
                    names = found if ask.gold else groups(found, group_of)
                    values[name].append(measure(names, ask.golds(level)))
    head = (
        f"{one.name}: {len(values['on'])} questions, a graph of {things} things and {facts} "
        f"facts, which {reached} questions reach"
    )
    off, on = mean(values["off"]), mean(values["on"])
    table = [
        f"  {metric.ljust(8)} off {off[metric]:.4f}  on {on[metric]:.4f}  "
        f"points {100 * (on[metric] - off[metric]):+.2f}"
        for metric in METRICS
    ]
    return (head, *table)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="tests.bench.end_to_end", description=__doc__)
    parser.add_argument("--models", help="the models directory")
    parser.add_argument("--words", action="store_true", help="by words alone, without the model")
    parser.add_argument("--failures", action="store_true", help="show what went wrong")
    parser.add_argument("--data", help="a directory of benchmark sets")
    parser.add_argument("--sets", nargs="*", default=(), help="conversational sets in it")
    parser.add_argument("--cache", default="", help="a directory for vectors")
    options = parser.parse_args(arguments)
    embedder = None
    if not options.words:
        embedder = Embedder(options.models or settings.load().models)
        embedder.load()
    out: list[str] = []
    if options.sets and embedder is not None:
        vectors = CachedVectors(embedder, options.cache or tempfile.gettempdir())
        for name in options.sets:
            one = datasets.read(options.data, name)
            asked = [ask.text for ask in one.questions]
            vectors.prepare(ingest.texts(one.messages) + asked, lambda done, total: None)
            out += conversations(one, vectors)
            vectors.forget()
    else:
        for name in ("histories", "phrasings", "wordings", "unseen"):
            verdicts = contradictions(embedder, name)
            out += [name, knowledge.contradiction_table(verdicts)]
            if options.failures:
                out += [f"{o.id} {o.kind} {o}" for o in verdicts if not o.current or o.stale]
    sys.stdout.write("\n".join(out) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
