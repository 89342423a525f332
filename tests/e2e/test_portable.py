"""Bring history, keep data: the commands as a person uses them, against a real daemon."""

import json
import os
import pathlib
import pty
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.e2e.test_commands import run
from tests.fakes import transcripts as made
from tests.fakes.daemons import RealDaemon
from tests.fakes.transcripts import MAKERS
from tests.fakes.waiting import PATIENCE_S
from tests.torture import repositories

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


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


def in_files(home: pathlib.Path, text: str) -> list[str]:
    return [
        str(path.relative_to(home))
        for path in sorted((home / ".recollect").rglob("*"))
        if path.is_file() and text.lower().encode() in path.read_bytes().lower()
    ]


def test_history_comes_in_goes_out_and_comes_back(
    person: RealDaemon, tmp_path: pathlib.Path
) -> None:
    asked = run(person, "import")
    assert asked.returncode == 1 and "claude-code" in asked.stdout and "--yes" in asked.stderr
    counted = run(person, "import", "--dry-run")
    assert "7 would be new" in counted.stdout
    first = run(person, "import", "--yes")
    assert first.returncode == 0, first.stderr
    assert first.stdout.count("7 read in 1 session; 7 new.") == 6
    assert "there was nothing new" in run(person, "import", "--yes").stdout
    again = json_of(person, "import", "--yes")
    assert isinstance(again, dict)
    assert all(one["stored"] == 0 for one in again["sources"].values())

    out = tmp_path / "all.jsonl"
    written = run(person, "export", str(out))
    assert written.returncode == 0 and out.stat().st_mode & 0o077 == 0
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert sum(row.get("is") == "event" for row in rows) == 42
    shown = run(person, "export", "--format", "markdown", "--project", str(tmp_path / "work/shop"))
    assert "## shop" in shown.stdout and made.PROMPTS[0] in shown.stdout
    wrong = run(person, "export", "--rows", "spaceships")
    assert wrong.returncode == 2 and "spaceships" in wrong.stderr

    other = RealDaemon(tmp_path / ".elsewhere", embedding="false")
    other.environment |= {"HOME": str(tmp_path / "nobody"), "PATH": "/usr/bin:/bin"}
    would = run(other, "import", str(out), "--dry-run").stdout
    assert "would be new." in would and "there already" not in would
    taken = run(other, "import", str(out), "--yes")
    assert taken.returncode == 0, taken.stderr
    assert other.client.get("/healthz")["unextracted"]["events"] == 42
    run(other, "down")


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
    assert before == 42
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
    assert person.client.get("/healthz")["unextracted"]["events"] == 42
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"SQLite format 3\x00" + b"\0" * 5000)
    refused = run(person, "backup", "restore", str(broken), "--yes")
    assert refused.returncode == 1 and person.client.alive()
    findings = {one["what"]: one for one in json.loads(run(person, "doctor", "--json").stdout)}
    assert findings["backups"]["verdict"] == "ok" and findings["database"]["verdict"] == "ok"


def test_forget_scrub_and_move_by_hand(person: RealDaemon, tmp_path: pathlib.Path) -> None:
    path = tmp_path / ".claude"
    (line_file,) = path.rglob("*.jsonl")
    line_file.write_text(line_file.read_text().replace("declined", "zanzibarcanary"))
    run(person, "import", "claude-code", "codex", "--yes")
    assert in_files(tmp_path, "zanzibarcanary")

    nothing = run(person, "forget")
    assert nothing.returncode == 2 and "name exactly one" in nothing.stderr
    unknown = run(person, "forget", "--text", "no such words here", "--yes")
    assert unknown.returncode == 1 and "nothing that is stored" in unknown.stderr
    shown = run(person, "forget", "--text", "zanzibarcanary", "--dry-run")
    assert "shop: " in shown.stdout and in_files(tmp_path, "zanzibarcanary")
    declined = run(person, "forget", "--text", "zanzibarcanary", typed="n\n")
    assert declined.returncode == 1 and in_files(tmp_path, "zanzibarcanary")
    done = run(person, "forget", "--text", "zanzibarcanary", "--yes", "--backups")
    assert done.returncode == 0 and "Erased" in done.stdout, done.stderr
    assert in_files(tmp_path, "zanzibarcanary") == []
    again = run(person, "import", "claude-code", "--yes")
    assert "forgotten once, left out" in again.stdout
    assert in_files(tmp_path, "zanzibarcanary") == []

    assert "No secrets" in run(person, "scrub", "--yes").stdout
    other = tmp_path / "work" / "other"
    other.mkdir()
    (other / "Makefile").touch()
    moved = run(person, "move", "--session", "c0ffee00-codex", "--to", str(other), "--yes")
    assert moved.returncode == 0 and "Moved" in moved.stdout, moved.stderr
    page = person.client.get(f"/v1/events?project_path={other}&limit=50")
    assert {row["event"]["session_id"] for row in page["items"]} == {"c0ffee00-codex"}
    all_of_it = run(person, "forget", "--all", "--project", str(other), "--yes")
    assert all_of_it.returncode == 0, all_of_it.stderr
    assert in_files(tmp_path, "c0ffee00-codex") == []


def test_what_was_forgotten_before_goes_from_backups_and_archive(
    person: RealDaemon, tmp_path: pathlib.Path
) -> None:
    run(person, "add", "-p", "global", "zanzibarcanary secret word")
    run(person, "backup", "create")
    first = run(person, "forget", "--text", "zanzibarcanary", "-y")
    assert "--backups erases it there now" in first.stdout
    again = run(person, "forget", "--text", "zanzibarcanary", "-y", "--backups")
    assert again.returncode == 0 and "Erased in 1 backup" in again.stdout, again.stderr
    assert in_files(tmp_path, "zanzibarcanary") == []
    added = json_of(person, "add", "-p", "global", "quaggacanary secret word")
    assert isinstance(added, dict)
    record_id = added["record"]["record_id"]
    assert run(person, "forget", record_id, "-y").returncode == 0
    assert in_files(tmp_path, "quaggacanary")
    done = run(person, "forget", record_id, "--for-good", "-y")
    assert done.returncode == 0, done.stderr
    assert in_files(tmp_path, "quaggacanary") == []


def test_old_secrets_are_scrubbed_from_a_running_store(
    person: RealDaemon, tmp_path: pathlib.Path
) -> None:
    """An export that was edited by hand would be cleaned; so a row is put past everything."""
    from recollect.core.settings import Settings
    from recollect.store.sqlite import SqliteStore
    from tests.make import arrival, record

    store = SqliteStore(Settings(home=str(person.home), actor="ada", reserve_mb=0))
    store.events.put([arrival(f"token {SECRET}")])
    store.records.put([record("About it", detail=f"token {SECRET}")])
    store.close()
    shown = run(person, "scrub", "--dry-run")
    assert "github-token" in shown.stdout and "1 event, 2 memories" in shown.stdout
    assert SECRET not in shown.stdout
    done = run(person, "scrub", "--yes")
    assert done.returncode == 0 and in_files(tmp_path, SECRET) == []


def test_install_offers_history_and_takes_none_by_itself(
    person: RealDaemon, tmp_path: pathlib.Path
) -> None:
    done = run(person, "install", "claude-code", "--yes")
    assert done.returncode == 0 and "recollect import" in done.stdout
    run(person, "up")
    assert person.client.get("/healthz")["unextracted"]["events"] == 0


def test_a_hostile_repository_runs_nothing_through_any_door(
    person: RealDaemon, tmp_path: pathlib.Path
) -> None:
    base = repositories.repository(tmp_path / "base")
    canaries = []
    for name in ("lazy fetch, core.sshCommand", "lazy fetch, uploadpack", "hooks"):
        path = tmp_path / "work" / name.replace(" ", "-") / "shop"
        path.parent.mkdir()
        canaries.append(repositories.lay(name, base, path, "127.0.0.1:1"))
        assert run(person, "import", f"git:{path}", "--dry-run").returncode == 0
        asked = {"sources": [f"git:{path}"]}
        assert "offers" in person.client.ask("POST", "/api/import/offers", asked)
        assert run(person, "import", f"git:{path}", "--yes").returncode == 0
    assert not any(canary.exists() for canary in canaries)
