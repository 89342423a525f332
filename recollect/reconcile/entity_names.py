"""Finds the entity of a name, in all the ways in which it is written.

In: names as people and tools write them, and the known entities. Out: a key that is the same for
all forms of a name, and the entity that has it. Nothing here writes.

The key is a pure function of the name, so which names belong together does not depend on the order
in which they occur. Only a learned alias joins names with different keys.
"""

import threading
from collections.abc import Callable, Iterable

from recollect.core.entity_keys import key, tail
from recollect.core.values import Entity
from recollect.store.interface import Graph

MOST_HELD = 16  # namespaces whose names stay in memory


class EntityNames:
    """Entities by the keys of their names, their aliases, and the short forms of repositories.

    A short form leads to its owner only while it has one owner. Names can be layered: additions to
    the upper layer do not change the lower one, so that a batch can be planned before anything is
    written.
    """

    def __init__(self, entities: Iterable[Entity] = (), below: "EntityNames | None" = None) -> None:
        self._below = below
        self._by_id: dict[str, Entity] = {}
        self._touched: set[str] = set()  # of those below: no longer as they are there
        self._owners: dict[str, set[str]] = {}  # key: entities
        self._short: dict[str, set[str]] = {}  # short form: entities
        for entity in entities:
            self.add(entity)

    def add(self, entity: Entity) -> None:
        """Add or update an entity. Names that it no longer has still lead to it."""
        before = self.get(entity.entity_id)
        self._touched.add(entity.entity_id)
        self._by_id[entity.entity_id] = entity
        for one in (entity, before) if before is not None else (entity,):
            for known in _keys(one):
                self._owners.setdefault(known, set()).add(entity.entity_id)
                if short := tail(known):
                    self._short.setdefault(short, set()).add(entity.entity_id)

    def drop(self, entity_id: str) -> None:
        entity = self._by_id.pop(entity_id, None)
        self._touched.add(entity_id)
        for known in _keys(entity) if entity is not None else ():
            for owners, name in ((self._owners, known), (self._short, tail(known))):
                if name in owners:
                    owners[name].discard(entity_id)
                    if not owners[name]:
                        del owners[name]

    def get(self, entity_id: str) -> Entity | None:
        if entity_id in self._touched or self._below is None:
            return self._by_id.get(entity_id)
        return self._below.get(entity_id)

    def find(self, name: str) -> Entity | None:
        wanted = key(name)
        found = self._owner(wanted)
        if found is None:
            short_for = self._called_short(wanted)
            found = next(iter(short_for)) if len(short_for) == 1 else None
        if found is None and (short := tail(wanted)):
            # `org/repo` is what was called `repo` before, unless another `org/repo` is.
            held = self._owner(short)
            if held is not None and not self._called_short(short):
                found = held
        return self.get(found) if found is not None else None

    def _owner(self, known: str) -> str | None:
        """Of several entities the first by name."""
        owners = self._own(known, lambda names: names._owners)
        if len(owners) < 2:
            return next(iter(owners), None)
        return min(owners, key=lambda one: (((e := self.get(one)) and e.name) or "", one))

    def _called_short(self, short: str) -> set[str]:
        return self._own(short, lambda names: names._short)

    def _own(self, name: str, of: "Callable[[EntityNames], dict[str, set[str]]]") -> set[str]:
        own = {one for one in of(self).get(name, ()) if one in self._by_id}
        if self._below is not None:
            own |= {one for one in self._below._own(name, of) if one not in self._touched}
        return own


def _keys(entity: Entity) -> list[str]:
    return [known for name in (entity.name, *entity.aliases) if (known := key(name))]


class EntityNamesCache:
    """The names of each namespace, read once and then kept up to date."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._lock = threading.Lock()
        self._held: dict[str, tuple[int, EntityNames]] = {}

    def names(self, namespace: str) -> EntityNames:
        """To stand on. Whoever does must be done before the namespace's next batch."""
        with self._lock:
            version = self._graph.changes(namespace).version
            known = self._held.pop(namespace, None)
            names = self._followed(namespace, *known) if known is not None else None
            if names is None:
                names = EntityNames(self._graph.all(namespace, Entity))
            self._held[namespace] = version, names
            if len(self._held) > MOST_HELD:
                del self._held[next(iter(self._held))]
            return names

    def _followed(self, namespace: str, version: int, names: EntityNames) -> EntityNames | None:
        changed = self._graph.changes(namespace, version).ids
        if changed is None:
            return None
        for thing_id in changed:
            names.drop(thing_id)
        for thing in self._graph.things(namespace, sorted(changed)) if changed else ():
            if isinstance(thing, Entity):
                names.add(thing)
        return names
