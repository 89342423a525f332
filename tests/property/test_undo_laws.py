"""Laws of undo as people and agents meet it, above the tombstones, for any order of changes."""

import contextlib
import tempfile

from hypothesis import example, given, settings
from hypothesis import strategies as st

from recollect.core.clock import ManualClock
from recollect.core.errors import CannotUndo, NotFound
from recollect.core.settings import Settings
from recollect.daemon.runtime import Runtime
from recollect.service import read, write
from recollect.service.search import SearchQuery, search
from recollect.service.undo import undo_operation
from tests.make import NAMESPACE
from tests.property.test_lifecycle_laws import _MEMORY

# (what, which memory or change). A change is counted from the newest one.
Step = tuple[str, int]
steps: st.SearchStrategy[list[Step]] = st.lists(
    st.tuples(
        st.sampled_from(["add", "edit", "edit", "forget", "never", "undo", "undo", "undo newest"]),
        st.integers(0, 5),
    ),
    max_size=14,
)


def _text(number: int) -> str:
    """No two share a word, so that forgetting one says nothing about another."""
    return " ".join(f"{word}{number}x" for word in ("alder", "birch", "cedar", "dogwood"))


class _House:
    def __init__(self, home: str) -> None:
        self.clock = ManualClock()
        chosen = Settings(home=home, reserve_mb=0, actor="ada", embedding=False)
        self.runtime = Runtime(chosen, self.clock)
        self.runtime.load_recall()
        self.made: list[str] = []
        self.changes: list[str] = []
        self.texts = 0

    def text(self) -> str:
        self.texts += 1
        return _text(self.texts)

    def do(self, what: str, which: int) -> None:
        self.clock.advance(seconds=1)
        runtime, which_made = self.runtime, self.made[which % len(self.made)] if self.made else ""
        match what:
            case "add":
                new = write.NewObservation(title=self.text(), namespace=NAMESPACE)
                added = write.add_observation(runtime, new)
                self.made.append(added.record.record_id)
                self.changes.append(added.op_id or "")
            case "edit":
                change = write.MemoryEdit(title=self.text())
                self.changes.append(write.edit(runtime, which_made, change).op_id)
            case "forget" | "never":
                gone = write.delete(runtime, (which_made,), never=what == "never")
                self.changes += gone.op_ids
            case "undo" if self.changes:
                op_id = self.changes[-1 - which % len(self.changes)]
                self.changes.append(undo_operation(runtime, op_id).op_id)
            case "undo newest":
                self.changes.append(undo_operation(runtime).op_id)

    def live(self) -> dict[str, str]:
        rows = self.runtime.store.records.page(NAMESPACE, limit=100).items
        return {one.record_id: one.title for one in rows}

    def check(self) -> None:
        """Rows, lists, search and `show` say the same of every text that was ever written."""
        runtime, live = self.runtime, self.live()
        listed = read.memories(runtime, read.ListQuery(namespace=NAMESPACE, limit=100)).items
        assert {one.record_id: one.title for one in listed} == live
        found = {}
        for number in range(1, self.texts + 1):
            for raw in (False, True):
                asked = SearchQuery(query=_text(number), namespace=NAMESPACE, raw=raw)
                items = search(runtime, asked).items
                hits = {one.record.record_id: one.record.title for one in items}
                assert hits.items() <= live.items()
                found.update(hits)
        assert found == live
        for one in self.made:
            shown = read.history(runtime, one).record
            assert (shown and shown.title) == live.get(one)


@settings(max_examples=40, deadline=None)
@given(steps)
@example([("add", 0), ("edit", 0), ("forget", 0), ("undo", 1)])
@example([("add", 0), ("edit", 0), ("forget", 0), ("undo", 0), ("undo", 2), ("undo", 4)])
def test_rows_search_and_show_agree_after_any_changes_and_undos(given: list[Step]) -> None:
    with tempfile.TemporaryDirectory(dir=_MEMORY) as home:
        house = _House(home)
        try:
            for what, which in given:
                before = house.live()
                try:
                    house.do(what, which)
                except (CannotUndo, NotFound):
                    assert house.live() == before  # refused as a whole
                house.check()
        finally:
            house.runtime.close()


@settings(max_examples=15, deadline=None)
@given(steps)
def test_undoing_one_change_after_the_other_leads_back_to_nothing(given: list[Step]) -> None:
    with tempfile.TemporaryDirectory(dir=_MEMORY) as home:
        house = _House(home)
        try:
            for what, which in given:
                if "undo" not in what:
                    with contextlib.suppress(NotFound):
                        house.do(what, which)
            for op_id in reversed(house.changes):
                undo_operation(house.runtime, op_id)
                house.check()
            assert house.live() == {}
        finally:
            house.runtime.close()
