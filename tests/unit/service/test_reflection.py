"""A look back becomes proposals, which are told to nobody until a person keeps them."""

import json
from typing import Any

import msgspec
import pytest

from recollect.core.errors import ProviderDown
from recollect.core.values import Record
from recollect.daemon.weekly_reflection import reflect_if_due
from recollect.llm.base import Completion, ModelRequest
from recollect.service import beliefs
from tests.fakes.runtime import RuntimeHome
from tests.make import NAMESPACE, record


def add(home: RuntimeHome, title: str, **more: Any) -> Record:
    made = record(
        title=title, namespace=NAMESPACE, valid_from=home.clock.now(),
        **{"kind": "observation", "observation_type": "error", **more},
    )  # fmt: skip
    (stored,) = home.runtime.memories.add([made])
    home.clock.advance(minutes=1)
    return stored


def belief(home: RuntimeHome, title: str, **more: Any) -> Record:
    life = {"author": "assistant", "source_type": "observed", **more}
    return add(
        home, title, kind="knowledge", observation_type=None, knowledge_type="heuristic", **life
    )


def reflect(home: RuntimeHome, **more: Any) -> list[dict[str, Any]]:
    body = {"namespace": NAMESPACE, **more}
    return list(home.client.ask("POST", "/api/reflection", body)["proposals"])


def test_what_comes_up_in_three_sessions_is_proposed_once(runtime_home: RuntimeHome) -> None:
    for number in range(3):
        add(
            runtime_home, f"The importer deadlocks on empty pages, run {number}",
            session_id=f"s{number}", files=("imp/read.py",),
        )  # fmt: skip
    add(runtime_home, "The invoice total ignores vouchers of customers", session_id="s9")
    (shown,) = reflect(runtime_home, preview=True)
    assert shown["record_id"] is None and not beliefs.waiting(runtime_home.runtime, NAMESPACE)
    (made,) = reflect(runtime_home)
    assert made["sort"] == "repeats" and len(made["evidence"]) == 3
    (waits,) = beliefs.waiting(runtime_home.runtime, NAMESPACE)
    assert waits.state == "proposed" and waits.record_id == made["record_id"]
    assert "importer deadlocks" in waits.title and waits.files == ("imp/read.py",)
    assert waits.record_id not in {
        one.record_id for one in beliefs.current(runtime_home.runtime, NAMESPACE)
    }
    assert reflect(runtime_home) == []
    # Refused once, it does not come back.
    beliefs.drop(runtime_home.runtime, waits.record_id)
    assert reflect(runtime_home) == []


def test_notes_written_by_hand_on_one_day_are_no_habit(runtime_home: RuntimeHome) -> None:
    for number in range(4):
        add(runtime_home, f"The importer deadlocks on empty pages, run {number}")
    assert reflect(runtime_home) == []
    for number in range(2):
        runtime_home.clock.advance(days=1)
        add(runtime_home, f"The importer deadlocks on empty pages, day {number}")
    (made,) = reflect(runtime_home)
    assert made["sort"] == "repeats" and len(made["evidence"]) == 6


def test_twice_or_in_one_session_is_no_habit(runtime_home: RuntimeHome) -> None:
    for number in range(4):
        session = "s1" if number else "s0"
        add(
            runtime_home, f"The importer deadlocks on empty pages, run {number}", session_id=session
        )
    assert reflect(runtime_home) == []


@pytest.mark.parametrize(
    ("newer", "proposed"),
    [
        ({"value": "Vitest", "polarity": "do"}, True),
        ({"value": "Jest", "polarity": "avoid"}, True),
        ({"value": "Jest", "polarity": "do"}, False),
        ({"value": "Mocha", "polarity": "avoid"}, False),
    ],
)
def test_what_contradicts_something_newer_is_proposed_to_end(
    runtime_home: RuntimeHome, newer: dict[str, str], proposed: bool
) -> None:
    old = belief(
        runtime_home, "Frontend tests use Jest", subject="frontend tests", value="Jest",
        polarity="do",
    )  # fmt: skip
    belief(runtime_home, "Something newer about frontend tests", subject="Frontend tests", **newer)
    found = [one for one in reflect(runtime_home) if one["sort"] == "contradicts"]
    assert bool(found) == proposed
    if found:
        beliefs.keep(runtime_home.runtime, found[0]["record_id"])
        held = [one.title for one in beliefs.current(runtime_home.runtime, NAMESPACE)]
        assert held == ["Something newer about frontend tests"] and old.title not in held


def test_only_what_nobody_stated_and_nobody_used_is_called_unused(
    runtime_home: RuntimeHome,
) -> None:
    belief(runtime_home, "The old cache lives in var")
    belief(runtime_home, "The user wants tabs", author="user", source_type="stated")
    belief(runtime_home, "The pinned rule", pinned=True)
    runtime_home.clock.advance(days=59)
    assert reflect(runtime_home) == []
    runtime_home.clock.advance(days=2)
    belief(runtime_home, "A fresh discovery of today")
    (found,) = reflect(runtime_home)
    assert (found["sort"], found["text"]) == ("unused", "No longer: The old cache lives in var")


class Model:
    name, model = "test", "tiny"

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.asked: list[ModelRequest] = []

    def complete(self, request: ModelRequest) -> Completion:
        self.asked.append(request)
        if not self.answer:
            raise ProviderDown("it is not there")
        return Completion(self.answer, self.model)

    def close(self) -> None: ...


def test_insights_need_evidence(runtime_home: RuntimeHome, monkeypatch: pytest.MonkeyPatch) -> None:
    titles = ("Retries hammer billing", "Timeouts in the queue", "Slow DNS", "A lost lock")
    notes = [add(runtime_home, title, session_id=f"s{title}") for title in titles]
    first, second = notes[0].record_id, notes[1].record_id
    told = [
        {"text": "Both faults come from one exhausted pool", "from": [first, second]},
        {"text": "Nothing supports this bold claim", "from": [first]},
        {"text": "Nor this one, of ids that are unknown", "from": ["mr_x", "mr_y"]},
    ]
    model = Model(f"Here it is: {json.dumps(told)}")
    monkeypatch.setattr(runtime_home.runtime, "model", lambda: model)
    (made,) = reflect(runtime_home)
    assert made["sort"] == "insight" and made["evidence"] == [first, second]
    assert first in model.asked[0].prompt
    assert reflect(runtime_home, preview=True) == [] and len(model.asked) == 1


def test_a_model_that_fails_is_told_and_the_rules_still_work(
    runtime_home: RuntimeHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        add(
            runtime_home,
            f"The importer deadlocks on empty pages, run {number}",
            session_id=f"s{number}",
        )
    monkeypatch.setattr(runtime_home.runtime, "model", lambda: Model(""))
    found = runtime_home.client.ask("POST", "/api/reflection", {"namespace": NAMESPACE})
    assert len(found["proposals"]) == 1 and "not there" in found["problem"]


def test_it_runs_by_itself_once_a_week(runtime_home: RuntimeHome) -> None:
    def ran() -> int:
        return len([one for one in runtime_home.runtime.jobs.all() if one.kind == "reflection"])

    reflect_if_due(runtime_home.runtime)
    assert ran() == 0  # nothing to look back on yet
    for days, times in ((6, 0), (1, 1), (6, 1), (1, 2)):
        runtime_home.clock.advance(days=days)
        reflect_if_due(runtime_home.runtime)
        assert ran() == times


def test_what_was_forgotten_is_not_proposed(runtime_home: RuntimeHome) -> None:
    notes = [
        add(runtime_home, "The importer deadlocks on empty pages", session_id=f"s{number}",
            detail=str(number))
        for number in range(3)
    ]  # fmt: skip
    body = {"ids": [msgspec.to_builtins(one)["record_id"] for one in notes], "never": True}
    runtime_home.client.ask("POST", "/api/memories/delete", body)
    assert reflect(runtime_home) == []
