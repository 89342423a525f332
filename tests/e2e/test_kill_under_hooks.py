"""kill -9 of the daemon while hooks fire: acknowledged or spooled, none lost, none doubled."""

import os
import pathlib
import random
import threading
import time

from tests.fakes.daemons import RealDaemon
from tests.fakes.waiting import PATIENCE_S
from tests.torture.events import fill_spool, hanging_store, killed_while_draining, waited_for

CYCLES = int(os.environ.get("RECOLLECT_KILLS", "8"))
CLIENTS = 4


def test_no_event_is_lost_or_doubled_when_the_daemon_is_killed(tmp_path: pathlib.Path) -> None:
    seed = int(os.environ.get("RECOLLECT_SEED", "20261115"))
    dice = random.Random(seed)
    daemon = RealDaemon(tmp_path / "home")
    daemon.install_hook()
    sent: list[str] = []
    lock = threading.Lock()
    stop = threading.Event()

    def client(number: int) -> None:
        count = 0
        while not stop.is_set():
            text = f"client {number} says {count}"
            payload = {"session_id": f"s{number}", "cwd": "/", "prompt": text}
            done = daemon.run_hook("claude-code", "UserPromptSubmit", payload)
            assert (done.returncode, done.stderr) == (0, b""), f"seed {seed}"
            with lock:
                sent.append(text)
            count += 1

    threads = [threading.Thread(target=client, args=(number,)) for number in range(CLIENTS)]
    daemon.start()
    for thread in threads:
        thread.start()
    for _ in range(CYCLES):
        time.sleep(dice.uniform(0.02, 0.35))
        daemon.kill()
        daemon.start()
    stop.set()
    for thread in threads:
        thread.join()
    try:
        deadline = time.monotonic() + PATIENCE_S
        while daemon.client.get("/healthz")["spool"]["events"]:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        # A hook that had to leave in time left the spooling to a process of its own.
        stored = [event["body"]["content"] for event in daemon.events("/", expected=len(sent))]
        assert len(sent) > CYCLES
        assert sorted(stored) == sorted(sent), f"seed {seed}"
        assert daemon.client.get("/api/doctor")["problems"] == []
    finally:
        daemon.stop()


def test_what_was_spooled_while_the_store_hung_outlives_a_kill(tmp_path: pathlib.Path) -> None:
    seed = int(os.environ.get("RECOLLECT_SEED", "20261115"))
    assert hanging_store(random.Random(seed), 1, tmp_path).failures == [], f"seed {seed}"


def test_a_spool_is_taken_in_once_and_in_order_by_a_daemon_that_dies_over_it(
    tmp_path: pathlib.Path,
) -> None:
    seed = int(os.environ.get("RECOLLECT_SEED", "20261115"))
    assert killed_while_draining(random.Random(seed), 2, tmp_path).failures == [], f"seed {seed}"


def test_hooks_are_answered_while_a_spool_is_drained_and_a_bad_file_stops_nothing(
    tmp_path: pathlib.Path,
) -> None:
    daemon = RealDaemon(tmp_path / "home")
    daemon.install_hook()
    sent = fill_spool(daemon.home, 1000, "spooled")
    (daemon.home / "spool" / "0-0-bad.frame").write_bytes(b"not a frame")
    daemon.start()
    try:
        for number in range(3):
            sent.append(f"live {number}")
            payload = {"session_id": "live", "cwd": "/", "prompt": sent[-1]}
            daemon.run_hook("claude-code", "UserPromptSubmit", payload)
        waited_for(lambda: not daemon.client.get("/healthz")["spool"]["events"])
        stored = [event["body"]["content"] for event in daemon.events("/")]
        assert sorted(stored) == sorted(sent)
        assert daemon.client.get("/healthz")["spool"]["damaged"] == 1
    finally:
        daemon.stop()
