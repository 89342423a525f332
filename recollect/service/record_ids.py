"""Names of memories: the whole id, or the end of it that a brief shows in brackets.

In: a name, and the namespaces of whoever uses it. Out: the id. A name that several memories share,
deleted ones included, raises BadInput with their ids: what was once shown for one memory never
means another. Every door resolves names here.
"""

import re
from collections.abc import Iterable, Sequence

from recollect.core.errors import BadInput, NotFound
from recollect.core.ids import RECORD, RECORD_NAME_PATTERN, RECORD_PATTERN
from recollect.service.runtime import ServiceRuntime
from recollect.service.scope import all_namespaces

_ID = re.compile(RECORD_PATTERN)
_NAME = re.compile(RECORD_NAME_PATTERN)
_FORM = "An id is mr_ and 26 letters and digits, or the last five of them or more."


def resolve(runtime: ServiceRuntime, name: str, namespaces: Sequence[str] | None = None) -> str:
    """The id that a name stands for in these namespaces, by default in all. NotFound when it is the
    end of no id there, or not in the form of one; a whole id is not looked up."""
    if _ID.match(name):
        return name
    if not _NAME.match(name):
        raise NotFound(f"{name!r} is no id of a memory", hint=_FORM)
    ending = name.strip("[] ").upper().removeprefix(RECORD.upper())
    where = all_namespaces(runtime) if namespaces is None else namespaces
    found = {one for place in where for one in runtime.store.records.ending(place, ending)}
    if not found:
        raise NotFound(f"there is no memory {name}", hint="recollect search shows the ids.")
    if len(found) > 1:
        raise BadInput(
            f"{name} is the end of several ids: {', '.join(sorted(found))}",
            field="id",
            hint="Name the memory by its whole id.",
        )
    return found.pop()


def resolve_each(
    runtime: ServiceRuntime, names: Iterable[str], namespaces: Sequence[str] | None = None
) -> tuple[str, ...]:
    """The ids that names stand for, each once; a name of nothing stays as it is."""
    found = []
    for name in names:
        try:
            found.append(resolve(runtime, name, namespaces))
        except NotFound:
            found.append(name)
    return tuple(dict.fromkeys(found))
