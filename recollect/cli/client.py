"""How commands speak to the daemon: HTTP over its unix socket, where the kernel vouches for us.

In: a method, a path, a body. Out: decoded JSON. A daemon that is not there raises NotRunning; an
answer that is an error raises Refused with the daemon's words and hint.
"""

import http.client
import json
import os
import socket
from collections.abc import Iterator
from typing import Any

from recollect.capture import paths
from recollect.core.errors import RecollectError
from recollect.core.settings import Settings

TIMEOUT_S = 30.0


class NotRunning(RecollectError):
    """The daemon is not running."""

    hint = "recollect up"


class Refused(RecollectError):
    """The daemon refused."""


class Client:
    def __init__(self, settings: Settings, timeout: float = TIMEOUT_S) -> None:
        self._path = paths.socket_path(settings.directory, "recollect.sock")
        self._timeout = timeout

    def get(self, path: str) -> Any:
        return self.ask("GET", path)

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        connection = _UnixConnection(self._path, self._timeout)
        headers = {"Host": "localhost"}
        payload = None
        if body is not None:
            payload = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        try:
            connection.request(method, path, payload, headers)
            response = connection.getresponse()
            raw = response.read()
        except (FileNotFoundError, ConnectionRefusedError):
            raise NotRunning() from None
        except (OSError, http.client.HTTPException) as error:
            raise NotRunning(f"The daemon does not answer: {error}") from error
        finally:
            connection.close()
        answer = json.loads(raw) if raw else None
        if response.status >= 400:
            told = (answer or {}).get("error", {})
            raise Refused(told.get("message", ""), hint=told.get("hint", ""))
        return answer

    def stream(self, path: str) -> Iterator[bytes]:
        """A long answer, piece by piece."""
        connection = _UnixConnection(self._path, self._timeout)
        try:
            connection.request("GET", path, headers={"Host": "localhost"})
            response = connection.getresponse()
            if response.status >= 400:
                told = json.loads(response.read() or b"{}").get("error", {})
                raise Refused(told.get("message", ""), hint=told.get("hint", ""))
            while piece := response.read(1 << 16):
                yield piece
        except (FileNotFoundError, ConnectionRefusedError):
            raise NotRunning() from None
        except (OSError, http.client.HTTPException) as error:
            raise NotRunning(f"The daemon does not answer: {error}") from error
        finally:
            connection.close()

    def alive(self) -> bool:
        if not os.path.exists(self._path):
            return False
        try:
            self.get("/healthz")
        except RecollectError:
            return False
        return True


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)
