"""P02: deleted with "never again", a value comes back neither by itself nor inside a summary."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from recollect.core.clock import ManualClock
from recollect.core.errors import Conflict
from recollect.core.settings import Settings
from recollect.core.values import Arrival, Record
from recollect.daemon.runtime import Runtime
from recollect.service import tools, write
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


def test_an_agent_is_told_that_it_was_not_stored(house: House) -> None:
    runtime = house.runtime
    text = "Deploys go through the blue pipeline"
    kept = write.add_note(runtime, write.NewNote(text=text, namespace=NAMESPACE)).record
    write.delete(runtime, (kept.record_id,), never=True)
    for tool, given in (
        ("remember", {"text": text}),
        ("remember", {"text": text, "kind": "note"}),
        ("store_observation", {"title": text}),
    ):
        with pytest.raises(Conflict, match="not to be remembered again"):
            tools.RUN[tool](runtime, {**given, "namespace": NAMESPACE})
    assert runtime.store.records.page(NAMESPACE).items == ()
    told = tools.RUN["remember"](runtime, {"text": "The cap is 7", "namespace": NAMESPACE})
    assert "mr_" in told
