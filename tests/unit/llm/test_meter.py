"""The meter: no call begins that could pass the budget, and a crash forgets nothing (P04)."""

import logging
import os
import random
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest

from recollect.core.clock import ManualClock
from recollect.core.errors import (
    BudgetSpent,
    ProviderDown,
    ProviderError,
    ProviderRefused,
    ProviderTimeout,
)
from recollect.core.settings import Settings
from recollect.llm.base import Completion, ModelRequest
from recollect.llm.meter import Budget, MeteredProvider, report
from recollect.llm.openai import OpenAIProvider
from recollect.llm.prices import PRICES, cost_micros, price_of
from recollect.store.sqlite import SqliteStore, engine
from tests.fakes.llm_server import Behaviour, LlmServer
from tests.fakes.stored import usage_since
from tests.make import NAMESPACE

DAY = "2026-01-01"
SECRET = "sk-test-Zq81xJvP0aLw7KdMfn3tYbRc"


class Scripted:
    """A provider in this process, for speed: it does what the next step says."""

    name = "anthropic"

    def __init__(self, *steps: Completion | BaseException, model: str = "claude-haiku-4-5") -> None:
        self.model = model
        self.calls = 0
        self._steps = steps

    def complete(self, request: ModelRequest) -> Completion:
        step = self._steps[self.calls % len(self._steps)]
        self.calls += 1
        if isinstance(step, BaseException):
            raise step
        return step

    def close(self) -> None:
        pass


def ask(max_tokens: int = 100) -> ModelRequest:
    return ModelRequest(NAMESPACE, "extract", "Answer.", "What happened here today?", 5, max_tokens)


def done(tokens_in: int = 30, tokens_out: int = 10) -> Completion:
    return Completion("x", "claude-haiku-4-5", tokens_in, tokens_out)


def metered(
    provider: Scripted, store: SqliteStore, clock: ManualClock, *, tokens: int = 10**6,
    usd: float = 1.0, free: bool = False,
) -> MeteredProvider:  # fmt: skip
    return MeteredProvider(provider, store.usage, clock, Budget(tokens, usd), free=free)


def test_a_call_is_counted_with_its_cost(store: SqliteStore, clock: ManualClock) -> None:
    meter = metered(Scripted(done(1000, 200)), store, clock)
    meter.complete(ask())
    (row,) = usage_since(store, DAY)
    assert (row.provider, row.model, row.purpose) == ("anthropic", "claude-haiku-4-5", "extract")
    assert (row.calls, row.input_tokens, row.output_tokens, row.failures) == (1, 1000, 200, 0)
    assert row.cost_micros == 2000 and not row.unpriced
    assert report(store.usage, clock, Budget(5, 1.0)) == {
        "day": DAY, "calls": 1, "failures": 0, "tokens": 1200, "daily_tokens": 5, "usd": 0.002,
        "daily_usd": 1.0, "unpriced": False,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("error", "kept"),
    [
        (ProviderTimeout("late"), True),
        (ProviderDown("crashed"), True),
        (ProviderDown("nobody there", spent=False), False),
        (ProviderRefused("no key"), False),
        (ProviderRefused("too long", spent=True), True),
        (KeyboardInterrupt(), True),
    ],
)
def test_a_failed_call_counts_its_worst_case_unless_nothing_was_used(
    error: BaseException, kept: bool, store: SqliteStore, clock: ManualClock
) -> None:
    with pytest.raises(type(error)):
        metered(Scripted(error), store, clock).complete(ask())
    spent = store.usage.spent(DAY)
    assert (spent.calls, spent.failures) == (1, 1)
    assert (spent.output_tokens == 100 and spent.cost_micros >= 500) is kept
    assert (spent.tokens == 0) is not kept


@pytest.mark.parametrize("limits", [{"tokens": 400}, {"usd": 0.0012}])
def test_at_the_limit_no_call_is_made_until_the_next_day(
    limits: dict[str, float], store: SqliteStore, clock: ManualClock
) -> None:
    provider = Scripted(done(100, 100))
    meter = metered(provider, store, clock, **limits)  # type: ignore[arg-type]
    with pytest.raises(BudgetSpent, match="does not allow another call"):
        for _ in range(10):
            meter.complete(ask())
    made = provider.calls
    assert 1 <= made < 10
    with pytest.raises(BudgetSpent):
        meter.complete(ask())
    assert provider.calls == made
    clock.advance(days=1)
    meter.complete(ask())
    assert provider.calls == made + 1


def test_a_crash_between_reserving_and_settling_counts_the_reservation(
    settings: Settings, clock: ManualClock
) -> None:
    store = SqliteStore(settings, clock)

    class Dying(Scripted):
        def complete(self, request: ModelRequest) -> Completion:
            store.close()  # as far as the database can tell, the process is gone
            return done()

    metered(Dying(done()), store, clock).complete(ask())
    again = SqliteStore(settings, clock)
    spent = again.usage.spent(DAY)
    again.close()
    assert spent.calls == 1 and spent.output_tokens == 100


def test_an_answer_is_not_lost_when_it_cannot_be_settled(
    settings: Settings, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    store = SqliteStore(settings, clock)

    class Dying(Scripted):
        def complete(self, request: ModelRequest) -> Completion:
            store.close()
            return done()

    caplog.set_level(logging.WARNING)
    assert metered(Dying(done()), store, clock).complete(ask()).text == "x"
    assert "stays counted" in caplog.text


def test_free_routes_cost_nothing_and_unknown_models_say_so(
    store: SqliteStore, clock: ManualClock
) -> None:
    metered(Scripted(done(), model="qwen3:8b"), store, clock, usd=0, free=True).complete(ask())
    assert store.usage.spent(DAY).cost_micros == 0 and not store.usage.spent(DAY).unpriced
    metered(Scripted(done(), model="made-up-9"), store, clock, usd=0).complete(ask())
    assert store.usage.spent(DAY).unpriced
    with pytest.raises(BudgetSpent):
        metered(Scripted(done()), store, clock, usd=0).complete(ask())


@pytest.fixture
def quick_store(
    settings: Settings, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> Iterator[SqliteStore]:
    """A real store on a disk of memory, if there is one, where a commit waits for nothing."""
    parent = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=parent) as folder:
        monkeypatch.setattr(engine, "COMMIT_WAIT_S", 0.0)
        opened = SqliteStore(replace(settings, home=folder), clock)
        yield opened
        opened.close()


def test_ten_thousand_failing_runs_stay_within_the_budget(
    quick_store: SqliteStore, clock: ManualClock
) -> None:
    """Failures, answers and refusals at random, from four threads; what a model can have used is
    added up independently, and never passes the budget."""
    budget = Budget(600_000, 2.0)
    used: list[tuple[int, int]] = []

    class Moody(Scripted):
        def complete(self, request: ModelRequest) -> Completion:
            tokens_in, tokens_out = dice.randint(1, 80), dice.randint(0, request.max_tokens)
            match dice.choice(("answer", "timeout", "crash", "nobody", "refused")):
                case "answer":
                    used.append((tokens_in, tokens_out))
                    return done(tokens_in, tokens_out)
                case "timeout":
                    used.append((tokens_in, tokens_out))
                    raise ProviderTimeout()
                case "crash":
                    used.append((tokens_in, tokens_out))
                    raise ProviderDown()
                case "nobody":
                    raise ProviderDown(spent=False)
            raise ProviderRefused()

    dice = random.Random(7)
    meter = MeteredProvider(Moody(done()), quick_store.usage, clock, budget, free=False)
    refused = []

    def runs() -> None:
        for _ in range(2500):
            try:
                meter.complete(ask(dice.randint(1, 400)))
            except BudgetSpent:
                refused.append(1)
            except ProviderError:
                pass

    threads = [threading.Thread(target=runs) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    spent = quick_store.usage.spent(DAY)
    assert sum(map(sum, used)) <= spent.tokens <= budget.tokens
    assert spent.cost_micros <= budget.micros
    assert spent.calls + len(refused) == 10_000
    assert spent.calls > 1000 and len(refused) > 1000


def test_no_stored_row_holds_the_key(
    store: SqliteStore, settings: Settings, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    with LlmServer(["fine", Behaviour("status", status=400, message=SECRET)]) as server:
        provider = OpenAIProvider("m", server.openai_url)
        meter = MeteredProvider(provider, store.usage, clock, Budget(10**6, 1), free=True)
        meter.complete(ask())
        with pytest.raises(ProviderRefused):
            meter.complete(ask())
    assert store.usage.spent(DAY).calls == 2
    store.close()
    import pathlib

    for path in pathlib.Path(settings.directory).rglob("*"):
        if path.is_file():
            assert SECRET.encode() not in path.read_bytes()


# --- prices --------------------------------------------------------------------------------------


def test_prices_are_found_by_plain_dated_and_prefixed_names() -> None:
    haiku = PRICES["claude-haiku-4-5"]
    for name in ("claude-haiku-4-5", "claude-haiku-4-5-20251001", "anthropic/claude-haiku-4.5"):
        assert price_of(name) == haiku, name
    assert price_of("gpt-5.4-nano-2026-03-17") == PRICES["gpt-5.4-nano"]
    assert price_of("gpt-5.4-mini") == PRICES["gpt-5.4-mini"]
    assert price_of("qwen3:8b") is None and price_of("") is None and price_of("20251001") is None


def test_cost_is_exact_rounded_up_and_dearer_for_long_prompts() -> None:
    assert cost_micros("claude-haiku-4-5", 1_000_000, 1_000_000) == 6_000_000
    assert cost_micros("claude-haiku-5-5", 1, 0) == 1
    assert cost_micros("claude-haiku-5-5", 100_000, 1000) == 10_500
    assert cost_micros("claude-haiku-5-5", 100_001, 1000) == 52_501
    assert cost_micros("unknown", 1, 1) is None


def test_every_price_is_plausible() -> None:
    for name, price in PRICES.items():
        assert 0 < price.input < price.output <= 200, name
        assert price.above == 1 << 62 or price.long_input > price.input, name


def test_every_pinned_model_has_a_price() -> None:
    from recollect.hosts import registry
    from recollect.hosts.kiro_cli import facts as kiro
    from recollect.llm import anthropic, openai

    runs = [facts.model_run for facts in registry.facts().values()]
    of_agents = [run.model for run in runs if run is not None and run.model]
    for model in (kiro.MODEL, anthropic.MODEL, openai.MODEL, *of_agents):
        assert price_of(model), model
