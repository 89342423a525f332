"""Where the key of an encrypted store comes from, and what is said when it is missing or wrong."""

import os
import pathlib
from collections.abc import Iterator

import pytest

from recollect.core import store_key
from recollect.core.errors import BadInput, StoreLocked, WrongKey


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A process that holds none."""
    for name in ("_known", "_sources", "_fresh"):
        monkeypatch.setattr(store_key, name, type(getattr(store_key, name))())
    yield


def forget_all() -> None:
    store_key._known.clear()


def test_a_key_file_is_made_and_read_again(tmp_path: pathlib.Path) -> None:
    source = f"file:{tmp_path / 'key'}"
    made = store_key.make(source)
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600
    forget_all()
    store_key.use(source)
    assert store_key.find(made.header, "the store") == made


def test_another_key_file_is_said_to_be_another(tmp_path: pathlib.Path) -> None:
    made = store_key.make(f"file:{tmp_path / 'one'}")
    store_key.make(f"file:{tmp_path / 'two'}")
    forget_all()
    store_key.use(f"file:{tmp_path / 'two'}")
    with pytest.raises(WrongKey, match="does not open the store"):
        store_key.find(made.header, "the store")


def test_a_key_file_that_is_gone_or_is_none_is_named(tmp_path: pathlib.Path) -> None:
    source = f"file:{tmp_path / 'key'}"
    made = store_key.make(source)
    forget_all()
    store_key.use(source)
    os.unlink(tmp_path / "key")
    with pytest.raises(StoreLocked) as locked:
        store_key.find(made.header, "the store")
    assert str(tmp_path / "key") in locked.value.hint
    (tmp_path / "key").write_text("my passphrase\n")
    with pytest.raises(WrongKey, match="64 hexadecimal digits"):
        store_key.find(made.header, "the store")


def test_a_passphrase_gives_the_same_key_again_and_a_wrong_one_is_said_to_be_wrong() -> None:
    made = store_key.make("passphrase", "correct horse")
    forget_all()
    assert store_key.from_passphrase(made.header, "correct horse") == made
    with pytest.raises(WrongKey, match="not the passphrase"):
        store_key.from_passphrase(made.header, "correct horsf")


def test_without_its_passphrase_a_store_says_how_it_is_unlocked() -> None:
    made = store_key.make("passphrase", "correct horse")
    forget_all()
    store_key.use("passphrase")
    with pytest.raises(StoreLocked) as locked:
        store_key.find(made.header, "the store")
    assert "recollect up" in locked.value.hint


def test_keys_go_from_one_process_to_another_and_are_shown_by_none() -> None:
    made = store_key.make("passphrase", "correct horse")
    told = store_key.handed_over()
    forget_all()
    store_key.take_over(told + b"\nnot a key\nknown aa bb\n")
    assert store_key._known == {made.header: made}
    assert made.secret.hex() not in repr(made)


def test_each_use_of_a_key_has_its_own() -> None:
    made = store_key.make("passphrase", "correct horse")
    assert len({made.secret, made.database, made.sealing}) == 3


class Keychain:
    """What keyring offers, kept in a dictionary: no test may write to a real one."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}

    def set_password(self, service: str, name: str, value: str) -> None:
        self.kept[service, name] = value

    def get_password(self, service: str, name: str) -> str | None:
        return self.kept.get((service, name))


def test_the_keychain_keeps_the_keys_of_several_stores(monkeypatch: pytest.MonkeyPatch) -> None:
    keychain = Keychain()
    monkeypatch.setitem(__import__("sys").modules, "keyring", keychain)
    one, two = store_key.make("keychain"), store_key.make("keychain")
    forget_all()
    store_key.use("keychain")
    assert store_key.find(one.header, "one") == one
    assert store_key.find(two.header, "two") == two
    keychain.kept.clear()
    forget_all()
    with pytest.raises(StoreLocked) as locked:
        store_key.find(one.header, "one")
    assert store_key.entry(one.header) in locked.value.hint


def test_a_keychain_that_does_not_work_is_noticed_before_anything_is_encrypted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Forgetful(Keychain):
        def get_password(self, service: str, name: str) -> str | None:
            return None

    monkeypatch.setitem(__import__("sys").modules, "keyring", Forgetful())
    with pytest.raises(StoreLocked, match="does not give back"):
        store_key.make("keychain")


def test_a_key_beside_what_it_opens_is_refused(tmp_path: pathlib.Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "home")
    for place in ("home/key", "link/key"):
        with pytest.raises(BadInput, match="data directory"):
            store_key.refuse_inside(f"file:{tmp_path / place}", str(tmp_path / "home"))
    store_key.refuse_inside(f"file:{tmp_path / 'key'}", str(tmp_path / "home"))


@pytest.mark.parametrize("source", ["hunter2", "file:key", "Keychain", "file:"])
def test_a_source_that_is_none_is_refused(source: str) -> None:
    assert store_key.wrong_source(source)
