"""Applies a function to every string of a tree, including keys.

In: a value as JSON gives it, and a function of (text, its key). Out: a new value. The walk keeps
its own stack, so deep nesting does no harm.
"""

from collections.abc import Callable

TYPE_CHECKING = False  # spares the import of `typing`; type checkers take the name for true
if TYPE_CHECKING:
    from typing import Any

Clean = Callable[[str, str], str]


def clean_tree(value: "Any", clean: Clean) -> "Any":
    """A copy of the tree with each string cleaned; what is neither text nor container is kept."""
    root: list[Any] = [None]
    todo: list[tuple[Any, str, Any, Any]] = [(value, "", root, 0)]
    while todo:
        node, name, parent, place = todo.pop()
        if isinstance(node, str):
            parent[place] = clean(node, name)
        elif isinstance(node, dict):
            fresh: dict[Any, Any] = {}
            parent[place] = fresh
            label = _label(node)
            for key, child in node.items():
                under = key if isinstance(key, str) else ""
                spot = _free(clean(key, "") if isinstance(key, str) else key, fresh)
                fresh[spot] = None  # holds the order of the keys
                todo.append((child, label if under.lower() == "value" else under, fresh, spot))
        elif isinstance(node, list | tuple):
            items: list[Any] = [None] * len(node)
            parent[place] = items
            todo.extend((child, name, items, number) for number, child in enumerate(node))
        else:
            parent[place] = node
    return root[0]


def _label(node: "dict[Any, Any]") -> str:
    """In `{"name": "DB_PASSWORD", "value": …}` the name of the value."""
    for key in ("name", "key", "Name", "Key"):
        label = node.get(key)
        if isinstance(label, str):
            return label
    return ""


def _free(key: "Any", taken: "dict[Any, Any]") -> "Any":
    """Two keys may become one when cleaned; the second gets a number, so that no value is lost."""
    if key not in taken:
        return key
    number = len(taken) + 1
    while f"{key} {number}" in taken:
        number += 1
    return f"{key} {number}"
