"""What models cost: a small table, as of 2026-11-16.

Claude's prices are from Anthropic's pages (Haiku, Sonnet and Opus 5.5, Haiku 4.5), OpenAI's and
Google's from listings by others: check them there before you rely on them.

In: a model and tokens. Out: millionths of a dollar, rounded up, or None for a model that is not
here. An estimate: caches, batches and subscriptions make it less; a tariff that is missing here
(long prompts, regions) would make it more.
"""

import re
from dataclasses import dataclass

_DATE = re.compile(r"-(20\d{6}|20\d\d-\d\d-\d\d)$")


@dataclass(frozen=True)
class Price:
    """US dollars for a million tokens; from `above` input tokens on, the second pair holds."""

    input: float
    output: float
    above: int = 1 << 62
    long_input: float = 0.0
    long_output: float = 0.0


PRICES: dict[str, Price] = {
    "claude-haiku-5-5": Price(0.10, 0.50, 100_000, 0.50, 2.50),
    "claude-haiku-4-5": Price(1.00, 5.00),
    "claude-sonnet-5-5": Price(2.00, 10.00),
    "claude-opus-5-5": Price(4.00, 20.00),
    "gpt-5.4": Price(2.50, 15.00),
    "gpt-5.4-mini": Price(0.75, 4.50),
    "gpt-5.4-nano": Price(0.20, 1.25),
    "gpt-5.6-luna": Price(0.20, 1.20, 272_000, 0.40, 1.80),
    "gpt-5-mini": Price(0.25, 2.00),
    "gpt-5-nano": Price(0.05, 0.40),
    "gpt-4.1-mini": Price(0.40, 1.60),
    "gpt-4.1-nano": Price(0.10, 0.40),
    "gemini-2.5-flash-lite": Price(0.10, 0.40),
}


def price_of(model: str) -> Price | None:
    """By its name, or the name without a maker (`anthropic/…`) or a date at its end."""
    name = _DATE.sub("", model.rsplit("/", 1)[-1].lower())
    # Kiro and OpenRouter write Claude's versions with a dot.
    return PRICES.get(name.replace(".", "-") if name.startswith("claude") else name)


def cost_micros(model: str, tokens_in: int, tokens_out: int) -> int | None:
    price = price_of(model)
    if price is None:
        return None
    long = tokens_in > price.above
    dollars = (price.long_input if long else price.input) * tokens_in
    dollars += (price.long_output if long else price.output) * tokens_out
    return -int(-dollars // 1)  # dollars a million are millionths a token
