"""The plan of what learning writes, and how it is carried out.

In: values. Out: a `LearningPlan` of puts and decisions, the `PlanBuilder` that collects it, and
`apply`, which carries it out inside a transaction. Every decision is an operation of its own in the
log, so that it can be seen and undone by itself.
"""

from dataclasses import dataclass
from typing import Any, TypeVar

from recollect.core.values import (
    Entity,
    Fact,
    Operation,
    OperationKind,
    Preference,
    Procedure,
    Relationship,
)
from recollect.extract.interface import Dropped
from recollect.store.interface import Transaction, Waiting

MOST_WAITING = 2000  # of one namespace

Thing = Entity | Relationship | Fact | Procedure | Preference
T = TypeVar("T", Entity, Relationship, Fact, Procedure, Preference)


@dataclass(frozen=True)
class Put:
    """Rows that are new, or confirmed."""

    things: tuple[Thing, ...]


@dataclass(frozen=True)
class Decision:
    """One row replaced another, or two turned out to be the same."""

    kind: OperationKind
    namespace: str
    displaced: tuple[str, ...]
    things: tuple[Thing, ...]
    created: tuple[str, ...]
    reason: str
    detail: dict[str, Any]


@dataclass(frozen=True)
class LearningPlan:
    namespace: str
    steps: tuple[Put | Decision, ...] = ()
    wait: tuple[Waiting, ...] = ()
    no_longer_waits: tuple[str, ...] = ()
    dropped: tuple[Dropped, ...] = ()


def apply(tx: Transaction, plan: LearningPlan, actor: str) -> list[Operation]:
    """Carry a plan out inside a transaction; returns the decisions as logged."""
    operations = []
    for step in plan.steps:
        if isinstance(step, Put):
            tx.put_graph(*step.things)
            continue
        operation = tx.log(
            step.kind,
            step.namespace,
            actor,
            targets=step.displaced,
            created=step.created,
            reason=step.reason,
            detail=step.detail,
        )
        tx.put_graph(*step.things, operation=operation)
        operations.append(operation)
    if plan.wait or plan.no_longer_waits:
        tx.keep_waiting(plan.namespace, plan.wait, plan.no_longer_waits, MOST_WAITING)
    return operations


class PlanBuilder:
    """A plan under construction."""

    def __init__(self, namespace: str) -> None:
        self.namespace = namespace
        self.steps: list[Put | Decision] = []
        self.dropped: list[Dropped] = []

    def put(self, thing: Thing) -> None:
        self.steps.append(Put((thing,)))

    def decide(
        self,
        kind: OperationKind,
        displaced: tuple[str, ...],
        things: tuple[Thing, ...],
        created: tuple[str, ...],
        reason: str,
        detail: dict[str, Any],
        namespace: str = "",
    ) -> None:
        where = namespace or self.namespace
        self.steps.append(Decision(kind, where, displaced, things, created, reason[:1000], detail))
