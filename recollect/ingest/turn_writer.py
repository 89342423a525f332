"""Writes turns (records of kind `episode`) in a thread, so that no hook waits for it.

In: committed events. Out: one record per turn. What a crash left unwritten is written at the next
start, from the events.
"""

import contextlib
import functools
import logging
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from datetime import datetime, timedelta

import msgspec

from recollect.core import ids
from recollect.core.errors import StoreError
from recollect.core.values import Citation, Record, StoredEvent
from recollect.ingest.counters import Counters
from recollect.ingest.memories import Memories
from recollect.ingest.messages import Notice
from recollect.ingest.turns import TurnBuilder, stands_alone, turns_of
from recollect.store.interface import Cursor, RecordFilter, Store
from recollect.work.cache import WorkCache

log = logging.getLogger(__name__)

IDLE_S = 30.0
_TICK_S = 5.0
_BATCH = 200
_LOOK_BACK = timedelta(hours=1)
ACTOR = "scribe"
_Key = tuple[str, str]


def _no_citations(paths: Iterable[str], where: str | None) -> tuple[Citation, ...]:
    return ()


class TurnWriter:
    def __init__(
        self,
        store: Store,
        memories: Memories,
        counters: Counters,
        cite: Callable[[Iterable[str], str | None], tuple[Citation, ...]] = _no_citations,
        work: WorkCache | None = None,
    ) -> None:
        self._store = store
        self._work = work or WorkCache(store)
        self._cite = cite
        self._memories = memories
        self._counters = counters
        self._queue: queue.SimpleQueue[tuple[str, str, str] | None] = queue.SimpleQueue()
        self._open: dict[_Key, tuple[TurnBuilder, float]] = {}
        self._ready: list[TurnBuilder] = []
        # Events, by number, whose turn must be looked up.
        self._unplaced: dict[_Key, dict[int, str]] = {}
        self._work_lock = threading.RLock()
        self._progress = threading.Condition()
        self._received = 0
        self._done = 0
        self._thread = threading.Thread(target=self._loop, name="recollect-turns", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Write the open turns, then stop."""
        self._queue.put(None)
        if self._thread.is_alive():
            self._thread.join()

    def on_event(self, notice: Notice) -> None:
        """An event was committed."""
        event = notice.stored.event
        with self._progress:
            self._received += 1
        self._queue.put((event.namespace, event.session_id, event.event_id))

    def wait(self, seconds: float) -> bool:
        """Wait until everything received so far is written; for tests and demonstrations."""
        with self._progress:
            wanted = self._received
            return self._progress.wait_for(lambda: self._done >= wanted, seconds)

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Write the open turns and pause. Whoever erases or moves events must not have them open
        here, where they would be written again."""
        with self._work_lock:
            self._rebuild_late()
            self._flush(list(self._open))
            self._commit()
            yield

    # --- the thread ---

    def _loop(self) -> None:
        with self._work_lock:
            behind = not self._guarded(self._catch_up)
        stopping = False
        while not stopping:
            items, stopping = self._gather()
            with self._work_lock:
                if not items:
                    self._guarded(self._flush_idle)
                    # What could not be read before is read now.
                    behind = behind and not self._guarded(self._catch_up)
                for item in items:
                    behind = not self._guarded(functools.partial(self._take, *item)) or behind
                behind = not self._guarded(self._rebuild_late) or behind
                if stopping:
                    self._guarded(lambda: self._flush(list(self._open)))
                self._guarded(self._commit)
            with self._progress:
                self._done += len(items)
                self._progress.notify_all()

    def _gather(self) -> tuple[list[tuple[str, str, str]], bool]:
        """A batch of received events, and whether it is the last one."""
        items = []
        try:
            item = self._queue.get(timeout=_TICK_S)
            while item is not None:
                items.append(item)
                if len(items) == _BATCH:
                    return items, False
                item = self._queue.get_nowait()
        except queue.Empty:
            return items, False
        return items, True

    def _guarded(self, work: Callable[[], None]) -> bool:
        """Run, and go on when the store cannot write now: the events are safe."""
        try:
            self._skipping_bad_turns(work)
        except StoreError as error:
            log.error("episodes: %s", error)
            self._counters.error(f"episodes: {error}")
            return False
        return True

    def _skipping_bad_turns(self, work: Callable[[], None]) -> None:
        """Skip a turn that cannot be written for a reason of its own, so that it does not block the
        others. Raises StoreError, which concerns all of them."""
        try:
            work()
        except StoreError:
            raise
        except Exception as error:
            log.exception("an episode is left out")
            self._counters.error(f"an episode is left out: {error}")

    def _take(self, namespace: str, session_id: str, event_id: str) -> None:
        stored = self._store.events.get(namespace, event_id)
        if stored is None:
            return
        key = (namespace, session_id)
        if stands_alone(stored.event):
            self._write(turns_of([stored]))
            return
        if stored.event.kind == "note":
            self._flush([key])
            return
        known = self._open.get(key)
        if known is None or key in self._unplaced or not known[0].is_before(stored):
            # It is the first one here or came late: the store knows its turn.
            self._unplaced.setdefault(key, {})[stored.seq] = event_id
            return
        turn = known[0]
        if stored.event.kind == "prompt":
            self._flush([key])
            turn = TurnBuilder(stored)
        turn.add(stored)
        self._open[key] = (turn, time.monotonic())
        if stored.event.kind == "session_summary":
            self._write([turn])

    def _write(self, turns: Iterable[TurnBuilder]) -> None:
        self._ready += [turn for turn in turns if turn.dirty]

    def _rebuild_late(self) -> None:
        """Rebuild the turns of events that came late or first."""
        for key, found in list(self._unplaced.items()):
            placed: set[int] = set()
            for seq in found:
                if seq in placed:
                    continue
                events = self._store.events.session(*key, around=[seq])
                self._rebuild_turns(key, events, set(found.values()))
                # A prompt at the beginning also ends the turn before it, which this part lacks.
                placed.update(one.seq for one in events[1:])
            del self._unplaced[key]

    def _rebuild_turns(self, key: _Key, events: Sequence[StoredEvent], new: Set[str]) -> None:
        """Build turns from a part of a session that holds them completely. The last turn of the
        session stays open; earlier records of these turns are removed."""
        namespace, session_id = key
        here = {one.event.event_id for one in events}
        self._ready = [turn for turn in self._ready if turn.first.event.event_id not in here]
        known = self._open.get(key)
        if known is not None and known[0].first.event.event_id in here:
            del self._open[key]
        turns = turns_of(events)
        inner = here - {turn.first.event.event_id for turn in turns}
        self._remove(namespace, inner)
        self._work.delete(namespace, session_id, inner)
        changed = self._unwritten(namespace, turns, new)
        newest = self._store.events.page(namespace, session_id=session_id, limit=1).items
        last = next((turn for turn in reversed(turns) if not stands_alone(turn.first.event)), None)
        if last is not None and newest and newest[0].event.event_id in here:
            last.dirty = last in changed
            self._open[key] = (last, time.monotonic())
            if not last.answered:
                changed = [turn for turn in changed if turn is not last]  # it goes on
        self._write(changed)

    def _remove(self, namespace: str, event_ids: Set[str]) -> None:
        """Remove the records of turns that began with one of these events, which is now in the
        middle of another turn."""
        wanted = [ids.RECORD + event_id for event_id in sorted(event_ids)]
        stale = [
            one.record_id
            for one in self._store.records.get(namespace, wanted)
            if one.is_whole_turn and not one.pinned
        ]
        if stale:
            self._memories.delete(namespace, stale, ACTOR, "its turn begins with an earlier event")

    def _commit(self) -> None:
        """Write everything that is ready in one transaction."""
        ready = list({turn.first.event.event_id: turn for turn in self._ready}.values())
        if not ready:
            return
        for turn in ready:
            event = turn.first.event
            turn.position = self._store.events.position(
                event.namespace, event.session_id, turn.first.seq
            )
        try:
            self._put(ready)
        except StoreError:
            raise
        except Exception:  # noqa: BLE001 - it is told of the one that it is about
            for turn in ready:
                self._skipping_bad_turns(functools.partial(self._put, [turn]))
        self._ready = []
        for turn in ready:
            turn.dirty = False
        self._counters.count("turns written", len(ready))

    def _put(self, turns: list[TurnBuilder]) -> None:
        # First what was done: after a crash in between, the turn is written again, with both.
        self._put_work(turns)
        turns = [turn for turn in turns if turn.has_content]
        episodes = self._without_deleted([turn.episode() for turn in turns])
        where = {ids.RECORD + turn.first.event.event_id: turn.first.event.source for turn in turns}
        self._memories.replace(
            [
                msgspec.structs.replace(
                    one, citations=self._cite(one.files, where[one.record_id].project_path)
                )
                for one in episodes
            ]
        )

    def _without_deleted(self, episodes: list[Record]) -> list[Record]:
        """Without those that were forgotten or deleted, which are not written again."""
        namespaces = {one.namespace for one in episodes}
        gone = {
            record_id
            for namespace in namespaces
            for record_id in self._store.aging.gone(
                namespace, [one.record_id for one in episodes if one.namespace == namespace]
            )
        }
        return [one for one in episodes if one.record_id not in gone]

    def _flush(self, keys: list[_Key]) -> None:
        for key in keys:
            known = self._open.pop(key, None)
            if known is not None:
                self._write([known[0]])

    def _flush_idle(self) -> None:
        """Write turns that are idle as they are."""
        now = time.monotonic()
        for turn, since in list(self._open.values()):
            if turn.dirty and now - since > IDLE_S:
                self._write([turn])

    def _catch_up(self) -> None:
        """Rebuild the turns of sessions with events after the newest stored turn."""
        for namespace in self._store.projects.namespaces():
            newest = self._store.records.page(
                namespace, RecordFilter(kind="episode"), limit=1
            ).items
            edge = newest[0].created_at - _LOOK_BACK if newest and newest[0].created_at else None
            for session_id in self._sessions_since(namespace, edge):
                self._skipping_bad_turns(
                    functools.partial(self._rebuild_session, namespace, session_id)
                )
            self._skipping_bad_turns(functools.partial(self.derive_work, namespace))

    def _rebuild_session(self, namespace: str, session_id: str) -> None:
        events = self._store.events.session(namespace, session_id)
        self._rebuild_turns((namespace, session_id), events, frozenset())
        self._flush([(namespace, session_id)])
        self._commit()

    def rebuild_work(self) -> int:
        """Make the work index anew from the events; returns how many turns it has now. A session
        that a crash leaves out is made at the next start."""
        count = 0
        for namespace in self._store.projects.namespaces():
            with self.paused():
                self._store.turn_works.delete(namespace)
                self.derive_work(namespace)
            count += sum(1 for _ in self._store.turn_works.stream(namespace))
        return count

    def derive_work(self, namespace: str) -> None:
        """Make what was done in the turns of sessions without such rows: stored by an earlier
        version, imported as rows, or taken away because an event was erased, moved or scrubbed. Of
        turns that were forgotten or merged, too: readers do not see the former."""
        with self._work_lock:
            self._work.drop(namespace)
            for session_id in self._store.turn_works.missing(namespace):
                self._put_work(turns_of(self._store.events.session(namespace, session_id)))

    def _put_work(self, turns: Sequence[TurnBuilder]) -> None:
        done = [turn.work.build() for turn in turns]
        self._work.put([one for one in done if one is not None])

    def _sessions_since(self, namespace: str, edge: datetime | None) -> list[str]:
        """Sessions by when the store received them: imported events happened long before."""
        found: dict[str, None] = {}
        cursor: Cursor | None = None
        while True:
            page = self._store.events.page(namespace, before=cursor, limit=_BATCH)
            for stored in page.items:
                if edge is not None and stored.transaction_time < edge:
                    return list(found)
                found.setdefault(stored.event.session_id)
            cursor = page.next
            if cursor is None:
                return list(found)

    def _unwritten(
        self, namespace: str, turns: list[TurnBuilder], new: Set[str]
    ) -> list[TurnBuilder]:
        """Turns without a record, or whose record lacks events; turns with new events in any
        case."""
        wanted = {
            turn.episode().record_id: turn
            for turn in turns
            if turn.has_content or not new.isdisjoint(turn.events)
        }
        known = self._store.records.get(namespace, list(wanted))
        for one in known:
            turn = wanted[one.record_id]
            same = one.source_event_ids == turn.episode().source_event_ids
            if same and new.isdisjoint(turn.events):
                del wanted[one.record_id]
        there = {one.record_id for one in known}
        # What was deleted or moved is not written again.
        return [
            turn
            for record_id, turn in wanted.items()
            if record_id in there or not self._store.log.versions(namespace, record_id)
        ]
