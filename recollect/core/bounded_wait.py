"""Waits a limited time for what may never answer: a disk that hangs, a server that is down.

In: a function, and how long its caller can wait. Out: its result, or `Late`. A call that hangs
keeps its thread; there are only a few threads, and when all of them hang the next caller gets
`Late` at once. They never keep the process from exiting.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from functools import partial
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Late(Exception):
    """It did not answer in time."""


class BoundedThreads:
    """Runs functions in at most so many threads. An idle thread waits for the next call, so that
    frequent calls start no new thread."""

    def __init__(self, most: int, name: str, *, hung_s: float = 0.2) -> None:
        """A call that has run for `hung_s` counts as hanging."""
        self._most = most
        self._name = name
        self._hung_s = hung_s
        self._changed = threading.Condition()
        self._waiting: list[tuple[Future[Any], Callable[[], Any], str]] = []
        self._begun: list[tuple[float, str]] = []  # when each running call began, and about what
        self._threads = 0

    def run(self, patience_s: float, work: Callable[..., T], *arguments: Any, about: str = "") -> T:
        """`about`: what may hang, such as a path. While one call about it hangs, another would hang
        as well, and is late at once."""
        answer: Future[T] = Future()
        call = (answer, partial(work, *arguments), about)
        with self._changed:
            hung = time.monotonic() - self._hung_s
            if len(self._begun) == self._most and all(since <= hung for since, _ in self._begun):
                raise Late  # all of them hang: waiting would be useless
            if about and any(since < hung and one == about for since, one in self._begun):
                raise Late
            self._waiting.append(call)
            if len(self._begun) + len(self._waiting) > self._threads < self._most:
                self._threads += 1
                threading.Thread(target=self._work, name=self._name, daemon=True).start()
            self._changed.notify()
        if not wait((answer,), patience_s).done:
            with self._changed:
                if call in self._waiting:  # not begun, and no longer wanted
                    self._waiting.remove(call)
            raise Late
        return answer.result()

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._waiting:
                    self._changed.wait()
                answer, work, about = self._waiting.pop(0)
                begun = (time.monotonic(), about)
                self._begun.append(begun)
            result, error = None, None
            try:
                result = work()
            except BaseException as raised:  # noqa: BLE001 - it is the caller's, and raised there
                error = raised
            with self._changed:
                self._begun.remove(begun)
            # After the thread is free, so that the caller's next call finds it free.
            if error is None:
                answer.set_result(result)
            else:
                answer.set_exception(error)
            del answer, work, result, error


class LatestAnswer(Generic[T]):
    """The latest answer of something that may hang. One question is asked at a time, and all
    callers share it; a caller that cannot wait gets the previous answer."""

    def __init__(self, look: Callable[[], T], nothing: T, name: str) -> None:
        self._look = look
        self._newest = nothing
        self._name = name
        self._changed = threading.Condition()
        self._asked_at: float | None = None
        self._answers = 0
        self._error: Exception | None = None

    def get(self, patience_s: float) -> tuple[T, float | None]:
        """An answer and, when it is an old one, for how many seconds a new one has been awaited."""
        with self._changed:
            if self._asked_at is None:
                self._asked_at = time.monotonic()
                threading.Thread(target=self._ask, name=self._name, daemon=True).start()
            before = self._answers
            if not self._changed.wait_for(lambda: self._answers != before, patience_s):
                return self._newest, time.monotonic() - self._asked_at
            if self._error is not None:
                raise self._error
            return self._newest, None

    def _ask(self) -> None:
        found, error = self._newest, None
        try:
            found = self._look()
        except Exception as raised:  # noqa: BLE001 - raised again where it was asked for
            error = raised
        with self._changed:
            self._newest, self._error = found, error
            self._asked_at = None
            self._answers += 1
            self._changed.notify_all()
