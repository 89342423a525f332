"""A4, A5: damage is noticed, never invented, and a torn log recovers to a prefix."""

import os
import random
import shutil

from recollect.core.errors import StoreError
from recollect.store.interface import Damage
from recollect.store.sqlite import DATABASE, SqliteStore
from tests.crash import power
from tests.crash.oracle import (
    Told,
    arrival,
    converse,
    damage,
    event_id,
    namespace,
    open_store,
    put_event,
)

Content = tuple[list[object], list[object]]


def content(store: SqliteStore) -> Content:
    """All that the hashes vouch for: events, and memories without their counters."""
    events = store.events.page(namespace(0), limit=1000).items
    records = store.records.page(namespace(0), limit=1000).items
    return (
        [stored.event for stored in events],
        [record.__class__(**{**_fields(record), **_COUNTERS}) for record in records],
    )


_COUNTERS = {"access_count": 0, "last_accessed": None, "freshness": "unknown"}


def _fields(record: object) -> dict[str, object]:
    return {name: getattr(record, name) for name in record.__struct_fields__}  # type: ignore[attr-defined]


def closed_store(home: str) -> Content:
    store = open_store(home)
    converse(store, 0, lambda told: None, range(60))
    before = content(store)
    store.close()
    assert not os.path.exists(os.path.join(home, f"{DATABASE}-wal"))
    return before


def flipped(template: str, scratch: str, bit: int) -> str:
    """A copy of a closed store with one bit turned over."""
    home = os.path.join(scratch, "flipped")
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(template, home)
    with open(os.path.join(home, DATABASE), "r+b") as file:
        file.seek(bit // 8)
        (byte,) = file.read(1)
        file.seek(bit // 8)
        file.write(bytes([byte ^ 1 << bit % 8]))
    return home


def noticed(home: str, before: Content) -> bool:
    """Whether the flip is told: at opening, by `check`, by the scrubber or by reading. When it
    is not, everything must read as before."""
    try:
        store = open_store(home)
    except StoreError:
        return True
    try:
        if damage(store):
            return True
        assert content(store) == before
        return False
    except StoreError:
        return True
    finally:
        store.close()


def test_a_hundred_flipped_bits_are_noticed_or_change_nothing(
    chance: random.Random, memory_directory: str
) -> None:
    template = os.path.join(memory_directory, "template")
    before = closed_store(template)
    bits = os.path.getsize(os.path.join(template, DATABASE)) * 8
    for _ in range(100):
        bit = chance.randrange(bits)
        print(f"bit {bit}")
        noticed(flipped(template, memory_directory, bit), before)


def test_every_flip_inside_an_event_is_found_by_the_scrubber_which_names_it(
    chance: random.Random, memory_directory: str
) -> None:
    template = os.path.join(memory_directory, "template")
    closed_store(template)
    with open(os.path.join(template, DATABASE), "rb") as file:
        raw = file.read()
    for _ in range(40):
        number = chance.randrange(60)
        body = raw.index(f'"content":"0 {number} xxx'.encode())
        bit = (body + chance.randrange(300)) * 8 + chance.randrange(8)
        print(f"bit {bit}")
        store = open_store(flipped(template, memory_directory, bit))
        found: list[Damage] = []
        step = store.upkeep.scrub(None, 7)
        while step.position is not None:
            found += step.damaged
            step = store.upkeep.scrub(step.position, 7)
        assert found == [Damage("events", event_id(0, number))]
        store.close()


def test_a_backup_with_a_flipped_payload_does_not_verify(memory_directory: str) -> None:
    template = os.path.join(memory_directory, "template")
    closed_store(template)
    with open(os.path.join(template, DATABASE), "rb") as file:
        place = file.read().index(b'"content":"0 7 xxx') + 40
    home = flipped(template, memory_directory, place * 8 + 1)
    store = open_store(template)
    try:
        store.upkeep.verify(os.path.join(home, DATABASE))
    except StoreError as error:
        assert event_id(0, 7) in str(error)
    else:
        raise AssertionError("a rotten backup was verified")
    finally:
        store.close()


def test_three_hundred_mutilated_logs_recover_to_a_prefix(
    chance: random.Random, memory_directory: str
) -> None:
    home = os.path.join(memory_directory, "home")
    store = open_store(home)
    told: list[Told] = []
    put_event(store, 0, 0, told.append)
    store.close()  # this one is in the main file, out of the log's reach
    store = open_store(home)
    store.events.put([arrival(0, 1)])
    converse(store, 0, lambda one: None, range(2, 30))
    with open(os.path.join(home, DATABASE), "rb") as file:
        main = file.read()
    with open(os.path.join(home, f"{DATABASE}-wal"), "rb") as file:
        log = file.read()
    store.close()
    for _ in range(300):
        image = {DATABASE: main, f"{DATABASE}-wal": mutilated(log, chance)}
        findings = power.look(image, told, memory_directory, clients=1)
        assert not findings, findings


def mutilated(log: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(log))
    match chance.randrange(4):
        case 0:
            return log[:place]
        case 1:
            return log[:place] + chance.randbytes(len(log) - place)
        case 2:
            return log[:place] + bytes(len(log) - place)
        case _:
            size = min(chance.choice((1, 24, 512, 4096)), len(log) - place)
            return log[:place] + chance.randbytes(size) + log[place + size :]
