"""Entities, how they are related, and what is known of them; procedures and preferences."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, TypeVar

from recollect.core.values import (
    Entity,
    Fact,
    Preference,
    Procedure,
    Relationship,
)

T = TypeVar("T", Entity, Relationship, Fact, Procedure, Preference)


@dataclass(frozen=True)
class GraphChanges:
    """`version` grows with every committed change of a namespace's graph; it begins anew with the
    store. `ids` are of what came, changed or went since the version that was asked about; None when
    that is not known any more, or was not asked. A thing that went takes what hangs on it along:
    relationships, and of facts their entity."""

    version: int
    ids: frozenset[str] | None


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

    def changes(self, namespace: str, since: int | None = None) -> GraphChanges:
        """The version of a namespace's graph, and what changed after an earlier one."""

    def things(
        self, namespace: str, ids: Sequence[str]
    ) -> list[Entity | Relationship | Fact | Procedure | Preference]:
        """Those of these that exist; entities first."""

    def size(self, namespace: str, most: int) -> int:
        """How many entities and facts there are; counting ends at `most` of either."""

    def all(
        self,
        namespace: str,
        kind: type[T],
        *,
        of: str | None = None,
        as_of: datetime | None = None,
    ) -> list[T]:
        """Entities by name, procedures, preferences, relationships or current facts: all of a kind,
        or the relationships `of` an entity in both directions, most confident first. With `as_of`
        as they were in the store at that moment, as far as the archive reaches, by id; what was
        only said again since (strength, mentions, counts) is as it is now."""

    def facts(
        self,
        namespace: str,
        entity_ids: Sequence[str] | None = None,
        *,
        as_of: datetime | None = None,
        ended: bool = False,
    ) -> list[Fact]:
        """Current ones (or those that held at `as_of`), of these entities or all, most confident
        first. With `ended` all that was ever held of these entities, oldest first."""

    def waiting(self, namespace: str, keys: Sequence[str] | None = None) -> list[Waiting]:
        """What was heard of things that are not entities yet; of these keys, or of all."""

    def search(self, namespace: str, query: str, limit: int) -> list[Entity | Fact | Procedure]:
        """By words, best first within each kind."""
