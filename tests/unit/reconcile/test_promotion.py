"""A rule that was stated in two projects becomes one belief that holds everywhere."""

from typing import Any

from recollect.core import ids
from recollect.core.values import Record
from recollect.ingest.memories import Memories
from recollect.reconcile.promotion import promote
from recollect.store.sqlite import SqliteStore
from tests.make import NAMESPACE, record

SHOP = "/actor/ada/project/shop/"
GLOBAL = "/actor/ada/"


def rule(store: SqliteStore, namespace: str, **fields: Any) -> Record:
    given = {"kind": "knowledge", "knowledge_type": "constraint", "author": "user",
             "content_hash": "always-english", "source_event_ids": (ids.new_ulid(),),
             **fields}  # fmt: skip
    (stored,) = store.records.put(
        [record("Always answer in English", namespace=namespace, **given)]
    )
    return stored


def states(store: SqliteStore, namespace: str) -> list[tuple[str, str]]:
    return [(one.state, one.scope) for one in store.records.page(namespace).items]


def test_the_second_project_makes_it_hold_everywhere(store: SqliteStore) -> None:
    rule(store, SHOP)
    second = rule(store, NAMESPACE)
    promote(store, Memories(store), second)
    assert states(store, GLOBAL) == [("current", "everywhere")]
    assert states(store, SHOP) == [("ended", "project")]
    assert states(store, NAMESPACE) == []


def test_one_project_or_other_words_or_other_authors_do_not(store: SqliteStore) -> None:
    memories = Memories(store)
    promote(store, memories, rule(store, NAMESPACE))
    rule(store, SHOP, content_hash="else")
    rule(store, SHOP, author="assistant", state="proposed")
    promote(store, memories, rule(store, NAMESPACE))
    assert states(store, GLOBAL) == []
