"""Vectors as portable bytes: float32, little-endian.

In: anything with a float32 buffer. Out: bytes. A length that does not fit the
dimension is an error that names its owner, so that a damaged row is noticed and not scored.
"""

import re
import sys
from array import array
from typing import Any

from recollect.core.errors import DamagedRow
from recollect.core.settings import MODELS

DIMENSIONS = 384
_OF_MODEL = dict(zip(MODELS, (DIMENSIONS, 512), strict=True))
_OWN = re.compile(r"@[0-9a-f]{12}-(\d{1,4})\Z")


def own_model(name: str, digest: str, dimensions: int) -> str:
    """What vectors of a model that the user brings are stored under."""
    return f"{name[:40]}@{digest[:12]}-{dimensions}"


def dimensions_of(model: str) -> int:
    """How many numbers a vector has that is stored under this model; 0 when that is not known."""
    own = _OWN.search(model)
    return int(own[1]) if own else _OF_MODEL.get(model, 0)


def encode(vector: Any) -> bytes:
    """The bytes of a float32 vector. No value passes through Python's floats, so NaN payloads,
    signed zeros and subnormals survive."""
    view = memoryview(vector)
    if view.format not in ("f", "<f") or view.ndim != 1:
        raise TypeError(f"a vector is one dimension of float32, not {view.format!r}")
    packed = array("f")
    packed.frombytes(view.tobytes())
    if sys.byteorder == "big" and view.format == "f":
        packed.byteswap()
    return packed.tobytes()


def check(blob: bytes, *, owner: str, dimensions: int) -> None:
    if len(blob) != 4 * dimensions:
        raise DamagedRow(
            f"the vector of {owner} has {len(blob)} bytes where {4 * dimensions} are due"
        )
