"""Beliefs and entities changed or removed by hand, and the way back."""

from typing import Any

import pytest

from recollect.core.clock import ManualClock
from recollect.core.errors import BadInput, NotFound
from recollect.core.values import Entity, Fact, Preference, Procedure
from recollect.daemon.runtime import Runtime
from recollect.service import graph_edit
from recollect.service.graph_edit import GraphItemChange
from recollect.service.undo import undo_operation
from tests.fakes.stored import put_graph
from tests.make import NAMESPACE


@pytest.fixture
def known(runtime: Runtime, clock: ManualClock) -> Runtime:
    common: dict[str, Any] = {"namespace": NAMESPACE}
    put_graph(runtime.store,
        Entity(entity_id="ent_1", name="billing", type="service", **common),
        Fact(fact_id="fa_1", subject="billing", predicate="database", object="MySQL",
             valid_from=clock.now(), **common),
        Preference(preference_id="pf_1", category="style", key="tabs", value="4", **common),
        Procedure(procedure_id="pr_1", name="Deploy", trigger="on Monday", steps=("push",),
                  **common),
    )  # fmt: skip
    return runtime


def test_a_persons_word_is_a_correction_and_can_be_undone(known: Runtime) -> None:
    changed = graph_edit.edit(known, "fa_1", GraphItemChange(value="PostgreSQL", confidence=0.5))
    fact = graph_edit.find(known, "fa_1")
    assert isinstance(fact, Fact) and fact.source_type == "corrected"
    assert (fact.object, fact.confidence) == ("PostgreSQL", 0.5)
    undo_operation(known, changed.op_id)
    back = graph_edit.find(known, "fa_1")
    assert isinstance(back, Fact) and (back.object, back.source_type) == ("MySQL", "observed")


@pytest.mark.parametrize(
    ("thing_id", "change", "field", "value"),
    [
        ("pf_1", GraphItemChange(value="2"), "value", "2"),
        ("pf_1", GraphItemChange(confidence=0.2), "strength", 0.2),
        ("ent_1", GraphItemChange(value="sends invoices"), "description", "sends invoices"),
        ("pr_1", GraphItemChange(confidence=0.9), "confidence", 0.9),
    ],
)
def test_each_kind_has_its_own_names_for_value_and_confidence(
    known: Runtime, thing_id: str, change: GraphItemChange, field: str, value: object
) -> None:
    graph_edit.edit(known, thing_id, change)
    assert getattr(graph_edit.find(known, thing_id), field) == value


@pytest.mark.parametrize(
    ("thing_id", "change"),
    [("ent_1", GraphItemChange(confidence=0.1)), ("pr_1", GraphItemChange(value="pull"))],
)
def test_what_a_kind_does_not_have_cannot_be_changed(
    known: Runtime, thing_id: str, change: GraphItemChange
) -> None:
    before = graph_edit.find(known, thing_id)
    with pytest.raises(BadInput, match="cannot be changed"):
        graph_edit.edit(known, thing_id, change)
    with pytest.raises(BadInput, match="no change was given"):
        graph_edit.edit(known, thing_id, GraphItemChange())
    assert graph_edit.find(known, thing_id) == before


@pytest.mark.parametrize("thing_id", ["fa_1", "pf_1", "pr_1", "ent_1"])
def test_what_is_removed_is_gone_until_that_is_undone(known: Runtime, thing_id: str) -> None:
    before = graph_edit.find(known, thing_id)
    gone = graph_edit.remove(known, thing_id, "wrong")
    with pytest.raises(NotFound, match=f"entity {thing_id}"):
        graph_edit.find(known, thing_id)
    undo_operation(known, gone.op_id)
    assert graph_edit.find(known, thing_id) == before
