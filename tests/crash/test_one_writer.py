"""A8: one process opens the database for writing, on one connection; readers only read."""

import os
import subprocess
import sys
import threading

import apsw
import pytest

from recollect.core.errors import ReadOnlyStore, StoreBusy
from tests.crash.oracle import CLIENTS, converse, damage, open_store
from tests.fakes.waiting import PATIENCE_S

SECOND_PROCESS = """
import sys
from recollect.core.errors import StoreBusy
from tests.crash.oracle import open_store
try:
    open_store(sys.argv[1])
except StoreBusy as error:
    print(error)
"""


def test_a_second_process_is_told_at_once_who_holds_the_store(memory_directory: str) -> None:
    home = os.path.join(memory_directory, "home")
    store = open_store(home)
    said = subprocess.run(
        [sys.executable, "-c", SECOND_PROCESS, home],
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE_S,
    ).stdout
    assert f"process {os.getpid()} holds {home}" in said
    store.close()


def test_the_same_process_cannot_open_it_twice_but_again_after_closing(
    memory_directory: str,
) -> None:
    home = os.path.join(memory_directory, "home")
    store = open_store(home)
    with pytest.raises(StoreBusy):
        open_store(home)
    store.close()
    open_store(home).close()


def test_only_one_connection_can_write_however_much_is_going_on(
    memory_directory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[bool] = []
    monkeypatch.setattr(
        apsw, "connection_hooks", [lambda db: opened.append(not db.readonly("main"))]
    )
    store = open_store(os.path.join(memory_directory, "home"))
    reading = threading.Event()

    def read() -> None:
        while not reading.is_set():
            assert damage(store) == []

    threads = [threading.Thread(target=read) for _ in range(2)]
    writers = [
        threading.Thread(target=converse, args=(store, client, lambda told: None, range(30)))
        for client in range(CLIENTS)
    ]
    for thread in [*threads, *writers]:
        thread.start()
    for thread in writers:
        thread.join()
    reading.set()
    for thread in threads:
        thread.join()
    store.close()
    assert opened.count(True) == 1
    assert opened.count(False) >= 1


def test_a_reader_cannot_write(memory_directory: str) -> None:
    store = open_store(os.path.join(memory_directory, "home"))
    with pytest.raises(ReadOnlyStore), store._engine.reader() as db:
        db.execute("DELETE FROM events")
    with pytest.raises(ReadOnlyStore), store._engine.reader() as db:
        db.execute("PRAGMA query_only = 0; DELETE FROM events")
    store.close()
