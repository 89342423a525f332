"""What language models used: reserved before a call, settled after it.

In: Usage of one call. Out: sums by day. Checking a limit and counting against it are one piece of
work of the one writer, so that no two callers can both take the last of a budget.
"""

from typing import Any

from recollect.core.errors import BadInput
from recollect.core.values import Usage
from recollect.store.interface import Spent
from recollect.store.sql import rows
from recollect.store.sql.engine import IF_NAMESPACE, Connection, Engine, each, filtered, insert_into

_SPENT = ("calls", "failures", "input_tokens", "output_tokens", "cost_micros")
# Adds to the row of its kind; `settle` adds differences, which may be negative.
ADD_USAGE = each(
    sqlite=(
        insert_into("llm_usage", rows.USAGE.columns)
        + " ON CONFLICT (day, namespace, provider, model, purpose) DO UPDATE SET "
        + ", ".join(f"{name} = {name} + excluded.{name}" for name in _SPENT)
        + ", unpriced = max(unpriced, excluded.unpriced)"
    ),
    postgres=(
        insert_into("llm_usage AS u", rows.USAGE.columns)
        + " ON CONFLICT (namespace, day, provider, model, purpose) DO UPDATE SET "
        + ", ".join(f"{name} = u.{name} + excluded.{name}" for name in _SPENT)
        + ", unpriced = greatest(u.unpriced, excluded.unpriced)"
    ),
)
SPENT = filtered(
    f"""
SELECT {", ".join(f"coalesce(sum({name}), 0)" for name in _SPENT)}, coalesce(max(unpriced), 0)
  FROM llm_usage WHERE day = $day
""",
    IF_NAMESPACE,
)

_KIND = ("day", "namespace", "provider", "model", "purpose")


class SqlUsage:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def reserve(self, worst: Usage, *, most_tokens: int, most_micros: int) -> bool:
        row = rows.USAGE.encode(worst)

        def work(db: Connection) -> bool:
            now = _spent(db.run(SPENT, {"day": worst.day, "namespace": None}).fetchone())
            tokens = now.tokens + worst.input_tokens + worst.output_tokens
            if tokens > most_tokens or now.cost_micros + worst.cost_micros > most_micros:
                return False
            db.run(ADD_USAGE, row)
            return True

        return self._engine.write(work)

    def settle(self, worst: Usage, actual: Usage) -> None:
        if any(getattr(worst, name) != getattr(actual, name) for name in _KIND):
            raise BadInput("a call is settled under another day or kind than it was reserved")
        row = rows.USAGE.encode(actual)
        row |= {name: getattr(actual, name) - getattr(worst, name) for name in _SPENT}
        self._engine.write(lambda db: db.run(ADD_USAGE, row), when_full=True)

    def spent(self, day: str, namespace: str | None = None) -> Spent:
        return _spent(self._engine.one(SPENT, {"day": day, "namespace": namespace}))


def _spent(row: tuple[Any, ...] | None) -> Spent:
    assert row is not None  # a sum always has a row
    calls, failures, tokens_in, tokens_out, micros, unpriced = row
    return Spent(calls, failures, tokens_in, tokens_out, micros, bool(unpriced))
