"""A daemon that is slow is waited for while it gets on; starting is told from not running."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

from recollect.cli import process
from recollect.client import Client
from recollect.core import daemon_stage
from recollect.core.settings import Settings
from tests.e2e.test_daemon_life import PROMPT, recollect
from tests.fakes.daemons import REPOSITORY, RealDaemon
from tests.fakes.waiting import PATIENCE_S

# What a loaded machine or a broken installation does to a start, when the slow imports come.
FAULT = """
import sys, importlib.abc

class Fault(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == "uvicorn" and "recollect.daemon" in " ".join(sys.orig_argv):
            import os, signal, time
            sys.meta_path.remove(self)
            {fault}

sys.meta_path.insert(0, Fault())
"""
# Six seconds in which little is done: a machine on which many want to work.
WORKS_LONG = "for _ in range(60): sum(range(400_000)); time.sleep(0.1)"
STANDS_STILL = "os.kill(os.getpid(), signal.SIGSTOP)"
ENDS = "os._exit(7)"


def faulty(tmp_path: pathlib.Path, fault: str) -> RealDaemon:
    """A home whose daemon has this fault."""
    folder = tmp_path / "fault"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(FAULT.format(fault=fault))
    daemon = RealDaemon(tmp_path / "home")
    daemon.environment["PYTHONPATH"] = f"{folder}:{REPOSITORY}"
    return daemon


def started(daemon: RealDaemon, patience_s: float) -> "subprocess.CompletedProcess[str]":
    """What `recollect up` does, with less patience."""
    script = (
        "from recollect.cli import process; from recollect.core import settings\n"
        f"process.start(settings.load(), {patience_s}, print)"
    )
    return subprocess.run(
        [sys.executable, "-c", script],
        env=daemon.environment, cwd="/", capture_output=True, text=True, timeout=PATIENCE_S,
    )  # fmt: skip


def until_up(settings: Settings) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not Client(settings).alive():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_start_that_works_is_waited_for_longer_than_patience(tmp_path: pathlib.Path) -> None:
    daemon = faulty(tmp_path, WORKS_LONG)
    try:
        done = started(daemon, 4.0)
        assert done.returncode == 0, done.stderr
        assert "hooks are answered; loading the rest" in done.stdout
    finally:
        process.stop(daemon.settings)


def test_a_start_that_stands_still_is_told_from_a_daemon_that_does_not_run(
    tmp_path: pathlib.Path,
) -> None:
    daemon = faulty(tmp_path, STANDS_STILL)
    done = started(daemon, 2.0)
    pid = process.running(daemon.settings)
    try:
        assert f"Process {pid} does not answer yet (hooks are answered" in done.stderr, done.stderr
        status = recollect(daemon, "status")
        assert status.returncode == 1
        assert f"is starting: process {pid}, hooks are answered" in status.stdout, status.stdout
        assert json.loads(recollect(daemon, "status", "--json").stdout)["status"] == "starting"
        assert "it is starting" in recollect(daemon, "doctor").stdout
        assert pid is not None
        os.kill(pid, signal.SIGCONT)
        until_up(daemon.settings)
        assert json.loads(recollect(daemon, "status", "--json").stdout)["status"] == "ok"
    finally:
        process.stop(daemon.settings)


def test_a_start_waits_for_the_one_that_was_faster(tmp_path: pathlib.Path) -> None:
    daemon = faulty(tmp_path, WORKS_LONG)
    first = subprocess.Popen(
        [sys.executable, "-m", "recollect.daemon"], env=daemon.environment, cwd="/"
    )
    try:
        daemon.wait_for_hooks()
        done = started(daemon, 4.0)
        assert done.returncode == 0, done.stderr
        assert process.running(daemon.settings) == first.pid
    finally:
        process.stop(daemon.settings)
        first.wait()


def test_a_restore_is_told_before_the_start_that_fails(tmp_path: pathlib.Path) -> None:
    daemon = RealDaemon(tmp_path / "home").start()
    daemon.run_hook("claude-code", "UserPromptSubmit", PROMPT)
    assert len(daemon.events("/", 1)) == 1
    daemon.client.ask("POST", "/api/backups")
    restored = recollect(faulty(tmp_path, ENDS), "backup", "restore", "--yes")
    assert daemon.stop() == 0
    assert restored.returncode == 1
    assert "Restored: 1 event," in restored.stdout
    assert "The backup is in place, but Recollect is not up" in restored.stderr, restored.stderr


def test_a_daemon_that_cannot_stop_is_ended_and_it_is_said(daemon: RealDaemon) -> None:
    daemon.run_hook("claude-code", "UserPromptSubmit", PROMPT)
    assert len(daemon.events("/", 1)) == 1
    assert daemon.process is not None
    daemon.process.send_signal(signal.SIGSTOP)
    assert process.stop(daemon.settings, 1.0) == "killed"
    assert daemon.stop() == -signal.SIGKILL
    assert json.loads(recollect(daemon, "status", "--json").stdout)["status"] == "down"
    daemon.start()
    assert len(daemon.events("/", 1)) == 1


def test_status_does_not_take_an_old_word_for_a_daemon(tmp_path: pathlib.Path) -> None:
    """What a killed daemon left in its file is not what is so now."""
    daemon = RealDaemon(tmp_path / "home").start()
    daemon.kill()
    known = daemon_stage.read(str(daemon.home))
    assert known is not None and known.life == "ready"
    status = recollect(daemon, "status")
    assert "Recollect is not running (" in status.stdout
    for content in (b"", b"{", b"\x00" * 100, b'{"life": "starting", "more": 1}'):
        (daemon.home / daemon_stage.NAME).write_bytes(content)
        assert "Recollect is not running (" in recollect(daemon, "status").stdout


def test_a_process_that_holds_the_directory_and_is_no_daemon_is_not_called_starting(
    tmp_path: pathlib.Path,
) -> None:
    from recollect.core.oslayer import FileLock

    daemon = RealDaemon(tmp_path / "home").start()
    daemon.stop()
    lock = FileLock(str(daemon.home / "lock"))
    assert lock.acquire()
    try:
        told = json.loads(recollect(daemon, "status", "--json").stdout)
        assert told["status"] == "silent" and told["pid"] == os.getpid()
    finally:
        lock.release()
