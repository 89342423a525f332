"""Groups the candidates of one batch that say the same: union-find over cosines.

In: vectors, or None. Out: clusters of indexes, in the order of their first members, each with a
centroid of length 1. A candidate without a usable vector is a cluster of its own, without a
centroid.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Row = NDArray[np.float64]


@dataclass(frozen=True)
class Cluster:
    members: tuple[int, ...]
    centroid: Row | None


def unit(blob: bytes | None) -> Row | None:
    """A vector of length 1; None for no vector, zeros, or values that are not finite."""
    if not blob or len(blob) % 4:
        return None
    row = np.frombuffer(blob, dtype="<f4").astype(np.float64)
    length = float(np.linalg.norm(row)) if np.isfinite(row).all() else 0.0
    return row / length if length > 0.0 else None


def clusters(vectors: Sequence[bytes | None], threshold: float) -> list[Cluster]:
    units = [unit(blob) for blob in vectors]
    size = max((len(row) for row in units if row is not None), default=0)
    units = [row if row is not None and len(row) == size else None for row in units]
    root = list(range(len(units)))

    def find(at: int) -> int:
        while root[at] != at:
            root[at] = root[root[at]]
            at = root[at]
        return at

    usable = [at for at, row in enumerate(units) if row is not None]
    if usable:
        matrix = np.array([units[at] for at in usable])
        near = np.einsum("ik,jk->ij", matrix, matrix) >= threshold
        for one, other in np.argwhere(np.triu(near, 1)):
            first, second = find(usable[one]), find(usable[other])
            root[max(first, second)] = min(first, second)
    grouped: dict[int, list[int]] = {}
    for at in range(len(units)):
        grouped.setdefault(find(at), []).append(at)
    return [
        Cluster(tuple(members), _centroid([units[at] for at in members]))
        for members in grouped.values()
    ]


def _centroid(rows: Sequence[Row | None]) -> Row | None:
    whole = [row for row in rows if row is not None]
    if len(whole) != len(rows):
        return None
    mean = np.mean(whole, axis=0)
    length = float(np.linalg.norm(mean))
    return np.asarray(mean / length) if length > 0.0 else None
