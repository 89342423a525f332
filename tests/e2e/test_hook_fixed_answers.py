"""A host that takes silence for a refusal gets its fixed answer, whatever the daemon does."""

import json
import pathlib
import signal
import subprocess

import pytest

from recollect.capture import frames
from recollect.hosts.hooks import ADAPTERS, adapter
from tests.fakes import frame_server
from tests.fakes.frame_server import FrameServer
from tests.fakes.hooks import KINDS, Hook, install

CONTINUE = b'{"continue":true}'
NEEDY = (
    ("cursor", "beforeSubmitPrompt", CONTINUE),
    ("cline", "PreToolUse", b'{"cancel":false,"contextModification":"","errorMessage":""}'),
)
PAYLOAD = json.dumps({"conversation_id": "c", "prompt": "hello", "workspace_roots": ["/"]}).encode()


@pytest.fixture(params=KINDS)
def hook(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> Hook:
    return install(request.param, tmp_path / "home")


def test_the_fixed_answers_are_those_of_the_adapters() -> None:
    for host in ADAPTERS:
        for event in adapter(host).routes:
            fixed = frames.fixed_answer([host.encode(), event.encode()])
            assert fixed == adapter(host).answer(event, ""), (host, event)


@pytest.mark.parametrize(("host", "event", "answer"), NEEDY)
def test_it_is_given_when_no_daemon_runs(hook: Hook, host: str, event: str, answer: bytes) -> None:
    done = hook.call(host, event, stdin=PAYLOAD)
    assert (done.code, done.stdout, done.stderr) == (0, answer, b"")


@pytest.mark.parametrize(("host", "event", "answer"), NEEDY)
def test_it_is_given_when_the_daemon_does_not_answer_or_refuses(
    hook: Hook, host: str, event: str, answer: bytes
) -> None:
    for behave in (frame_server.hanging, frame_server.answering(b"", frames.REFUSED)):
        with FrameServer(hook.socket, behave):
            assert hook.call(host, event, stdin=PAYLOAD).stdout == answer
        pathlib.Path(hook.socket).unlink()


def test_it_is_given_when_the_input_never_ends_and_when_the_host_ends_the_hook(hook: Hook) -> None:
    for stop in (False, True):
        with hook.start("cursor", "beforeSubmitPrompt", stdin=subprocess.PIPE) as process:
            assert process.stdout is not None
            if stop:
                process.send_signal(signal.SIGTERM)
            told = process.stdout.read()
        assert told == CONTINUE or (stop and told == b"")  # it may be ended before it began


def test_it_is_given_in_a_private_session_and_in_calls_of_our_own(hook: Hook) -> None:
    for name in ("RECOLLECT_PRIVATE", "RECOLLECT_INTERNAL"):
        env = hook.environment(**{name: "1"})
        done = hook.call("cursor", "beforeSubmitPrompt", stdin=PAYLOAD, env=env)
        assert done.stdout == CONTINUE


def test_what_the_daemon_says_is_told_alone(hook: Hook) -> None:
    with FrameServer(hook.socket, frame_server.answering(b'{"continue":true,"x":1}')):
        done = hook.call("cursor", "beforeSubmitPrompt", stdin=PAYLOAD)
    assert done.stdout == b'{"continue":true,"x":1}'
    assert hook.call("cursor", "stop", stdin=PAYLOAD).stdout == b""
    assert hook.call("claude-code", "UserPromptSubmit", stdin=PAYLOAD).stdout == b""
