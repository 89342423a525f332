"""What is private or secret is nowhere on disk: every byte of the data directory is searched."""

import json
import os
import pathlib
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from recollect.capture import frames
from recollect.core.ids import new_ulid
from recollect.hosts.hooks import ADAPTERS
from recollect.hosts.payloads import Payload
from tests.contract.host_contract import payloads
from tests.e2e.conditions import wait_for_spool
from tests.fakes.canaries import Canaries, found_on_disk, leaves, planted
from tests.fakes.daemons import RealDaemon, real_daemon
from tests.fakes.frame_server import decode_answer
from tests.fakes.hooks import KINDS, Hook, install
from tests.fakes.waiting import PATIENCE_S
from tests.torture import hook as attacks


def variants(payload: Payload, birds: Canaries) -> Iterator[Payload]:
    """The payload with a canary in one place after another: each field, each key's name, the
    directory, the arguments, the environment."""
    tree = json.loads(payload.stdin) if payload.stdin else {}
    for path in leaves(tree):
        for text in (birds.private(), f"x {birds.secret()} y"):
            changed = planted(tree, path, text)
            yield replace(payload, stdin=json.dumps(changed).encode())
    for canary in (birds.private, birds.secret):
        for name in payload.env:
            env = {**payload.env, name: canary()}
            yield replace(payload, env=env)
        yield replace(payload, args=(*payload.args, canary()), cwd=f"/tmp/{canary()}/x")
        yield replace(payload, host=canary())
        yield replace(payload, event=canary())


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
    return decode_answer(answer)


@pytest.mark.parametrize("host", sorted(ADAPTERS))
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
    for host in sorted(ADAPTERS):
        for payload in list(payloads(host).values())[:3]:
            if payload.event.lower().encode() in frames.SESSION_STARTS:
                continue  # it would start the daemon
            for variant in list(variants(payload, birds))[::17]:
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
        deadline = time.monotonic() + PATIENCE_S
        while daemon.client.get("/healthz")["spool"]["events"]:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert found_on_disk(daemon.home, birds.planted) == []
        assert daemon.client.get("/healthz")["spool"]["damaged"] == 0
    finally:
        daemon.stop()


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_of_a_frame_is_scrubbed_daemon_down_and_after(
    tmp_path: pathlib.Path, kind: str
) -> None:
    home = tmp_path / "home"
    birds = Canaries(seed=17)
    calls = attacks.plant_everywhere(install(kind, home), birds, tmp_path / "work")
    assert len(wait_for_spool(Hook(kind, home, ""), calls)) == calls
    assert found_on_disk(home, birds.planted) == []
    with real_daemon(home) as daemon:
        deadline = time.monotonic() + PATIENCE_S
        while daemon.client.get("/healthz")["spool"]["events"]:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert daemon.client.get("/healthz")["spool"]["damaged"] == 0
        told = json.dumps(daemon.client.get("/healthz"))
        assert [bird for bird in birds.planted if bird.lower() in told.lower()] == []
    assert found_on_disk(home, birds.planted) == []


def test_the_log_and_the_errors_hold_no_canary_whatever_is_quoted(tmp_path: pathlib.Path) -> None:
    birds = Canaries(seed=3)
    script = (
        "import logging, sys\n"
        "from recollect.daemon.logs import start_log\n"
        "from recollect.core import settings\n"
        "from recollect.core.clock import SystemClock\n"
        "from recollect.ingest.counters import Counters\n"
        "start_log(settings.load(), to_terminal=False)\n"
        "logging.error('refused %s', sys.argv[1])\n"
        "try:\n"
        "    int(sys.argv[2])\n"
        "except ValueError:\n"
        "    logging.exception('not a number')\n"
        "counters = Counters(SystemClock())\n"
        "counters.error(f'{sys.argv[3]} was refused')\n"
        "print(counters.errors_last_hour())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, birds.private(), birds.secret(), birds.secret()],
        env=RealDaemon(tmp_path / "home").environment,
        capture_output=True,
        check=True,
    )
    log = (tmp_path / "home" / "logs" / "recollect.log").read_text()
    assert "refused [REDACTED]" in log and "ValueError: invalid literal" in log
    assert [bird for bird in birds.planted if bird in log + done.stdout.decode()] == []
