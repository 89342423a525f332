"""The one search behind every door: words, meaning, graph and time together.

In: a prompt, namespaces, the time it is asked. Out: the ranked memories, and what the graph knows
of what the prompt names. Hooks, REST, MCP, CLI and previews all ask here, so that a receipt can be
reproduced by a search. Answers can be kept for a minute under a key that holds everything they
depend on, including the state of the index.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from recollect.core.clock import to_micros
from recollect.core.settings import Fusion
from recollect.retrieve.engine import DEPTH, K, Mode, Ranked, SearchEngine
from recollect.retrieve.graph import GraphCache, GraphWalk


@dataclass(frozen=True)
class Found:
    ranked: Ranked  # whatever its confidence: the caller decides whether that is enough
    walks: list[GraphWalk]  # one per namespace that has a graph


def find(
    engine: SearchEngine,
    graphs: GraphCache,
    text: str,
    namespaces: Sequence[str],
    *,
    at: datetime,
    limit: int,
    mode: Mode = "hybrid",
    fusion: Fusion = "linear",
    k: int = K,
    depth: int = DEPTH,
) -> Found:
    """The best memories for a prompt that is asked at this moment."""
    walks, reached = graphs.walk(text, namespaces)
    ranked = engine.search(
        text,
        namespaces,
        limit=limit,
        mode=mode,
        fusion=fusion,
        k=k,
        depth=depth,
        floor=False,
        now=to_micros(at),
        reached=reached,
    )
    return Found(ranked, walks)


T = TypeVar("T")

ENTRIES = 100
SECONDS = 60.0


class ResultCache(Generic[T]):
    def __init__(
        self,
        entries: int = ENTRIES,
        seconds: float = SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._entries = entries
        self._seconds = seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, tuple[float, T]] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The cached answer, or a new one; two callers at the same time may both compute it."""
        now = self._clock()
        with self._lock:
            known = self._kept.get(key)
            if known is not None and now - known[0] < self._seconds:
                self._kept.move_to_end(key)
                return known[1]
        made = make()
        with self._lock:
            self._kept[key] = (now, made)
            self._kept.move_to_end(key)
            while len(self._kept) > self._entries:
                self._kept.popitem(last=False)
        return made

    def __len__(self) -> int:
        return len(self._kept)
