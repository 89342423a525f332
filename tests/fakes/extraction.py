"""What extraction needs around it in tests: a model that says what it is told to, and vectors whose
cosines a test can choose."""

import hashlib
import math
import re
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from recollect.core import ids
from recollect.core.clock import ManualClock
from recollect.core.errors import ModelUnavailable
from recollect.core.values import Candidate, Record, TextBody
from recollect.core.vector_bytes import DIMENSIONS
from recollect.extract.interface import Extraction
from recollect.ingest.memories import Memories
from recollect.llm.base import Completion, ModelRequest
from recollect.reconcile.extraction_run import ExtractionWorker
from recollect.store.interface import Batch
from recollect.store.sqlite import SqliteStore

Answer = str | Exception | Callable[[ModelRequest], str]


class Scripted:
    """A provider that gives its answers one after the other, by purpose; the last one for ever."""

    name = "scripted"
    model = "small-1"

    def __init__(
        self, *extract: Answer, judge: Sequence[Answer] = (), compact: Answer = ""
    ) -> None:
        self._answers = {"extract": list(extract), "judge": list(judge), "compact": [compact]}
        self.requests: list[ModelRequest] = []

    def complete(self, request: ModelRequest) -> Completion:
        self.requests.append(request)
        left = self._answers[request.purpose]
        answer = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(answer, Exception):
            raise answer
        text = answer if isinstance(answer, str) else answer(request)
        return Completion(text, self.model, input_tokens=100, output_tokens=10)

    def close(self) -> None:
        pass

    def asked(self, purpose: str) -> int:
        return sum(request.purpose == purpose for request in self.requests)


class Angles:
    """An embedder on a circle: a text that holds `@30` lies at 30 degrees, others by chance."""

    def __init__(self, broken: bool = False) -> None:
        self.broken = broken

    def embed(self, texts: Sequence[str], *, timeout: float | None = None) -> NDArray[np.float32]:
        if self.broken:
            raise ModelUnavailable("no weights")
        return np.array([self._row(text) for text in texts], dtype=np.float32)

    def _row(self, text: str) -> NDArray[np.float64]:
        row = np.zeros(DIMENSIONS)
        if (place := re.search(r"@(-?\d+(?:\.\d+)?)", text)) is not None:
            degrees = math.radians(float(place[1]))
            row[0], row[1] = math.cos(degrees), math.sin(degrees)
            return row
        digest = hashlib.blake2b(text.encode("utf-8", "replace")).digest()
        row[2 + digest[0] :][: len(digest)] = np.frombuffer(digest, dtype=np.uint8) - 127.5
        return np.asarray(row / np.linalg.norm(row))


class EachPrompt:
    """The smallest extractor: every prompt is a memory of its own."""

    def extract(self, batch: Batch) -> Extraction:
        return Extraction(
            candidates=tuple(
                Candidate(
                    record=Record(
                        record_id=ids.new_id(ids.RECORD),
                        namespace=batch.namespace,
                        kind="observation",
                        title=stored.event.body.content.strip()[:200],
                        strategy="rules",
                        author="user",
                        valid_from=stored.event.valid_time,
                        source_event_ids=(stored.event.event_id,),
                    )
                )
                for stored in batch.events
                if isinstance(stored.event.body, TextBody) and stored.event.kind == "prompt"
            )
        )


def memory(title: str, *sources: str, sort: str = "", type: str = "decision") -> str:
    """One memory as a model writes it."""
    cited = "".join(f"<source>{source}</source>" for source in sources)
    attributes = f' type="{type}"' + (f' sort="{sort}"' if sort else "")
    return f"<memory{attributes}><title>{title}</title><summary>why</summary>{cited}</memory>"


def worker(store: SqliteStore, clock: ManualClock, **options: object) -> ExtractionWorker:
    given: dict[str, object] = {"embedder": Angles(), "rules": EachPrompt(), **options}
    return ExtractionWorker(store, clock, Memories(store), **given)  # type: ignore[arg-type]
