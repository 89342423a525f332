"""What every backend does with events and the extraction buffer."""

import random
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone

import msgspec
import pytest

from recollect.core import errors, ids
from recollect.core.clock import ManualClock
from recollect.core.values import ChatMessage, EventKind, JsonBody, MessageBody, StoredEvent
from recollect.store.interface import Counted, Cursor, Store, Transaction
from tests.fakes.stored import set_aside_in
from tests.make import NAMESPACE, NOON, arrival, event, record

OTHER = "/actor/ada/project/engine2/"


def said(events: Sequence[StoredEvent]) -> list[str]:
    return [getattr(one.event.body, "content", "") for one in events]


def ids_of(events: Sequence[StoredEvent]) -> list[str]:
    return [one.event.event_id for one in events]


def paged(store: Store, session_id: str, kind: EventKind | None) -> list[StoredEvent]:
    """A session in pages of 7, the last event first."""
    found: list[StoredEvent] = []
    cursor = None
    while True:
        page = store.events.page(
            NAMESPACE, session_id=session_id, kind=kind, before=cursor, limit=7
        )
        found += page.items
        if page.next is None:
            return found
        cursor = Cursor.parse(str(page.next))


def turn_of(whole: Sequence[StoredEvent], at: int) -> tuple[StoredEvent, ...]:
    """From the last prompt before an event up to the next one after it."""
    prompts = [number for number, one in enumerate(whole) if one.event.kind == "prompt"]
    begin = max((number for number in prompts if number < at), default=0)
    end = min((number for number in prompts if number > at), default=len(whole))
    return tuple(whole[begin:end])


class EventsContract:
    def test_a_part_of_a_session_is_read_around_some_of_its_events(self, store: Store) -> None:
        for number in range(12):
            store.events.put([arrival(session_id="s", boot_id="b", mono_ns=100 - number)])
            store.events.put([arrival(session_id="other")])
        whole = store.events.session(NAMESPACE, "s")
        assert [one.mono_ns for one in whole] == list(range(89, 101))
        chosen = [whole[5].seq, whole[7].seq]
        assert store.events.session(NAMESPACE, "s", around=chosen, before=2, after=1) == whole[3:9]
        assert store.events.session(NAMESPACE, "s", around=chosen, before=5, after=4) == whole
        assert store.events.session(NAMESPACE, "s", around=chosen, before=9, after=9) == whole
        assert store.events.session(NAMESPACE, "s", 3) == whole[:3]
        assert store.events.session(OTHER, "s", around=chosen, before=0, after=3) == ()
        assert store.events.session(NAMESPACE, "other", around=chosen, before=0, after=3) == ()
        assert store.events.session(OTHER, "s", 3) == ()

    def test_an_event_comes_back_as_it_was(self, store: Store) -> None:
        bodies = [
            event().body,
            MessageBody(
                turns=(
                    ChatMessage(role="user", content="a"),
                    ChatMessage(role="assistant", content="b"),
                )
            ),
            JsonBody(data={"tool": "Bash", "input": {"n": [1, 2.5, None, True, "é\n\"'"]}}),
        ]
        moment = datetime(2026, 3, 4, 5, 6, 7, 891011, tzinfo=timezone(timedelta(hours=-7)))
        for body in bodies:
            one = arrival(
                body=body, valid_time=moment, kind="note", boot_id="boot-7", mono_ns=2**62
            )
            assert store.events.put([one])[0].status == "stored"
            back = store.events.get(NAMESPACE, one.event.event_id)
            assert back is not None
            assert back.event == one.event
            assert back.event.valid_time.utcoffset() == moment.utcoffset()
            assert (back.boot_id, back.mono_ns) == ("boot-7", 2**62)

    def test_a_repeat_is_a_no_op_that_keeps_the_first_transaction_time(
        self, store: Store, clock: ManualClock
    ) -> None:
        one = arrival(digest="d1")
        first = store.events.put([one])[0]
        before = store.events.get(NAMESPACE, one.event.event_id)
        clock.advance(hours=1)
        again = store.events.put([one])[0]
        assert (first.status, again.status, again.seq) == ("stored", "duplicate", first.seq)
        assert store.events.get(NAMESPACE, one.event.event_id) == before
        assert len(store.events.page(NAMESPACE).items) == 1

    def test_the_same_id_with_other_content_is_refused_and_the_first_stays(
        self, store: Store
    ) -> None:
        one = arrival("first", digest="d1")
        other = arrival("second", digest="d2", event_id=one.event.event_id)
        store.events.put([one])
        assert store.events.put([other])[0].status == "conflict"
        back = store.events.get(NAMESPACE, one.event.event_id)
        assert back is not None and back.event == one.event

    def test_the_same_id_in_another_namespace_is_refused(self, store: Store) -> None:
        one = arrival()
        store.events.put([one])
        moved = msgspec.structs.replace(
            one, event=msgspec.structs.replace(one.event, namespace=OTHER)
        )
        assert store.events.put([moved])[0].status == "conflict"
        assert store.events.get(OTHER, one.event.event_id) is None

    def test_an_unknown_event_is_none(self, store: Store) -> None:
        assert store.events.get(NAMESPACE, ids.new_ulid()) is None

    def test_prompts_are_numbered_within_their_session(self, store: Store) -> None:
        arrivals = [
            arrival(kind=kind, session_id=session)
            for kind, session in [
                ("prompt", "a"), ("note", "a"), ("prompt", "b"), ("prompt", "a"),
            ]
        ]  # fmt: skip
        store.events.put(arrivals)
        found = [store.events.get(NAMESPACE, one.event.event_id) for one in arrivals]
        assert [one.prompt_number for one in found if one] == [1, None, 1, 2]

    def test_pages_meet_every_event_once_while_others_arrive(self, store: Store) -> None:
        wanted = [arrival(str(number)) for number in range(25)]
        store.events.put(wanted)
        seen, cursor = [], None
        while True:
            page = store.events.page(NAMESPACE, before=cursor, limit=4)
            seen += [one.event.event_id for one in page.items]
            store.events.put([arrival("meanwhile")])
            if page.next is None:
                break
            cursor = Cursor.parse(str(page.next))
        assert seen == [one.event.event_id for one in reversed(wanted)]

    def test_pages_are_narrowed_by_session_and_kind(self, store: Store) -> None:
        store.events.put([arrival(session_id="a"), arrival(session_id="b", kind="note")])
        assert len(store.events.page(NAMESPACE, session_id="a").items) == 1
        assert len(store.events.page(NAMESPACE, kind="note").items) == 1
        assert not store.events.page(NAMESPACE, session_id="a", kind="note").items

    def test_a_sessions_order_ignores_the_wall_clock(self, store: Store) -> None:
        arrivals = [
            arrival("third", boot_id="b1", mono_ns=300, valid_time=NOON - timedelta(days=1)),
            arrival("second", boot_id="b1", mono_ns=200, valid_time=NOON + timedelta(days=1)),
            arrival("first", boot_id="b1", mono_ns=100, valid_time=NOON),
        ]
        for one in arrivals:
            store.events.put([one])
        assert said(store.events.session(NAMESPACE, "session-1")) == ["first", "second", "third"]

    def test_boots_follow_each_other_by_the_wall_time_of_their_earliest_event(
        self, store: Store
    ) -> None:
        """The rest of a boot may come from the spool, when the next one has long begun."""
        later = NOON + timedelta(hours=1)
        store.events.put([arrival("after reboot", boot_id="a", mono_ns=5, valid_time=later)])
        store.events.put([arrival("last", boot_id="a", mono_ns=9, valid_time=NOON)])
        store.events.put([arrival("second", boot_id="b", mono_ns=900, valid_time=later)])
        store.events.put([arrival("first", boot_id="b", mono_ns=800, valid_time=NOON)])
        order = ["first", "second", "after reboot", "last"]
        assert said(store.events.session(NAMESPACE, "session-1")) == order

    def test_events_without_a_clock_stand_as_they_came(self, store: Store) -> None:
        for text, days in (("a", 2), ("b", 0), ("c", 1)):
            store.events.put([arrival(text, valid_time=NOON + timedelta(days=days))])
        store.events.put(
            [arrival("d", boot_id="b", mono_ns=1, valid_time=NOON + timedelta(days=3))]
        )
        assert said(store.events.session(NAMESPACE, "session-1")) == ["a", "b", "c", "d"]

    def test_every_reading_of_a_session_has_its_order(self, store: Store) -> None:
        """However its events arrived: whole, in pages, in parts, and as batches for extraction."""
        dice = random.Random(7)
        for spread in range(4):
            session = f"shuffled {spread}"
            wanted = [
                arrival(
                    f"{boot} {tick}",
                    session_id=session,
                    kind=dice.choice(["prompt", "tool_use", "note"]),
                    boot_id=f"boot {9 - boot}",
                    mono_ns=tick,
                    valid_time=NOON + timedelta(hours=boot),
                )
                for boot in range(3)
                for tick in range(12)
            ]
            arrived = list(wanted)
            dice.shuffle(arrived)
            for start in range(0, len(arrived), 5):
                store.events.put(arrived[start : start + 5])
            order = [one.event.event_id for one in wanted]
            whole = store.events.session(NAMESPACE, session)
            assert ids_of(whole) == order
            assert ids_of(paged(store, session, None)) == order[::-1]
            prompts = [one.event.event_id for one in wanted if one.event.kind == "prompt"]
            assert ids_of(paged(store, session, "prompt")) == prompts[::-1]
            for at in range(len(whole)):
                here = [whole[at].seq]
                part = store.events.session(NAMESPACE, session, around=here, before=3, after=3)
                assert part == whole[max(0, at - 3) : at + 4]
                assert store.events.session(NAMESPACE, session, around=here) == turn_of(whole, at)
                lowest = min(one.seq for one in whole[at:])
                assert store.events.position(NAMESPACE, session, whole[at].seq) == lowest
        claimed = store.events.claim(NAMESPACE, 1000, 1 << 30)
        assert claimed is not None and len(claimed.events) == 4 * 36
        for spread in range(4):
            session = f"shuffled {spread}"
            mine = [one for one in claimed.events if one.event.session_id == session]
            assert tuple(mine) == store.events.session(NAMESPACE, session)

    def test_pages_of_a_session_meet_every_event_once_while_late_ones_arrive(
        self, store: Store
    ) -> None:
        there = [arrival(str(tick), boot_id="b", mono_ns=tick) for tick in range(0, 40, 2)]
        store.events.put(there)
        seen, cursor = [], None
        for late in range(1, 40, 2):
            page = store.events.page(NAMESPACE, session_id="session-1", before=cursor, limit=3)
            seen += [one.event.event_id for one in page.items]
            store.events.put([arrival("late", boot_id="b", mono_ns=late)])
            if page.next is None:
                break
            cursor = Cursor.parse(str(page.next))
        wanted = [one.event.event_id for one in reversed(there)]
        assert [one for one in seen if one in wanted] == wanted
        assert len(seen) == len(set(seen))

    def test_a_page_that_begins_at_an_event_that_is_gone_says_so(self, store: Store) -> None:
        store.events.put([arrival("a"), arrival("b")])
        with pytest.raises(errors.BadCursor, match="no longer"):
            store.events.page(NAMESPACE, session_id="session-1", before=Cursor(2**40, "gone"))

    def test_text_that_is_not_unicode_is_refused_with_a_reason(self, store: Store) -> None:
        with pytest.raises(errors.BadInput, match="Unicode"):
            store.events.put([arrival("\ud800")])


class BufferContract:
    def test_a_claimed_batch_is_not_claimed_twice_until_released(self, store: Store) -> None:
        store.events.put([arrival(str(n)) for n in range(5)])
        first = store.events.claim(NAMESPACE, 3, 1 << 20)
        second = store.events.claim(NAMESPACE, 10, 1 << 20)
        assert first is not None and second is not None
        assert (len(first.events), len(second.events)) == (3, 2)
        assert store.events.claim(NAMESPACE, 10, 1 << 20) is None
        store.events.release(first)
        again = store.events.claim(NAMESPACE, 10, 1 << 20)
        assert again is not None and again.events == first.events

    def test_a_claim_takes_at_least_one_event_however_large(self, store: Store) -> None:
        store.events.put([arrival("x" * 5000), arrival("y")])
        batch = store.events.claim(NAMESPACE, 10, 100)
        assert batch is not None and len(batch.events) == 1

    def test_finish_is_atomic_with_the_memories_of_the_run(self, store: Store) -> None:
        store.events.put([arrival("a"), arrival("b")])
        batch = store.events.claim(NAMESPACE, 1, 1 << 20)
        assert batch is not None

        def failing(tx: Transaction) -> None:
            tx.put_record(record("half"))
            tx.finish(batch)
            raise RuntimeError("the run died")

        with pytest.raises(RuntimeError, match="the run died"):
            store.transaction(failing)
        assert not store.records.page(NAMESPACE).items
        assert store.events.backlog()[0].count == 2

        def whole(tx: Transaction) -> None:
            tx.put_record(record("whole"))
            tx.finish(batch)

        store.transaction(whole)
        assert [one.title for one in store.records.page(NAMESPACE).items] == ["whole"]
        left = store.events.claim(NAMESPACE, 10, 1 << 20)
        assert left is not None
        assert [getattr(one.event.body, "content", "") for one in left.events] == ["b"]

    def test_what_arrives_during_a_run_stays_in_line(self, store: Store) -> None:
        store.events.put([arrival("a")])
        batch = store.events.claim(NAMESPACE, 10, 1 << 20)
        assert batch is not None
        store.events.put([arrival("late")])
        store.transaction(lambda tx: tx.finish(batch))
        assert store.events.backlog()[0].count == 1

    def test_a_batch_that_keeps_failing_is_set_aside_with_its_reason_and_can_be_retried(
        self, store: Store
    ) -> None:
        store.events.put([arrival("poison")])
        for attempt in range(3):
            batch = store.events.claim(NAMESPACE, 10, 1 << 20, Counted("it never ended", 3))
            assert batch is not None
            aside_now = store.events.release(batch, failed="garbage")
            assert aside_now == (1 if attempt == 2 else 0)
        assert store.events.claim(NAMESPACE, 10, 1 << 20) is None
        assert (store.events.backlog()[0].count, store.events.backlog()[0].quarantined) == (0, 1)
        (aside,) = set_aside_in(store)
        assert (aside.failures, aside.reason, aside.kind) == (3, "garbage", "prompt")
        assert store.events.retry(NAMESPACE) == 1
        assert set_aside_in(store) == []
        assert store.events.claim(NAMESPACE, 10, 1 << 20) is not None

    def test_a_run_that_was_begun_counts_though_nobody_says_how_it_ended(
        self, store: Store
    ) -> None:
        store.events.put([arrival("poison")])
        counted = Counted("it never ended", 2)
        batch = store.events.claim(NAMESPACE, 10, 1 << 20, counted)
        assert batch is not None
        store.events.release(batch, failed="garbage")
        assert set_aside_in(store) == []
        assert store.events.claim(NAMESPACE, 10, 1 << 20, counted) is not None
        (aside,) = set_aside_in(store)
        assert (aside.failures, aside.reason) == (2, "it never ended")

    def test_the_last_run_that_is_begun_may_still_end_well(self, store: Store) -> None:
        store.events.put([arrival("slow")])
        batch = store.events.claim(NAMESPACE, 10, 1 << 20, Counted("it never ended", 1))
        assert batch is not None
        store.transaction(lambda tx: tx.finish(batch))
        assert set_aside_in(store) == [] and store.events.backlog() == []

    def test_a_run_that_is_given_back_does_not_count(self, store: Store) -> None:
        store.events.put([arrival("patient")])
        for _ in range(4):
            batch = store.events.claim(NAMESPACE, 10, 1 << 20, Counted("it never ended", 1))
            assert batch is not None
            store.events.release(batch)
        assert set_aside_in(store) == []

    def test_what_failed_before_is_tried_with_fewer_others(self, store: Store) -> None:
        store.events.put([arrival(str(number)) for number in range(100)])
        sizes = []
        for _ in range(3):
            batch = store.events.claim(NAMESPACE, 64, 1 << 20, Counted("it never ended", 3))
            assert batch is not None
            sizes.append(len(batch.events))
            store.events.release(batch, failed="garbage")
        assert sizes == [64, 8, 1]
        assert len(set_aside_in(store)) == 1
