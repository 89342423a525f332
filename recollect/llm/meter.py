"""Counts every call, and starts none that could exceed the day's budget.

In: a provider, and where usage is stored. Out: a provider. The worst case of a call (a high
estimate of the prompt, and all the tokens that it may answer) is reserved first; BudgetSpent when
it does not fit. Afterwards the real figures replace it. After a crash in between the worst case
stays counted.
"""

import logging
from dataclasses import dataclass
from typing import Any

import msgspec

from recollect.core.clock import Clock
from recollect.core.errors import BudgetSpent, ProviderError, StoreError
from recollect.core.text_words import count_tokens
from recollect.core.values import Usage
from recollect.hosts import registry
from recollect.llm.base import Completion, ModelRequest, Provider
from recollect.llm.prices import cost_micros
from recollect.store.interface import Usages

log = logging.getLogger("recollect.llm")

# What a route adds to our prompt: message frames, or an agent's own words and tools.
OVERHEAD = {"acp": 4000} | {
    name: facts.model_run.own_tokens for name, facts in registry.facts().items() if facts.model_run
}
FRAME = 64


@dataclass(frozen=True)
class Budget:
    tokens: int
    usd: float

    @property
    def micros(self) -> int:
        return int(self.usd * 1_000_000)


class MeteredProvider:
    """A provider that stays within a budget. `free`: the route is not billed."""

    def __init__(
        self, provider: Provider, usages: Usages, clock: Clock, budget: Budget, *, free: bool
    ) -> None:
        self._provider = provider
        self._usages = usages
        self._clock = clock
        self._budget = budget
        self._free = free
        self.name = provider.name
        self.model = provider.model

    def complete(self, request: ModelRequest) -> Completion:
        worst = self._worst(request)
        budget = self._budget
        if not self._usages.reserve(worst, most_tokens=budget.tokens, most_micros=budget.micros):
            raise BudgetSpent(self._refusal(worst))
        try:
            done = self._provider.complete(request)
        except ProviderError as error:
            self._settle(worst, failed=True, keep=error.spent)
            raise
        except BaseException:
            self._settle(worst, failed=True, keep=True)
            raise
        self._settle(worst, done.input_tokens, done.output_tokens)
        return done

    def close(self) -> None:
        self._provider.close()

    def _worst(self, request: ModelRequest) -> Usage:
        tokens = count_tokens(request.system) + count_tokens(request.prompt)
        tokens += OVERHEAD.get(self.name, FRAME)
        usage = Usage(
            day=today(self._clock),
            namespace=request.namespace,
            provider=self.name,
            model=self.model[:256],
            purpose=request.purpose,
            calls=1,
        )
        return self._priced(usage, tokens, request.max_tokens)

    def _priced(self, usage: Usage, tokens_in: int, tokens_out: int) -> Usage:
        cost = 0 if self._free else cost_micros(self.model, tokens_in, tokens_out)
        return msgspec.structs.replace(
            usage,
            input_tokens=tokens_in,
            output_tokens=tokens_out,
            cost_micros=cost or 0,
            unpriced=cost is None,
        )

    def _settle(
        self,
        worst: Usage,
        tokens_in: int = 0,
        tokens_out: int = 0,
        *,
        failed: bool = False,
        keep: bool = False,
    ) -> None:
        actual = worst if keep else self._priced(worst, tokens_in, tokens_out)
        actual = msgspec.structs.replace(actual, failures=int(failed))
        try:
            self._usages.settle(worst, actual)
        except StoreError as error:  # the answer is paid for: it is not thrown away for this
            log.warning("a call stays counted at its worst case: %s", error)

    def _refusal(self, worst: Usage) -> str:
        spent = self._usages.spent(worst.day)
        return (
            f"the budget of {worst.day} does not allow another call: "
            f"{spent.tokens:,} of {self._budget.tokens:,} tokens and "
            f"${spent.cost_micros / 1e6:.2f} of ${self._budget.usd:.2f} are used, this call may "
            f"take {worst.input_tokens + worst.output_tokens:,} tokens "
            f"(${worst.cost_micros / 1e6:.4f}); a new day begins at 00:00 UTC"
        )


def today(clock: Clock) -> str:
    return clock.now().date().isoformat()


def report(usages: Usages, clock: Clock, budget: Budget) -> dict[str, Any]:
    """The day so far, for `recollect status`."""
    day = today(clock)
    spent = usages.spent(day)
    return {
        "day": day,
        "calls": spent.calls,
        "failures": spent.failures,
        "tokens": spent.tokens,
        "daily_tokens": budget.tokens,
        "usd": round(spent.cost_micros / 1e6, 4),
        "daily_usd": budget.usd,
        "unpriced": spent.unpriced,
    }
