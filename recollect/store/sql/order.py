"""The order of a session: as it happened, however it arrived.

In: a session, and places in it. Out: its events by boot, within a boot by the monotonic clock, then
by number; only what is asked for is read. docs/decisions/order.md says why it is this order.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from recollect.core.values import EventKind, StoredEvent
from recollect.store.sql import rows
from recollect.store.sql.engine import Connection, Statement, both, column_list, filtered, ids_json

_EVENT = column_list(rows.EVENT_READ)
# The order of a session (docs/decisions/order.md) is boot, tick, number; `events_by_session` has
# it. Boots follow each other by the wall time of their earliest event: they are few, and found by
# leaping from one to the next.
_BOOT = "CASE WHEN boot_id IS NULL THEN '' ELSE boot_id END"
_TICK = "CASE WHEN mono_ns IS NULL THEN seq ELSE mono_ns END"
_SESSION = "namespace = $namespace AND session_id = $session_id"
PLACES = both(f"""
SELECT {_BOOT}, {_TICK}, seq FROM events
 WHERE {{by_key}}namespace = $namespace AND {{by_key}}session_id = $session_id
   AND seq IN {{numbers[seqs]}}
""")
_EARLIEST = f"(SELECT {{0}} FROM events WHERE {_SESSION} AND {_BOOT} = b.boot {{1}} LIMIT 1)".format
_BY_CLOCK = f"ORDER BY {_TICK}, seq"
SESSION_BOOTS = both(f"""
WITH RECURSIVE boots (boot) AS (
    SELECT boot FROM (SELECT {_BOOT} AS boot FROM events
                       WHERE {_SESSION} ORDER BY {_BOOT} LIMIT 1) AS first
    UNION ALL
    SELECT (SELECT {_BOOT} FROM events
             WHERE {_SESSION} AND {_BOOT} > b.boot ORDER BY {_BOOT} LIMIT 1)
      FROM boots AS b WHERE b.boot IS NOT NULL)
SELECT b.boot FROM boots AS b WHERE b.boot IS NOT NULL
 ORDER BY {_EARLIEST("valid_time", _BY_CLOCK)}, {_EARLIEST("seq", _BY_CLOCK)}
""")
# The bounds of the tick alone are for the planner, which uses no index for pairs.
_BETWEEN = f"""
  FROM events
 WHERE {_SESSION} AND {_BOOT} = $boot
   AND {_TICK} >= $after_tick AND {_TICK} <= $before_tick
   AND ({_TICK}, seq) > ($after_tick, $after_seq) AND ({_TICK}, seq) < ($before_tick, $before_seq)
"""
LATER_IN_BOOT = filtered(
    f"SELECT {_EVENT} {_BETWEEN}",
    {"kind": "kind = $kind"},
    f"{_BY_CLOCK} {{limit[limit]}}",
)
EARLIER_IN_BOOT = filtered(
    f"SELECT {_EVENT} {_BETWEEN}",
    {"kind": "kind = $kind"},
    f"ORDER BY {_TICK} DESC, seq DESC {{limit[limit]}}",
)
LOWEST_IN_BOOT = both(f"SELECT min({{by_key}}seq) {_BETWEEN}")

_LEAST, _MOST = -(2**63), 2**63 - 1


@dataclass(frozen=True, order=True)
class Place:
    """Where an event stands: in which boot, and where within it. What carries no clock stands in
    a boot of its own."""

    boot: str
    tick: int
    seq: int


def place_of(stored: StoredEvent) -> Place:
    tick = stored.seq if stored.mono_ns is None else stored.mono_ns
    return Place(stored.boot_id or "", tick, stored.seq)


class Walk:
    """Goes through one session, forwards or backwards from any place, within one snapshot."""

    def __init__(self, db: Connection, namespace: str, session_id: str) -> None:
        self._db = db
        self._session = {"namespace": namespace, "session_id": session_id}
        boots = self._run(SESSION_BOOTS, {})
        self._boots: dict[str, int] = {boot: number for number, (boot,) in enumerate(boots)}

    def key(self, place: Place) -> tuple[int, int, int]:
        return self._boots[place.boot], place.tick, place.seq

    def places(self, seqs: Iterable[int]) -> list[Place]:
        """Where events of these numbers stand, the earliest first; those that are not of this
        session are left out."""
        found = self._run(PLACES, {"seqs": ids_json(list(seqs))})
        return sorted((Place(*row) for row in found), key=self.key)

    def later(
        self,
        place: Place | None = None,
        *,
        until: Place | None = None,
        kind: EventKind | None = None,
        limit: int = -1,
    ) -> list[StoredEvent]:
        """What comes after a place, or from the beginning on, and before another."""
        return self._read(LATER_IN_BOOT, self._ranges(place, until), kind, limit)

    def earlier(
        self, place: Place | None, *, kind: EventKind | None = None, limit: int = -1
    ) -> list[StoredEvent]:
        """What comes before a place, or before the end, the last first."""
        ranges = reversed(list(self._ranges(None, place)))
        return self._read(EARLIER_IN_BOOT, ranges, kind, limit)

    def begin(self, place: Place, events: int | None) -> Place | None:
        """After which so many events stand before a place, or the last prompt before it; None when
        the session begins there."""
        if events is None:
            prompts = self.earlier(place, kind="prompt", limit=1)
            return just_before(prompts[0]) if prompts else None
        found = self.earlier(place, limit=events + 1)
        return place_of(found[events]) if len(found) > events else None

    def end(self, place: Place, events: int | None) -> Place | None:
        """Before which so many events stand after a place, or of the next prompt; None when the
        session ends there."""
        if events is None:
            prompts = self.later(place, kind="prompt", limit=1)
            return place_of(prompts[0]) if prompts else None
        found = self.later(place, limit=events + 1)
        return place_of(found[events]) if len(found) > events else None

    def lowest_after(self, place: Place) -> int:
        """The lowest number of what comes after a place."""
        found = [self._run(LOWEST_IN_BOOT, span) for span in self._ranges(place, None)]
        return min((number for ((number,),) in found if number is not None), default=_MOST)

    def _ranges(self, after: Place | None, before: Place | None) -> Iterator[dict[str, Any]]:
        """The part of each boot that lies between two places."""
        first = self._boots[after.boot] if after else 0
        last = self._boots[before.boot] if before else len(self._boots)
        for boot, number in self._boots.items():
            if first <= number <= last:
                low = after if after and number == first else Place(boot, _LEAST, _LEAST)
                high = before if before and number == last else Place(boot, _MOST, _MOST)
                yield {
                    "boot": boot,
                    "after_tick": low.tick,
                    "after_seq": low.seq,
                    "before_tick": high.tick,
                    "before_seq": high.seq,
                }

    def _read(
        self,
        statement: Statement,
        ranges: Iterable[dict[str, Any]],
        kind: EventKind | None,
        limit: int,
    ) -> list[StoredEvent]:
        found: list[StoredEvent] = []
        for span in ranges:
            if len(found) == limit:
                break
            left = limit - len(found) if limit >= 0 else -1
            read = self._run(statement, {**span, "kind": kind, "limit": left})
            found += [rows.read_event(row) for row in read]
        return found

    def _run(self, statement: Statement, given: dict[str, Any]) -> list[tuple[Any, ...]]:
        values = {**self._session, **given}
        return list(self._db.run(statement, values))


def just_before(stored: StoredEvent) -> Place:
    """The place after which this event is the first."""
    place = place_of(stored)
    return Place(place.boot, place.tick, place.seq - 1)


def in_order(
    db: Connection, namespace: str, events: Sequence[StoredEvent]
) -> tuple[StoredEvent, ...]:
    """Events of several sessions: each session's as they happened, in the places that its events
    have among the others."""
    sessions: dict[str, list[int]] = {}
    for at, one in enumerate(events):
        sessions.setdefault(one.event.session_id, []).append(at)
    ordered = list(events)
    for session_id, taken in sessions.items():
        mine = [events[at] for at in taken]
        if len({place_of(one).boot for one in mine}) == 1:
            mine.sort(key=place_of)
        else:
            walk = Walk(db, namespace, session_id)
            mine.sort(key=lambda one, walk=walk: walk.key(place_of(one)))  # type: ignore[misc]
        for at, one in zip(taken, mine, strict=True):
            ordered[at] = one
    return tuple(ordered)
