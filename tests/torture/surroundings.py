"""A machine that misbehaves around a daemon that does nothing wrong.

A disk that turns read-only, too little memory, no new processes, a damaged model, clocks that
jump, days of 23 and 25 hours, and a hundred thousand sessions. What was acknowledged stays, the
hook stays silent, and whatever cannot go on says so in a sentence.
"""

import contextlib
import hashlib
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from recollect.capture import spool
from recollect.core.clock import ManualClock
from recollect.core.errors import RecollectError
from recollect.core.settings import Settings
from recollect.embedding import weights
from recollect.portable.backups import Backups
from recollect.retrieve.query import spans_in
from recollect.store.sqlite import SqliteStore
from tests.crash.oracle import arrival, converse, numbers_stored, open_store
from tests.crash.small_disk import may_mount
from tests.fakes.daemons import REPOSITORY, RealDaemon
from tests.fakes.hooks import KINDS, install
from tests.make import NAMESPACE
from tests.make import arrival as event
from tests.torture.case import Case, Report

MEGABYTE = 1 << 20
MODELS = os.environ.get("RECOLLECT_MODEL_DIR") or str(REPOSITORY / ".venv" / "models")


# --- a disk that turns read-only ---


@contextlib.contextmanager
def _disk(directory: Path) -> Iterator[None]:
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", directory], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", directory], check=True)


def _read_only(directory: Path, *, on: bool) -> None:
    """Where nothing may be mounted, the directory loses its permission to write instead."""
    if may_mount():
        how = f"remount,{'ro' if on else 'rw'}"
        # While files are open for writing only a forced remount is let through.
        subprocess.run(["mount", "-o", how, directory], check=False, capture_output=True)
    else:
        directory.chmod(0o500 if on else 0o700)


def read_only_disk(chance: random.Random, tries: int, scratch: Path) -> Report:
    """Writers go on while the disk turns read-only and writable again."""
    report = Report()
    for number in range(tries):
        folder = scratch / f"disk-{number}"
        folder.mkdir()
        with _disk(folder) if may_mount() else contextlib.nullcontext():
            told: list[int] = []
            store = open_store(str(folder / "home"))
            turn = chance.randrange(1, 20)
            try:
                for step in range(30):
                    if step == turn:
                        store.close()
                        _read_only(folder, on=True)
                        store = open_store(str(folder / "home"))
                    converse(store, 0, lambda _: None, range(step, step + 1))
                    told.append(step)
            except RecollectError:
                pass  # it said so
            finally:
                store.close()
                _read_only(folder, on=False)
            report.tries += 1
            again = open_store(str(folder / "home"))
            there = set(numbers_stored(again, 0))
            again.close()
            for lost in set(told) - there:
                report.failed("lost", f"event {lost}, read-only before event {turn}")
    return report


# --- too little of something ---


def _limited(daemon: RealDaemon, limit: int) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "recollect.daemon"],
        cwd="/",
        env=daemon.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )


def little_memory(chance: random.Random, tries: int, scratch: Path) -> Report:
    """The daemon starts or says why not; what it acknowledged is there."""
    report = Report()
    for number in range(tries):
        daemon = RealDaemon(scratch / f"memory-{number}")
        limit = chance.choice((120, 200, 300, 500, 800, 1500)) * MEGABYTE
        daemon.process = _limited(daemon, limit)
        stored: list[str] = []
        deadline = time.monotonic() + 20
        while daemon.process.poll() is None and time.monotonic() < deadline and len(stored) < 5:
            text = f"note {len(stored)} under {limit}"
            try:
                daemon.client.ask("POST", "/api/notes", {"text": text})
            except (RecollectError, OSError):
                time.sleep(0.1)
                continue
            stored.append(text)
        assert daemon.process.stderr is not None
        daemon.process.kill()
        said = daemon.process.stderr.read().decode()
        daemon.process.wait()
        daemon.process.stderr.close()
        report.tries += 1
        if "Traceback" in said:
            report.failed("wrong", f"{limit // MEGABYTE} MB: {said[-300:]}")
        if stored:
            again = RealDaemon(daemon.home, embedding="false").start()
            found = {one["title"] for one in again.client.get("/api/memories?limit=50")["items"]}
            again.stop()
            for text in set(stored) - found:
                report.failed("lost", text)
    return report


_NO_FORK = b"""
#define _GNU_SOURCE
#include <errno.h>
#include <unistd.h>
pid_t fork(void) { errno = EAGAIN; return -1; }
pid_t vfork(void) { errno = EAGAIN; return -1; }
"""


def _no_fork() -> str:
    name = hashlib.sha256(_NO_FORK).hexdigest()[:16]
    target = Path(tempfile.gettempdir()) / f"recollect-no-fork-{os.getuid()}-{name}.so"
    if not target.exists():
        fresh = f"{target}.{os.getpid()}"
        compiler = os.environ.get("CC", "cc")
        subprocess.run(
            [compiler, "-shared", "-fPIC", "-x", "c", "-", "-o", fresh], input=_NO_FORK, check=True
        )
        os.rename(fresh, target)
    return str(target)


def no_new_processes(chance: random.Random, tries: int, scratch: Path) -> Report:
    """A hook that can start no child, with no daemon: silent, and the event is spooled."""
    report = Report()
    for number in range(tries):
        hook = install(chance.choice(KINDS), scratch / f"fork-{number}")
        what = chance.choice(("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop"))
        environment = hook.environment(LD_PRELOAD=_no_fork())
        done = hook.call("claude-code", what, stdin=b'{"session_id": "s"}', env=environment)
        report.tries += 1
        if done.code or done.stderr or done.stdout:
            report.failed("wrong", f"{hook.kind} {what}: {done}")
        if not spool.statistics(str(hook.directory)).count:
            report.failed("lost", f"{hook.kind} {what}")
    return report


# --- a damaged model ---


def damaged_model(chance: random.Random, tries: int, scratch: Path) -> Report:
    """Words alone are searched, and health says why."""
    report = Report()
    whole = weights.directory(MODELS)
    for number in range(tries):
        models = scratch / f"models-{number}"
        shutil.copytree(whole, weights.directory(str(models)))
        name = chance.choice([item.name for item in weights.FILES])
        path = Path(weights.directory(str(models)), name)
        size = path.stat().st_size
        match chance.choice(("cut", "garbage", "empty", "folder", "pipe")):
            case "cut":
                os.truncate(path, chance.randrange(size))
            case "garbage":
                path.write_bytes(chance.randbytes(1000))
            case "empty":
                path.write_bytes(b"")
            case "folder":
                path.unlink()
                path.mkdir()
            case "pipe":
                path.unlink()
                os.mkfifo(path)
        report.tries += 1
        daemon = RealDaemon(scratch / f"data-{number}")
        daemon.environment["RECOLLECT_MODEL_DIR"] = str(models)
        try:
            daemon.start()
            daemon.client.ask("POST", "/api/notes", {"text": "The kettle stands in the kitchen."})
            found = daemon.client.get("/api/search?query=kettle")["items"]
            state = daemon.client.get("/healthz")["embedding"]
            if not found or state.get("state") == "ready":
                report.failed("wrong", f"{name}: found {len(found)}, health says {state}")
            if "Traceback" in daemon.log():
                report.failed("wrong", f"{name}: {daemon.log()[-400:]}")
        except (RuntimeError, RecollectError) as error:
            report.failed("frozen", f"{name}: {error}")
        finally:
            if daemon.process is not None:
                daemon.kill()
    return report


# --- clocks ---


@contextlib.contextmanager
def _in_zone(name: str) -> Iterator[None]:
    before = os.environ.get("TZ")
    os.environ["TZ"] = name
    time.tzset()
    try:
        yield
    finally:
        if before is None:
            del os.environ["TZ"]
        else:
            os.environ["TZ"] = before
        time.tzset()


ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC")


def odd_days(chance: random.Random, tries: int, scratch: Path) -> Report:
    """Days of 23 and 25 hours: "today" and "yesterday" begin and end at midnight on the wall."""
    report = Report()
    for _ in range(tries):
        name = chance.choice(ZONES)
        zone = ZoneInfo(name)
        hours = timedelta(hours=chance.randrange(24 * 366), minutes=chance.randrange(60))
        moment = datetime(2026, 1, 1, tzinfo=UTC) + hours
        with _in_zone(name):
            (today,) = spans_in("what did I do today?", int(moment.timestamp() * 1e6))
            (yesterday,) = spans_in("what did I do yesterday?", int(moment.timestamp() * 1e6))
        report.tries += 1
        midnight = moment.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0)
        before = (midnight - timedelta(days=1)).replace(fold=0)
        expected = [int(one.timestamp() * 1e6) for one in (midnight, before, midnight)]
        if [today.start, yesterday.start, yesterday.end] != expected:
            report.failed("wrong", f"{name}, {moment.isoformat()}: {today}, {yesterday}")
    return report


def jumping_clock(chance: random.Random, tries: int, scratch: Path) -> Report:
    """Years forward and back: order stays, and backups are made again."""
    report = Report()
    for number in range(tries):
        clock = ManualClock()
        settings = Settings(home=str(scratch / f"clock-{number}"), actor="ada", reserve_mb=0)
        store = SqliteStore(settings, clock)
        backups = Backups(settings, store, clock)
        for step in range(12):
            clock.jump(days=chance.choice((-400, -1, 0, 1, 400)))
            clock.advance(hours=1)
            store.events.put([arrival(0, step)])
            if chance.random() < 0.3:
                backups.create()
        clock.jump(days=-2000)
        clock.advance(days=3)
        report.tries += 1
        if not backups.due():
            report.failed("wrong", "no backup is due after the clock was set back")
        if numbers_stored(store, 0) != list(range(12)):
            report.failed("out of order", f"{numbers_stored(store, 0)}")
        store.close()
    return report


# --- a hundred thousand sessions ---


def many_sessions(chance: random.Random, tries: int, scratch: Path) -> Report:
    """What a session's start asks of the store costs the same among many as among few."""
    report = Report()
    costs = []
    for count in (1_000, tries):
        store = open_store(str(scratch / f"sessions-{count}"))
        for start in range(0, count, 1000):
            store.events.put(
                [
                    event(f"hello {number}", session_id=f"s{number}")
                    for number in range(start, start + 1000)
                ]
            )
        began = time.process_time()
        for _ in range(50):
            store.sessions.page(NAMESPACE, limit=20)
            store.sessions.get(NAMESPACE, f"s{chance.randrange(count)}")
            store.events.session(NAMESPACE, f"s{chance.randrange(count)}")
        costs.append(time.process_time() - began)
        store.close()
    report.tries = tries
    few, many = costs
    if many > 5 * few:
        report.failed("frozen", f"{many / few:.1f} times the CPU among {tries} sessions")
    return report


CASES = [
    Case("a disk that turns read-only", read_only_disk, 10),
    Case("a daemon with little memory", little_memory, 6),
    Case("hooks that can start no process", no_new_processes, 20),
    Case("a damaged model", damaged_model, 6),
    Case("days of 23 and 25 hours", odd_days, 2000),
    Case("a clock that jumps by years", jumping_clock, 20),
    Case("a hundred thousand sessions", many_sessions, 100_000),
]
