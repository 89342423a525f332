"""The week: what was learned and ended, what waits, what was used and what never was."""

from typing import Any

from recollect.core.values import Record
from recollect.service import beliefs, week, write
from tests.fakes.runtime import RuntimeHome
from tests.make import NAMESPACE, record


def belief(home: RuntimeHome, title: str, **fields: Any) -> Record:
    (made,) = home.runtime.memories.add(
        [record(title, kind="knowledge", knowledge_type="constraint", author="user",
                valid_from=home.clock.now(), **fields)]
    )  # fmt: skip
    return made


def titles(found: tuple[Record, ...]) -> list[str]:
    return [one.title for one in found]


def test_a_week_has_what_was_learned_ended_used_and_what_waits(runtime_home: RuntimeHome) -> None:
    runtime = runtime_home.runtime
    old, over = belief(runtime_home, "Use uv"), belief(runtime_home, "Deploy on Friday")
    runtime_home.clock.advance(days=8)
    new, _ = beliefs.replace(runtime, over.record_id, "Deploy on Monday")
    belief(runtime_home, "Use tabs", state="proposed")
    write.judge(runtime, new.record_id, "useful")
    runtime.store.records.touch(NAMESPACE, [old.record_id], runtime_home.clock.now())
    found = week.week(runtime, week.WeekQuery())
    assert titles(found.learned) == ["Deploy on Monday"]
    assert titles(found.ended) == ["Deploy on Friday"]
    assert found.titles == {new.record_id: "Deploy on Monday"}
    assert titles(found.waiting) == ["Use tabs"]
    assert titles(found.used) == ["Use uv"] and titles(found.unused) == ["Deploy on Monday"]
    assert (found.used_count, found.unused_count) == (1, 1)
    assert found.kept == (new.record_id,) and found.verdicts == {"useful": 1}
    runtime_home.clock.advance(days=8)
    later = week.week(runtime, week.WeekQuery())
    assert not later.learned and not later.ended and not later.used
    assert titles(later.waiting) == ["Use tabs"]
