"""What was forgotten is kept back wherever memory is read: a new way to read must say so too."""

import inspect

import pytest

from recollect.extract import visible_store
from recollect.store import interface

# What an answer may carry that somebody might have asked to forget.
CARRIES = ("Record", "Hit", "Fact", "Preference", "Procedure", "Entity", "Relationship",
           "Checkpoint", "Receipt", "TurnWork", "Any", "~T")  # fmt: skip
WRITERS = {
    "Records": {"put", "edit"},  # they answer to whoever wrote
    "Graph": set[str](),
    "Sessions": set[str](),
    "Receipts": {"put"},
    "TurnWorks": set[str](),
}
# What learning waits to hear again, which is never told, and plain numbers.
UNTOLD = {
    "Records": {"counts"},
    "Graph": {"waiting"},
    "Sessions": set[str](),
    "Receipts": set[str](),
    "TurnWorks": set[str](),
}
VIEWS = {
    "Records": visible_store._Records,
    "Graph": visible_store._Graph,
    "Sessions": visible_store._Sessions,
    "Receipts": visible_store._Receipts,
    "TurnWorks": visible_store._TurnWorks,
}


@pytest.mark.parametrize("name", VIEWS)
def test_every_reading_method_is_looked_through(name: str) -> None:
    protocol = getattr(interface, name)
    reading = {
        method
        for method, function in vars(protocol).items()
        if inspect.isfunction(function)
        and not method.startswith("_")
        and any(word in str(inspect.signature(function).return_annotation) for word in CARRIES)
    }
    kept_back = set(vars(VIEWS[name]))
    assert reading - kept_back - WRITERS[name] - UNTOLD[name] == set()
