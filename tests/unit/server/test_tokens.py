"""A browser's code is good once and for a minute; its pass ends with the token and with time."""

import os
import pathlib
import stat

import pytest

from recollect.server.tokens import CODE_S, CODES, PASS_S, Tokens


class Time:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def made(tmp_path: pathlib.Path) -> tuple[Tokens, Time]:
    time = Time()
    return Tokens(str(tmp_path / "token"), time), time


def test_a_code_opens_once(tmp_path: pathlib.Path) -> None:
    tokens, _ = made(tmp_path)
    code = tokens.new_code()
    given = tokens.redeem(code)
    assert given is not None and tokens.is_pass(given)
    assert tokens.redeem(code) is None
    assert tokens.redeem("") is None and tokens.redeem("\udcff") is None


def test_a_code_that_waited_too_long_opens_nothing(tmp_path: pathlib.Path) -> None:
    tokens, time = made(tmp_path)
    code = tokens.new_code()
    time.now += CODE_S + 1
    assert tokens.redeem(code) is None


def test_only_the_newest_codes_are_kept(tmp_path: pathlib.Path) -> None:
    tokens, time = made(tmp_path)
    codes = []
    for _ in range(CODES + 5):
        codes.append(tokens.new_code())
        time.now += 0.001
    assert [tokens.redeem(code) is not None for code in codes] == [False] * 5 + [True] * CODES


def test_a_pass_outlives_the_daemon_but_neither_its_time_nor_the_token(
    tmp_path: pathlib.Path,
) -> None:
    tokens, time = made(tmp_path)
    given = tokens.redeem(tokens.new_code())
    assert given is not None
    later = Tokens(str(tmp_path / "token"), time)
    assert later.is_pass(given)
    time.now += PASS_S + 1
    assert not later.is_pass(given)
    time.now -= PASS_S
    later.rotate()
    assert not later.is_pass(given)


def test_a_pass_cannot_be_written_by_hand(tmp_path: pathlib.Path) -> None:
    tokens, _ = made(tmp_path)
    given = tokens.redeem(tokens.new_code())
    assert given is not None
    until, rest = given.split(".", 1)
    for forged in (f"{int(until) + 1}.{rest}", "", ".", "..", "9999999999.x.y", given[:-1], "ü"):
        assert not tokens.is_pass(forged)


# --- the token's file ---------------------------------------------------------------------------

SIGN_IN = "Sign browsers in again: recollect open."
WRONG = {
    "empty": b"",
    "newline": b"\n",
    "short": b"0" * 63,
    "long": b"0" * 65 + b"\n",
    "two lines": b"0" * 64 + b"\n\n",
    "upper case": b"A" * 64,
    "no hex": b"g" * 64,
    "spaces around": b" " + b"0" * 64,
    "NUL": bytes(64),
    "no ASCII": b"\xff" * 64,
    "one with a digit of another script": ("\u0663" * 32).encode(),
}


@pytest.mark.parametrize("name", WRONG)
def test_only_the_exact_form_is_a_token(tmp_path: pathlib.Path, name: str) -> None:
    path = tmp_path / "token"
    told: list[str] = []
    tokens = Tokens(str(path), on_renewal=told.append)
    before = tokens.current()
    path.write_bytes(WRONG[name])
    for given in ("", " ", WRONG[name].decode("latin-1").strip(), before):
        assert tokens.scope(given) is None
    made = path.read_text()
    assert len(made) == 65 and tokens.scope(made.strip()) == "admin"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(told) == 1 and "a new token was made" in told[0] and tokens.renewed == told[0]
    how = "empty" if not WRONG[name].strip() else "damaged"
    assert told[0] == f"The token file was {how}, so a new token was made. " + SIGN_IN
    # and so at the start, before anybody asks
    path.write_bytes(WRONG[name])
    again = Tokens(str(path), on_renewal=told.append)
    assert len(path.read_text()) == 65 and told[1] == told[0] == again.renewed
    assert again.scope("") is None


def test_a_token_that_is_gone_is_made_anew(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "token"
    tokens = Tokens(str(path))
    given = tokens.redeem(tokens.new_code())
    path.unlink()
    assert given is not None and not tokens.is_pass(given)
    assert tokens.scope(path.read_text().strip()) == "admin"
    assert "was missing" in tokens.renewed


def test_a_token_behind_a_link_is_not_followed(tmp_path: pathlib.Path) -> None:
    path, elsewhere = tmp_path / "token", tmp_path / "elsewhere"
    elsewhere.write_text("0" * 64 + "\n")
    elsewhere.chmod(0o600)
    path.symlink_to(elsewhere)
    tokens = Tokens(str(path))
    assert tokens.scope("0" * 64) is None
    assert not path.is_symlink() and elsewhere.read_text() == "0" * 64 + "\n"


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o602])
def test_a_token_that_others_could_read_is_no_secret_any_more(
    tmp_path: pathlib.Path, mode: int
) -> None:
    path = tmp_path / "token"
    tokens = Tokens(str(path))
    before = tokens.current()
    path.chmod(mode)
    assert tokens.scope(before) is None
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert tokens.scope(path.read_text().strip()) == "admin"
    assert tokens.renewed.startswith("The token file could be read by others, so a new token was")


def test_a_file_system_without_modes_keeps_its_token(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "token"
    before = Tokens(str(path)).current()
    path.chmod(0o777)
    monkeypatch.setattr(os, "fchmod", lambda descriptor, mode: None)
    assert Tokens(str(path)).scope(before) == "admin"


def test_where_no_token_can_be_written_nobody_gets_in(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "token"
    tokens = Tokens(str(path))
    before = tokens.current()
    path.unlink()
    path.mkdir()
    for given in ("", before, "0" * 64):
        assert tokens.scope(given) is None
    assert "TCP requests are refused" in tokens.renewed
    path.rmdir()
    assert tokens.scope("") is None
    assert tokens.scope(path.read_text().strip()) == "admin"
