"""Runs the rules in a worker process, so that no text can keep the daemon from answering hooks.

In: a batch. Out: its Extraction, as `RulesExtractor` makes it. The worker asks the daemon for what
it reads, so it has no database and no settings. It is started when needed, exits when idle, dies
with the daemon, and is killed when a batch exceeds its time: that is ExtractionFailed, and counts
against the batch like any other failure.
"""

import functools
import logging
import os
import subprocess
import sys
import threading
from multiprocessing.connection import Connection, Pipe
from typing import Any

from recollect.core import oslayer
from recollect.core.clock import Clock
from recollect.core.errors import ExtractionFailed
from recollect.extract import pickle_channel
from recollect.extract.interface import Extraction
from recollect.extract.rules.store_reads import QUESTIONS, StoreReads
from recollect.store.interface import Batch

log = logging.getLogger(__name__)

MODULE = "recollect.extract.rules_worker_main"
CPU_S = 30  # per batch; most take less than one
WALL_S = 300.0  # per batch
IDLE_S = 60.0
_HELLO_S = 10.0
_KEPT = ("PYTHONPATH", "PYTHONHOME", "LANG", "LC_ALL", "TZ", "SYSTEMROOT")  # nothing else


class RulesWorker:
    """An extractor that works on one batch at a time: a second project waits for the first."""

    def __init__(
        self,
        reads: StoreReads,
        clock: Clock,
        *,
        cpu_s: int = CPU_S,
        wall_s: float = WALL_S,
        idle_s: float = IDLE_S,
    ) -> None:
        self._reads = reads
        self._clock = clock
        self._start = functools.partial(_Child, cpu_s, idle_s)
        self._wall_s = wall_s
        self._turn = threading.Lock()
        self._guard = threading.Lock()  # of the child and of `_closed`
        self._child: _Child | None = None
        self._closed = False

    def extract(self, batch: Batch) -> Extraction:
        with self._turn:
            child = self._ready()
            watch = threading.Timer(self._wall_s, child.kill)
            watch.daemon = True
            watch.start()
            try:
                return self._asked(child, batch)
            except (EOFError, OSError) as error:
                raise ExtractionFailed(child.why_it_ended()) from error
            except BaseException:  # the store cannot be read, or we are told to stop
                child.kill()
                raise
            finally:
                watch.cancel()

    def close(self) -> None:
        """End the child at once; what runs in it fails."""
        with self._guard:
            self._closed = True
            if self._child is not None:
                self._child.kill()

    def status(self) -> dict[str, Any]:
        """The child and its memory, which counts as the daemon's."""
        with self._guard:
            child = self._child
        return child.status() if child is not None and child.alive else {"pid": None, "rss_mb": 0}

    def _ready(self) -> "_Child":
        """The worker if it answers, else a new one."""
        with self._guard:
            child = self._child
        if child is None or not child.answers():
            child = self._start()
            with self._guard:
                self._child = child
                if self._closed:
                    child.kill()
        return child

    def _asked(self, child: "_Child", batch: Batch) -> Extraction:
        """Send the batch, and answer the worker's questions until it is done."""
        pickle_channel.send(child.line, ("extract", batch.namespace, self._clock.now()))
        pickle_channel.send_all(child.line, batch.events)
        while True:
            match pickle_channel.receive(child.line):
                case ("ask", name, args):
                    self._answer(child.line, name, args)
                case ("done", Extraction() as extraction):
                    return extraction
                case ("failed", kind, trace):
                    log.error("extraction failed unexpectedly\n%s", trace)
                    raise ExtractionFailed(f"{kind} in extraction")
                case other:
                    raise ExtractionFailed(f"the worker said {str(other)[:80]}")

    def _answer(self, line: Connection, name: str, args: tuple[Any, ...]) -> None:
        if name not in QUESTIONS:
            raise ExtractionFailed(f"the worker asked for {name[:80]}")
        pickle_channel.send_answer(line, getattr(self._reads, name)(*args))


class _Child:
    def __init__(self, cpu_s: int, idle_s: float) -> None:
        self.line, theirs = Pipe()
        numbers = (theirs.fileno(), os.getpid(), cpu_s, idle_s)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", MODULE, *map(str, numbers)],
                cwd="/",
                env={name: os.environ[name] for name in _KEPT if name in os.environ},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                **oslayer.inherited([theirs.fileno()]),
            )

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def answers(self) -> bool:
        """Whether it runs and takes work: it may have exited because it was idle."""
        try:
            pickle_channel.send(self.line, ("there?",))
            if self.line.poll(_HELLO_S) and pickle_channel.receive(self.line) == "here":
                return True
        except (EOFError, OSError):
            pass
        self.kill()
        return False

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def why_it_ended(self) -> str:
        self.kill()
        if oslayer.used_up_cpu(self._process.returncode):
            return "extraction used too much CPU time and was ended"
        return f"the extraction worker ended ({self._process.returncode}) before it was done"

    def status(self) -> dict[str, Any]:
        return {"pid": self._process.pid, "rss_mb": oslayer.resident_mb(self._process.pid)}
