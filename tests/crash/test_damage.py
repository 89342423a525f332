"""A4, A5: damage is noticed, never invented, and a torn log recovers to a prefix."""

import os
import pathlib
import random

from recollect.core.errors import StoreError
from recollect.store.interface import Damage
from recollect.store.sqlite import DATABASE, upkeep
from tests.crash import flips, power
from tests.crash.flips import closed_store, flipped
from tests.crash.oracle import (
    Told,
    arrival,
    converse,
    event_id,
    open_store,
    put_event,
)
from tests.torture.damage import STATES, file_states


def test_a_hundred_flipped_bits_are_noticed_or_change_nothing(
    chance: random.Random, memory_directory: str
) -> None:
    found, harmless = flips.run(100, chance, memory_directory)
    assert found + harmless == 100
    assert found > 0


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
        upkeep.verify_file(os.path.join(home, DATABASE))
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


def test_files_that_were_emptied_lost_or_garbled_are_noticed_or_nothing_is_lost(
    chance: random.Random, memory_directory: str
) -> None:
    report = file_states(chance, 2 * len(STATES), pathlib.Path(memory_directory))
    assert report.tries == 2 * len(STATES)
    assert not report.failures, report.failures
