"""A real daemon in a home of its own, for tests that speak to it as agents do."""

import contextlib
import http.client
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

from recollect.capture import launcher, paths
from recollect.client import Client
from recollect.core.settings import Settings
from tests.fakes.hooks import start_nothing
from tests.fakes.waiting import PATIENCE_S, wait_until

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


class RealDaemon:
    """One data directory and, most of the time, one process."""

    def __init__(self, home: pathlib.Path, **settings: str) -> None:
        self.home = home
        self.settings = Settings(home=str(home), actor="ada")
        self.process: subprocess.Popen[bytes] | None = None
        self.descriptors: int | None = None  # its limit, hard and soft, where it shall have one
        port = random.randrange(20_000, 60_000)
        self.environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith("RECOLLECT_")},
            "RECOLLECT_HOME": str(home),
            "RECOLLECT_ACTOR": "ada",
            "RECOLLECT_PORT": str(port),
            "RECOLLECT_RESERVE_MB": "0",
            "PYTHONPATH": str(REPOSITORY),
            **{f"RECOLLECT_{key.upper()}": value for key, value in settings.items()},
        }
        if "RECOLLECT_MODEL_DIR" in os.environ:
            self.environment["RECOLLECT_MODEL_DIR"] = os.environ["RECOLLECT_MODEL_DIR"]

    @property
    def client(self) -> Client:
        return Client(self.settings)

    @property
    def port(self) -> int:
        return int(json.loads((self.home / "daemon.json").read_text())["port"])

    @property
    def token(self) -> str:
        return (self.home / "token").read_text().strip()

    @property
    def hook(self) -> str:
        return str(self.home / "bin" / "recollect-hook")

    def start(self) -> "RealDaemon":
        """Start it; hooks that find it down later do not, unless `hooks.may_start` lets them."""
        self.home.mkdir(mode=0o700, exist_ok=True)
        start_nothing(self.home)
        command = [sys.executable, "-m", "recollect.daemon"]
        if self.descriptors is not None:
            command = ["/bin/sh", "-c", f'ulimit -n {self.descriptors}; exec "$@"', "sh", *command]
        self.process = subprocess.Popen(
            command,
            cwd="/",
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        deadline = time.monotonic() + PATIENCE_S
        while not self.client.alive():
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.process.kill()
                _, told = self.process.communicate()
                self.process = None
                raise RuntimeError(f"the daemon did not start: {told.decode()}\n{self.log()}")
            time.sleep(0.02)
        return self

    def wait_for_hooks(self) -> None:
        """Only the hook socket, which is there earlier than the rest."""
        wait_until(lambda: os.path.exists(paths.socket_path(str(self.home))), self.log)

    def stop(self, number: int = signal.SIGTERM) -> int:
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            code = self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()  # nothing is left behind, and the test fails
            raise
        if self.process.stderr:
            self.process.stderr.close()
        self.process = None
        return code

    def kill(self) -> None:
        self.stop(signal.SIGKILL)

    def log(self) -> str:
        path = self.home / "logs" / "recollect.log"
        return path.read_text() if path.exists() else ""

    def install_hook(self) -> None:
        """What the daemon does at its start, for tests in which it never starts."""
        self.home.mkdir(mode=0o700, exist_ok=True)
        start_nothing(self.home)
        launcher.write(str(self.home))
        launcher.install_hook(str(self.home))

    def run_hook(
        self, host: str, event: str, payload: bytes | dict[str, Any], **extra: Any
    ) -> "subprocess.CompletedProcess[bytes]":
        raw = json.dumps(payload).encode() if isinstance(payload, dict) else payload
        environment = {**self.environment, **extra.pop("env", {})}
        return subprocess.run(
            [self.hook, host, event, *extra.pop("args", ())],
            input=raw,
            env=environment,
            capture_output=True,
            timeout=PATIENCE_S,
            **extra,
        )

    def http(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
        *,
        token: bool = True,
    ) -> tuple[int, dict[str, str], bytes]:
        """One request over TCP, with the token unless told otherwise."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        sent = {"Authorization": f"Bearer {self.token}"} if token else {}
        if body is not None:
            sent["Content-Type"] = "application/json"
        sent |= headers or {}
        try:
            connection.request(method, path, body, sent)
            response = connection.getresponse()
            return (
                response.status,
                {k.lower(): v for k, v in response.getheaders()},
                response.read(),
            )
        finally:
            connection.close()

    def events(self, directory: str | None = None, expected: int = 0) -> list[dict[str, Any]]:
        """All events of a directory's project, oldest first. On a busy machine a hook may have
        given up waiting and spooled its event: so many are waited for."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            found = self._events(directory)
            if len(found) >= expected or time.monotonic() > deadline:
                return found
            time.sleep(0.1)

    def _events(self, directory: str | None) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        before = ""
        where = f"&project_path={directory}" if directory else ""
        while True:
            page = self.client.get(f"/v1/events?limit=200{where}{before}")
            found += [row["event"] for row in page["items"]]
            if page["next"] is None:
                return found[::-1]
            before = f"&before={page['next']}"


@contextlib.contextmanager
def real_daemon(home: pathlib.Path, **settings: str) -> Iterator[RealDaemon]:
    daemon = RealDaemon(home, **settings).start()
    try:
        yield daemon
    finally:
        if daemon.process is not None:
            daemon.stop()
