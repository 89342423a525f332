"""Two real daemons on one real server, as two machines of one person have them."""

import json
import pathlib
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import apsw
import pytest

from recollect.core.settings import Settings
from recollect.store.sqlite import DATABASE, SqliteStore
from tests.fakes.daemons import RealDaemon
from tests.fakes.postgres import Server
from tests.fakes.waiting import PATIENCE_S
from tests.make import arrival, record


@pytest.fixture
def database(postgres_server: Server) -> Iterator[str]:
    name = postgres_server.database()
    yield name
    postgres_server.drop(name)


def recalled(daemon: RealDaemon, session: str) -> bytes:
    payload = {
        "session_id": session,
        "cwd": "/",
        "prompt": "What do we know about the quokka gate?",
    }
    done = daemon.run_hook("claude-code", "UserPromptSubmit", payload)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


def test_what_one_daemon_learns_the_other_recalls_and_shows(
    postgres_server: Server, database: str, tmp_path: pathlib.Path
) -> None:
    store = postgres_server.url(database, "ada")
    daemons = [
        RealDaemon(tmp_path / name, store=store, embedding="false") for name in ("one", "two")
    ]
    try:
        for daemon in daemons:
            daemon.start()
        one, two = daemons
        recalled(two, "warm")  # its index of the namespace is filled before anything is there
        said = "The quokka gate opens only when the quokka signal of the eastern yard is green."
        memory = {"title": "Quokka gate", "content": said, "kind": "knowledge", "project": "global"}
        assert one.client.ask("POST", "/api/memories", memory)
        deadline = time.monotonic() + PATIENCE_S
        number = 0
        while said.encode() not in recalled(two, f"s{number}"):
            assert time.monotonic() < deadline, two.log()
            number += 1
            time.sleep(0.2)
        # And what one is told never to say again, the other does not say either.
        (memory_id,) = [record["record_id"] for record in two.client.get("/api/memories")["items"]]
        one.client.ask("POST", "/api/feedback", {"record_id": memory_id, "verdict": "never"})
        number += 1
        while said.encode() in recalled(two, f"s{number}"):
            assert time.monotonic() < deadline, two.log()
            number += 1
            time.sleep(0.2)
        health = two.client.get("/healthz")
        assert health["store"] == {"kind": "postgresql", "problem": "", "since": None}
        looked = recollect(two.home, "doctor", "--json")
        found = {line["what"]: line["told"] for line in json.loads(looked.stdout)}
        assert "intact" in found["database"] and "pg_dump" in found["backups"]
        kinds = [event["kind"] for event in one.events()]
        assert kinds.count("prompt") == number + 2  # what was asked of the other is seen here
    finally:
        for daemon in daemons:
            if daemon.process is not None:
                daemon.stop()


def recollect(home: pathlib.Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    daemon = RealDaemon(home)
    return subprocess.run(
        [sys.executable, "-m", "recollect", *arguments],
        env=daemon.environment, capture_output=True, text=True, timeout=PATIENCE_S, cwd="/",
    )  # fmt: skip


def test_a_store_is_copied_to_the_server_by_a_command_and_back(
    postgres_server: Server, database: str, tmp_path: pathlib.Path
) -> None:
    home, back = tmp_path / "home", tmp_path / "back"
    store = SqliteStore(Settings(home=str(home), actor="ada", reserve_mb=0))
    store.events.put([arrival("one"), arrival("two")])
    store.records.put([record("three")])
    store.close()
    url = postgres_server.url(database, "ada")
    there = recollect(home, "store", "copy", "--to", url)
    assert there.returncode == 0, there.stderr
    assert "Every row is the same on both sides" in there.stdout
    (home / "settings.toml").write_text(f'store = "{url}"\n')
    again = recollect(home, "store", "copy", "--to", str(back), "--json")
    assert again.returncode == 0, again.stderr
    assert '"events"' in again.stdout
    copied = SqliteStore(Settings(home=str(back), actor="ada", reserve_mb=0))
    assert copied.upkeep.stats().events == 2 and copied.upkeep.stats().records == 1
    copied.close()


def test_backups_of_the_file_are_not_mistaken_for_the_servers(
    postgres_server: Server, database: str, tmp_path: pathlib.Path
) -> None:
    home = tmp_path / "home"
    store = SqliteStore(Settings(home=str(home), actor="ada", reserve_mb=0))
    store.records.put([record("in the file")])
    (home / "backups").mkdir()
    store.upkeep.backup(str(home / "backups" / "recollect-20260101T000000Z.db"))
    store.close()
    before = (home / DATABASE).read_bytes()
    url = postgres_server.url(database, "ada")
    (home / "settings.toml").write_text(f'store = "{url}"\nembedding = false\n')
    try:
        listed = recollect(home, "backup", "list")
        assert "SQLite file, which is not in use" in listed.stdout and "pg_dump" in listed.stdout
        assert recollect(home, "add", "-p", "global", "a quokka").returncode == 0
        gone = recollect(home, "forget", "--text", "quokka", "-y")
        assert gone.returncode == 0 and "neither the server's" in gone.stdout, gone.stderr
        none = recollect(home, "forget", "--text", "wombat", "-y")
        assert none.returncode == 1
        assert "--backups" not in gone.stdout + gone.stderr + none.stdout + none.stderr
        refused = recollect(home, "backup", "restore", "-y")
        assert refused.returncode == 1 and "PostgreSQL" in refused.stderr
        assert "settings unset store" in refused.stderr and "Restored" not in refused.stdout
        assert recollect(home, "status").returncode == 0, "it was not stopped"
    finally:
        recollect(home, "down")
    assert (home / DATABASE).read_bytes() == before


def killed_while_copying(home: pathlib.Path, target: str, begun: Callable[[], bool]) -> None:
    """A copy whose process is killed as soon as rows of memories have arrived."""
    process = subprocess.Popen(
        [sys.executable, "-m", "recollect", "store", "copy", "--to", target],
        env=RealDaemon(home).environment, cwd="/",
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    deadline = time.monotonic() + PATIENCE_S
    while not begun():
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.005)
    process.kill()
    assert process.wait() == -signal.SIGKILL, "it was done before it could be killed"


def test_a_copy_that_is_killed_is_begun_again_in_both_directions(
    postgres_server: Server, database: str, tmp_path: pathlib.Path
) -> None:
    home, back = tmp_path / "home", tmp_path / "back"
    store = SqliteStore(Settings(home=str(home), actor="ada", reserve_mb=0))
    store.events.put([arrival(f"event {number}") for number in range(1200)])
    store.records.put([record(f"memory {number}") for number in range(1100)])
    store.close()
    url = postgres_server.url(database, "ada")

    def on_the_server() -> bool:
        found = postgres_server.admin("SELECT count(*) FROM recollect.memory_records", database)
        return int(str(found[0][0])) > 0

    def in_the_file() -> bool:
        if not (back / DATABASE).exists():
            return False
        reader = apsw.Connection(str(back / DATABASE), apsw.SQLITE_OPEN_READONLY)
        reader.set_busy_timeout(1000)
        try:
            return bool(reader.execute("SELECT count(*) FROM memory_records").get)
        except apsw.SQLError:
            return False  # its tables are not made yet
        finally:
            reader.close()

    killed_while_copying(home, url, on_the_server)
    assert "Every row is the same" in recollect(home, "store", "copy", "--to", url).stdout
    (home / "settings.toml").write_text(f'store = "{url}"\n')
    killed_while_copying(home, str(back), in_the_file)
    assert "Every row is the same" in recollect(home, "store", "copy", "--to", str(back)).stdout
    copied = SqliteStore(Settings(home=str(back), actor="ada", reserve_mb=0))
    assert (copied.upkeep.stats().events, copied.upkeep.stats().records) == (1200, 1100)
    copied.close()


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("postgresql://ada:secret@host/db", "it takes no password"),
        ("mysql://host/db", "not an address such as postgresql://"),
        ("postgresql://ada@/db?host=/nowhere", "no PostgreSQL server listens on socket"),
        ("postgresql://ada@127.0.0.1:1/db", 'listens at "127.0.0.1", port 1'),
    ],
)
def test_a_wrong_target_is_told_without_its_password(
    tmp_path: pathlib.Path, target: str, told: str
) -> None:
    SqliteStore(Settings(home=str(tmp_path / "home"), actor="ada", reserve_mb=0)).close()
    done = recollect(tmp_path / "home", "store", "copy", "--to", target)
    wrong_call = told.startswith(("it takes", "not an address"))
    assert done.returncode == (2 if wrong_call else 1) and told in done.stderr, done.stderr
    assert "secret" not in done.stdout + done.stderr and "Traceback" not in done.stderr
    settings = tmp_path / "home" / "settings.toml"
    if "secret" in target:
        settings.write_text(f'store = "{target}"\n')
        refused = recollect(tmp_path / "home", "settings", "list")
        assert refused.returncode == 1 and "it takes no password" in refused.stderr
        assert "secret" not in refused.stdout + refused.stderr
