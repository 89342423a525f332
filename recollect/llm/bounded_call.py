"""Runs one call until it answers, its deadline passes, or the daemon stops.

In: a coroutine. Out: its result. The event loop lives for one call, so nothing asynchronous leaves
this room. A passed deadline raises ProviderTimeout, a stop ProviderDown.
"""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Coroutine
from typing import Any, TypeVar

from recollect.core.errors import ProviderDown, ProviderTimeout

T = TypeVar("T")

CLOSE_S = 10.0


@contextlib.asynccontextmanager
async def deadline(seconds: float, who: str) -> AsyncIterator[None]:
    """The block must end by then. Clean-up belongs outside, so that it is not cancelled."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise ProviderTimeout(f"{who} did not answer within {seconds:g} s") from None


class BoundedCalls:
    """The running calls of one provider."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._running: dict[asyncio.Task[Any], asyncio.AbstractEventLoop] = {}
        self._closed = False

    def run(self, call: Coroutine[Any, Any, T]) -> T:
        return asyncio.run(self._watched(call))

    def close(self) -> None:
        """Stop the running calls, and wait until they have cleaned up."""
        with self._changed:
            self._closed = True
            for task, loop in self._running.items():
                loop.call_soon_threadsafe(task.cancel)
            self._changed.wait_for(lambda: not self._running, CLOSE_S)

    async def _watched(self, call: Coroutine[Any, Any, T]) -> T:
        task = asyncio.create_task(call)
        with self._changed:
            if self._closed:
                task.cancel()
            else:
                self._running[task] = asyncio.get_running_loop()
        try:
            return await task
        except asyncio.CancelledError:
            raise ProviderDown("Recollect is stopping, so the call was given up") from None
        finally:
            with self._changed:
                self._running.pop(task, None)
                self._changed.notify_all()
