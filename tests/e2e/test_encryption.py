"""An encrypted store as a user has it: no byte of what was captured, extracted, backed up, exported
or spooled can be read in the data directory, whatever ends the daemon."""

import contextlib
import json
import os
import pathlib
import pty
import select
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from recollect.capture import spool
from recollect.core import store_key
from recollect.store.sqlite import DATABASE
from tests.fakes.canaries import found_on_disk
from tests.fakes.daemons import RealDaemon
from tests.fakes.waiting import PATIENCE_S, wait_until

RECOLLECT = str(pathlib.Path(sys.executable).with_name("recollect"))
PASSPHRASE = "a heron in the bell tower"
CANARIES = [f"heron{number}quartz" for number in range(8)]


def run(daemon: RealDaemon, *arguments: str, fails: bool = False) -> str:
    done = subprocess.run(
        [RECOLLECT, *arguments],
        env=daemon.environment,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=PATIENCE_S,
    )
    told = (done.stdout + done.stderr).decode()
    assert (done.returncode != 0) == fails, told
    return told


def typed(daemon: RealDaemon, arguments: list[str], *lines: str) -> str:
    """Run a command on a terminal, and type a line whenever it asks for a passphrase."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(RECOLLECT, [RECOLLECT, *arguments], daemon.environment)
    told, left, answered = b"", list(lines), 0
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                part = os.read(terminal, 4096)
            except OSError:  # it has ended
                break
            told += part
        if left and told[answered:].rstrip().endswith(b":"):
            answered = len(told)
            os.write(terminal, left.pop(0).encode() + b"\n")
    os.close(terminal)
    _, status = os.waitpid(pid, 0)
    return f"{told.decode()}\nexit code {os.waitstatus_to_exitcode(status)}"


def prompt(daemon: RealDaemon, text: str) -> None:
    payload = {
        "session_id": "s1",
        "hook_event_name": "UserPromptSubmit",
        "prompt": text,
        "cwd": str(daemon.home.parent),
    }
    subprocess.run(
        [daemon.hook, "claude-code", "UserPromptSubmit"],
        input=json.dumps(payload).encode(),
        env=daemon.environment,
        timeout=PATIENCE_S,
        check=True,
    )


@contextlib.contextmanager
def stopped_at_the_end(daemon: RealDaemon) -> Iterator[None]:
    try:
        yield
    finally:
        run(daemon, "down")


@pytest.fixture
def started(tmp_path: pathlib.Path) -> Iterator[RealDaemon]:
    """A daemon that commands start and stop."""
    daemon = RealDaemon(tmp_path / "home")
    with stopped_at_the_end(daemon):
        run(daemon, "up")
        yield daemon


def test_no_canary_is_readable_after_capture_backup_export_spool_and_crash(
    started: RealDaemon, tmp_path: pathlib.Path
) -> None:
    daemon, home = started, started.home
    key = f"file:{tmp_path / 'key'}"
    prompt(daemon, f"Always deploy with {CANARIES[0]}. We never use {CANARIES[1]}.")
    run(daemon, "backup", "create")
    assert found_on_disk(home, CANARIES)  # the search finds what is there
    run(daemon, "encrypt", "--key", key, "--yes")
    assert found_on_disk(home, CANARIES) == []
    prompt(daemon, f"Always test with {CANARIES[2]}.")
    run(daemon, "add", f"The {CANARIES[3]} listens on port 80")
    run(daemon, "queue", "run")
    run(daemon, "backup", "create")
    assert CANARIES[3] in run(daemon, "search", CANARIES[3])
    pid = int(json.loads((home / "daemon.json").read_text())["pid"])
    os.kill(pid, 9)
    wait_until(lambda: not daemon.client.alive())
    assert found_on_disk(home, CANARIES) == []
    (tmp_path / "key").rename(tmp_path / "away")
    prompt(daemon, f"And then {CANARIES[4]}.")
    wait_until(lambda: spool.statistics(str(home)).count == 1)
    assert found_on_disk(home, CANARIES) == []
    told = run(daemon, "up", fails=True)
    assert "is encrypted, and its key is not there" in told
    assert str(tmp_path / "key") in told
    assert "key is not there" in run(daemon, "status", fails=True)
    (tmp_path / "away").rename(tmp_path / "key")
    run(daemon, "up")
    wait_until(lambda: not daemon.client.get("/healthz")["spool"]["events"])
    assert CANARIES[4] in run(daemon, "export", "--rows", "event")
    assert daemon.client.get("/healthz")["status"] == "ok"
    run(daemon, "backup", "restore", "--yes")
    assert found_on_disk(home, CANARIES) == []
    run(daemon, "decrypt", "--yes")
    assert store_key.header_of(str(home / DATABASE)) is None
    assert CANARIES[3] in run(daemon, "search", CANARIES[3])


def test_a_passphrase_is_asked_for_on_a_terminal_and_nowhere_else(tmp_path: pathlib.Path) -> None:
    daemon = RealDaemon(tmp_path / "home")
    with stopped_at_the_end(daemon):
        run(daemon, "settings", "set", "encryption_key", "passphrase")
        told = run(daemon, "up", fails=True)
        assert "passphrase" in told and "terminal" in told
        told = typed(daemon, ["up"], PASSPHRASE, PASSPHRASE)
        assert "Recollect is up" in told
        assert PASSPHRASE not in told
        prompt(daemon, f"Deploy with {CANARIES[5]}.")
        assert PASSPHRASE.encode() not in _of_every_process("recollect.daemon")
        run(daemon, "down")
        assert store_key.header_of(str(daemon.home / DATABASE))
        assert found_on_disk(daemon.home, [*CANARIES, PASSPHRASE]) == []
        assert "not the passphrase" in typed(daemon, ["up"], "wrong one", "no", "nor this")
        assert "exit code 0" in typed(daemon, ["up"], "wrong one", PASSPHRASE)
        assert CANARIES[5] in run(daemon, "export", "--rows", "event")


def _of_every_process(name: str) -> bytes:
    """The arguments and environments of all processes that have the name in their arguments."""
    found = b""
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            arguments = (folder / "cmdline").read_bytes()
            if name.encode() in arguments:
                found += arguments + (folder / "environ").read_bytes()
    assert found
    return found


def test_an_export_is_encrypted_and_imported_with_the_key_alone(
    started: RealDaemon, tmp_path: pathlib.Path
) -> None:
    daemon = started
    run(daemon, "encrypt", "--key", f"file:{tmp_path / 'key'}", "--yes")
    run(daemon, "add", f"The {CANARIES[6]} listens on port 80")
    sealed, readable, whole = (str(tmp_path / name) for name in ("a.jsonl", "b.jsonl", "c.json"))
    run(daemon, "export", sealed)
    run(daemon, "export", whole)
    run(daemon, "export", readable, "--plain")
    for path, is_readable in ((sealed, False), (whole, False), (readable, True)):
        assert (CANARIES[6].encode() in pathlib.Path(path).read_bytes()) == is_readable
    assert "--plain" in run(daemon, "export", str(tmp_path / "a.md"), fails=True)
    assert "0 new" in run(daemon, "import", sealed, "--yes")  # it is there already
    other = RealDaemon(tmp_path / "other")
    with stopped_at_the_end(other):
        run(other, "up")
        assert "--key" in run(other, "import", sealed, "--yes", fails=True)
        (tmp_path / "wrong").write_text("ab" * 32)
        told = run(
            other, "import", sealed, "--key", f"file:{tmp_path / 'wrong'}", "--yes", fails=True
        )
        assert "does not open" in told
        for path in (sealed, whole):
            run(other, "import", path, "--key", f"file:{tmp_path / 'key'}", "--yes")
        assert CANARIES[6] in run(other, "search", CANARIES[6], "-p", "all")
        cut = tmp_path / "cut.jsonl"
        cut.write_bytes(pathlib.Path(sealed).read_bytes()[:-10])
        assert "damaged" in run(other, "import", str(cut), "--yes", fails=True)
