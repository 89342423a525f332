"""Private sessions: the word in a prompt, the list, the sentence about them."""

import os
import pathlib
import time

import pytest

from recollect.core import private_sessions


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
    assert private_sessions.privacy_word(prompt) == word


def test_a_private_session_is_remembered_as_such_and_nothing_else_of_it(
    tmp_path: pathlib.Path,
) -> None:
    ledger = private_sessions.PrivateSessions(str(tmp_path))
    ledger.begin("session-of-ada", "claude-code", 1000, private_sessions.WORD)
    assert (
        private_sessions.PrivateSessions(str(tmp_path)).open("session-of-ada")
        == private_sessions.WORD
    )
    assert ledger.running() == [
        private_sessions.PrivateSession("claude-code", private_sessions.WORD)
    ]
    ledger.end("session-of-ada", "claude-code", 5000)
    assert not ledger.open("session-of-ada") and ledger.running() == []
    covered = [ledger.covers("session-of-ada", at) for at in (999, 1000, 5000, 5001)]
    assert covered == [False, True, True, False] and not ledger.covers("another", 2000)
    held = [path.name + path.read_text() for path in (tmp_path / "private").iterdir()]
    assert len(held) == 1 and "session-of-ada" not in held[0]


def test_a_private_session_that_is_silent_is_no_longer_shown(tmp_path: pathlib.Path) -> None:
    ledger = private_sessions.PrivateSessions(str(tmp_path))
    ledger.begin("a", "claude-code", 1000, private_sessions.ENVIRONMENT)
    ledger.begin("b", "codex", 1000, private_sessions.WORD)
    assert {one.host for one in ledger.running()} == {"claude-code", "codex"}
    for path in (tmp_path / "private").iterdir():
        os.utime(path, (time.time() - 13 * 3600,) * 2)
    assert [one.host for one in ledger.running()] == ["codex"]
    assert ledger.covers("a", 2000) and ledger.open("a") == private_sessions.ENVIRONMENT


def test_private_sessions_are_told_in_one_sentence_with_the_way_out() -> None:
    word = private_sessions.PrivateSession("claude-code", private_sessions.WORD)
    environment = private_sessions.PrivateSession("claude-code", private_sessions.ENVIRONMENT)
    told, hint = private_sessions.describe([word])
    assert told == "A private session of claude-code is running: nothing of it is kept."
    assert "`recollect: public`" in hint
    told, hint = private_sessions.describe([environment, environment])
    assert told == "2 private sessions are running (claude-code): nothing of them is kept."
    assert "recollect: public" not in hint and "ends with the session" in hint
    hint = private_sessions.describe([word, environment])[1]
    assert "`recollect: public`" in hint and "RECOLLECT_PRIVATE" in hint
