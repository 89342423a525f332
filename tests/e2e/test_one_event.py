"""The life of one event: from a host's payload through the real hook into the store."""

import pathlib
import socket

import pytest

from recollect.capture import launcher
from recollect.core import oslayer
from recollect.hosts import hooks
from recollect.hosts.hooks import ADAPTERS
from recollect.hosts.payloads import Payload
from tests.contract.host_contract import payloads
from tests.fakes.daemons import RealDaemon


@pytest.mark.parametrize("host", sorted(ADAPTERS))
def test_every_recorded_payload_goes_through_hook_socket_and_store(
    shared_daemon: RealDaemon, host: str, tmp_path: pathlib.Path
) -> None:
    """Each payload in a project of its own, so that what is stored is what it brought."""
    for number, (name, payload) in enumerate(payloads(host).items()):
        project = tmp_path / f"project{number}"
        project.mkdir()
        (project / "Makefile").touch()
        session = hooks.capture(payload).session_id
        changes = {"/PROJECT": str(project)}
        if session:  # and in a session of its own: a session starts only once
            changes[session] = f"{session}-{number}"
        stdin, env = payload.stdin, dict(payload.env)
        for old, new in changes.items():
            stdin = stdin.replace(old.encode(), new.encode())
            env = {key: value.replace(old, new) for key, value in env.items()}
        done = shared_daemon.run_hook(
            payload.host, payload.event, stdin, env=env, args=payload.args, cwd=project
        )
        assert (done.returncode, done.stderr) == (0, b""), name
        expected = hooks.capture(
            Payload(payload.host, payload.event, payload.args, str(project), env, stdin)
        )
        # Nothing, unless the payloads before it left something to recall.
        assert (
            done.stdout == hooks.adapter(expected.host).answer(expected.event, "")
            or b"[recollect " in done.stdout
        ), name
        if not expected.cwd.startswith(str(project)):
            continue  # a payload that names another directory than the project's
        stored = shared_daemon.events(str(project), expected=len(expected.drafts))
        assert [event["kind"] for event in stored] == [d.kind for d in expected.drafts], name
        for event in stored:
            assert event["source"]["surface"] == expected.host
            assert expected.session_id in (None, event["session_id"])


def test_one_event_from_a_prompt_to_the_store(daemon: RealDaemon, tmp_path: pathlib.Path) -> None:
    (tmp_path / "Makefile").touch()
    payload = {
        "session_id": "abc", "cwd": str(tmp_path), "hook_event_name": "UserPromptSubmit",
        "prompt": "Fix the retry storm in src/retry.py",
    }  # fmt: skip
    done = daemon.run_hook("claude-code", "UserPromptSubmit", payload)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    (event,) = daemon.events(str(tmp_path), expected=1)
    assert event["body"] == {"type": "text", "content": payload["prompt"]}
    assert (event["kind"], event["session_id"], event["actor_id"]) == ("prompt", "abc", "ada")
    assert event["source"]["surface"] == "claude-code"
    assert event["source"]["project_path"] == str(tmp_path)


def test_recollects_own_calls_are_never_captured(daemon: RealDaemon) -> None:
    payload = {"session_id": "s", "cwd": "/", "prompt": "summarise this"}
    daemon.run_hook("claude-code", "UserPromptSubmit", payload, env={"RECOLLECT_INTERNAL": "1"})
    assert daemon.events("/") == []


def test_text_that_was_injected_is_not_captured_again(daemon: RealDaemon) -> None:
    fenced = "[recollect 7f3a]\nNotes\n- old memory\n[/recollect 7f3a]\nnew question"
    daemon.run_hook(
        "claude-code", "UserPromptSubmit", {"session_id": "s", "cwd": "/", "prompt": fenced}
    )
    assert [event["body"]["content"] for event in daemon.events("/", expected=1)] == [
        "new question"
    ]


def test_a_host_that_fires_twice_is_heard_once(daemon: RealDaemon) -> None:
    payload = {
        "session_id": "s", "cwd": "/", "tool_name": "Bash", "tool_use_id": "toolu_1",
        "tool_input": {"command": "make"}, "tool_response": {"stdout": "done"},
    }  # fmt: skip
    for _ in range(3):
        daemon.run_hook("claude-code", "PostToolUse", payload)
    assert len(daemon.events("/", expected=1)) == 1


def test_one_event_by_loopback_as_on_windows(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hook, daemon and client with a port and a token in place of unix sockets."""
    monkeypatch.setattr(oslayer, "LOOPBACK", True)
    monkeypatch.setenv("RECOLLECT_LOOPBACK", "1")
    (tmp_path / "Makefile").touch()
    daemon = RealDaemon(tmp_path / "home", loopback="1").start()
    try:
        launcher.install_hook(str(daemon.home), compiled="")  # the Python one
        payload = {"session_id": "abc", "cwd": str(tmp_path), "prompt": "Fix the retry storm"}
        done = daemon.run_hook("claude-code", "UserPromptSubmit", payload)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        (event,) = daemon.events(str(tmp_path), expected=1)
        assert event["body"]["content"] == payload["prompt"]
        for name, request in (
            ("hook.sock", b"RCLQ" + bytes(8)),
            ("recollect.sock", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        ):
            _, port, token = (daemon.home / name).read_bytes().split()
            for given, answered in ((token, True), (b"0" * len(token), False)):
                with socket.create_connection(("127.0.0.1", int(port)), 10) as connection:
                    connection.sendall(given + request)
                    try:
                        assert bool(connection.recv(12)) == answered, name
                    except ConnectionResetError:
                        assert not answered
    finally:
        daemon.stop()
