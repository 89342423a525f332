"""What clients do to a store, what they were told, and whether the store still agrees.

In: a store and what each client was told (the acknowledgements are kept by the client, never by
the store). Out: `Findings`: what was lost, doubled or damaged. Empty means the store kept faith.
"""

import os
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from recollect.core import ids
from recollect.core.errors import RecollectError
from recollect.core.settings import Settings
from recollect.core.values import Arrival, Event, EventSource, Record, TextBody
from recollect.store.interface import Batch, Cursor, Transaction
from recollect.store.sqlite import SqliteStore
from tests.fakes.stored import delete_records

CLIENTS = 4
MOMENT = datetime(2026, 1, 1, tzinfo=UTC)

Kind = Literal["event", "memory", "note", "deleting", "deleted"]


@dataclass(frozen=True)
class Told:
    """Something a client knows: an event, a memory or a note is stored, or a note is gone.
    `deleting` is what it was about to do, which may have happened."""

    kind: Kind
    client: int
    what: str


Tell = Callable[[Told], Any]


def namespace(client: int) -> str:
    return f"/actor/crash/project/client-{client}/"


def event_id(client: int, number: int) -> str:
    return ids.derive_ulid(f"01J{client:023d}", number + 1)


def arrival(client: int, number: int, size: int = 300) -> Arrival:
    text = f"{client} {number} "
    event = Event(
        event_id=event_id(client, number),
        session_id=f"session-{client}",
        actor_id="crash",
        namespace=namespace(client),
        kind="prompt" if number % 3 == 0 else "tool_use",
        body=TextBody(content=text + "x" * max(0, size - len(text))),
        valid_time=MOMENT,
        source=EventSource(surface="crash-test", project_path=f"/home/client-{client}"),
    )
    return Arrival(event=event, digest=f"d{number}", boot_id="boot", mono_ns=number)


def memory(client: int, batch: Batch | None = None) -> Record:
    events = batch.events if batch else ()
    return Record(
        record_id=ids.new_id(ids.RECORD),
        namespace=namespace(client),
        kind="knowledge" if batch else "episode",
        title=f"What client {client} learned",
        summary=f"{len(events)} events were read",
        facts=("writes are durable when acknowledged",),
        strategy="rules",
        author="tool",
        valid_from=MOMENT,
        source_event_ids=tuple(stored.event.event_id for stored in events),
    )


def open_store(home: str, vfs: str | None = None, reserve_mb: int = 0) -> SqliteStore:
    return SqliteStore(Settings(home=home, reserve_mb=reserve_mb), vfs=vfs)


def converse(
    store: SqliteStore, client: int, tell: Tell, numbers: Iterable[int], size: int = 300
) -> None:
    """What one client does: events, now and then a memory made of a claimed batch, now and then
    a note that is soon deleted."""
    notes: list[str] = []
    for number in numbers:
        put_event(store, client, number, tell, size)
        if number % 5 == 4:
            learn(store, client, tell)
        if number % 7 == 6:
            notes.append(put_note(store, client, tell))
        if len(notes) > 1:
            delete_note(store, client, notes.pop(0), tell)


def put_event(store: SqliteStore, client: int, number: int, tell: Tell, size: int = 300) -> None:
    (outcome,) = store.events.put([arrival(client, number, size)])
    assert outcome.status == "stored", outcome
    tell(Told("event", client, str(number)))


def learn(store: SqliteStore, client: int, tell: Tell) -> None:
    batch = store.events.claim(namespace(client), 8, 1 << 20)
    assert batch is not None
    record = memory(client, batch)

    def push(tx: Transaction) -> None:
        tx.put_record(record)
        tx.finish(batch)

    try:
        store.transaction(push)
    except RecollectError:
        store.events.release(batch)
        raise
    tell(Told("memory", client, record.record_id))


def put_note(store: SqliteStore, client: int, tell: Tell) -> str:
    (record,) = store.records.put([memory(client)])
    tell(Told("note", client, record.record_id))
    return record.record_id


def delete_note(store: SqliteStore, client: int, record_id: str, tell: Tell) -> None:
    tell(Told("deleting", client, record_id))
    # It finds nothing where an earlier try deleted it and failed afterwards; the checks at the end
    # look for the memory itself.
    delete_records(store, namespace(client), [record_id], actor="crash")
    tell(Told("deleted", client, record_id))


@dataclass
class Findings:
    """How a store disagrees with what its clients were told."""

    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    corrupt: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.lost or self.doubled or self.corrupt)

    def add(self, other: "Findings") -> None:
        self.lost += other.lost
        self.doubled += other.doubled
        self.corrupt += other.corrupt


def compare(store: SqliteStore, told: Iterable[Told], clients: int = CLIENTS) -> Findings:
    """Hold a reopened store against what its clients were told."""
    found = Findings(corrupt=damage(store))
    by_client: dict[int, list[Told]] = {client: [] for client in range(clients)}
    for one in told:
        by_client[one.client].append(one)
    for client, known in by_client.items():
        _compare_events(store, client, known, found)
        _compare_memories(store, client, known, found)
    return found


def numbers_stored(store: SqliteStore, client: int) -> list[int]:
    """The numbers of a client's events in the order in which the store has them."""
    numbers: list[int] = []
    before: Cursor | None = None
    while True:
        page = store.events.page(namespace(client), before=before, limit=1000)
        for stored in page.items:
            assert isinstance(stored.event.body, TextBody)
            said, number, _ = stored.event.body.content.split(" ", 2)
            assert int(said) == client
            numbers.append(int(number))
        if page.next is None:
            return numbers[::-1]
        before = page.next


def damage(store: SqliteStore) -> list[str]:
    """Everything that `check` and a whole round of the scrubber have to say."""
    problems = list(store.upkeep.check())
    position: tuple[str, int] | None = None
    while True:
        step = store.upkeep.scrub(position, 500)
        problems += [f"{bad.table} {bad.id} does not match its hash" for bad in step.damaged]
        position = step.position
        if position is None:
            return problems


def _compare_events(store: SqliteStore, client: int, known: list[Told], found: Findings) -> None:
    numbers = numbers_stored(store, client)
    acknowledged = [int(one.what) for one in known if one.kind == "event"]
    there = set(numbers)
    found.lost += [f"event {n} of client {client}" for n in acknowledged if n not in there]
    if len(there) != len(numbers):
        found.doubled.append(f"events of client {client}: {len(numbers) - len(there)}")
    if numbers != sorted(numbers) or there != set(range(len(there))):
        found.corrupt.append(f"events of client {client} are no prefix: {numbers[-20:]}")


def _compare_memories(store: SqliteStore, client: int, known: list[Told], found: Findings) -> None:
    records = store.records.page(namespace(client), limit=100_000).items
    live = {record.record_id for record in records}
    said = {
        kind: {one.what for one in known if one.kind == kind}
        for kind in ("memory", "note", "deleting", "deleted")
    }
    gone = (said["memory"] | said["note"]) - said["deleting"] - live
    found.lost += [f"memory {record_id} of client {client}" for record_id in sorted(gone)]
    back = said["deleted"] & live
    found.lost += [f"deletion of {record_id} by client {client}" for record_id in sorted(back)]

    used = [identity for record in records for identity in record.source_event_ids]
    if len(used) != len(set(used)):
        found.doubled.append(f"client {client}: a batch made two memories")
    waiting = store.events.claim(namespace(client), 1_000_000, 1 << 40)
    left = [stored.event.event_id for stored in waiting.events] if waiting else []
    if waiting:
        store.events.release(waiting)
    numbers = numbers_stored(store, client)
    if sorted([*used, *left]) != sorted(event_id(client, number) for number in numbers):
        found.corrupt.append(f"client {client}: memories and finished batches differ")


def chosen_seed() -> int:
    """The seed of this run: RECOLLECT_SEED, or a fresh one."""
    return int(os.environ.get("RECOLLECT_SEED") or random.SystemRandom().randrange(1 << 32))
