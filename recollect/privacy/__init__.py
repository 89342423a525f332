"""Removes what must not be stored: private spans, then secrets.

In: a text, a tree as JSON gives it, or raw bytes. Out: the same without them, and counts. Nothing
raises; broken input is read in the way that hides more.
"""

from recollect.privacy.private_tags import scrub_text
from recollect.privacy.raw_payload import clean_raw
from recollect.privacy.secrets import redact_text
from recollect.privacy.tree import clean_tree

TYPE_CHECKING = False  # spares the import of `typing`; type checkers take the name for true
if TYPE_CHECKING:
    from typing import Any

_ROUNDS = 8

__all__ = [
    "Scrubbed",
    "ScrubbedRaw",
    "ScrubbedTree",
    "Scrubber",
    "scrub",
    "scrub_raw",
    "scrub_tree",
]


class Scrubber:
    """Scrubs one text after another and counts what it removes."""

    __slots__ = ("private", "secrets")

    def __init__(self) -> None:
        self.private = 0
        self.secrets: dict[str, int] = {}

    def clean(self, text: str, name: str = "") -> str:
        """The text without private spans and secrets; `name` is the key that it stands under."""
        for _ in range(_ROUNDS):
            text, spans = scrub_text(text)
            self.private += spans
            text, kinds = redact_text(text, name)
            for kind, count in kinds.items():
                self.secrets[kind] = self.secrets.get(kind, 0) + count
            if not kinds:
                break  # else a mark may have completed a tag: `<private:` and what stood there
        return text


class _Result:
    __slots__ = ("private", "secrets")

    def __init__(self, scrubber: Scrubber) -> None:
        self.private = scrubber.private
        self.secrets = scrubber.secrets


class Scrubbed(_Result):
    """A text without private spans and secrets; how many spans, and secrets by kind."""

    __slots__ = ("text",)

    def __init__(self, text: str, scrubber: Scrubber) -> None:
        super().__init__(scrubber)
        self.text = text


class ScrubbedTree(_Result):
    """The same for a tree."""

    __slots__ = ("value",)

    def __init__(self, value: "Any", scrubber: Scrubber) -> None:
        super().__init__(scrubber)
        self.value = value


class ScrubbedRaw(_Result):
    """The same for bytes."""

    __slots__ = ("data",)

    def __init__(self, data: bytes, scrubber: Scrubber) -> None:
        super().__init__(scrubber)
        self.data = data


def scrub(text: str, name: str = "") -> Scrubbed:
    """Clean one text. `name`, when known, is the key or variable that it was assigned to."""
    scrubber = Scrubber()
    return Scrubbed(scrubber.clean(text, name), scrubber)


def scrub_tree(value: "Any") -> ScrubbedTree:
    """Clean every string of a tree, keys too. Each string is its own text."""
    scrubber = Scrubber()
    return ScrubbedTree(clean_tree(value, scrubber.clean), scrubber)


def scrub_raw(data: bytes) -> ScrubbedRaw:
    """Clean a payload that nobody has parsed; JSON that was well-formed stays so."""
    scrubber = Scrubber()
    return ScrubbedRaw(clean_raw(data, scrubber.clean), scrubber)
