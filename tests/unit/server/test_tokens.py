"""A browser's code is good once and for a minute; its pass ends with the token and with time."""

import pathlib

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
