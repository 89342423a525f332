"""What would have been injected at a moment that is past."""

import msgspec
import pytest

from recollect.core.clock import ManualClock
from recollect.core.errors import BadInput
from recollect.core.values import Entity, Fact
from recollect.daemon.runtime import Runtime
from recollect.service.context import ContextQuery, context
from tests.fakes.stored import put_graph
from tests.make import NAMESPACE, record


def test_context_as_of_tells_what_memory_held_then(runtime: Runtime, clock: ManualClock) -> None:
    ledger = Entity(entity_id="ent_1", namespace=NAMESPACE, name="ledger", type="service")
    fly = Fact(
        fact_id="fact_1", namespace=NAMESPACE, entity_id="ent_1", subject="ledger",
        predicate="deployed_on", object="Fly", valid_from=clock.now(), source_type="stated",
    )  # fmt: skip
    put_graph(runtime.store, ledger, fly)
    old = record("The retry cap of ledger is seven attempts", valid_from=clock.now())
    runtime.memories.add([old])
    clock.advance(days=1)
    then = clock.now()
    clock.advance(days=1)
    runtime.memories.delete(NAMESPACE, [old.record_id], "ada")
    over = {"valid_until": clock.now(), "superseded_by": "fact_2"}
    new = {"fact_id": "fact_2", "object": "Hetzner", "valid_from": clock.now()}
    put_graph(runtime.store, _with(fly, **over), _with(fly, **new))
    ask = "where is ledger deployed, and what is its retry cap?"
    now = context(runtime, ContextQuery(query=ask, namespace=NAMESPACE)).context
    past = context(runtime, ContextQuery(query=ask, namespace=NAMESPACE, as_of=then)).context
    assert "Hetzner" in now and "Fly" not in now and "seven attempts" not in now
    assert "Fly" in past and "Hetzner" not in past and "seven attempts" in past
    with pytest.raises(BadInput, match="as_of"):
        context(runtime, ContextQuery(query=ask, namespace=NAMESPACE, as_of=then, receipt=True))


def _with(fact: Fact, **fields: object) -> Fact:
    return msgspec.structs.replace(fact, **fields)
