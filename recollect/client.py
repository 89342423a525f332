"""How programs speak to the daemon: HTTP over its unix socket, where the kernel vouches for us.

In: a method, a path, a body. Out: decoded JSON. A daemon that is not there raises NotRunning; an
answer that is an error raises Refused with the daemon's words and hint. The command line, the MCP
proxy and `recollect.Memory` all come through here.
"""

import http.client
import json
import os
from collections.abc import Iterator
from typing import Any

from recollect.capture import paths
from recollect.core import oslayer
from recollect.core.errors import RecollectError
from recollect.core.settings import Settings

TIMEOUT_S = 30.0


class NotRunning(RecollectError):
    """The daemon is not running."""

    hint = "recollect up"


class NoAnswer(NotRunning):
    """The daemon runs and does not answer in time."""

    hint = "recollect status; recollect logs"


class Refused(RecollectError):
    """The daemon refused."""

    def __init__(
        self, message: str = "", *, hint: str = "", code: str = "", field: str = "", status: int = 0
    ) -> None:
        super().__init__(message, hint=hint)
        self.code = code
        self.field = field
        self.status = status


class Client:
    def __init__(self, settings: Settings, timeout: float = TIMEOUT_S) -> None:
        self._path = paths.socket_path(settings.directory, "recollect.sock")
        self._timeout = timeout

    def get(self, path: str, **query: Any) -> Any:
        return self.ask("GET", self.path(path, query))

    @staticmethod
    def path(path: str, query: dict[str, Any]) -> str:
        """A path with its query; what is None is left out."""
        given = {
            name: str(value).lower() if isinstance(value, bool) else value
            for name, value in query.items()
            if value is not None
        }
        if not given:
            return path
        from urllib.parse import urlencode

        return f"{path}?{urlencode(given)}"

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        headers = {"Host": "localhost"}
        payload = None
        if body is not None:
            payload = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        status, raw = self.send(method, path, payload, headers)
        answer = json.loads(raw) if raw else None
        if status >= 400:
            raise refused(answer, status)
        return answer

    def send(
        self, method: str, path: str, payload: bytes | None, headers: dict[str, str]
    ) -> tuple[int, bytes]:
        """One request as it is; the status and the body of its answer."""
        connection = _LocalConnection(self._path, self._timeout)
        try:
            connection.request(method, path, payload, headers)
            response = connection.getresponse()
            return response.status, response.read()
        except (FileNotFoundError, ConnectionRefusedError):
            raise NotRunning() from None
        except TimeoutError as error:
            raise NoAnswer() from error
        except (OSError, http.client.HTTPException) as error:
            raise NotRunning(f"The daemon does not answer: {error}") from error
        finally:
            connection.close()

    def stream(self, path: str) -> Iterator[bytes]:
        """A long answer, piece by piece."""
        connection = _LocalConnection(self._path, self._timeout)
        try:
            connection.request("GET", path, headers={"Host": "localhost"})
            response = connection.getresponse()
            if response.status >= 400:
                raise refused(json.loads(response.read() or b"{}"), response.status)
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


def refused(answer: Any, status: int) -> Refused:
    """The error that an answer holds."""
    told = (answer or {}).get("error", {})
    return Refused(
        told.get("message", ""),
        hint=told.get("hint", ""),
        code=told.get("code", ""),
        field=told.get("field", ""),
        status=status,
    )


class _LocalConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path
        self._patience = timeout

    def connect(self) -> None:
        self.sock = oslayer.connect_local(self._path, self._patience)
