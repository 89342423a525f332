"""Beliefs: what holds, what waits, and every change as one operation that undo takes back; on both
engines."""

import pathlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from recollect.core import ids
from recollect.core.clock import ManualClock
from recollect.core.errors import BadInput, NotFound
from recollect.core.settings import Settings
from recollect.core.values import Fact, Preference, Record
from recollect.daemon.runtime import Runtime
from recollect.service import beliefs, write
from recollect.service.undo import undo_operation
from recollect.store.interface import Transaction
from recollect.store.postgres import PostgresStore
from recollect.store.sqlite import SqliteStore
from tests.fakes.postgres import Server
from tests.make import NAMESPACE, record

GLOBAL = "/actor/ada/"
OTHER = "/actor/ada/project/shop/"
EVENT = ids.new_ulid()


@pytest.fixture(params=["sqlite", "postgres"])
def runtime(
    request: pytest.FixtureRequest, settings: Settings, tmp_path: pathlib.Path, clock: ManualClock
) -> Iterator[Runtime]:
    chosen, server = settings, None
    if request.param == "postgres":
        server = request.getfixturevalue("postgres_server")
        assert isinstance(server, Server)
        url = server.url(server.shared, "ada")
        chosen = Settings(home=str(tmp_path / "pg"), actor="ada", store=url)
        store: PostgresStore | SqliteStore = PostgresStore(chosen, clock)
    else:
        store = SqliteStore(chosen, clock)
    made = Runtime(replace(chosen, embedding=False), clock, store)
    made.load_recall()
    yield made
    made.close()
    store.close()
    if server is not None:
        server.empty(server.shared)


def belief(runtime: Runtime, title: str, **fields: Any) -> Record:
    fields = {"kind": "knowledge", "knowledge_type": "constraint", "author": "user", **fields}
    made = record(title, **{"valid_from": runtime.clock.now(), **fields})
    (stored,) = runtime.memories.add([made])
    return stored


def now(runtime: Runtime, one: Record) -> Record:
    (found,) = runtime.store.records.get(one.namespace, [one.record_id])
    return found


def titles(found: list[Record]) -> set[str]:
    return {one.title for one in found}


def test_what_holds_is_current_in_scope_and_the_newer_of_a_dispute(runtime: Runtime) -> None:
    belief(runtime, "Use Jest")
    belief(runtime, "Tabs everywhere", namespace=GLOBAL, scope="everywhere")
    belief(runtime, "Guess", state="proposed")
    belief(runtime, "Over", state="ended", ended_by="user")
    newer = belief(runtime, "Use npm", state="disputed")
    belief(runtime, "Use pnpm", state="disputed", ended_by=newer.record_id)
    belief(runtime, "Skip the tests", scope="session", scope_name="s1")
    belief(runtime, "Freeze the schema", scope="branch", scope_name="release")
    belief(runtime, "Only this once", scope="turn")
    here = {"Use Jest", "Tabs everywhere", "Use npm"}
    assert titles(beliefs.current(runtime, NAMESPACE)) == here
    there = beliefs.current(runtime, NAMESPACE, branch="release", session_id="s1")
    assert titles(there) == here | {"Skip the tests", "Freeze the schema"}
    assert titles(beliefs.waiting(runtime, NAMESPACE)) == {"Guess", "Use npm", "Use pnpm"}


def test_a_belief_ends_with_what_was_made_of_its_statement_and_undo_restores_all(
    runtime: Runtime, clock: ManualClock
) -> None:
    one = belief(runtime, "Always use pnpm for the ui", source_event_ids=(EVENT,))
    same: dict[str, Any] = {"namespace": NAMESPACE, "source_event_ids": (EVENT,)}
    wish = Preference(
        preference_id="pref_1", category="tools", key="package_manager",
        value="Always use pnpm for the ui", **same,
    )  # fmt: skip
    fact = Fact(
        fact_id="fact_1", subject="ui", predicate="package_manager", object="pnpm",
        valid_from=clock.now(), **same,
    )  # fmt: skip
    other = Fact(
        fact_id="fact_2", subject="api", predicate="port", object="8080",
        valid_from=clock.now(), **same,
    )  # fmt: skip

    def put(tx: Transaction) -> None:
        tx.put_graph(wish, fact, other)

    runtime.store.transaction(put)
    before = clock.now()
    clock.advance(minutes=5)
    operation = beliefs.end(runtime, one.record_id, reason="we use npm again")
    ended = now(runtime, one)
    assert (ended.state, ended.ended_by, ended.valid_until) == ("ended", "user", clock.now())
    assert ended.version > one.version
    graph = runtime.store.graph
    assert graph.all(NAMESPACE, Preference) == []
    assert [row.fact_id for row in graph.facts(NAMESPACE)] == ["fact_2"], "said beside it"
    assert beliefs.current(runtime, NAMESPACE) == []
    (then,) = runtime.store.records.page(NAMESPACE, as_of=before + timedelta(seconds=1)).items
    assert then.state == "current", "the past is seen as it was"
    undo_operation(runtime, operation.op_id)
    assert now(runtime, one).state == "current"
    assert [row.preference_id for row in graph.all(NAMESPACE, Preference)] == ["pref_1"]
    assert {row.fact_id for row in graph.facts(NAMESPACE)} == {"fact_1", "fact_2"}
    with pytest.raises(BadInput, match="ended already"):
        beliefs.end(runtime, belief(runtime, "Over", state="ended").record_id)


def test_a_replaced_belief_names_its_successor(runtime: Runtime) -> None:
    old = belief(runtime, "Use Jest", scope="branch", scope_name="ui", subject="tests", pinned=True)
    new, operation = beliefs.replace(runtime, old.record_id, "Use Vitest", by=EVENT, reason="said")
    assert (now(runtime, old).state, now(runtime, old).ended_by) == ("ended", new.record_id)
    assert (new.state, new.scope, new.scope_name, new.subject) == (
        "current", "branch", "ui", "tests",
    )  # fmt: skip
    assert (new.source_type, new.author, new.source_event_ids) == ("corrected", "user", (EVENT,))
    undo_operation(runtime, operation.op_id)
    assert now(runtime, old).state == "current"
    assert runtime.store.records.get(NAMESPACE, [new.record_id]) == []
    with pytest.raises(BadInput, match="empty"):
        beliefs.replace(runtime, old.record_id, "  ")


def test_what_ended_is_listed_with_the_title_of_what_ended_it(runtime: Runtime) -> None:
    branch = belief(runtime, "Keep the old importer", scope="branch", scope_name="importer-2")
    first, second = belief(runtime, "Deploy on Friday"), belief(runtime, "Use tabs")
    new, _ = beliefs.replace(runtime, first.record_id, "Deploy on Monday")
    beliefs.drop(runtime, second.record_id)
    assert titles(beliefs.standing(runtime, NAMESPACE)) == {branch.title, "Deploy on Monday"}
    over = beliefs.ended(runtime, NAMESPACE)
    assert titles(over) == {"Deploy on Friday", "Use tabs"}
    assert beliefs.titles(runtime, over) == {new.record_id: "Deploy on Monday"}


def test_keeping_decides_a_dispute_and_dropping_frees_what_was_disputed(runtime: Runtime) -> None:
    def dispute() -> tuple[Record, Record]:
        newer = belief(runtime, "Use npm", state="disputed")
        return belief(runtime, "pnpm", state="disputed", ended_by=newer.record_id), newer

    for kept in (0, 1):
        pair = dispute()
        operation = beliefs.keep(runtime, pair[kept].record_id)
        assert now(runtime, pair[kept]).stands and now(runtime, pair[kept]).state == "current"
        lost = now(runtime, pair[1 - kept])
        assert (lost.state, lost.ended_by) == ("ended", pair[kept].record_id)
        undo_operation(runtime, operation.op_id)
        assert {now(runtime, one).state for one in pair} == {"disputed"}
        operation = beliefs.keep(runtime, pair[kept].record_id, both=True)
        assert {(now(runtime, one).state, now(runtime, one).ended_by) for one in pair} == {
            ("current", "")
        }
        undo_operation(runtime, operation.op_id)
        assert {now(runtime, one).state for one in pair} == {"disputed"}
    older, newer = dispute()
    beliefs.drop(runtime, newer.record_id)
    assert (now(runtime, older).state, now(runtime, newer).state) == ("current", "ended")
    guess = belief(runtime, "Guess", state="proposed")
    with pytest.raises(BadInput, match="not in dispute"):
        beliefs.keep(runtime, guess.record_id, both=True)
    beliefs.keep(runtime, guess.record_id)
    with pytest.raises(BadInput, match="already"):
        beliefs.keep(runtime, guess.record_id)


def test_everywhere_is_the_actors_own_namespace_and_undo_brings_it_back(runtime: Runtime) -> None:
    one = belief(runtime, "Answer in English")
    operation = beliefs.rescope(runtime, one.record_id, "everywhere")
    (moved,) = runtime.store.records.get(GLOBAL, [one.record_id])
    assert moved.scope == "everywhere" and titles(beliefs.current(runtime, OTHER)) == {one.title}
    with pytest.raises(BadInput, match="project"):
        beliefs.rescope(runtime, one.record_id, "project")
    undo_operation(runtime, operation.op_id)
    assert now(runtime, one).scope == "project"
    assert beliefs.current(runtime, OTHER) == []
    with pytest.raises(BadInput, match="branch"):
        beliefs.rescope(runtime, one.record_id, "branch")
    beliefs.rescope(runtime, one.record_id, "branch", "ui")
    assert beliefs.current(runtime, NAMESPACE) == []


def test_an_id_is_found_only_if_it_is_a_belief(runtime: Runtime) -> None:
    one = belief(runtime, "Use Jest")
    assert beliefs.find(runtime, one.record_id).title == "Use Jest"
    note = write.add_note(runtime, write.NewNote(text="Just a note", namespace=NAMESPACE)).record
    with pytest.raises(NotFound):
        beliefs.end(runtime, note.record_id)


def test_related_beliefs_share_rare_words_and_those_that_ended_are_none(runtime: Runtime) -> None:
    belief(runtime, "Use Jest for the frontend tests")
    belief(runtime, "Use tabs in the frontend")
    belief(runtime, "The tests of billing run nightly")
    belief(runtime, "Jest is slow", state="ended")
    found = beliefs.related(runtime, NAMESPACE, "We do not use Jest any more")
    assert found[0][0].title == "Use Jest for the frontend tests"
    assert all(one.state == "current" for one, _ in found)
    assert beliefs.related(runtime, NAMESPACE, "zebra") == []


def test_beliefs_that_say_the_same_become_one_and_undo_parts_them(runtime: Runtime) -> None:
    kept, same, third = (belief(runtime, title) for title in ("Use uv", "uv, always", "With uv"))
    operation = beliefs.merge(runtime, kept.record_id, [same.record_id, third.record_id])
    assert [one.title for one in beliefs.standing(runtime, NAMESPACE)] == ["Use uv"]
    over = beliefs.ended(runtime, NAMESPACE)
    assert {one.ended_by for one in over} == {kept.record_id} and len(over) == 2
    undo_operation(runtime, operation.op_id)
    assert len(beliefs.standing(runtime, NAMESPACE)) == 3


def test_beliefs_of_two_projects_or_that_ended_are_not_merged(runtime: Runtime) -> None:
    kept, ended = belief(runtime, "Use uv"), belief(runtime, "Use pip")
    away = belief(runtime, "uv", namespace=OTHER)
    beliefs.drop(runtime, ended.record_id)
    with pytest.raises(BadInput, match="another project"):
        beliefs.merge(runtime, kept.record_id, [away.record_id])
    with pytest.raises(BadInput, match="ended already"):
        beliefs.merge(runtime, kept.record_id, [ended.record_id])
    with pytest.raises(BadInput, match="name the beliefs"):
        beliefs.merge(runtime, kept.record_id, [kept.record_id])
