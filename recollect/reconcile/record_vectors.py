"""The vectors and the content hash of a record.

In: records. Out: their vectors by part, or none when the model fails; a hash that is the same for
the same words. A memory without a vector is kept, and gets one later.
"""

import logging
from collections.abc import Sequence
from typing import Protocol

import msgspec
import numpy as np

from recollect.core import vector_bytes
from recollect.core.errors import ModelUnavailable
from recollect.core.values import Candidate, Record
from recollect.embedding.backfill import searchable
from recollect.embedding.chunking import parts
from recollect.extract.quality_gate import hash_of

log = logging.getLogger(__name__)

TIMEOUT_S = 20.0


class RecordEmbedder(Protocol):
    def embed(
        self, texts: Sequence[str], *, timeout: float | None = None
    ) -> "np.typing.NDArray[np.float32]": ...


def embedded(record: Record, embedder: RecordEmbedder | None) -> tuple[bytes, ...]:
    """The vector of each part, the whole first; none when there is no model, or it fails."""
    if embedder is None:
        return ()
    try:
        matrix = embedder.embed(parts(searchable(record)), timeout=TIMEOUT_S)
    except ModelUnavailable as error:
        log.debug("a candidate stays without a vector: %s", error)
        return ()
    if not np.isfinite(matrix).all():
        return ()
    return tuple(vector_bytes.encode(np.ascontiguousarray(row, dtype=np.float32)) for row in matrix)


def prepared(
    candidate: Candidate, embedder: RecordEmbedder | None
) -> tuple[Candidate, tuple[bytes, ...]]:
    """A candidate with its hash and its vector, and the vectors of all its parts."""
    record = candidate.record
    if not record.content_hash:
        record = msgspec.structs.replace(record, content_hash=hash_of(record))
    made = embedded(record, embedder)
    if not made and candidate.vector is not None:
        made = (candidate.vector,)
    return Candidate(record=record, vector=made[0] if made else None), made
