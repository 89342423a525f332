"""What every backend promises about the usage of language models (P04)."""

import threading

import msgspec
import pytest

from recollect.core.errors import BadInput
from recollect.core.values import Usage
from recollect.store.interface import Spent, Store
from tests.fakes.stored import usage_since
from tests.make import NAMESPACE

OTHER = "/actor/ada/project/engine2/"

DAY = "2026-01-01"


def call(tokens_in: int = 100, tokens_out: int = 20, micros: int = 5, **more: object) -> Usage:
    values: dict[str, object] = {
        "day": DAY, "namespace": NAMESPACE, "provider": "openai", "model": "m",
        "purpose": "extract", "calls": 1, "input_tokens": tokens_in,
        "output_tokens": tokens_out, "cost_micros": micros,
    }  # fmt: skip
    return Usage(**(values | more))  # type: ignore[arg-type]


class UsageContract:
    def test_a_reservation_counts_until_it_is_settled(self, store: Store) -> None:
        worst = call()
        assert store.usage.reserve(worst, most_tokens=1000, most_micros=100)
        assert store.usage.spent(DAY) == Spent(1, 0, 100, 20, 5)
        store.usage.settle(worst, call(80, 3, 2))
        assert store.usage.spent(DAY) == Spent(1, 0, 80, 3, 2)

    def test_what_would_pass_a_limit_is_refused_and_not_counted(self, store: Store) -> None:
        assert store.usage.reserve(call(), most_tokens=120, most_micros=5)
        assert not store.usage.reserve(call(1, 0, 0), most_tokens=120, most_micros=100)
        assert not store.usage.reserve(call(0, 0, 1), most_tokens=1000, most_micros=5)
        assert store.usage.spent(DAY) == Spent(1, 0, 100, 20, 5)

    def test_the_limit_holds_for_all_namespaces_and_kinds_of_a_day(self, store: Store) -> None:
        limits = {"most_tokens": 250, "most_micros": 100}
        assert store.usage.reserve(call(), **limits)
        assert store.usage.reserve(call(namespace=OTHER, purpose="judge"), **limits)
        assert not store.usage.reserve(call(model="another"), **limits)
        assert store.usage.reserve(call(day="2026-01-02"), **limits)
        assert store.usage.spent(DAY, NAMESPACE).tokens == 120
        assert store.usage.spent(DAY, OTHER).calls == 1
        assert store.usage.spent(DAY).tokens == 240
        assert store.usage.spent("2025-12-31") == Spent()

    def test_many_at_once_stay_within_the_limit_together(self, store: Store) -> None:
        taken: list[bool] = []

        def ask() -> None:
            for _ in range(10):
                taken.append(store.usage.reserve(call(), most_tokens=1800, most_micros=10_000))

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert taken.count(True) == 15
        assert store.usage.spent(DAY).tokens == 1800

    def test_rows_tell_day_kind_and_whether_the_price_is_known(self, store: Store) -> None:
        for usage in (
            call(),
            call(failures=1),
            call(purpose="judge", unpriced=True),
            call(day="2026-01-02", namespace=OTHER),
            call(day="2025-12-30"),
        ):
            assert store.usage.reserve(usage, most_tokens=10_000, most_micros=10_000)
        rows = usage_since(store, DAY)
        assert [(one.day, one.namespace, one.purpose) for one in rows] == [
            (DAY, NAMESPACE, "extract"),
            (DAY, NAMESPACE, "judge"),
            ("2026-01-02", OTHER, "extract"),
        ]
        assert (rows[0].calls, rows[0].failures, rows[0].input_tokens) == (2, 1, 200)
        assert [one.unpriced for one in rows] == [False, True, False]
        assert store.usage.spent(DAY).unpriced
        assert [one.day for one in usage_since(store, DAY, OTHER)] == ["2026-01-02"]

    def test_a_call_is_settled_where_it_was_reserved(self, store: Store) -> None:
        worst = call()
        assert store.usage.reserve(worst, most_tokens=1000, most_micros=100)
        with pytest.raises(BadInput):
            store.usage.settle(worst, msgspec.structs.replace(worst, day="2026-01-02"))
        assert store.usage.spent(DAY).tokens == 120
