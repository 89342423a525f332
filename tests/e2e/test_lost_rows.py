"""A store that lost rows is not taken for a new one: refused, told, restored or accepted."""

import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Iterator

import pytest

from recollect.cli import process
from tests.e2e.test_daemon_life import PROMPT, recollect
from tests.fakes.daemons import RealDaemon, real_daemon
from tests.fakes.waiting import PATIENCE_S


def said(daemon: RealDaemon, *texts: str) -> None:
    for text in texts:
        done = daemon.run_hook("claude-code", "UserPromptSubmit", PROMPT | {"prompt": text})
        assert (done.returncode, done.stderr) == (0, b"")


def stored(daemon: RealDaemon, expected: int) -> list[str]:
    return [event["body"]["content"] for event in daemon.events("/", expected)]


@pytest.fixture
def daemon(tmp_path: pathlib.Path) -> Iterator[RealDaemon]:
    """A running one; whatever a command started instead is stopped too."""
    with real_daemon(tmp_path / "home") as running:
        yield running
        process.stop(running.settings)


@pytest.fixture
def emptied(daemon: RealDaemon) -> RealDaemon:
    """Three prompts, a backup after the second; then the database has 0 bytes."""
    said(daemon, "one", "two")
    assert stored(daemon, 2) == ["one", "two"]
    assert daemon.client.ask("POST", "/api/backups")["events"] == 2
    said(daemon, "three")
    assert stored(daemon, 3) == ["one", "two", "three"]
    daemon.stop()
    (daemon.home / "recollect.db").write_bytes(b"")
    return daemon


def test_it_does_not_start_says_what_is_missing_and_offers_the_backup(emptied: RealDaemon) -> None:
    up = recollect(emptied, "up")
    assert up.returncode == 1
    backup = next((emptied.home / "backups").iterdir()).name
    for part in ("is empty", "3 events", "recollect backup restore", "--accept-loss", backup):
        assert part in up.stderr, up.stderr
    assert "Traceback" not in up.stderr

    status = recollect(emptied, "status")
    assert status.returncode == 1
    assert "is not running" in status.stdout and "3 events" in status.stdout
    assert "recollect backup restore" in status.stdout
    told = json.loads(recollect(emptied, "status", "--json").stdout)
    assert told["status"] == "down" and "3 events" in told["problem"]

    doctor = recollect(emptied, "doctor", "--fix")
    assert doctor.returncode == 1
    assert "3 events" in doctor.stdout and "recollect backup restore" in doctor.stdout
    assert backup in recollect(emptied, "backup", "list").stdout  # without a daemon
    assert (emptied.home / "recollect.db").stat().st_size == 0


def test_hooks_keep_their_events_until_the_backup_is_in_place(emptied: RealDaemon) -> None:
    assert recollect(emptied, "up").returncode == 1
    said(emptied, "meanwhile")
    assert len(list((emptied.home / "spool").glob("*.frame"))) == 1
    restored = recollect(emptied, "backup", "restore", "--yes")
    assert restored.returncode == 0, restored.stderr
    assert "Restored: 2 events" in restored.stdout
    status = recollect(emptied, "status")
    assert "is not running (" in status.stdout and "missing" not in status.stdout
    assert "try: recollect up\n" in status.stdout
    up = recollect(emptied, "up")
    assert up.returncode == 0, up.stderr
    assert stored(emptied, 3) == ["one", "two", "meanwhile"]
    assert json.loads(recollect(emptied, "status", "--json").stdout)["status"] == "ok"


def test_a_loss_that_is_accepted_is_not_told_again(emptied: RealDaemon) -> None:
    os.unlink(emptied.home / "recollect.db")  # gone is as bad as empty
    assert "is gone" in recollect(emptied, "up").stderr
    accepted = recollect(emptied, "up", "--accept-loss")
    assert accepted.returncode == 0, accepted.stderr
    assert "Accepted" in accepted.stdout and "3 events" in accepted.stdout
    backup = next((emptied.home / "backups").iterdir()).name
    assert "Nothing was left to keep.\n" in accepted.stdout and "Kept" not in accepted.stdout
    assert f"The newest backup is {backup}: recollect backup restore\n" in accepted.stdout
    said(emptied, "anew")
    assert stored(emptied, 1) == ["anew"]
    assert "Nothing is missing" in recollect(emptied, "up", "--accept-loss").stdout
    assert recollect(emptied, "restart").returncode == 0


def test_what_was_accepted_is_not_told_while_nothing_runs(emptied: RealDaemon) -> None:
    assert recollect(emptied, "up").returncode == 1
    assert "3 events" in recollect(emptied, "status").stdout
    process.on_files(emptied.settings, "--accept-loss")
    status = recollect(emptied, "status")
    assert "is not running (" in status.stdout and "missing" not in status.stdout


def test_a_damaged_database_is_kept_aside_when_its_loss_is_accepted(emptied: RealDaemon) -> None:
    raw = b"SQLite format 3\0" + os.urandom(9000)
    (emptied.home / "recollect.db").write_bytes(raw)
    refused = recollect(emptied, "up")
    assert refused.returncode == 1 and "recollect backup restore" in refused.stderr, refused.stderr
    accepted = recollect(emptied, "up", "--accept-loss")
    assert accepted.returncode == 0, accepted.stderr
    (kept,) = (emptied.home / "backups").glob("before-restore-*.db")
    assert kept.read_bytes() == raw and str(kept) in accepted.stdout
    assert "Nothing was left" not in accepted.stdout


def test_a_killed_daemon_whose_log_was_removed_is_missed(daemon: RealDaemon) -> None:
    said(daemon, "one", "two")
    assert stored(daemon, 2) == ["one", "two"]
    daemon.kill()
    (daemon.home / "recollect.db-wal").unlink()
    up = recollect(daemon, "up")
    assert up.returncode == 1 and "missing" in up.stderr, up.stderr
    assert "There is no backup" in up.stderr


def test_a_killed_daemon_with_all_its_files_starts_again(daemon: RealDaemon) -> None:
    said(daemon, "one", "two")
    assert stored(daemon, 2) == ["one", "two"]
    daemon.kill()
    daemon.start()
    assert stored(daemon, 2) == ["one", "two"]
    daemon.stop()
    left = daemon.home / "recollect.db-wal"
    assert not left.exists() or left.stat().st_size == 0


def test_a_store_that_fails_while_it_runs_says_so_afterwards(tmp_path: pathlib.Path) -> None:
    daemon = RealDaemon(tmp_path / "home")
    failing = (
        "import sys; from recollect.daemon import __main__, upkeep\n"
        "from recollect.core.errors import StoreFailed\n"
        "def fail(self): self._runtime.store.writer._failure = StoreFailed('the disk said no')\n"
        "upkeep.DaemonUpkeep.drain = fail\n"
        "sys.exit(__main__.main())"
    )
    ended = subprocess.run(
        [sys.executable, "-c", failing],
        env=daemon.environment,
        capture_output=True,
        timeout=PATIENCE_S,
    )
    assert ended.returncode == 1 and b"Traceback" not in ended.stderr, ended.stderr
    status = recollect(daemon, "status")
    assert status.returncode == 1 and "is not running: the disk said no" in status.stdout


def test_two_who_accept_at_once_do_no_harm(emptied: RealDaemon) -> None:
    commands = [
        subprocess.Popen(
            [sys.executable, "-m", "recollect", "up", "--accept-loss", "--quiet"],
            env=emptied.environment, cwd="/", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        for _ in range(3)
    ]  # fmt: skip
    for command in commands:
        _, error = command.communicate(timeout=PATIENCE_S)
        assert b"Traceback" not in error
    said(emptied, "anew")
    assert stored(emptied, 1) == ["anew"]
