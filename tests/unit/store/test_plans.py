"""What is asked must cost by what it asks for, not by how much a namespace holds.

The plans are SQLite's own. Rows that are named by their keys are found by them. A step that knows
no more of its rows than their namespace walks all of a project's memories: in a simulated year such
steps made runs of extraction four times as slow within six months.
"""

import re
from typing import Any

import pytest

from recollect.store.sqlite import SqliteStore
from recollect.store.sqlite import statements as own
from tests.unit.store.conftest import Opener
from tests.unit.store.test_statements import named, shared

NAMED = {**shared(), **named(own)}

LISTED = {
    "GET_RECORDS": "memory_records",
    "RECORD_STATE": "memory_records",
    "TOUCH_RECORDS": "memory_records",
    "EVENTS_BY_SEQ": "events",
    "PLACES": "events",
    "FINISH": "unextracted",
    "FAIL": "unextracted",
    "GRAPH_ROWS.entities": "entities",
    "GRAPH_ROWS.facts": "facts",
    "GRAPH_ROWS.preferences": "preferences",
}
ASKED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("LIST_EVENTS", {}),
    ("LIST_EVENTS", {"kind": "tool_use"}),
    ("SESSION_BOOTS", {}),
    ("LATER_IN_BOOT", {}),
    ("EARLIER_IN_BOOT", {"kind": "prompt"}),
    ("LOWEST_IN_BOOT", {}),
    ("WAITING", {}),
    ("LIST_RECORDS", {}),
    ("LIST_RECORDS", {"kind": "episode"}),
    ("LIST_FEW_RECORDS", {"session_id": "s"}),
    ("LIST_FEW_RECORDS", {"session_id": "s", "kind": "observation", "since": 1, "until": 2}),
    ("LIST_FEW_RECORDS", {"content_hash": "h"}),
    ("LAST_IN_SESSION", {"session_id": "s", "kind": "episode"}),
    ("LIST_BY_HAPPENING", {}),
    ("LIST_BY_HAPPENING", {"since": 1, "until": 2}),
    ("LIST_FEW_BY_HAPPENING", {"session_id": "s", "since": 1}),
    ("LATER_HAPPENING", {"until": 2}),
    ("BELIEFS_BY.valid_from", {"state": "current"}),
    ("BELIEFS_BY.valid_from", {"state": "current", "used": 0}),
    ("BELIEFS_BY.valid_from", {"state": "current", "type": "constraint"}),
    ("BELIEFS_BY.valid_from", {"state": "current", "category": "profile"}),
    ("BELIEFS_BY.valid_until", {"state": "ended"}),
    ("BELIEFS_BY.last_accessed", {}),
    ("NEWER", {}),
    ("NEWER", {"cites_files": True}),
    ("RECORDS_OF_EVENTS", {}),
    ("FACT_HISTORY", {}),
    ("CURRENT_FACTS", {"entity_ids": "[]"}),
    ("FACTS_AS_OF", {"entity_ids": "[]"}),
    ("RELATIONSHIPS_OF", {"entity_id": "e"}),
    ("GONE", {}),
    ("VERSIONS", {}),
    ("LIST_OPERATIONS", {"kind": "move"}),
    ("LIST_OPERATIONS", {"made": "mr_1"}),
    ("COUNT_BY", {"kind": "knowledge", "stored_since": 1}),
    ("SESSION_TURN_WORK", {}),
    ("PAGE_OF_TURN_WORK", {}),
)


@pytest.mark.parametrize("name", sorted(LISTED))
def test_a_list_of_keys_is_not_looked_for_in_the_whole_namespace(
    store: SqliteStore, name: str
) -> None:
    looked = [step for step in _plan(store, name, {}) if f"SEARCH {LISTED[name]}" in step]
    assert looked and "namespace=?" not in looked[0], looked


@pytest.mark.parametrize(("name", "given"), ASKED, ids=str)
def test_no_step_walks_all_of_a_namespace(
    store: SqliteStore, name: str, given: dict[str, Any]
) -> None:
    steps = _plan(store, name, given)
    assert steps
    for step in steps:
        assert not re.search(r"\(namespace=\?\)$", step), step
        assert not re.match(r"SCAN (?!json_each|w VIRTUAL|(b|first)$)", step), step


def _plan(store: SqliteStore, name: str, given: dict[str, Any]) -> list[str]:
    text = NAMED[name].sqlite
    asked = text if isinstance(text, str) else text.given(given)
    values = dict.fromkeys(re.findall(r"\$(\w+)", asked)) | given
    with store.engine.reader() as db:
        return [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {asked}", values)]


def test_postgresql_reads_a_page_of_work_from_an_index(opened: Opener) -> None:
    text = NAMED["PAGE_OF_TURN_WORK"].postgres
    values = {"namespace": "/n/", "after_at": 7, "after_id": "", "limit": 9}
    with opened().engine.reader() as db:
        db.execute("SET LOCAL enable_seqscan = off")  # the table is empty
        plan = "\n".join(str(line) for (line,) in db.execute(f"EXPLAIN {text}", values))
    assert re.search(r"Index Cond: \(\(namespace = .*\) AND \(at >= '7'", plan), plan
