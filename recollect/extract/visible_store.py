"""A view of the store without what was forgotten or refused.

In: a store and its tombstones. Out: the same store for whoever shows memories to an agent or a
person. Writers read the store itself: an edit must not lose a line that is only hidden.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

import msgspec

from recollect.core.values import (
    Checkpoint,
    Entity,
    Fact,
    Preference,
    Procedure,
    Receipt,
    Record,
    Relationship,
    TurnWork,
)
from recollect.extract.tombstones import Tombstones
from recollect.store.interface import Hit, Page, Store

Thing = TypeVar("Thing", Entity, Relationship, Fact, Procedure, Preference)


def visible_store(store: Store, stones: Tombstones) -> Store:
    view: Any = _VisibleStore(store, stones)
    told: Store = view
    return told


class _View:
    """Passes everything through that a subclass does not override."""

    def __init__(self, whole: Any, stones: Tombstones) -> None:
        self._whole = whole
        self._stones = stones

    def __getattr__(self, name: str) -> Any:
        return getattr(self._whole, name)


class _VisibleStore(_View):
    def __init__(self, store: Store, stones: Tombstones) -> None:
        super().__init__(store, stones)
        self.records = _Records(store.records, stones)
        self.graph = _Graph(store.graph, stones)
        self.sessions = _Sessions(store.sessions, stones)
        self.receipts = _Receipts(store.receipts, stones)
        self.turn_works = _TurnWorks(store.turn_works, stones)


class _Records(_View):
    def get(self, *args: Any, **kwargs: Any) -> list[Record]:
        return self._visible(self._whole.get(*args, **kwargs))

    def page(self, *args: Any, **kwargs: Any) -> Page[Record]:
        page: Page[Record] = self._whole.page(*args, **kwargs)
        return Page(tuple(self._visible(page.items)), page.next)

    def beliefs(self, *args: Any, **kwargs: Any) -> list[Record]:
        return self._visible(self._whole.beliefs(*args, **kwargs))

    def search(self, *args: Any, **kwargs: Any) -> list[Hit]:
        return [
            Hit(told, hit.score, hit.by)
            for hit in self._whole.search(*args, **kwargs)
            if (told := self._stones.visible_record(hit.record)) is not None
        ]

    def _visible(self, records: Iterable[Record]) -> list[Record]:
        return [told for one in records if (told := self._stones.visible_record(one)) is not None]


class _Sessions(_View):
    def last_checkpoint(self, *args: Any, **kwargs: Any) -> Checkpoint | None:
        found = self._whole.last_checkpoint(*args, **kwargs)
        return None if found is None else self._stones.visible_checkpoint(found)


class _Receipts(_View):
    def get(self, *args: Any, **kwargs: Any) -> Receipt | None:
        found = self._whole.get(*args, **kwargs)
        return None if found is None else self._stones.visible_receipt(found)

    def page(self, *args: Any, **kwargs: Any) -> Page[Receipt]:
        page: Page[Receipt] = self._whole.page(*args, **kwargs)
        return Page(tuple(map(self._stones.visible_receipt, page.items)), page.next)


class _TurnWorks(_View):
    def stream(self, *args: Any, **kwargs: Any) -> Iterator[TurnWork]:
        found = map(self._stones.visible_work, self._whole.stream(*args, **kwargs))
        return (one for one in found if one is not None)


class _Graph(_View):
    """Without beliefs and relationships that state what was forgotten, and without entities of
    which nothing else is known."""

    def __init__(self, whole: Any, stones: Tombstones) -> None:
        super().__init__(whole, stones)
        self._hidden: dict[str, tuple[tuple[int, int], frozenset[str]]] = {}
        self.changes = whole.changes  # asked for at every prompt

    def facts(self, *args: Any, **kwargs: Any) -> list[Fact]:
        return self._visible(self._whole.facts(*args, **kwargs))

    def all(self, namespace: str, kind: type[Any], **which: Any) -> list[Any]:
        found: list[Any] = self._whole.all(namespace, kind, **which)
        if kind is Entity:
            return self._visible_entities(namespace, found)
        if kind is not Relationship:
            return self._visible(found)
        if not found or not self._stones.lookup(namespace).by_record:
            return found
        names = {one.entity_id: one.name for one in self._whole.all(namespace, Entity)}
        return [one for one in found if not self._stones.covers_relationship(one, names)]

    def things(self, namespace: str, ids: Sequence[str]) -> list[Any]:
        return self._mixed(namespace, self._whole.things(namespace, ids))

    def search(self, namespace: str, query: str, limit: int) -> list[Any]:
        return self._mixed(namespace, self._whole.search(namespace, query, limit))

    def _mixed(self, namespace: str, things: Iterable[Any]) -> list[Any]:
        found: list[Any] = []
        for one in things:
            match one:
                case Entity():
                    found += self._visible_entities(namespace, [one])
                case Relationship():
                    ends = self._whole.things(namespace, (one.source_id, one.target_id))
                    names = {end.entity_id: end.name for end in ends}
                    found += [] if self._stones.covers_relationship(one, names) else [one]
                case _:
                    found += self._visible([one])
        return found

    def _visible(self, things: Iterable[Any]) -> list[Any]:
        return [one for one in things if self._stones.is_visible(one)]

    def _visible_entities(self, namespace: str, entities: Sequence[Entity]) -> list[Entity]:
        if not entities or not self._stones.lookup(namespace).by_record:
            return list(entities)
        bare = self._hidden_entities(namespace)
        return [
            msgspec.structs.replace(
                one, description=self._stones.visible_text(namespace, one.description)
            )
            for one in entities
            if one.entity_id not in bare
        ]

    def _hidden_entities(self, namespace: str) -> frozenset[str]:
        """Entities of which only forgotten things are known."""
        state = self._whole.changes(namespace).version, self._stones.epoch
        known = self._hidden.get(namespace)
        if known is not None and known[0] == state:
            return known[1]
        spoken_of = [
            one for one in self._whole.all(namespace, Entity) if self._stones.mentions(one)
        ]
        bare = {one.entity_id for one in spoken_of}
        if bare:
            bare -= {one.entity_id for one in self._visible(self._whole.facts(namespace))}
            bare -= {
                end
                for one in self.all(namespace, Relationship)
                for end in (one.source_id, one.target_id)
            }
        found = frozenset(bare)
        self._hidden[namespace] = state, found
        return found
