"""Files that somebody else made, given to `import` and `restore`: bombs, lies and traversals.

In: hostile files of every kind that can be imported or restored. Out: failures. The daemon answers
with a sentence or takes what is good, stays alive and small, and touches nothing but its own data.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import apsw

from recollect.client import Refused
from recollect.core.errors import RecollectError
from recollect.portable.backups import chosen
from tests.crash.oracle import converse, open_store
from tests.fakes.daemons import REPOSITORY, RealDaemon, real_daemon
from tests.fakes.waiting import PATIENCE_S
from tests.torture.case import Case, Report

MEGABYTE = 1 << 20
# What an import may need beyond an idle daemon: a bounded line, a batch, a page cache.
MOST_GROWTH = 256 * MEGABYTE
HEADER = {"format": "recollect export", "version": 1, "actor": "x", "namespaces": [], "whole": True}
CLAUDE = {
    "type": "user",
    "sessionId": "s1",
    "cwd": "/tmp",
    "timestamp": "2026-01-01T00:00:00Z",
    "message": {"role": "user", "content": "hello"},
}

Make = Callable[[Path, random.Random], Path]


def _sparse(path: Path, begin: bytes, size: int, end: bytes = b"") -> Path:
    with open(path, "wb") as file:
        file.write(begin)
        file.seek(size)
        file.write(end or b"\0")
    return path


def endless_line_export(folder: Path, chance: random.Random) -> Path:
    return _sparse(
        folder / "export.jsonl", json.dumps(HEADER).encode() + b"\n", 2048 * MEGABYTE, b"}\n"
    )


def huge_document_export(folder: Path, chance: random.Random) -> Path:
    start = b'{"header": ' + json.dumps(HEADER).encode() + b', "rows": ['
    return _sparse(folder / "export.json", start, 2048 * MEGABYTE, b"]}")


def endless_line_transcript(folder: Path, chance: random.Random) -> Path:
    return _sparse(
        folder / "session.jsonl", json.dumps(CLAUDE).encode() + b"\n", 2048 * MEGABYTE, b"\n"
    )


def deep_json(folder: Path, chance: random.Random) -> Path:
    depth = chance.choice((1_000, 100_000, 5_000_000))
    path = folder / "export.jsonl"
    path.write_bytes(json.dumps(HEADER).encode() + b"\n" + b'{"is":' + b"[" * depth + b"\n")
    return path


def wrong_types(folder: Path, chance: random.Random) -> Path:
    values: list[object] = [
        None,
        [],
        {},
        1e308,
        -1,
        "",
        "\ud800",
        "x" * 100_000,
        True,
        {"a": [None] * 1000},
    ]
    rows = []
    for kind in ("memory", "event", "project", "fact", "operation", "version", "nonsense", 3):
        names = ("record_id", "namespace", "title", "body", "marks", "payload", "valid_from", "at")
        rows.append({"is": kind, **{name: chance.choice(values) for name in names}})
    path = folder / "export.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in [HEADER, *rows]), encoding="utf-8")
    return path


def generated_column_bomb(folder: Path, chance: random.Random) -> Path:
    """Each cell of this table is half a gigabyte when it is read."""
    path = folder / "claude-mem.db"
    with closing(apsw.Connection(str(path))) as db:
        db.execute(
            "CREATE TABLE observations (id INTEGER PRIMARY KEY, project TEXT, created_at_epoch INT,"
            " type TEXT, session_id TEXT,"
            " title TEXT GENERATED ALWAYS AS (hex(zeroblob(250000000))) VIRTUAL,"
            " narrative TEXT, memory_session_id TEXT);"
            "CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, project TEXT);"
            "CREATE TABLE session_summaries (id INTEGER PRIMARY KEY, project TEXT, request TEXT);"
            "INSERT INTO observations (project, created_at_epoch) VALUES ('p', 1), ('p', 2);"
        )
    return path


def damaged_database(folder: Path, chance: random.Random) -> Path:
    path = generated_column_bomb(folder, chance)
    with open(path, "r+b") as file:
        for _ in range(40):
            file.seek(chance.randrange(100, path.stat().st_size))
            file.write(bytes([chance.randrange(256)]))
    return path


def pipe(folder: Path, chance: random.Random) -> Path:
    path = folder / "export.jsonl"
    os.mkfifo(path)
    return path


def pipe_as_log(folder: Path, chance: random.Random) -> Path:
    path = generated_column_bomb(folder, chance)
    os.mkfifo(f"{path}-wal")
    return path


FILES: tuple[Make, ...] = (
    endless_line_export,
    huge_document_export,
    endless_line_transcript,
    deep_json,
    wrong_types,
    generated_column_bomb,
    damaged_database,
    pipe,
    pipe_as_log,
)


def _memory(daemon: RealDaemon) -> int:
    assert daemon.process is not None
    for line in Path(f"/proc/{daemon.process.pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) << 10
    raise AssertionError("no VmHWM")


def _imported(daemon: RealDaemon, path: Path) -> str:
    """How an import ended: done, failed, refused; or frozen, when it did not."""
    body = {"sources": [str(path)], "home": str(path.parent)}
    try:
        daemon.client.ask("POST", "/api/import/offers", body)
        state = daemon.client.ask("POST", "/api/import", body)
        deadline = time.monotonic() + PATIENCE_S
        while state["state"] == "running":
            if time.monotonic() > deadline:
                return "frozen"
            time.sleep(0.05)
            state = daemon.client.get("/api/import")
        return f"{state['state']} {state['problem']}"
    except Refused as error:
        return f"refused: {error}"


def hostile_imports(chance: random.Random, tries: int, scratch: Path) -> Report:
    report = Report()
    for make in _chosen(FILES, tries):
        folder = scratch / f"{report.tries}"
        folder.mkdir()
        report.tries += 1
        with real_daemon(folder / "data", embedding="false") as daemon:
            before = _memory(daemon)
            try:
                outcome = _imported(daemon, make(folder, chance))
            except (RecollectError, OSError) as error:
                outcome = f"no answer: {error!r}"
            if outcome.startswith(("frozen", "no answer")) or not daemon.client.alive():
                report.failed("frozen", f"{make.__name__}: {outcome}")
                daemon.kill()
                continue
            if "Unexpected error" in outcome or "Traceback" in daemon.log():
                report.failed("wrong", f"{make.__name__}: {outcome}; {daemon.log()[-600:]}")
            growth = _memory(daemon) - before
            if growth > MOST_GROWTH:
                report.failed("wrong", f"{make.__name__}: {growth / MEGABYTE:.0f} MB more memory")
        shutil.rmtree(folder)
    return report


def _chosen(files: tuple[Make, ...], tries: int) -> Iterator[Make]:
    for number in range(tries):
        yield files[number % len(files)]


# --- restore ---


def foreign_trigger(folder: Path, chance: random.Random) -> Path:
    """A database of ours with something in it that we never made."""
    path = folder / "backup.db"
    _backup(path)
    with closing(apsw.Connection(str(path))) as db:
        db.execute(
            "CREATE TRIGGER spy AFTER INSERT ON events BEGIN DELETE FROM memory_records; END"
        )
    return path


def foreign_view(folder: Path, chance: random.Random) -> Path:
    path = folder / "backup.db"
    _backup(path)
    with closing(apsw.Connection(str(path))) as db:
        db.execute("ALTER TABLE facts RENAME TO hidden; CREATE VIEW facts AS SELECT * FROM hidden")
    return path


def link_elsewhere(folder: Path, chance: random.Random) -> Path:
    path = folder / "backup.db"
    path.symlink_to("/etc/passwd")
    return path


def pipe_to_restore(folder: Path, chance: random.Random) -> Path:
    path = folder / "backup.db"
    os.mkfifo(path)
    return path


def _backup(path: Path) -> None:
    store = open_store(str(path.parent / "source"))
    converse(store, 0, lambda told: None, range(5))
    store.upkeep.backup(str(path))
    store.close()


BACKUPS: tuple[Make, ...] = (foreign_trigger, foreign_view, link_elsewhere, pipe_to_restore)
NAMES = ("../../outside.db", "..", "/etc/passwd", "recollect-\0.db", "a" * 5000, "../data/token")


def _restored(home: Path, given: str) -> int | None:
    """The exit code of a restore, or None when it did not end."""
    try:
        path = chosen(str(home / "backups"), given)
    except RecollectError:
        return 1
    try:
        done = subprocess.run(
            [sys.executable, "-m", "recollect.daemon", "--restore", path],
            env={**os.environ, "RECOLLECT_HOME": str(home), "PYTHONPATH": str(REPOSITORY)},
            capture_output=True,
            timeout=PATIENCE_S,
        )
    except subprocess.TimeoutExpired:
        return None
    return done.returncode


def hostile_backups(chance: random.Random, tries: int, scratch: Path) -> Report:
    """Nothing of this may take the place of the store."""
    report = Report()
    for number, make in enumerate(_chosen(BACKUPS, tries)):
        folder = scratch / f"{number}"
        home = folder / "data"
        folder.mkdir()
        store = open_store(str(home))
        converse(store, 0, lambda told: None, range(20))
        store.close()
        before = (home / "recollect.db").read_bytes()
        hostile = str(make(folder, chance))
        for given in (hostile, chance.choice(NAMES)):
            report.tries += 1
            code = _restored(home, given)
            if code is None:
                report.failed("frozen", f"{make.__name__}: {given[:60]!r}")
            elif code == 0:
                report.failed("wrong", f"{make.__name__}: {given[:60]!r} was restored")
            if (home / "recollect.db").read_bytes() != before:
                report.failed("lost", f"{make.__name__}: the store changed")
        shutil.rmtree(folder)
    return report


CASES = [
    Case("hostile files at import", hostile_imports, len(FILES)),
    Case("hostile backups at restore", hostile_backups, 2 * len(BACKUPS)),
]
