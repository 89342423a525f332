"""Where a listing stands, and a part of it.

In: a cursor as text. Out: the place that it names. BadCursor when it names none.
"""

from dataclasses import dataclass
from typing import Generic, TypeVar

from recollect.core.errors import BadCursor

T = TypeVar("T")


@dataclass(frozen=True)
class Cursor:
    """A place in a listing: the key of the last row seen. Written `number:id`."""

    number: int
    id: str

    def __str__(self) -> str:
        return f"{self.number}:{self.id}"

    @classmethod
    def parse(cls, text: str) -> "Cursor":
        number, colon, identity = text.partition(":")
        try:
            if not colon or not identity or not -(2**63) <= int(number) < 2**63:
                raise ValueError
        except ValueError:
            raise BadCursor(f"{text!r} is not a cursor") from None
        return cls(int(number), identity)


@dataclass(frozen=True)
class Page(Generic[T]):
    """Some rows of a listing, and where to go on; `next` is None at the end."""

    items: tuple[T, ...]
    next: Cursor | None = None
