"""What the hook notes about private sessions, and how it knows that one ends."""

import pathlib
from typing import Any

import pytest

from recollect.capture import hook_keepout
from recollect.core import private_sessions
from recollect.hosts import hooks
from recollect.hosts.adapter import UnknownHost
from recollect.hosts.hooks import ADAPTERS
from recollect.hosts.payloads import Payload


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
    hook_keepout.keep_private(str(tmp_path), "claude-code", "SessionStart", start, "/", 1_000_000)
    hook_keepout.keep_private(str(tmp_path), "claude-code", event, stdin, "/", 5_000_000)
    ledger = private_sessions.PrivateSessions(str(tmp_path))
    assert ledger.running() == (
        [] if ends else [private_sessions.PrivateSession("claude-code", "environment")]
    )
    assert all(ledger.covers("of-ada", at) for at in (1_000_000, 3_000_000, 5_010_000))
    assert ledger.covers("of-ada", 9_000_000) is not ends


def test_the_hook_knows_how_every_host_calls_the_end_of_a_session() -> None:
    hosts: list[Any] = [*ADAPTERS.values(), UnknownHost("x")]
    for host in hosts:
        for event in host.routes:
            captured = hooks.capture(Payload(host.name, event, cwd="/", stdin=b'{"a": 1}'))
            known = hook_keepout.is_session_end(event, b"")
            assert known is (captured.signal == "session-end"), (host.name, event)
