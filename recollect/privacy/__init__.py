"""Removes what must not be stored: private spans, then secrets.

In: a text, a tree as JSON gives it, or raw bytes. Out: the same without them, and counts. Nothing
raises; broken input is read in the way that hides more.
"""

from recollect.privacy.private_tags import ODD_ASCII, scrub_text
from recollect.privacy.raw_payload import clean_raw
from recollect.privacy.secrets import redact_text

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
            # Most texts are plain and hold no tag: that is seen here, several times faster.
            plain = text.isascii() and not any(odd in text for odd in ODD_ASCII)
            if not plain or "vate" in text.lower():
                text, spans = scrub_text(text)
                self.private += spans
            text, kinds = redact_text(text, name)
            for kind, count in kinds.items():
                self.secrets[kind] = self.secrets.get(kind, 0) + count
            if not kinds:
                break  # else a mark may have completed a tag: `<private:` and what stood there
        return text


class Scrubbed(Scrubber):
    """A text without private spans and secrets; how many spans, and secrets by kind."""

    __slots__ = ("text",)
    text: str


class ScrubbedTree(Scrubber):
    """The same for a tree."""

    __slots__ = ("value",)
    value: "Any"


class ScrubbedRaw(Scrubber):
    """The same for bytes."""

    __slots__ = ("data",)
    data: bytes


def scrub(text: str, name: str = "") -> Scrubbed:
    """Clean one text. `name`, when known, is the key or variable that it was assigned to."""
    result = Scrubbed()
    result.text = result.clean(text, name)
    return result


def scrub_raw(data: bytes) -> ScrubbedRaw:
    """Clean a payload that nobody has parsed; JSON that was well-formed stays so."""
    result = ScrubbedRaw()
    result.data = clean_raw(data, result.clean)
    return result


def scrub_tree(value: "Any") -> ScrubbedTree:
    """Clean every string of a tree, keys too. Each string is its own text; what is neither text nor
    container is kept. The walk keeps its own stack, so deep nesting does no harm."""
    result = ScrubbedTree()
    root: list[Any] = [None]
    todo: list[tuple[Any, str, Any, Any]] = [(value, "", root, 0)]
    while todo:
        node, name, parent, place = todo.pop()
        if isinstance(node, str):
            parent[place] = result.clean(node, name)
        elif isinstance(node, dict):
            fresh: dict[Any, Any] = {}
            parent[place] = fresh
            # In `{"name": "DB_PASSWORD", "value": …}` the name of the value.
            names = (node.get(key) for key in ("name", "key", "Name", "Key"))
            label = next((one for one in names if isinstance(one, str)), "")
            for key, child in node.items():
                under = key if isinstance(key, str) else ""
                spot = result.clean(key) if isinstance(key, str) else key
                if spot in fresh:
                    spot = _free(spot, fresh)
                fresh[spot] = None  # holds the order of the keys
                todo.append((child, label if under.lower() == "value" else under, fresh, spot))
        elif isinstance(node, list | tuple):
            items: list[Any] = [None] * len(node)
            parent[place] = items
            todo.extend((child, name, items, number) for number, child in enumerate(node))
        else:
            parent[place] = node
    result.value = root[0]
    return result


def _free(key: "Any", taken: "dict[Any, Any]") -> str:
    """Two keys may become one when cleaned; the second gets a number, so that no value is lost."""
    number = len(taken) + 1
    while f"{key} {number}" in taken:
        number += 1
    return f"{key} {number}"
