"""An encrypted store: nothing of it can be read without its key. Damage is not taken for a wrong
key, nor a wrong key for damage."""

import dataclasses
import os
import pathlib
from collections.abc import Iterator

import apsw
import pytest

from recollect.core import errors, store_key
from recollect.core.settings import Settings
from recollect.store.interface import BackupInfo
from recollect.store.sqlite import DATABASE, SqliteStore, upkeep
from tests.fakes.canaries import found_on_disk
from tests.make import NAMESPACE, arrival, record

CANARY = "the heron nests in the bell tower"
PAGE = 4096


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_key, "_known", {})
    monkeypatch.setattr(store_key, "_sources", [])


@pytest.fixture
def chosen(settings: Settings, tmp_path: pathlib.Path) -> Settings:
    return dataclasses.replace(settings, encryption_key=f"file:{tmp_path / 'key'}")


@pytest.fixture
def closed(chosen: Settings) -> Iterator[str]:
    """The file of a store that was closed."""
    filled(chosen).close()
    store_key._known.clear()
    store_key._sources.clear()
    yield chosen.path(DATABASE)


def filled(chosen: Settings) -> SqliteStore:
    store = SqliteStore(chosen)
    store.records.put([record(title=CANARY, summary=f"{CANARY}, said a guest")])
    return store


def readable(home: str) -> list[tuple[str, str]]:
    return found_on_disk(pathlib.Path(home), [CANARY, "heron"])


def test_nothing_is_readable_in_the_database_its_log_its_backups_or_after_a_crash(
    chosen: Settings,
) -> None:
    store = filled(chosen)
    assert os.path.getsize(chosen.path(f"{DATABASE}-wal")) > 0
    os.makedirs(chosen.path("backups"))
    info = store.upkeep.backup(chosen.path("backups", "recollect-20260101T000000Z.db"))
    assert info.records == 1
    assert readable(chosen.directory) == []  # the log is there, as a crash would leave it
    store.close()
    assert readable(chosen.directory) == []
    assert upkeep.verify_file(info.path).records == 1


def test_the_same_store_without_a_key_is_readable(settings: Settings) -> None:
    filled(settings).close()
    assert readable(settings.directory)


def test_it_opens_again_and_searches(chosen: Settings, closed: str) -> None:
    store = SqliteStore(chosen)
    assert len(store.records.search([NAMESPACE], "heron", 5)) == 1
    assert store.upkeep.check() == []
    store.close()


def test_a_wrong_key_is_said_to_be_wrong_and_changes_nothing(
    chosen: Settings, closed: str, tmp_path: pathlib.Path
) -> None:
    before = pathlib.Path(closed).read_bytes()
    (tmp_path / "key").write_text("ab" * 32)
    with pytest.raises(errors.WrongKey, match="does not open"):
        SqliteStore(chosen)
    assert pathlib.Path(closed).read_bytes() == before


def test_no_key_at_all_says_which_setting_names_it(settings: Settings, closed: str) -> None:
    with pytest.raises(errors.StoreLocked) as locked:
        SqliteStore(settings)
    assert "encryption_key" in locked.value.hint


def test_an_apsw_without_the_cipher_says_which_command_repairs_it(
    settings: Settings, chosen: Settings, closed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(apsw, "mc_version")
    with pytest.raises(errors.StoreLocked, match="no cipher") as locked:
        SqliteStore(chosen)
    assert "--force-reinstall apsw-sqlite3mc" in locked.value.hint


def test_a_changed_byte_in_a_page_is_damage_not_a_wrong_key(chosen: Settings, closed: str) -> None:
    store_key.use(chosen.encryption_key)
    path = pathlib.Path(closed)
    good = path.read_bytes()
    for page in range(0, len(good) // PAGE, 7):
        for at in (100, PAGE - 5):  # the content of a page, and its mark
            changed = bytearray(good)
            changed[page * PAGE + at] ^= 1
            path.write_bytes(bytes(changed))
            with pytest.raises(errors.DamagedDatabase):
                upkeep.verify_file(closed)
    path.write_bytes(good)
    assert upkeep.verify_file(closed).records == 1


def test_a_database_that_was_cut_off_is_refused(chosen: Settings, closed: str) -> None:
    os.truncate(closed, os.path.getsize(closed) - 3 * PAGE)
    with pytest.raises((errors.DamagedDatabase, errors.LessThanStored)):
        SqliteStore(chosen)


def test_an_emptied_database_is_not_taken_for_a_new_one(chosen: Settings, closed: str) -> None:
    os.truncate(closed, 0)
    with pytest.raises(errors.LessThanStored):
        SqliteStore(chosen)


def test_a_store_is_encrypted_and_decrypted_with_all_rows(
    settings: Settings, chosen: Settings
) -> None:
    store = filled(settings)
    store.events.put([arrival(f"e{number}") for number in range(20)])
    store.close()
    path = settings.path(DATABASE)
    before = rows(path)
    key = store_key.make(chosen.encryption_key)
    upkeep.recode(path, key)
    assert store_key.header_of(path) == key.header
    assert readable(settings.directory) == []
    SqliteStore(chosen).close()  # the ledger agrees
    upkeep.recode(path, None)
    assert rows(path) == before
    SqliteStore(settings).close()


def rows(path: str) -> dict[str, list[object]]:
    """Every row of every table of a database that is not encrypted, but the index's own."""
    db = apsw.Connection(path)
    tables = [
        name
        for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        if "_fts" not in name and not name.startswith("sqlite_stat")
    ]
    found = {name: sorted(db.execute(f"SELECT * FROM {name}"), key=repr) for name in tables}
    db.close()
    return found


def test_a_restored_store_is_encrypted_as_the_key_says_not_as_the_backup_was(
    settings: Settings, chosen: Settings, tmp_path: pathlib.Path
) -> None:
    store = filled(settings)
    plain = str(tmp_path / "plain.db")
    store.upkeep.backup(plain)
    store.close()
    path = settings.path(DATABASE)
    key = store_key.make(chosen.encryption_key)
    upkeep.recode(path, key)
    store = SqliteStore(chosen)
    encrypted = str(tmp_path / "encrypted.db")
    store.upkeep.backup(encrypted)
    store.close()
    upkeep.restore(plain, path, str(tmp_path / "aside-1.db"), key)
    assert store_key.header_of(path) == key.header
    SqliteStore(chosen).close()
    assert readable(settings.directory) == []
    upkeep.restore(encrypted, path, str(tmp_path / "aside-2.db"), None)
    assert store_key.header_of(path) is None
    SqliteStore(settings).close()


def test_a_copy_that_is_being_made_is_never_readable(
    settings: Settings, chosen: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(settings).close()
    path = settings.path(DATABASE)
    seen = []

    def looked(temporary: str) -> BackupInfo:
        seen.append(temporary)
        assert b"heron" not in pathlib.Path(temporary).read_bytes()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(upkeep, "verify_file", looked)
    with pytest.raises(errors.StoreError, match="No space left"):
        upkeep.recode(path, store_key.make(chosen.encryption_key))
    assert seen
    assert not os.path.exists(seen[0])
    assert store_key.header_of(path) is None
