"""The whole graph of a namespace: what is stored, and what its work shows, as one.

In: a namespace. Out: entities and relationships. An entity of the work that bears the name of a
stored one is that one, and its id leads there; what was forgotten is in neither.
"""

from datetime import datetime
from functools import cached_property

import msgspec

from recollect.core.entity_keys import key
from recollect.core.values import Entity, Relationship
from recollect.service.runtime import ServiceRuntime
from recollect.work.graph import is_from_work

# Types of stored entities that say less than, or the same as, a type of the work.
_SAME_TYPE = {"thing": "", "library": "package"}


class ProjectGraph:
    """As of one moment; for one request."""

    def __init__(
        self, runtime: ServiceRuntime, namespace: str, until: datetime | None = None
    ) -> None:
        self.namespace = namespace
        self._until = until
        self._stones = runtime.tombstones
        self._stored = runtime.visible_store.graph
        self._work = runtime.work.graph(namespace, until)

    def entities(self) -> list[Entity]:
        return list(self._entities.values())

    def get(self, entity_id: str) -> Entity | None:
        return self._entities.get(self._merged.get(entity_id, entity_id))

    def named(self, name: str) -> list[Entity]:
        """Those that bear a name; a file is also named by the end of its path."""
        wanted = name.strip().casefold()
        return [one for one in self._entities.values() if wanted and _bears(one, wanted)]

    def search(self, query: str, limit: int) -> list[Entity]:
        """By words: of stored entities as the store finds them, of others those whose name has
        them all."""
        words = query.casefold().split()
        stored = self._stored.search(self.namespace, query, limit)
        found = {
            one.entity_id: self._entities.get(one.entity_id, one)
            for one in stored
            if isinstance(one, Entity)
        }
        for one in self._entities.values():
            names = " ".join((one.name, *one.aliases)).casefold()
            if all(word in names for word in words):
                found.setdefault(one.entity_id, one)
        return list(found.values())

    def relationships(self, entity_id: str) -> list[Relationship]:
        """Of one entity in both directions: the stored ones, what the work shows, and the facts
        that connect it with another one."""
        entity_id = self._merged.get(entity_id, entity_id)
        found: list[Relationship] = []
        if not is_from_work(entity_id):
            found += self._stored.all(self.namespace, Relationship, of=entity_id)
        for work_id in (entity_id, *self._works_of.get(entity_id, ())):
            found += [one for one in self._of_work(work_id) if one.source_id != one.target_id]
        known = {(one.source_id, one.type, one.target_id) for one in found}
        return found + [
            one
            for one in self._facts.get(entity_id, ())
            if (one.source_id, one.type, one.target_id) not in known
        ]

    def name(self, entity_id: str) -> str:
        known = self._entities.get(entity_id)
        return known.name if known is not None else entity_id

    @cached_property
    def _facts(self) -> dict[str, list[Relationship]]:
        """Facts whose object is the name of an entity, by both of their ends."""
        named = {
            key(name): one.entity_id
            for one in self._entities.values()
            for name in (one.name, *one.aliases)
        }
        found: dict[str, list[Relationship]] = {}
        for fact in self._stored.facts(self.namespace, as_of=self._until):
            target = named.get(key(fact.object))
            if fact.entity_id is None or target in (None, fact.entity_id) or fact.sensitive:
                continue
            assert target is not None
            edge = Relationship(
                relationship_id=fact.fact_id, namespace=self.namespace, source_id=fact.entity_id,
                target_id=target, type=fact.predicate[:64], confidence=fact.confidence,
                source_type=fact.source_type, source_event_ids=fact.source_event_ids,
                valid_from=fact.valid_from, valid_until=fact.valid_until,
                created_at=fact.created_at, updated_at=fact.updated_at,
            )  # fmt: skip
            for end in (fact.entity_id, target):
                found.setdefault(end, []).append(edge)
        return found

    # --- two as one ---

    @cached_property
    def _entities(self) -> dict[str, Entity]:
        found = {one.entity_id: one for one in self._stored.all(self.namespace, Entity)}
        for one in self._work.entities():
            same = found.get(self._merged.get(one.entity_id, ""))
            if same is None:
                found[one.entity_id] = self._visible(one)
            else:
                found[same.entity_id] = msgspec.structs.replace(
                    same,
                    type=one.type if same.type in _SAME_TYPE else same.type,
                    description=same.description or self._visible(one).description,
                    mentions=max(same.mentions, one.mentions),
                )
        return found

    @cached_property
    def _merged(self) -> dict[str, str]:
        """Ids of the work's entities that are stored ones, with the ids of those."""
        return {
            one.entity_id: stored.entity_id
            for stored in self._stored.all(self.namespace, Entity)
            for name in (stored.name, *stored.aliases)
            for one in self._work.by_key.get(key(name), ())
            if one.type == stored.type or _SAME_TYPE.get(stored.type) in ("", one.type)
        }

    @cached_property
    def _works_of(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for work_id, stored_id in self._merged.items():
            found.setdefault(stored_id, []).append(work_id)
        return found

    def _of_work(self, work_id: str) -> list[Relationship]:
        found = []
        stones = self._stones.lookup(self.namespace).by_record
        for one in self._work.relationships(work_id):
            source, target = (self._merged.get(end, end) for end in (one.source_id, one.target_id))
            if (source, target) != (one.source_id, one.target_id):
                one = msgspec.structs.replace(one, source_id=source, target_id=target)
            names = {end: self.name(end) for end in (source, target)}
            if not stones or not self._stones.covers_relationship(one, names):
                found.append(one)
        return found

    def _visible(self, one: Entity) -> Entity:
        if not self._stones.lookup(self.namespace).by_record:
            return one
        told = self._stones.visible_text(self.namespace, one.description)
        return msgspec.structs.replace(one, description=told)


def _bears(entity: Entity, wanted: str) -> bool:
    names = [name.casefold() for name in (entity.name, *entity.aliases)]
    return wanted in names or (entity.type == "file" and names[0].endswith("/" + wanted))
