"""Finds stored memories that say nearly the same as a cluster.

In: centroids. Out: for each, memories of the same namespace, nearest first. Turns are not compared:
memories are made from them. The store is read once for all centroids.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recollect.core.values import Record
from recollect.embedding.embedder import MODEL
from recollect.reconcile.cluster import Row
from recollect.store.interface import Store

MOST = 10
_PAGE = 2000


@dataclass(frozen=True)
class Neighbour:
    record: Record
    similarity: float


def neighbours(
    store: Store,
    namespace: str,
    centroids: Sequence[Row | None],
    threshold: float,
    model: str = MODEL,
) -> list[list[Neighbour]]:
    """A list for each centroid, empty for none; at most so many, cosine descending."""
    near = _near(store, namespace, centroids, threshold, model)
    chosen = [sorted(one, key=lambda hit: (-hit[1], hit[0]))[:MOST] for one in near]
    wanted = {record_id for one in chosen for record_id, _ in one}
    records = {record.record_id: record for record in store.records.get(namespace, sorted(wanted))}
    return [
        [Neighbour(records[record_id], cosine) for record_id, cosine in one if record_id in records]
        for one in chosen
    ]


def _near(
    store: Store, namespace: str, centroids: Sequence[Row | None], threshold: float, model: str
) -> list[list[tuple[str, float]]]:
    found: list[list[tuple[str, float]]] = [[] for _ in centroids]
    asking = [at for at, centroid in enumerate(centroids) if centroid is not None]
    if not asking:
        return found
    questions = np.array([centroids[at] for at in asking])
    rows = store.vectors.knowledge(namespace, model)
    while page := list(itertools.islice(rows, _PAGE)):
        size = 4 * questions.shape[1]
        whole = [(record_id, blob) for record_id, blob in page if len(blob) == size]
        if not whole:
            continue
        matrix = np.frombuffer(b"".join(blob for _, blob in whole), dtype="<f4")
        vectors = matrix.reshape(len(whole), -1).astype(np.float64)
        lengths = np.linalg.norm(vectors, axis=1)
        good = np.isfinite(lengths) & (lengths > 0)
        vectors[good] /= lengths[good, None]
        vectors[~good] = 0.0
        cosines = vectors @ questions.T
        for row, column in np.argwhere((cosines >= threshold) & good[:, None]):
            found[asking[column]].append((whole[row][0], float(cosines[row, column])))
    return found
