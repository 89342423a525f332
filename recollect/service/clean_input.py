"""What comes in by a door, without private spans and secrets: every request that may be stored.

In: the value or the arguments of a request. Out: the same, scrubbed and counted; a text that does
not fit its limit once it is scrubbed raises BadInput. REST scrubs in `server/endpoints.py`, tools
in `service/tools.py`, so that an operation cannot forget it; hooks and events in `ingest/pipeline`.
"""

import functools
from typing import Any, TypeVar

import msgspec

from recollect import privacy
from recollect.core import values
from recollect.core.values import TITLE_CHARS, Value
from recollect.service.runtime import ServiceRuntime

V = TypeVar("V", bound=Value)
# Where to look; whoever stores a path scrubs it (`ingest/origins.py`).
PLACES = ("project", "project_path")


def scrubbed(runtime: ServiceRuntime, given: V, as_sent: tuple[str, ...] = ()) -> V:
    """A value whose every text is scrubbed, but for the places to look in and these fields."""
    tree = msgspec.to_builtins(given)
    return values.convert(type(given), scrubbed_tree(runtime, tree, as_sent))


def scrubbed_tree(
    runtime: ServiceRuntime, tree: dict[str, Any], as_sent: tuple[str, ...] = ()
) -> dict[str, Any]:
    """The same for the fields of a value."""
    left = {name: tree[name] for name in (*PLACES, *as_sent) if name in tree}
    removed: dict[str, int] = {}
    rest = {name: part for name, part in tree.items() if name not in left}
    clean: dict[str, Any] = privacy.scrub_tree(rest, removed)
    runtime.counters.removed(removed)
    if isinstance(title := clean.get("title"), str):
        clean["title"] = title[:TITLE_CHARS]
    return {**clean, **left}


def without_own_text(runtime: ServiceRuntime, given: V) -> V:
    """What an agent of a session says, without the text that we injected there ourselves."""
    tree = msgspec.to_builtins(given)
    session_id = tree.get("session_id")
    if not session_id or tree.get("author", "user") == "user":
        return given
    own_text = functools.partial(runtime.pipeline.own_text, session_id)
    return values.convert(type(given), _each_text(tree, own_text))


def _each_text(tree: Any, change: Any) -> Any:
    if isinstance(tree, str):
        return change(tree)
    if isinstance(tree, (list, tuple)):
        return [_each_text(one, change) for one in tree]
    if isinstance(tree, dict):
        return {key: _each_text(value, change) for key, value in tree.items()}
    return tree
