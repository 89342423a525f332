"""Bring history, keep data: what needs a terminal, or stops and starts the daemon."""

import json
import os
import pathlib
import pty
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.e2e.test_commands import run
from tests.fakes.daemons import RealDaemon
from tests.fakes.transcripts import MAKERS
from tests.fakes.waiting import PATIENCE_S


@pytest.fixture
def person(tmp_path: pathlib.Path) -> Iterator[RealDaemon]:
    """A home with sessions of every agent, and a project in it."""
    project = tmp_path / "work" / "shop"
    project.mkdir(parents=True)
    (project / "Makefile").touch()
    for make in MAKERS.values():
        make(tmp_path, str(project))
    daemon = RealDaemon(tmp_path / ".recollect", embedding="false")
    daemon.environment |= {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "NO_COLOR": "1"}
    yield daemon
    run(daemon, "down")


def json_of(daemon: RealDaemon, *arguments: str) -> object:
    done = run(daemon, *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_person_at_a_terminal_is_asked_and_sees_a_bar(
    person: RealDaemon, tmp_path: pathlib.Path
) -> None:
    person.start()
    controller, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "recollect", "import"], env={**person.environment, "TERM": "xterm"},
        stdin=terminal, stdout=terminal, stderr=terminal, cwd="/",
    )  # fmt: skip
    os.close(terminal)
    os.write(controller, b"codex qwen\n")
    told = b""
    while True:
        try:
            piece = os.read(controller, 4096)
        except OSError:
            break
        if not piece:
            break
        told += piece
    os.close(controller)
    assert process.wait(timeout=PATIENCE_S) == 0, told.decode()
    assert b"Which?" in told and b"codex: 7 read" in told and b"qwen: 7 read" in told
    assert b"claude-code: 7" not in told
    person.stop()


def test_backups_and_restore_while_agents_go_on(person: RealDaemon, tmp_path: pathlib.Path) -> None:
    assert "no backup yet" in run(person, "backup", "list").stdout
    run(person, "import", "codex", "--yes")
    made_one = json_of(person, "backup", "create")
    assert isinstance(made_one, dict) and made_one["events"] == 7
    run(person, "import", "--yes")
    before = person.client.get("/healthz")["unextracted"]["events"]
    assert before == 77
    declined = run(person, "backup", "restore", typed="n\n")
    assert declined.returncode == 1
    program = run(person, "backup", "restore", "--json")
    assert (program.returncode, program.stdout) == (1, "") and "--yes" in program.stderr
    running = person.client.get("/healthz")["pid"]
    (tmp_path / "notes.db").write_text("no database at all")
    for wrong in ("notes.db", "work"):
        refused = run(person, "backup", "restore", str(tmp_path / wrong), "--yes")
        assert refused.returncode == 2 and "recollect backup list" in refused.stderr
    assert person.client.get("/healthz")["pid"] == running, "nobody stopped it for that"
    done = run(person, "backup", "restore", "--yes")
    assert "What was forgotten since" in done.stdout
    assert done.returncode == 0 and "kept" in done.stdout, done.stderr
    assert person.client.get("/healthz")["unextracted"]["events"] == 7
    aside = done.stdout.split("kept: ")[1].strip()
    back = run(person, "backup", "restore", aside, "--yes")
    assert back.returncode == 0, back.stderr
    assert person.client.get("/healthz")["unextracted"]["events"] == before
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"SQLite format 3\x00" + b"\0" * 5000)
    refused = run(person, "backup", "restore", str(broken), "--yes")
    assert refused.returncode == 1 and person.client.alive()
    findings = {one["what"]: one for one in json.loads(run(person, "doctor", "--json").stdout)}
    assert findings["backups"]["verdict"] == "ok" and findings["database"]["verdict"] == "ok"
