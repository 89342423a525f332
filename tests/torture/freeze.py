"""Texts that would freeze the daemon, and an extraction that is frozen: hooks are answered.

In: prompts of 100 KB that are hard for the package's own patterns. What must hold: while they are
extracted hooks are answered as on an idle daemon, nothing is lost, nothing is set aside; and where
extraction does not end, hooks go on, a stop takes no longer, no worker stays behind, and the third
start sets the batch aside.
"""

import json
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable

from recollect.store.sqlite import SqliteStore
from tests.fakes import frozen_path
from tests.fakes.daemons import REPOSITORY, RealDaemon, real_daemon
from tests.torture.case import Case, Report

SIZE = 100_000
SLOWER = 5  # times the slowest of an idle daemon: so long is half of them only if it is frozen
PLAIN = {"embedding": "false"}

SHAPES = (
    "word", "word ", "a", " ", "\n", ".", "a.", "1.1", "now ", "also now ", "not ", "\0", "\u200b",
    "< /", "<recollect ", "commit messages ", "indentation ", "can you please ", "must be ", "{",
    '"', "\\", '-m "$(cat <<a\n', "&& ", "-----BEGIN PRIVATE KEY-----\n", "a@", "/a", "_a", "é",
    "。", "we moved billing from a to b and ", "the a is deployed on ", "- [ ", "# ",
    "[recollect ",
)  # fmt: skip


def shapes(dice: random.Random, tries: int) -> list[str]:
    """The plain ones: something over and over, with something else at the end."""
    units = dice.sample(SHAPES, min(tries, len(SHAPES)))
    return [(unit * (SIZE // len(unit)))[: SIZE - 1] + dice.choice("x?.\n") for unit in units]


def generated(dice: random.Random, tries: int) -> list[str]:
    """Those that the patterns themselves are made to give."""
    command = [sys.executable, "-m", "tests.regexes", str(dice.randrange(2**32)), str(tries)]
    done = subprocess.run(
        [*command, str(SIZE)], cwd=REPOSITORY, capture_output=True, check=True, timeout=600
    )
    return [str(one) for one in json.loads(done.stdout)]


def hostile_prompts(dice: random.Random, tries: int, scratch: pathlib.Path) -> Report:
    return _prompts(shapes(dice, tries), scratch)


def generated_prompts(dice: random.Random, tries: int, scratch: pathlib.Path) -> Report:
    return _prompts(generated(dice, tries), scratch)


def _prompts(texts: list[str], scratch: pathlib.Path) -> Report:
    report = Report()
    place = scratch / "project"
    place.mkdir()
    with real_daemon(scratch / "home", **PLAIN) as daemon:
        _until(lambda: _running(daemon) is not None, daemon)
        idle = max(_hook(daemon, place, f"idle {number}") for number in range(10))
        for number, text in enumerate(texts):
            report.tries += 1
            _hook(daemon, place, text)
            with _extracting(daemon) as busy:
                took = [_hook(daemon, place, f"meanwhile {number}")]
                while busy() and len(took) < 50:
                    took.append(_hook(daemon, place, f"meanwhile {number}.{len(took)}"))
            usual = statistics.median(took)
            if usual > SLOWER * idle:
                report.failed("frozen", f"{usual:.2f} s ({idle:.2f} idle) for {text[:60]!r}")
        stored = {one["body"].get("content") for one in daemon.events(str(place), len(texts))}
        for number in range(len(texts)):
            if f"meanwhile {number}" not in stored:
                report.failed("lost", f"meanwhile {number}")
        aside = daemon.client.get("/healthz")["unextracted"]["quarantined"]
        if aside:
            report.failed("wrong", f"{aside} events were set aside")
    return report


def frozen_extraction(dice: random.Random, tries: int, scratch: pathlib.Path) -> Report:
    """Extraction that never ends. Each try: a daemon that is stopped in the middle of it, which
    counts for nothing, and one that is killed, which counts; three of them set the batch aside."""
    report = Report()
    for number in range(tries):
        report.tries += 1
        _frozen(report, scratch / f"frozen-{number}")
    return report


def _frozen(report: Report, scratch: pathlib.Path) -> None:
    place = scratch / "project"
    place.mkdir(parents=True)
    daemon = RealDaemon(scratch / "home", **PLAIN, extract_idle_s="5")
    daemon.environment["PYTHONPATH"] = f"{frozen_path()}{os.pathsep}{REPOSITORY}"
    daemon.start()
    idle = max(_hook(daemon, place, f"idle {number}") for number in range(5))
    _hook(daemon, place, "FREEZE-ME")
    for start in range(4):
        if daemon.process is None:
            daemon.start()
        if start == 3:
            break
        worker = _busy_worker(daemon)
        took = statistics.median(
            _hook(daemon, place, f"meanwhile {start}.{one}") for one in range(5)
        )
        if took > SLOWER * idle:
            report.failed("frozen", f"a hook took {took:.2f} s ({idle:.2f} idle)")
        if not _lives(worker):
            report.failed("wrong", "the worker was not frozen while hooks were answered")
        daemon.stop(signal.SIGTERM if start == 0 else signal.SIGKILL)
        _until(lambda pid=worker: not _lives(pid), daemon)  # type: ignore[misc]
        counted = _failures(daemon)
        if max(counted, default=0) != start:
            report.failed("wrong", f"after start {start} {counted} runs are counted")
    _busy_worker(daemon)
    daemon.kill()
    if 3 not in _failures(daemon):
        report.failed("wrong", "the third run that was killed is not counted")
    daemon.start()
    try:
        told = daemon.client.get("/api/queue")
        if not sum(one["quarantined"] for one in told["items"]):
            report.failed("wrong", "the batch is not set aside at the fourth start")
    finally:
        daemon.stop()


def _hook(daemon: RealDaemon, place: pathlib.Path, text: str) -> float:
    """One prompt by the real hook; how long the agent waited."""
    payload = {"session_id": "one", "cwd": str(place), "prompt": text}
    started = time.monotonic()
    done = daemon.run_hook("claude-code", "UserPromptSubmit", payload)
    took = time.monotonic() - started
    assert done.returncode == 0, done.stderr
    return took


class _extracting:
    """Asks for extraction now, in the background; gives a question whether it still goes on."""

    def __init__(self, daemon: RealDaemon) -> None:
        self._daemon = daemon
        self._thread = threading.Thread(target=self._ask)

    def _ask(self) -> None:
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline:
            if self._daemon.client.ask("POST", "/api/queue/run", {"wait_s": 20})["done"]:
                return

    def __enter__(self) -> Callable[[], bool]:
        self._thread.start()
        return self._thread.is_alive

    def __exit__(self, *error: object) -> None:
        self._thread.join()


def _running(daemon: RealDaemon) -> list[str] | None:
    """The projects that are extracted now; None while extraction is not loaded."""
    found: list[str] | None = daemon.client.get("/healthz")["extraction"].get("running")
    return found


def _busy_worker(daemon: RealDaemon) -> int:
    """The worker's process, as soon as it is at work on what freezes it."""

    def at_work() -> bool:
        worker = daemon.client.get("/healthz")["extraction"].get("worker")
        return bool(_running(daemon) and worker and worker["pid"] and _cpu(worker["pid"]) > 100)

    _until(at_work, daemon)
    return int(daemon.client.get("/healthz")["extraction"]["worker"]["pid"])


def _cpu(pid: int) -> int:
    """Ticks of CPU; starting takes a few dozen."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return int(fields[11]) + int(fields[12])


def _lives(pid: int) -> bool:
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def _failures(daemon: RealDaemon) -> list[int]:
    """The runs that are counted against each event, as the file has it."""
    store = SqliteStore(daemon.settings)
    try:
        with store.engine.reader() as db:
            return [count for (count,) in db.execute("SELECT failures FROM unextracted")]
    finally:
        store.close()


def _until(condition: Callable[[], bool], daemon: RealDaemon) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline, daemon.log()
        time.sleep(0.05)


CASES: list[Case] = [
    Case("prompts of 100 KB that are hard to read", hostile_prompts, 20),
    Case("prompts of 100 KB made from our own patterns", generated_prompts, 20),
    Case("extraction that never ends, stopped and killed", frozen_extraction, 1),
]
