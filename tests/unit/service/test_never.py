"""P02: deleted with "never again", a value comes back neither by itself nor inside a summary."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from recollect.core.clock import ManualClock
from recollect.core.settings import Settings
from recollect.core.values import Arrival, Record
from recollect.daemon.runtime import Runtime
from recollect.service import write
from recollect.service.undo import undo_operation
from recollect.store.sqlite import SqliteStore
from tests.make import NAMESPACE
from tests.unit.extract.session import Told

RULE = "Always use pnpm, never npm, in packages/ui."
STATED = (
    RULE,
    "We decided to use PostgreSQL 16 instead of MySQL for billing-api.",
    "Don't catch bare exceptions in the worker.",
    "The staging server runs on fly.io in the fra region.",
)


class House:
    """A runtime with extraction by rules."""

    def __init__(self, store: SqliteStore, clock: ManualClock, settings: Settings) -> None:
        by_words = replace(settings, embedding=False)
        self.store = store
        self.runtime = Runtime(by_words, clock, store)
        self.runtime.load_recall()
        self.learning = self.runtime.load_learning()
        self.learning.start()

    def say(self, session: str, text: str) -> list[Record]:
        """A session in which it is said; returns what is remembered of all."""
        told = Told(session).ask(text).answer("Added it to docs/rules.md.").edit("docs/rules.md")
        self.store.events.put([Arrival(event=event) for event in told.events])
        assert self.learning.run_now([NAMESPACE], 30)
        return [
            one
            for one in self.store.records.page(NAMESPACE, limit=100).items
            if one.kind != "episode"
        ]

    def close(self) -> None:
        self.runtime.close()


@pytest.fixture
def house(store: SqliteStore, clock: ManualClock, settings: Settings) -> Iterator[House]:
    made = House(store, clock, settings)
    yield made
    made.close()


def about(records: list[Record], text: str) -> list[Record]:
    return [one for one in records if text.rstrip(".") in f"{one.title} {one.summary} {one.facts}"]


@pytest.mark.parametrize("text", STATED)
def test_what_was_deleted_for_ever_is_not_learned_again(house: House, text: str) -> None:
    found = about(house.say("s1", text), text)
    assert any(one.author == "user" for one in found)
    write.delete(house.runtime, tuple(one.record_id for one in found), never=True)
    assert about(house.say("s2", text), text) == []
    assert about(house.say("s3", text.upper().capitalize()), text) == []


def test_a_plain_delete_does_not_forbid_learning(house: House) -> None:
    found = about(house.say("s1", RULE), RULE)
    write.delete(house.runtime, tuple(one.record_id for one in found))
    assert about(house.say("s2", RULE), RULE)


def test_undo_brings_it_back_and_lets_it_be_learned(house: House) -> None:
    (known,) = (one for one in house.say("s1", RULE) if one.author == "user")
    gone = write.delete(house.runtime, (known.record_id,), never=True)
    assert house.runtime.tombstones.refused(NAMESPACE, known.title)
    done = undo_operation(house.runtime, gone.op_ids[0])
    assert done.restored == (known.record_id,)
    assert not house.runtime.tombstones.refused(NAMESPACE, known.title)


def test_undo_leaves_a_stone_that_a_verdict_put(house: House) -> None:
    (known,) = (one for one in house.say("s1", RULE) if one.author == "user")
    write.judge(house.runtime, known.record_id, "never")
    gone = write.delete(house.runtime, (known.record_id,), never=True)
    undo_operation(house.runtime, gone.op_ids[0])
    assert house.runtime.tombstones.refused(NAMESPACE, known.title)
