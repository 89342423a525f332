"""Laws of what is carried away, brought in and erased.

Export then import is the identity; importing twice is importing once; what a preview shows is what
goes, and what stays is untouched.
"""

import pathlib
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect import privacy
from recollect.core import ids
from recollect.core.clock import ManualClock
from recollect.core.projects import ProjectPlace, namespace
from recollect.core.settings import Settings
from recollect.core.values import (
    Arrival,
    ChatMessage,
    Checkpoint,
    Entity,
    Event,
    EventSource,
    Fact,
    JsonBody,
    MessageBody,
    Preference,
    Procedure,
    Receipt,
    Relationship,
    TextBody,
)
from recollect.portable.exports import ExportReader, ExportSelection, document, jsonl, markdown
from recollect.store.interface import Batch, Selection
from recollect.store.sqlite import SqliteStore
from tests.fakes.checkpoints import put_checkpoint
from tests.fakes.stored import delete_records, edit_record, put_graph
from tests.make import record, vector

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def clean(text: str) -> bool:
    return privacy.scrub(text) == text and "\0" not in text


TEXT = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30
).filter(clean)
SAID = TEXT.filter(lambda text: bool(text.strip()))
TIMES = st.integers(0, 10**8).map(lambda seconds: NOW - timedelta(seconds=seconds))
TREES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
BODIES = st.one_of(
    TEXT.map(lambda text: TextBody(content=text)),
    TREES.map(lambda tree: JsonBody(data=tree)),
    st.lists(TEXT, min_size=1, max_size=3).map(
        lambda texts: MessageBody(
            turns=tuple(ChatMessage(role="user", content=one) for one in texts)
        )
    ),
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("event"), st.sampled_from(["s1", "s2"]), BODIES, TIMES),
        st.tuples(st.just("memory"), st.sampled_from(["s1", "s2"]), SAID, TIMES),
        st.tuples(st.just("edit"), st.integers(0, 9), SAID, TIMES),
        st.tuples(st.just("delete"), st.integers(0, 9), TEXT, TIMES),
        st.tuples(st.just("undo"), st.integers(0, 9), TEXT, TIMES),
        st.tuples(st.just("graph"), st.integers(0, 3), SAID, TIMES),
        st.tuples(st.just("receipt"), st.integers(0, 9), TEXT, TIMES),
        st.tuples(st.just("checkpoint"), st.integers(0, 9), SAID, TIMES),
        st.tuples(st.just("finish"), st.integers(1, 3), TEXT, TIMES),
        st.tuples(st.just("end"), st.sampled_from(["s1", "s2"]), TEXT, TIMES),
    ),
    max_size=14,
)


@contextmanager
def two_stores() -> Iterator[tuple[SqliteStore, SqliteStore, pathlib.Path]]:
    with tempfile.TemporaryDirectory() as folder:
        clock = ManualClock(start=NOW)
        made = [
            SqliteStore(Settings(home=f"{folder}/{name}", actor="ada", reserve_mb=0), clock)
            for name in ("one", "two")
        ]
        yield made[0], made[1], pathlib.Path(folder)
        for store in made:
            store.close()


def live(store: SqliteStore, steps: list[tuple[Any, ...]]) -> str:
    """A life of memories in one project; gives its namespace."""
    here = namespace(
        "ada", store.projects.resolve(ProjectPlace(root="/srv/engine", remote="host/engine"))
    )
    event_ids: list[str] = []
    record_ids: list[str] = []
    for number, (step, what, value, when) in enumerate(steps):
        match step:
            case "event":
                event = Event(
                    event_id=ids.new_ulid(), session_id=what, actor_id="ada", namespace=here,
                    kind="prompt" if isinstance(value, TextBody) else "tool_use", body=value,
                    valid_time=when, source=EventSource(surface="test", project_path="/srv/engine"),
                )  # fmt: skip
                store.events.put([Arrival(event=event, digest=f"d{number}", mono_ns=number)])
                event_ids.append(event.event_id)
            case "memory":
                made = record(
                    value[:200], namespace=here, session_id=what, valid_from=when, detail=value,
                    facts=(value,), source_event_ids=tuple(event_ids[-2:]),
                )  # fmt: skip
                store.records.put([made], [vector(made)])
                record_ids.append(made.record_id)
            case "edit" | "delete" | "undo" if record_ids:
                chosen = record_ids[what % len(record_ids)]
                if step == "delete":
                    delete_records(store, here, [chosen], "ada", value)
                elif step == "undo":
                    done = store.log.page(here).items
                    if done and done[0].kind in ("edit", "delete"):
                        store.log.undo(here, done[0].op_id, "ada")
                elif known := store.records.get(here, [chosen]):
                    edit_record(
                        store, msgspec.structs.replace(known[0], title=value[:200]), "ada", value
                    )
            case "graph":
                put_graph(store,
                    Entity(entity_id=f"ent_{what}", namespace=here, name=value, type="thing"),
                    Entity(entity_id="ent_x", namespace=here, name="X", type="thing"),
                    Fact(fact_id=f"fact_{number}", namespace=here, entity_id=f"ent_{what}",
                         subject=value, predicate="is", object=value, valid_from=when,
                         source_event_ids=tuple(event_ids[-1:])),
                    Relationship(relationship_id=f"rel_{number}", namespace=here,
                                 source_id=f"ent_{what}", target_id="ent_x", type="near",
                                 valid_from=when),
                    Procedure(procedure_id=f"proc_{number}", namespace=here, name=value,
                              trigger=value, steps=(value,)),
                    Preference(preference_id=f"pref_{number}", namespace=here, category="c",
                               key="k", value=value),
                )  # fmt: skip
            case "receipt":
                store.receipts.put(Receipt(
                    receipt_id=f"rcp_{number}", namespace=here, trigger="prompt", query=value,
                    injected=tuple(record_ids[-1:]), detail={"what": value}, session_id="s1",
                ))  # fmt: skip
            case "checkpoint":
                put_checkpoint(store, Checkpoint(
                    checkpoint_id=f"chk_{number}", namespace=here, session_id="s1", task=value,
                ))  # fmt: skip
            case "finish":
                batch = store.events.claim(here, what, 10**6)
                if batch is not None:
                    finish(store, batch)
            case "end":
                store.sessions.end([(here, what)], "completed", when)
    return here


def finish(store: SqliteStore, batch: Batch) -> None:
    store.transaction(lambda tx: tx.finish(batch))


def rows(store: SqliteStore) -> list[Any]:
    return [row for one in store.projects.namespaces() for row in store.bulk.dump(one)]


@given(STEPS, st.sampled_from(["jsonl", "json"]))
@settings(max_examples=25, deadline=None)
def test_export_then_import_is_the_identity(steps: list[tuple[Any, ...]], form: str) -> None:
    with two_stores() as (first, second, folder):
        here = live(first, steps)
        write = jsonl if form == "jsonl" else document
        path = folder / f"export.{form}"
        path.write_bytes(b"".join(write(first, "ada", ExportSelection(), NOW)))
        intake = ExportReader(second, "ada")
        intake.read(str(path), lambda size, read, loaded: None)
        assert rows(second) == rows(first)
        assert second.records.page(here, limit=100) == first.records.page(here, limit=100)
        assert second.upkeep.stats().event_kinds == first.upkeep.stats().event_kinds
        assert second.upkeep.check() == [] and second.upkeep.scrub(None, 500).damaged == ()
        new: list[int] = []
        ExportReader(second, "ada").read(
            str(path), lambda size, read, loaded: new.extend(loaded.values())
        )
        assert sum(new) == 0 and rows(second) == rows(first)
        b"".join(markdown(first, "ada", ExportSelection(), NOW)).decode()


SELECTIONS = st.one_of(
    st.just(Selection(session_id="s1")),
    st.just(Selection(everything=True)),
    SAID.map(lambda text: Selection(words=(text,))),
    TIMES.map(lambda when: Selection(before=when)),
    st.just(Selection(path="/srv/engine")),
)


@given(STEPS, SELECTIONS, st.sampled_from(["erase", "move"]))
@settings(max_examples=25, deadline=None)
def test_a_preview_is_what_happens_and_nothing_else(
    steps: list[tuple[Any, ...]], what: Selection, how: str
) -> None:
    with two_stores() as (store, _, _):
        here = live(store, steps)
        elsewhere = namespace("ada", store.projects.resolve(ProjectPlace(root="/srv/other")))
        bystander = record("Bystander", namespace=elsewhere)
        store.records.put([bystander])
        foreseen = store.bulk.erase(here, what, "ada", apply=False)
        before = store.upkeep.stats(here)
        if how == "erase":
            done = store.bulk.erase(here, what, "ada")
        else:
            done = store.bulk.move(here, what, elsewhere, "ada")
        assert done == foreseen
        after = store.upkeep.stats(here)
        assert after.events == before.events - done.counts.get("event", 0)
        assert after.records == before.records - done.counts.get("memory", 0)
        if not what.everything:
            again = store.bulk.erase(here, what, "ada", apply=False)
            assert {"event", "memory"}.isdisjoint(again.counts)
        assert store.records.get(elsewhere, [bystander.record_id])
        assert store.upkeep.check() == [] and store.upkeep.repair("orphans") == {}
        assert store.upkeep.scrub(None, 500).damaged == ()
