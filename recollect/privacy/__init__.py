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
PRIVATE = "private span"  # its kind, among those of secrets

__all__ = ["PRIVATE", "scrub", "scrub_raw", "scrub_tree"]


def scrub(text: str, name: str = "", removed: "dict[str, int] | None" = None) -> str:
    """The text without private spans and secrets. `name`, when known, is the key or variable that
    it was assigned to; in `removed` it is counted what was taken out, by kind."""
    for _ in range(_ROUNDS):
        # Most texts are plain and hold no tag: that is seen here, several times faster.
        plain, spans = text.isascii() and not any(odd in text for odd in ODD_ASCII), 0
        if not plain or "vate" in text.lower():
            text, spans = scrub_text(text)
        text, secrets = redact_text(text, name)
        if removed is not None:
            found = {**secrets, PRIVATE: spans} if spans else secrets
            for kind, count in found.items():
                removed[kind] = removed.get(kind, 0) + count
        if not secrets:
            break  # else a mark may have completed a tag: `<private:` and what stood there
    return text


def scrub_raw(data: bytes, removed: "dict[str, int] | None" = None) -> bytes:
    """Clean a payload that nobody has parsed; JSON that was well-formed stays so."""
    return clean_raw(data, lambda text, name: scrub(text, name, removed))


def scrub_tree(value: "Any", removed: "dict[str, int] | None" = None) -> "Any":
    """Clean every string of a tree, keys too. Each string is its own text; what is neither text nor
    container is kept. The walk keeps its own stack, so deep nesting does no harm."""
    root: list[Any] = [None]
    todo: list[tuple[Any, str, Any, Any]] = [(value, "", root, 0)]
    while todo:
        node, name, parent, place = todo.pop()
        if isinstance(node, str):
            parent[place] = scrub(node, name, removed)
        elif isinstance(node, dict):
            fresh: dict[Any, Any] = {}
            parent[place] = fresh
            # In `{"name": "DB_PASSWORD", "value": …}` the name of the value.
            names = (node.get(key) for key in ("name", "key", "Name", "Key"))
            label = next((one for one in names if isinstance(one, str)), "")
            for key, child in node.items():
                under = key if isinstance(key, str) else ""
                spot = scrub(key, "", removed) if isinstance(key, str) else key
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
    return root[0]


def _free(key: "Any", taken: "dict[Any, Any]") -> str:
    """Two keys may become one when cleaned; the second gets a number, so that no value is lost."""
    number = len(taken) + 1
    while f"{key} {number}" in taken:
        number += 1
    return f"{key} {number}"
