"""One daemon per data directory, quick to start, quick to stop, leaving nothing behind."""

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from tests.fakes.daemons import REPOSITORY, RealDaemon
from tests.fakes.waiting import PATIENCE_S

PROMPT = {"session_id": "s", "cwd": "/", "hook_event_name": "UserPromptSubmit", "prompt": "hello"}


def recollect(daemon: RealDaemon, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "recollect", *arguments],
        env=daemon.environment, cwd="/", capture_output=True, text=True, timeout=PATIENCE_S,
    )  # fmt: skip


def test_up_status_restart_down_as_a_person_would(tmp_path: pathlib.Path) -> None:
    daemon = RealDaemon(tmp_path / "home")
    assert recollect(daemon, "status").returncode == 1
    up = recollect(daemon, "up")
    assert up.returncode == 0 and "is up" in up.stdout, up.stderr
    try:
        assert "already up" in recollect(daemon, "up").stdout
        status = json.loads(recollect(daemon, "status", "--json").stdout)
        assert status["status"] == "ok" and status["home"] == str(daemon.home)
        restarted = recollect(daemon, "restart")
        assert restarted.returncode == 0, restarted.stderr
        again = json.loads(recollect(daemon, "status", "--json").stdout)
        assert again["pid"] != status["pid"]
        assert "ready for hooks" in recollect(daemon, "logs").stdout
        watching = socket.socket(socket.AF_UNIX)  # as an open dashboard does
        watching.connect(str(daemon.home / "recollect.sock"))
        watching.sendall(b"GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert watching.recv(1 << 16)
    finally:
        down = recollect(daemon, "down")
    watching.close()
    assert " ERROR " not in recollect(daemon, "logs").stdout
    assert down.stdout == (
        "Recollect is down.\n"
        "The next agent session, prompt or command that needs it starts it again.\n"
    )
    assert "starts it again" not in restarted.stdout
    assert recollect(daemon, "down").stdout == "Recollect was not running.\n"


def test_a_hundred_simultaneous_starts_give_one_daemon(tmp_path: pathlib.Path) -> None:
    daemon = RealDaemon(tmp_path / "home")
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "recollect.daemon"], env=daemon.environment, cwd="/",
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        for _ in range(100)
    ]  # fmt: skip
    try:
        deadline = time.monotonic() + PATIENCE_S
        while sum(one.poll() is None for one in processes) > 1 or not daemon.client.alive():
            assert time.monotonic() < deadline
            time.sleep(0.1)
        losers = [one.returncode for one in processes if one.poll() is not None]
        assert losers == [3] * 99
        holder = int((daemon.home / "lock").read_text())
        assert [one.pid for one in processes if one.poll() is None] == [holder]
    finally:
        for one in processes:
            one.kill()
            one.wait()


def test_stopping_under_load_keeps_what_was_acknowledged_and_leaves_nothing(
    daemon: RealDaemon,
) -> None:
    acknowledged: list[str] = []

    def work(number: int) -> None:
        for index in range(40):
            text = f"{number}-{index}"
            done = daemon.run_hook("claude-code", "UserPromptSubmit", PROMPT | {"prompt": text})
            assert (done.returncode, done.stderr) == (0, b"")
            acknowledged.append(text)

    with ThreadPoolExecutor(4) as pool:
        running = [pool.submit(work, number) for number in range(4)]
        while len(acknowledged) < 30:
            time.sleep(0.01)
        assert daemon.stop() == 0
        for one in running:
            one.result()
    assert not [name for name in os.listdir(daemon.home) if name.endswith(".sock")]
    assert not (daemon.home / "daemon.json").exists()
    daemon.start()
    deadline = time.monotonic() + PATIENCE_S
    while daemon.client.get("/healthz")["spool"]["events"]:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    stored = [event["body"]["content"] for event in daemon.events("/")]
    assert sorted(stored) == sorted(acknowledged)


def test_no_child_processes_and_no_leaks_in_steady_state(daemon: RealDaemon) -> None:
    assert daemon.process is not None
    proc = pathlib.Path(f"/proc/{daemon.process.pid}")

    def state() -> tuple[int, int]:
        threads = len(list((proc / "task").iterdir()))
        return len(list((proc / "fd").iterdir())), threads

    def burst() -> None:
        for _ in range(40):
            daemon.run_hook("claude-code", "UserPromptSubmit", PROMPT)
            daemon.client.get("/healthz")

    burst()
    before = state()
    for _ in range(3):
        burst()
    after = state()
    children = (proc / "task" / str(daemon.process.pid) / "children").read_text()
    assert children == ""
    assert after[0] - before[0] <= 2
    assert after[1] <= before[1] + 35  # the pool of hook threads fills up to its fixed size


def test_a_taken_port_gives_the_next_one(tmp_path: pathlib.Path, daemon: RealDaemon) -> None:
    other = RealDaemon(tmp_path / "other")
    other.environment["RECOLLECT_PORT"] = str(daemon.port)
    other.start()
    try:
        assert other.port > daemon.port
    finally:
        other.stop()


def test_ready_costs_little_more_than_asyncio(tmp_path: pathlib.Path) -> None:
    """CPU from fork until hooks are answered, against importing asyncio: measured in turn, and the
    best tries count, since other work on the machine only adds."""
    script = (
        "import os, sys, time\n"
        "from recollect.daemon.__main__ import Runtime\n"  # with all that a start imports
        "from recollect.core import settings\n"
        "running = Runtime(settings.load())\n"
        "running.answer_hooks()\n"
        "print(time.process_time(), flush=True)\n"
        "assert 'numpy' not in sys.modules and 'onnxruntime' not in sys.modules\n"
        "os._exit(0)\n"
    )
    plain = "import asyncio, time; print(time.process_time())"

    def cpu(code: str, number: int) -> float:
        environment = {
            **os.environ, "RECOLLECT_HOME": str(tmp_path / f"h{number}"),
            "PYTHONPATH": str(REPOSITORY),
        }  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, check=True
        )
        return float(done.stdout)

    pairs = [(cpu(script, number), cpu(plain, number)) for number in range(5)]
    ready, base = min(one for one, _ in pairs), min(other for _, other in pairs)
    assert ready < 7.5 * base, f"{ready / base:.1f} times the CPU of importing asyncio"


def test_it_says_why_it_does_not_start(tmp_path: pathlib.Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "recollect.db").write_text("not a database at all, but long enough to have a header")
    daemon = RealDaemon(home)
    done = recollect(daemon, "up")
    assert done.returncode == 1
    assert "not a SQLite database" in done.stderr
    assert "Traceback" not in done.stderr + done.stdout


def test_sigint_ends_it_as_well(daemon: RealDaemon) -> None:
    assert daemon.stop(signal.SIGINT) == 0
