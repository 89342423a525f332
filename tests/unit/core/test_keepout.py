"""Kept out on purpose: patterns, rules, a project's file, the word, the ledger."""

import os
import pathlib
import time
from typing import Any

import pytest

from recollect.core import keepout, settings
from recollect.core.errors import BadSetting
from recollect.hosts import hooks
from recollect.hosts.hooks import ADAPTERS
from recollect.hosts.payloads import Payload
from recollect.hosts.unknown import UnknownHost


@pytest.mark.parametrize(
    ("given", "base", "path", "fits"),
    [
        ("*.pem", "", "/work/a/b/key.pem", True),
        ("*.pem", "", "/work/a/key.pem.txt", False),
        (".env", "", "/work/.env", True),
        (".env", "", "/work/.envrc", False),
        (".env*", "", "/work/x/.env.local", True),
        ("secrets/", "", "/work/secrets/deep/a.txt", True),
        ("secrets", "", "/work/notsecrets/a.txt", False),
        ("conf/prod", "", "/work/x/conf/prod/a", True),
        ("conf/prod", "", "/work/conf/x/prod/a", False),
        ("conf/**/prod", "", "/work/conf/x/y/prod/a", True),
        ("/srv/data", "", "/srv/data/x", True),
        ("/srv/data", "", "/home/srv/data/x", False),
        ("/data", "/work/shop", "/work/shop/data/x.csv", True),
        ("/data", "/work/shop", "/work/shop/api/data/x.csv", False),
        ("data/*.csv", "/work/shop", "/work/shop/data/x.csv", True),
        ("data/*.csv", "/work/shop", "/work/shop/data/deep/x.csv", False),
        ("data/**", "/work/shop", "/work/shop/data/deep/x.csv", True),
        ("*.csv", "/work/shop", "/work/shop2/x.csv", False),
        ("[st]ecret?", "/w", "/w/a/secrets/b", True),
        ("**", "/w", "/w/a", True),
        ("[abc]x", "", "/w/bx", True),
    ],
)
def test_patterns_are_those_of_gitignore(given: str, base: str, path: str, fits: bool) -> None:
    assert keepout.file_pattern(given, base).matches(path) is fits


@pytest.mark.parametrize(
    "given", ["", "/", "!keep", "a" * 300, "../x", "a/" * 30, "a\0b", "*" * 20]
)
def test_what_is_no_pattern_is_refused(given: str) -> None:
    with pytest.raises(ValueError, match="pattern"):
        keepout.file_pattern(given)


def test_a_repository_cannot_hold_anybody_up_with_its_patterns() -> None:
    """Growth, not time: ten times the text may cost little more, because work is bounded."""

    def cost(size: int) -> float:
        files = [keepout.file_pattern("**/" + "*[a-y]" * 4 + "[z]", "/w") for _ in range(200)]
        text = " ".join("/".join("a" * 20 for _ in range(30)) + str(n) for n in range(size))
        began = time.process_time()
        assert keepout.matching_file_pattern(files, "/w", {"output": text})
        return time.process_time() - began

    small = max(cost(200), 0.01)
    assert cost(20_000) < 20 * small


@pytest.mark.parametrize(
    ("tree", "found"),
    [
        ({"command": "cat secrets/prod.env"}, True),
        ({"command": 'cat "secrets/prod.env"'}, True),
        ({"files": ["/work/shop/secrets/prod.env"]}, True),
        ({"input": {"file_path": "./x/../secrets/prod.env"}}, True),
        ({"output": "diff --git a/secrets/prod.env b/secrets/prod.env\n+KEY=1"}, True),
        ({"output": "secrets/prod.env:3:KEY=1"}, True),
        ({"output": ["deep", {"nested": "see /work/shop/secrets/prod.env."}]}, True),
        ({"command": "cat keys/bx.key"}, True),
        ({"command": "cat README.md", "output": "no secret here"}, False),
        ({"command": "cat other/secrets.txt"}, False),
    ],
)
def test_a_call_that_names_a_file_anywhere_touches_it(tree: object, found: bool) -> None:
    files = [keepout.file_pattern(one, "/work/shop") for one in ("secrets/", "[abc]x.*")]
    assert bool(keepout.matching_file_pattern(files, "/work/shop", tree)) is found


def test_a_link_to_a_file_is_that_file(tmp_path: pathlib.Path) -> None:
    root = pathlib.Path(os.path.realpath(tmp_path))
    (root / "secrets").mkdir()
    (root / "secrets" / "a").touch()
    (root / "link").symlink_to("secrets/a")
    files = [keepout.file_pattern("/secrets", str(root))]
    assert not keepout.matching_file_pattern(files, str(root), {"command": "cat other"})
    # The name says nothing of it; it must be looked at all the same when the pattern may be near.
    assert keepout._first(files, str(root), "link") == "/secrets"


@pytest.mark.parametrize(
    ("prompt", "word"),
    [
        ("recollect: private", "private"),
        ("Recollect:private\nnow about my salary", "private"),
        ("now about my salary\n\n  recollect: PRIVATE  \n", "private"),
        ("recollect: public", "public"),
        ("what does `recollect: private` do?", ""),
        ("first\nrecollect: private\nlast", ""),
        ("recollect: privately", ""),
        ("", ""),
    ],
)
def test_the_word_does_not_fire_by_accident(prompt: str, word: str) -> None:
    assert keepout.privacy_word(prompt) == word


def here(folder: pathlib.Path, *entries: str) -> keepout.DirectoryRules:
    return keepout.ProjectRulesReader().rules_for(str(folder), keepout.rules(entries))


def test_a_projects_file_holds_below_it(tmp_path: pathlib.Path) -> None:
    deep = tmp_path / "shop" / "api"
    deep.mkdir(parents=True)
    assert here(deep) == keepout.DirectoryRules()
    (tmp_path / "shop" / ".recollect.toml").write_text('capture = false\nignore = ["*.csv"]\n')
    found = here(deep)
    assert "capture = false" in found.off and [one.text for one in found.files] == ["*.csv"]
    assert not here(tmp_path).off
    (tmp_path / "shop" / ".recollect.toml").write_text('ignore = ["*.csv"]\n')
    assert not here(deep).off


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("capture = ", "not valid TOML"),
        ('capture = "no"', "neither true nor false"),
        ("ignore = 3", "not a list"),
        ('ignore = ["!x"]', "cannot take back"),
        ("x = 1\n" * 20_000, "larger than"),
        ("a=" + "[" * 30_000, "TOML"),
    ],
)
def test_a_broken_file_keeps_the_project_out_and_is_told(
    tmp_path: pathlib.Path, text: str, said: str
) -> None:
    (tmp_path / ".recollect.toml").write_text(text)
    found = here(tmp_path)
    assert found.off and said in found.warnings[0]


def test_what_is_no_file_neither_hangs_nor_is_read(tmp_path: pathlib.Path) -> None:
    os.mkfifo(tmp_path / ".recollect.toml")
    assert "not a file" in here(tmp_path).warnings[0]
    os.unlink(tmp_path / ".recollect.toml")
    (tmp_path / ".recollect.toml").symlink_to("/dev/zero")
    assert here(tmp_path).off
    os.unlink(tmp_path / ".recollect.toml")
    (tmp_path / ".recollect.toml").mkdir()
    assert here(tmp_path).off


def test_unknown_keys_are_said_and_the_rest_counts(tmp_path: pathlib.Path) -> None:
    (tmp_path / ".recollect.toml").write_text('capture = true\ncommand = "rm -rf /"\n')
    found = here(tmp_path)
    assert not found.off and "no key 'command'" in found.warnings[0]


def test_the_setting_is_checked_and_takes_lists_and_text(tmp_path: pathlib.Path) -> None:
    (tmp_path / "settings.toml").write_text('ignore = ["tool:Web*", "file:*.pem"]\n')
    environ = {"RECOLLECT_HOME": str(tmp_path)}
    assert settings.load(environ).ignore == ("tool:Web*", "file:*.pem")
    environ["RECOLLECT_IGNORE"] = "project:/srv/x, tool:Read"
    assert settings.load(environ).ignore == ("project:/srv/x", "tool:Read")
    for wrong in ("x", "project:relative", "file:!a", "tool:"):
        with pytest.raises(BadSetting, match="ignore"):
            settings.load({"RECOLLECT_HOME": str(tmp_path), "RECOLLECT_IGNORE": wrong})
    text = settings.written("# mine\nport = 7000\n", "ignore", ("tool:a", "file:b"))
    assert text == '# mine\nport = 7000\nignore = ["tool:a", "file:b"]\n'


def test_a_private_session_is_remembered_as_such_and_nothing_else_of_it(
    tmp_path: pathlib.Path,
) -> None:
    ledger = keepout.PrivateSessions(str(tmp_path))
    ledger.begin("session-of-ada", "claude-code", 1000, keepout.WORD)
    assert keepout.PrivateSessions(str(tmp_path)).open("session-of-ada") == keepout.WORD
    assert ledger.running() == [keepout.PrivateSession("claude-code", keepout.WORD)]
    ledger.end("session-of-ada", "claude-code", 5000)
    assert not ledger.open("session-of-ada") and ledger.running() == []
    covered = [ledger.covers("session-of-ada", at) for at in (999, 1000, 5000, 5001)]
    assert covered == [False, True, True, False] and not ledger.covers("another", 2000)
    held = [path.name + path.read_text() for path in (tmp_path / "private").iterdir()]
    assert len(held) == 1 and "session-of-ada" not in held[0]


@pytest.mark.parametrize(
    ("event", "stdin", "ends"),
    [
        ("SessionEnd", b'{"session_id": "of-ada"}', True),
        ("session-end", b'{"session_id": "of-ada"}', True),
        ("", b'{"session_id": "of-ada", "hook_event_name": "SessionEnd"}', True),
        ("Stop", b'{"session_id": "of-ada", "hook_event_name": "SessionEnd"}', False),
        ("", b'{"session_id": "of-ada"}', False),
    ],
)
def test_a_session_private_by_the_environment_ends_and_stays_kept_out(
    tmp_path: pathlib.Path, event: str, stdin: bytes, ends: bool
) -> None:
    start = b'{"session_id": "of-ada"}'
    keepout.keep_private(str(tmp_path), "claude-code", "SessionStart", start, "/", 1_000_000)
    keepout.keep_private(str(tmp_path), "claude-code", event, stdin, "/", 5_000_000)
    ledger = keepout.PrivateSessions(str(tmp_path))
    assert ledger.running() == (
        [] if ends else [keepout.PrivateSession("claude-code", "environment")]
    )
    assert all(ledger.covers("of-ada", at) for at in (1_000_000, 3_000_000, 5_010_000))
    assert ledger.covers("of-ada", 9_000_000) is not ends


def test_a_private_session_that_is_silent_is_no_longer_shown(tmp_path: pathlib.Path) -> None:
    ledger = keepout.PrivateSessions(str(tmp_path))
    ledger.begin("a", "claude-code", 1000, keepout.ENVIRONMENT)
    ledger.begin("b", "codex", 1000, keepout.WORD)
    assert {one.host for one in ledger.running()} == {"claude-code", "codex"}
    for path in (tmp_path / "private").iterdir():
        os.utime(path, (time.time() - 13 * 3600,) * 2)
    assert [one.host for one in ledger.running()] == ["codex"]
    assert ledger.covers("a", 2000) and ledger.open("a") == keepout.ENVIRONMENT


def test_private_sessions_are_told_in_one_sentence_with_the_way_out() -> None:
    word = keepout.PrivateSession("claude-code", keepout.WORD)
    environment = keepout.PrivateSession("claude-code", keepout.ENVIRONMENT)
    told, hint = keepout.private_sessions_text([word])
    assert told == "A private session of claude-code is running: nothing of it is kept."
    assert "`recollect: public`" in hint
    told, hint = keepout.private_sessions_text([environment, environment])
    assert told == "2 private sessions are running (claude-code): nothing of them is kept."
    assert "recollect: public" not in hint and "ends with the session" in hint
    hint = keepout.private_sessions_text([word, environment])[1]
    assert "`recollect: public`" in hint and "RECOLLECT_PRIVATE" in hint


def test_the_hook_knows_how_every_host_calls_the_end_of_a_session() -> None:
    hosts: list[Any] = [*ADAPTERS.values(), UnknownHost("x")]
    for host in hosts:
        for event in host.routes:
            captured = hooks.capture(Payload(host.name, event, cwd="/", stdin=b'{"a": 1}'))
            known = keepout.is_session_end(event, b"")
            assert known is (captured.signal == "session-end"), (host.name, event)
