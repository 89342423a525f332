"""What is private or secret is nowhere on disk: every byte of the data directory is searched."""

import json
import os
import pathlib
import random
import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest

from recollect.capture import frames
from recollect.capture.hosts import HOSTS, Payload
from recollect.core.ids import new_ulid
from tests.contract.host_contract import payloads
from tests.fakes.daemons import RealDaemon, real_daemon

ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789"


class Canaries:
    """Text that must never be found again, each planted once."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.planted: list[str] = []

    def private(self) -> str:
        bird = "canary" + "".join(self._random.choices(ALPHABET, k=18))
        self.planted.append(bird)
        opened = self._random.choice(
            ["<private>", "<PRIVATE >", '<private why="x>y">', "<private\n>"]
        )
        closed = self._random.choice(["</private>", "</ Private>", ""])
        return f"{opened}{bird}{closed}"

    def secret(self) -> str:
        bird = "gh" + "p_" + "".join(self._random.choices(ALPHABET, k=36))
        self.planted.append(bird)
        return bird


def leaves(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where the strings of a tree are."""
    if isinstance(tree, str):
        yield path
    elif isinstance(tree, dict):
        for key, value in tree.items():
            yield from leaves(value, (*path, key))
    elif isinstance(tree, list):
        for index, value in enumerate(tree):
            yield from leaves(value, (*path, index))


def planted(tree: Any, path: tuple[Any, ...], text: str) -> Any:
    if not path:
        return text
    if isinstance(tree, dict):
        return {
            key: planted(value, path[1:], text) if key == path[0] else value
            for key, value in tree.items()
        }
    return [
        planted(value, path[1:], text) if index == path[0] else value
        for index, value in enumerate(tree)
    ]


def variants(payload: Payload, birds: Canaries) -> Iterator[Payload]:
    """The payload with a canary in one place after another: each field, each key's name, the
    directory, the arguments, the environment."""
    tree = json.loads(payload.stdin) if payload.stdin else {}
    for path in leaves(tree):
        for text in (birds.private(), f"x {birds.secret()} y"):
            changed = planted(tree, path, text)
            yield Payload(
                payload.host, payload.event, payload.args, payload.cwd, payload.env,
                json.dumps(changed).encode(),
            )  # fmt: skip
    for name in payload.env:
        env = {**payload.env, name: birds.private()}
        yield Payload(payload.host, payload.event, payload.args, payload.cwd, env, payload.stdin)
    yield Payload(
        payload.host, payload.event, (*payload.args, birds.private()),
        f"/tmp/{birds.private()}/x", payload.env, payload.stdin,
    )  # fmt: skip


def frame_of(payload: Payload) -> bytes:
    return frames.encode(
        frames.Frame(
            ulid=new_ulid(),
            boot_id="boot",
            mono_ns=time.monotonic_ns(),
            wall_ns=time.time_ns(),
            argv=tuple(text.encode() for text in (payload.host, payload.event, *payload.args)),
            cwd=payload.cwd.encode(),
            env=tuple(f"{name}={value}".encode() for name, value in payload.env.items()),
            stdin=payload.stdin,
        )
    )


def send(path: str, frame: bytes) -> tuple[int, bytes]:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(20)
        connection.connect(path)
        connection.sendall(frame)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        while part := connection.recv(65536):
            answer += part
    return frames.decode_answer(answer)


def found_on_disk(home: pathlib.Path, birds: list[str]) -> list[tuple[str, str]]:
    """Every canary that stands in some file, compressed forms aside: there are none."""
    hits = []
    for folder, _, names in os.walk(home):
        for name in names:
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                content = pathlib.Path(path).read_bytes()
                hits += [(path, bird) for bird in birds if bird.encode() in content]
    return hits


@pytest.mark.parametrize("host", sorted(HOSTS))
def test_no_canary_reaches_the_disk_while_the_daemon_is_up(
    shared_daemon: RealDaemon, host: str
) -> None:
    birds = Canaries(seed=len(host))
    path = str(shared_daemon.home / "hook.sock")
    sent = 0
    for payload in payloads(host).values():
        for variant in variants(payload, birds):
            status, _ = send(path, frame_of(variant))
            assert status in (frames.STORED, frames.REFUSED)
            sent += 1
    assert sent >= 20
    assert found_on_disk(shared_daemon.home, birds.planted) == []


def test_no_canary_reaches_the_spool_while_the_daemon_is_down(tmp_path: pathlib.Path) -> None:
    birds = Canaries(seed=7)
    daemon = RealDaemon(tmp_path / "home")
    daemon.install_hook()
    calls = 0
    for host in sorted(HOSTS):
        for payload in list(payloads(host).values())[:3]:
            if payload.event.lower().encode() in frames.SESSION_STARTS:
                continue  # it would start the daemon
            for variant in list(variants(payload, birds))[::11]:
                done = daemon.run_hook(
                    host, variant.event, variant.stdin, env=dict(variant.env), args=variant.args
                )
                assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"") or host in (
                    "cursor", "cline",
                )  # fmt: skip
                calls += 1
    assert len(os.listdir(daemon.home / "spool")) >= calls // 2
    assert found_on_disk(daemon.home, birds.planted) == []
    daemon.start()
    try:
        deadline = time.monotonic() + 60
        while daemon.client.get("/healthz")["spool"]["events"]:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert found_on_disk(daemon.home, birds.planted) == []
        assert daemon.client.get("/healthz")["spool"]["damaged"] == 0
    finally:
        daemon.stop()


def test_redaction_is_visible(tmp_path: pathlib.Path) -> None:
    with real_daemon(tmp_path / "home") as daemon:
        text = "deploy with <private>hunter2</private> and " + Canaries(1).secret()
        daemon.run_hook(
            "claude-code", "UserPromptSubmit", {"session_id": "s", "cwd": "/", "prompt": text}
        )
        stored = daemon.events("/", expected=1)[0]["body"]["content"]
        assert (
            "[REDACTED]" in stored and "[REDACTED:" in stored and stored.startswith("deploy with")
        )
        counts = daemon.client.get("/healthz")["counts"]
        assert counts["private spans removed"] == 1
        assert any(name.startswith("secrets removed") for name in counts)


def test_nothing_secret_comes_in_by_the_api_either(shared_daemon: RealDaemon) -> None:
    birds = Canaries(seed=99)
    base = {
        "session_id": "s",
        "kind": "note",
        "body": {"type": "json", "data": {"a": ["x", {"b": "y"}]}},
        "source": {"surface": "test", "client_id": "c", "project_path": "/tmp/x"},
        "content_hash": "h",
    }
    for path in leaves(base):
        if path in (("kind",), ("body", "type")):
            continue
        for text in (birds.private(), birds.secret()):
            shared_daemon.client.ask("POST", "/v1/events", planted(base, path, text))
    assert found_on_disk(shared_daemon.home, birds.planted) == []
