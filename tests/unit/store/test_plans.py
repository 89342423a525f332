"""Rows that are named by their keys are found by them, however many a namespace holds."""

import pytest

from recollect.store.sqlite import SqliteStore
from recollect.store.sqlite import statements as sql

LISTED = {
    "GET_RECORDS": "memory_records",
    "RECORD_STATE": "memory_records",
    "TOUCH_RECORDS": "memory_records",
    "EVENTS_BY_SEQ": "events",
    "FINISH": "unextracted",
    "FAIL": "unextracted",
}


@pytest.mark.parametrize("name", sorted(LISTED))
def test_a_list_of_keys_is_not_looked_for_in_the_whole_namespace(
    store: SqliteStore, name: str
) -> None:
    values = dict.fromkeys(
        ("namespace", "record_ids", "seqs", "at", "reason", "quarantine_after"), "[]"
    )
    with store.engine.reader() as db:
        plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {getattr(sql, name)}", values)]
    looked = [step for step in plan if f"SEARCH {LISTED[name]}" in step]
    assert looked and "namespace=?" not in looked[0], plan
