"""Bit flips in the main file of a closed store.

In: a closed store and a bit. Out: whether the flip was noticed. One that was not noticed must
have changed nothing that can be read; AssertionError says otherwise.
"""

import os
import random
import shutil

import msgspec

from recollect.core.errors import StoreError
from recollect.core.values import Event, Record
from recollect.store.sqlite import DATABASE, SqliteStore
from tests.crash.oracle import converse, damage, namespace, open_store

Content = tuple[list[Event], list[Record]]


def content(store: SqliteStore) -> Content:
    """All that the hashes vouch for: events, and memories without their counters."""
    events = store.events.page(namespace(0), limit=1000).items
    records = store.records.page(namespace(0), limit=1000).items
    return (
        [stored.event for stored in events],
        [
            msgspec.structs.replace(record, access_count=0, last_accessed=None, freshness="unknown")
            for record in records
        ],
    )


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
    """Whether the flip is told: at opening, by `check`, by the scrubber or by reading."""
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


def run(count: int, chance: random.Random, scratch: str) -> tuple[int, int]:
    """Turn over random bits, one at a time; how many were noticed, how many changed nothing."""
    template = os.path.join(scratch, "template")
    before = closed_store(template)
    bits = os.path.getsize(os.path.join(template, DATABASE)) * 8
    found = 0
    for _ in range(count):
        bit = chance.randrange(bits)
        try:
            found += noticed(flipped(template, scratch, bit), before)
        except AssertionError as error:
            raise AssertionError(f"bit {bit} changed something silently") from error
    return found, count - found
