"""Entities, how they are related, and what is known of them; procedures and preferences."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol

from recollect.core.values import (
    Entity,
    Fact,
    Preference,
    Procedure,
    Relationship,
)

ThingKind = Literal["entity", "relationship", "fact", "procedure", "preference"]


@dataclass(frozen=True)
class Waiting:
    """What was heard of something that is not worth an entity yet: in which turns, and what."""

    key: str
    name: str
    turns: tuple[str, ...]
    claims: tuple[Any, ...]  # as JSON
    at: datetime


class Graph(Protocol):
    """Entities, how they are related, and what is known of them; procedures and preferences. They
    are written in a transaction (`Transaction.put_graph`)."""

    def version(self, namespace: str) -> int:
        """Grows with every committed change of a namespace's graph; begins anew with the store."""

    def changed(self, namespace: str, since: int) -> frozenset[str] | None:
        """Ids of what came, changed or went after that version; None when that is not known any
        more. A thing that went takes what hangs on it along: relationships, and of facts their
        entity."""

    def things(
        self, namespace: str, ids: Sequence[str]
    ) -> list[Entity | Relationship | Fact | Procedure | Preference]:
        """Those of these that exist; entities first."""

    def size(self, namespace: str, most: int) -> int:
        """How many entities and facts there are; counting ends at `most` of either."""

    def get_entity(self, namespace: str, entity_id: str) -> Entity | None: ...
    def entities(self, namespace: str) -> list[Entity]: ...
    def relationships(self, namespace: str, entity_id: str | None = None) -> list[Relationship]:
        """Of an entity in both directions, or all; most confident first."""

    def facts(
        self, namespace: str, *, entity_id: str | None = None, as_of: datetime | None = None
    ) -> list[Fact]:
        """Current ones (or those that held at `as_of`), most confident first."""

    def fact_history(self, namespace: str, entity_ids: Sequence[str]) -> list[Fact]:
        """All that was ever held of these entities, ended or not, oldest first."""

    def waiting(self, namespace: str, keys: Sequence[str] | None = None) -> list[Waiting]:
        """What was heard of things that are not entities yet; of these keys, or of all."""

    def procedures(self, namespace: str) -> list[Procedure]: ...
    def preferences(self, namespace: str) -> list[Preference]: ...
    def as_of(
        self, namespace: str, kind: ThingKind, moment: datetime
    ) -> list[Entity | Relationship | Fact | Procedure | Preference]:
        """Things of a kind as they were in the store at a moment, as far as the archive reaches.
        What was only said again since (strength, mentions, counts) is as it is now."""

    def search(self, namespace: str, query: str, limit: int) -> list[Entity | Fact | Procedure]:
        """By words, best first within each kind."""
