"""Breakers as state machines, against the plainest model of each."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from recollect.core.clock import ManualClock
from recollect.extract.breaker import PAUSE_S, Breaker, JudgeBreaker

KEYS = st.sampled_from(["a", "b"])


class ExtractionMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.clock = ManualClock()
        self.breaker = Breaker(self.clock)
        self.in_a_row = {"a": 0, "b": 0}
        self.opened = {"a": 0.0, "b": 0.0}
        self.now = 0.0

    @rule(key=KEYS)
    def fail(self, key: str) -> None:
        self.breaker.failed(key)
        self.in_a_row[key] += 1
        if self.in_a_row[key] >= 3:
            self.opened[key] = self.now

    @rule(key=KEYS)
    def succeed(self, key: str) -> None:
        self.breaker.succeeded(key)
        self.in_a_row[key] = 0

    @rule(seconds=st.sampled_from([1.0, 100.0, PAUSE_S]))
    def wait(self, seconds: float) -> None:
        self.clock.advance(seconds=seconds)
        self.now += seconds

    @invariant()
    def is_as_the_model_says(self) -> None:
        for key in ("a", "b"):
            if self.in_a_row[key] < 3:
                expected = "closed"
            else:
                expected = "half-open" if self.now - self.opened[key] >= PAUSE_S else "open"
            assert self.breaker.state(key) == expected
            assert self.breaker.allows(key) == (expected != "open")
            assert (self.breaker.opens_in_s(key) > 0) == (expected == "open")
            assert self.breaker.states().get(key, "closed") == expected


class JudgeMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.breaker = JudgeBreaker()
        self.in_a_row = {"a": 0, "b": 0}

    @rule(key=KEYS)
    def fail(self, key: str) -> None:
        self.breaker.failed(key)
        self.in_a_row[key] += 1

    @rule(key=KEYS)
    def succeed(self, key: str) -> None:
        self.breaker.succeeded(key)
        if self.in_a_row[key] < 3:
            self.in_a_row[key] = 0

    @rule(key=KEYS, failures=st.integers(0, 3))
    def end_of_run(self, key: str, failures: int) -> None:
        self.breaker.run_ended(key, failures)
        if failures == 0:
            self.in_a_row[key] = 0

    @invariant()
    def is_as_the_model_says(self) -> None:
        for key in ("a", "b"):
            assert self.breaker.open(key) == (self.in_a_row[key] >= 3)
            assert (key in self.breaker.states()) == self.breaker.open(key)


TestExtractionBreaker = ExtractionMachine.TestCase
TestExtractionBreaker.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestJudgeBreaker = JudgeMachine.TestCase
TestJudgeBreaker.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)


def test_a_failure_while_half_open_opens_it_again(clock: ManualClock) -> None:
    breaker = Breaker(clock)
    for _ in range(3):
        breaker.failed("a")
    clock.advance(seconds=PAUSE_S)
    assert breaker.state("a") == "half-open"
    breaker.failed("a")
    assert breaker.state("a") == "open"
    assert breaker.opens_in_s("a") == pytest.approx(PAUSE_S)
