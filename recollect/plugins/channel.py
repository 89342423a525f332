"""Messages between the daemon and a plugin's process: JSON, of limited size.

In: plain data. Out: the same. JSON and not pickle: what a plugin sends is data, never code.
"""

import traceback
from multiprocessing.connection import Connection
from typing import Any

import msgspec

MESSAGE_BYTES = 8 << 20
OPTIONS_BYTES = 1 << 20
_FAILURE_CHARS = 2000


def send(line: Connection, message: Any) -> None:
    line.send_bytes(msgspec.json.encode(message))


def receive(line: Connection) -> Any:
    """EOFError when the other side is gone; OSError when a message is too large."""
    return msgspec.json.decode(line.recv_bytes(MESSAGE_BYTES))


def failure(error: BaseException) -> str:
    """The error and where it happened, for the log and for a person."""
    last = traceback.extract_tb(error.__traceback__)[-1:]
    where = f" ({last[0].filename}:{last[0].lineno})" if last else ""
    return f"{type(error).__name__}: {error}"[:_FAILURE_CHARS] + where
