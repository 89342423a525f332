"""`recollect encrypt` and `decrypt`: what they refuse, plan, do and report; on real files."""

import os
import pathlib

import pytest

from recollect.cli import doctor
from recollect.core import store_key
from recollect.core.settings import Settings, load
from recollect.store.sqlite import DATABASE, SqliteStore
from tests.fakes.canaries import found_on_disk
from tests.make import NAMESPACE, record
from tests.unit.cli.conftest import Terminal

SEARCHES = '[{"name":"the heron","filters":"q=heron"}]'


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_key, "_known", {})
    monkeypatch.setattr(store_key, "_sources", [])


@pytest.fixture
def home(alone: Terminal) -> pathlib.Path:
    """The data directory of a store with a memory and a backup."""
    store = SqliteStore(Settings(home=str(alone.home), reserve_mb=0))
    store.records.put([record(title="the heron nests here")])
    (alone.home / "backups").mkdir()
    store.upkeep.backup(str(alone.home / "backups" / "recollect-20260101T000000Z.db"))
    store.close()
    (alone.home / "searches.json").write_text(SEARCHES)
    return alone.home


def test_a_dry_run_names_the_files_and_changes_nothing(alone: Terminal, home: pathlib.Path) -> None:
    before = {path: path.read_bytes() for path in home.rglob("*.db")}
    told = alone("encrypt", "--key", f"file:{home}.key", "--dry-run")
    assert told.returncode == 0
    assert "2 files would be encrypted" in told.stdout
    assert {path: path.read_bytes() for path in home.rglob("*.db")} == before
    assert not os.path.exists(f"{home}.key")


def test_store_and_backups_are_encrypted_reported_and_decrypted(
    alone: Terminal, home: pathlib.Path
) -> None:
    key = f"file:{home}.key"
    damaged = home / "backups" / "before-restore-20260101T000000Z.db"
    damaged.write_bytes(b"SQLite format 3\0 of a heron")
    told = alone("encrypt", "--key", key, "--yes")
    assert "Encrypted: 2 files" in told.stdout
    assert str(damaged) in told.stdout  # what could not be encrypted is named
    (found,) = doctor._encryption(load())
    assert found.verdict == "warn" and str(damaged) in found.told
    damaged.unlink()
    assert found_on_disk(home, ["heron"]) == []
    (found,) = doctor._encryption(load())
    assert found.verdict == "ok"
    os.chmod(f"{home}.key", 0o644)
    (found,) = doctor._encryption(load())
    assert found.verdict == "warn" and found.hint == f"chmod 600 {home}.key"
    again = alone("encrypt", "--yes")
    assert again.returncode == 0 and "Encrypted: 0 files" in again.stdout
    other = alone("encrypt", "--key", "passphrase", "--yes")
    assert other.returncode == 1 and "encrypted already" in other.stderr
    told = alone("decrypt", "--yes")
    assert "Decrypted: 2 files" in told.stdout
    assert load().encryption_key == ""
    assert not (home / store_key.PUBLIC_KEY).exists()
    assert "is not encrypted" in alone("decrypt").stdout
    assert (home / "searches.json").read_text() == SEARCHES


def test_a_setting_without_an_encrypted_store_is_reported(
    alone: Terminal, home: pathlib.Path
) -> None:
    alone("settings", "set", "encryption_key", f"file:{home}.key")
    (found,) = doctor._encryption(load())
    assert found.verdict == "warn" and found.hint == "recollect encrypt"


@pytest.mark.parametrize(
    ("key", "why"),
    [
        ("hunter2", "neither keychain nor passphrase nor file:PATH"),
        ("file:relative", "must begin with /"),
        ("passphrase", "only be chosen in a terminal"),
    ],
)
def test_a_key_that_cannot_be_is_refused_before_anything_is_done(
    alone: Terminal, home: pathlib.Path, key: str, why: str
) -> None:
    told = alone("encrypt", "--key", key, "--yes")
    assert told.returncode == 2 and why in told.stderr
    assert load().encryption_key == ""


def test_a_key_file_in_the_data_directory_or_that_is_none_is_refused(
    alone: Terminal, home: pathlib.Path
) -> None:
    told = alone("encrypt", "--key", f"file:{home}/key", "--yes")
    assert told.returncode == 2 and "data directory" in told.stderr
    pathlib.Path(f"{home}.key").write_text("my diary\n")
    told = alone("encrypt", "--key", f"file:{home}.key", "--yes")
    assert told.returncode == 1 and "64 hexadecimal digits" in told.stderr
    assert pathlib.Path(f"{home}.key").read_text() == "my diary\n"
    assert store_key.header_of(str(home / DATABASE)) is None
    assert load().encryption_key == ""


def test_a_store_on_a_server_is_left_to_the_server(alone: Terminal) -> None:
    alone.patch.setenv("RECOLLECT_STORE", "postgresql://ada@db.example/recollect")
    for command in ("encrypt", "decrypt"):
        told = alone(command, "--yes")
        assert told.returncode == 1 and "PostgreSQL" in told.stderr


def test_a_copy_of_an_encrypted_store_is_encrypted_too(alone: Terminal, home: pathlib.Path) -> None:
    alone("encrypt", "--key", f"file:{home}.key", "--yes")
    told = alone("store", "copy", "--to", f"{home}-copy")
    assert told.returncode == 0, told.stderr
    assert found_on_disk(pathlib.Path(f"{home}-copy"), ["heron"]) == []
    copied = SqliteStore(
        Settings(home=f"{home}-copy", reserve_mb=0, encryption_key=f"file:{home}.key")
    )
    assert len(copied.records.search([NAMESPACE], "heron", 5)) == 1
    copied.close()
