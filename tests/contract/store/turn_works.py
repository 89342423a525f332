"""What was done in each turn."""

from datetime import timedelta

import msgspec

from recollect.core.clock import ManualClock
from recollect.core.values import Action, TurnWork
from recollect.store.interface import Selection, Store
from tests.make import NAMESPACE, arrival

OTHER = "/actor/ada/project/other/"


def work(turn_id: str, clock: ManualClock, session: str = "s", **more: object) -> TurnWork:
    fields: dict[str, object] = {
        "actions": (Action(how="edit", path="src/a.py"), Action(how="run", command="make test")),
        "commits": ("Cap retries",),
        "defines": (("CapRetries", "src/a.py"),),
        "edited": {"src/a.py": ("max_attempts", "CapRetries")},
        "terms": {"retri": 2},
        **more,
    }
    return TurnWork(
        turn_id=turn_id, namespace=NAMESPACE, session_id=session, at=clock.now(), **fields  # type: ignore[arg-type]
    )  # fmt: skip


class TurnWorksContract:
    def test_the_work_of_a_turn_comes_back_as_it_was(
        self, store: Store, clock: ManualClock
    ) -> None:
        one = work("0" * 26, clock, person="ada", branch="fix")
        later = msgspec.structs.replace(one, turn_id="1" * 26, at=clock.now() + timedelta(1))
        store.turn_works.put([later, one])
        assert list(store.turn_works.stream(NAMESPACE)) == [one, later]
        assert list(store.turn_works.stream(OTHER)) == []

    def test_a_turn_that_grew_takes_the_place_of_what_it_was(
        self, store: Store, clock: ManualClock
    ) -> None:
        one = work("0" * 26, clock)
        grown = msgspec.structs.replace(one, commits=("Cap retries", "Test it"))
        store.turn_works.put([one])
        store.turn_works.put([grown])
        assert list(store.turn_works.stream(NAMESPACE, "s")) == [grown]
        store.turn_works.delete(NAMESPACE, ["x"])
        assert list(store.turn_works.stream(NAMESPACE)) == [grown]
        store.turn_works.delete(NAMESPACE)
        assert list(store.turn_works.stream(NAMESPACE)) == []

    def test_the_newest_are_read_in_the_order_of_time_over_many_pages(
        self, store: Store, clock: ManualClock
    ) -> None:
        # Several at the same moment, so that a page ends in the midst of them.
        turns = [
            msgspec.structs.replace(
                work(f"{n:026}", clock, session=f"s{n % 3}"),
                at=clock.now() + timedelta(minutes=n // 7),
            )
            for n in range(450)
        ]
        store.turn_works.put(turns[::-1])
        assert list(store.turn_works.stream(NAMESPACE)) == turns
        assert list(store.turn_works.stream(NAMESPACE, "s1")) == turns[1::3]
        assert list(store.turn_works.stream(NAMESPACE)) == turns
        assert list(store.turn_works.stream(NAMESPACE, newest=9)) == turns[-9:]
        assert list(store.turn_works.stream(NAMESPACE, newest=450)) == turns
        assert list(store.turn_works.stream(OTHER, newest=9)) == []

    def test_nothing_is_left_of_an_event_that_was_erased(
        self, store: Store, clock: ManualClock
    ) -> None:
        kept, gone = arrival(session_id="kept"), arrival(session_id="gone")
        store.events.put([kept, gone])
        store.turn_works.put(
            [
                work(kept.event.event_id, clock, session="kept"),
                work(gone.event.event_id, clock, session="gone"),
            ]
        )
        store.bulk.erase(NAMESPACE, Selection(session_id="gone"), "ada")
        assert [one.session_id for one in store.turn_works.stream(NAMESPACE)] == ["kept"]
