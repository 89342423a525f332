"""Wishes, procedures and things as of a moment are what was there at that moment."""

import tempfile
from datetime import datetime, timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.core.clock import ManualClock
from recollect.core.errors import CannotUndo
from recollect.core.settings import Settings
from recollect.core.values import Entity, Preference, Procedure
from recollect.extract.interface import EntityClaim, FactClaim, PreferenceClaim, ProcedureClaim
from recollect.reconcile.graph_claims import learn
from recollect.reconcile.plan import apply
from recollect.store.sqlite import SqliteStore
from tests.make import NAMESPACE, NOON

STEPS = st.one_of(
    st.tuples(st.just("wish"), st.sampled_from(["editor", "quotes"]), st.sampled_from("abc")),
    st.tuples(st.just("practice"), st.sampled_from(["make", "npm"])),
    st.tuples(st.just("thing"), st.sampled_from(["billing", "ledger", "quay"])),
    st.tuples(st.just("alias"), st.sampled_from(["billing", "ledger"]), st.just("quay")),
    st.tuples(st.just("undo"), st.integers(0, 3)),
)


def claim(step: Any, at: datetime, number: int) -> Any:
    event = (f"{number:026d}",)
    match step:
        case ("wish", key, value):
            return PreferenceClaim("tools", key, f"use {value}", at, "stated", event_ids=event)
        case ("practice", command):
            return ProcedureClaim(command, "when asked", (command, "push"), at, event_ids=event)
        case ("thing", name):
            return FactClaim(name, "port", str(number), at, "user", "stated", event_ids=event)
    return EntityClaim(step[1], "thing", aliases=(step[2],), event_ids=event)


def state(store: SqliteStore) -> dict[str, Any]:
    graph = store.graph
    return {
        "preference": {one.preference_id: one.value for one in graph.all(NAMESPACE, Preference)},
        "procedure": {one.procedure_id: one.steps for one in graph.all(NAMESPACE, Procedure)},
        "entity": {one.entity_id: one.name for one in graph.all(NAMESPACE, Entity)},
    }


def then(store: SqliteStore, moment: datetime) -> dict[str, Any]:
    graph = store.graph
    return {
        "preference": {
            one.preference_id: one.value for one in graph.all(NAMESPACE, Preference, as_of=moment)
        },
        "procedure": {
            one.procedure_id: one.steps for one in graph.all(NAMESPACE, Procedure, as_of=moment)
        },
        "entity": {one.entity_id: one.name for one in graph.all(NAMESPACE, Entity, as_of=moment)},
    }


@given(st.lists(STEPS, min_size=1, max_size=12))
@settings(deadline=None, max_examples=40)
def test_as_of_a_moment_is_what_was_there_then(steps: list[Any]) -> None:
    clock = ManualClock(NOON)
    with tempfile.TemporaryDirectory() as home:
        store = SqliteStore(Settings(home=home, actor="ada", reserve_mb=0), clock)
        try:
            seen = [(clock.now(), state(store))]
            for number, step in enumerate(steps):
                clock.advance(minutes=1)
                if step[0] == "undo":
                    undo(store, step[1])
                else:
                    plan = learn(
                        store.graph, NAMESPACE, [claim(step, clock.now(), number)], clock.now()
                    )
                    store.transaction(lambda tx, plan=plan: apply(tx, plan, "ada"))  # type: ignore[misc]
                seen.append((clock.now(), state(store)))
            for moment, there in seen:
                assert then(store, moment + timedelta(seconds=30)) == there
        finally:
            store.close()


def undo(store: SqliteStore, back: int) -> None:
    done = store.log.page(NAMESPACE, limit=10).items
    if back < len(done):
        try:
            store.log.undo(NAMESPACE, done[back].op_id, "ada")
        except CannotUndo:
            return
