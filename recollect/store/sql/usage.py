"""What language models used: reserved before a call, settled after it.

In: Usage of one call. Out: sums by day. Checking a limit and counting against it are one piece of
work of the one writer, so that no two callers can both take the last of a budget.
"""

from typing import Any

from recollect.core.errors import BadInput
from recollect.core.values import Usage
from recollect.store.interface import Spent
from recollect.store.sql import rows
from recollect.store.sql import statements as sql
from recollect.store.sql.connection import Connection
from recollect.store.sql.engine import Engine

_KIND = ("day", "namespace", "provider", "model", "purpose")
_COUNTED = ("calls", "failures", "input_tokens", "output_tokens", "cost_micros")


class SqlUsage:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def reserve(self, worst: Usage, *, most_tokens: int, most_micros: int) -> bool:
        row = rows.USAGE.encode(worst)

        def work(db: Connection) -> bool:
            now = _spent(db.run(sql.SPENT, {"day": worst.day, "namespace": None}).fetchone())
            tokens = now.tokens + worst.input_tokens + worst.output_tokens
            if tokens > most_tokens or now.cost_micros + worst.cost_micros > most_micros:
                return False
            db.run(sql.ADD_USAGE, row)
            return True

        return self._engine.write(work)

    def settle(self, worst: Usage, actual: Usage) -> None:
        if any(getattr(worst, name) != getattr(actual, name) for name in _KIND):
            raise BadInput("a call is settled under another day or kind than it was reserved")
        row = rows.USAGE.encode(actual)
        row |= {name: getattr(actual, name) - getattr(worst, name) for name in _COUNTED}
        self._engine.write(lambda db: db.run(sql.ADD_USAGE, row), when_full=True)

    def spent(self, day: str, namespace: str | None = None) -> Spent:
        return _spent(self._engine.one(sql.SPENT, {"day": day, "namespace": namespace}))

    def days(self, since: str, namespace: str | None = None) -> list[Usage]:
        values = {"since": since, "namespace": namespace}
        return [rows.USAGE.decode(row) for row in self._engine.rows(sql.LIST_USAGE, values)]


def _spent(row: tuple[Any, ...] | None) -> Spent:
    assert row is not None  # a sum always has a row
    calls, failures, tokens_in, tokens_out, micros, unpriced = row
    return Spent(calls, failures, tokens_in, tokens_out, micros, bool(unpriced))
