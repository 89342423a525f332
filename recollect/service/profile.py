"""The profile: who the person is, in a few lines that every session starts with.

In: lines of text. Out: beliefs of the actor's own namespace, category `profile`, which are told
first at the start of every session (`inject/start.py`); and what the person said of themselves in a
prompt, which the rules keep as preferences of that category.
"""

from typing import Annotated

from msgspec import Meta

from recollect.core.kinds import PROFILE
from recollect.core.projects import namespace
from recollect.core.values import Preference, Record, Value
from recollect.service.runtime import ServiceRuntime
from recollect.service.scope import GLOBAL
from recollect.service.write import Added, NewKnowledge, add_knowledge

MOST = 100


class NewProfileLine(Value, frozen=True, kw_only=True):
    text: Annotated[str, Meta(min_length=1, max_length=200)]


def lines(runtime: ServiceRuntime) -> list[Record]:
    """Oldest first."""
    found = runtime.visible_store.records.beliefs(
        namespace(runtime.actor), category=PROFILE, state="current", limit=MOST
    )
    return found[::-1]


def stated(runtime: ServiceRuntime) -> list[Preference]:
    """What the person said of themselves."""
    held = runtime.visible_store.graph.all(namespace(runtime.actor), Preference)
    return [one for one in held if one.category == PROFILE]


def add(runtime: ServiceRuntime, new: NewProfileLine) -> Added:
    line = NewKnowledge(type="heuristic", title=new.text, category=PROFILE, project=GLOBAL)
    return add_knowledge(runtime, line)
