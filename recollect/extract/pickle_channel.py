"""Python values over the socket pair between the daemon and its rules worker.

Both ends are this package and nobody else has the sockets, so pickle is safe. Many values are sent
one by one: a single dump of all of them would hold the interpreter lock for as long as it takes.
"""

import pickle
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any


def send(line: Connection, value: Any) -> None:
    line.send_bytes(pickle.dumps(value))


def receive(line: Connection) -> Any:
    """The next value. Raises EOFError or OSError when the other end is gone."""
    return pickle.loads(line.recv_bytes())


def send_all(line: Connection, values: Sequence[Any]) -> None:
    send(line, len(values))
    for value in values:
        send(line, value)


def receive_all(line: Connection) -> tuple[Any, ...]:
    return tuple(receive(line) for _ in range(receive(line)))


def send_answer(line: Connection, answer: Any) -> None:
    """One value, or a list of many."""
    many = isinstance(answer, list | tuple)
    send(line, many)
    if many:
        send_all(line, answer)
    else:
        send(line, answer)


def receive_answer(line: Connection) -> Any:
    return receive_all(line) if receive(line) else receive(line)
