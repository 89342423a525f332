"""Figures: what is counted, by whose midnight, and what that saved."""

from datetime import timedelta

import pytest

from recollect.core.clock import ManualClock
from recollect.core.values import Receipt
from recollect.daemon.runtime import Runtime
from recollect.service import analytics
from recollect.service.analytics import AnalyticsQuery
from recollect.service.scope import Scope
from tests.make import NAMESPACE, arrival, record

ELSEWHERE = "/actor/ada/project/shop/"


@pytest.fixture
def week(runtime: Runtime, clock: ManualClock) -> Runtime:
    """It is Thursday 10:00; an event of 23:30 on Tuesday, one of now, and two retrievals."""
    clock.jump(days=7, hours=10)
    now = clock.now()
    late = (now - timedelta(days=1)).replace(hour=23, minute=30) - timedelta(days=1)
    runtime.store.events.put(
        [
            arrival("x" * 400, session_id="s1", valid_time=late),
            arrival("y", kind="note", session_id="s2", valid_time=now, namespace=ELSEWHERE),
        ]
    )
    runtime.store.records.put([record("Kept", detail="z" * 40, valid_from=now)])
    for number, injected in enumerate([(), (record().record_id,)]):
        runtime.store.receipts.put(
            Receipt(receipt_id=f"rcp_{number}", namespace=NAMESPACE, trigger="prompt", query="q",
                    injected=injected, tokens=30 * number, latency_us=1000 + 9000 * number)
        )  # fmt: skip
    return runtime


def test_days_without_anything_are_there_and_midnight_is_the_users(week: Runtime) -> None:
    days = {one.day: one for one in analytics.timeline(week, AnalyticsQuery(days=3))}
    assert list(days) == ["2026-01-06", "2026-01-07", "2026-01-08"]
    assert (days["2026-01-06"].events, days["2026-01-06"].prompts) == (1, 1)
    assert days["2026-01-07"].events == 0
    assert (days["2026-01-08"].events, days["2026-01-08"].prompts) == (1, 0)
    assert days["2026-01-08"].retrievals == 2
    east = {one.day: one for one in analytics.timeline(week, AnalyticsQuery(utc_offset_min=60))}
    assert east["2026-01-06"].events == 0 and east["2026-01-07"].events == 1


def test_the_heatmap_goes_by_weekday_and_hour_of_the_user(week: Runtime) -> None:
    table = analytics.heatmap(week, AnalyticsQuery())
    assert (len(table), {len(row) for row in table}, sum(map(sum, table))) == (7, {24}, 2)
    assert table[1][23] == table[3][10] == 1, "Tuesday night, Thursday morning"
    west = analytics.heatmap(week, AnalyticsQuery(utc_offset_min=-11 * 60))
    assert west[1][12] == west[2][23] == 1


def test_figures_are_of_one_project_or_of_all_and_of_their_days(
    week: Runtime, clock: ManualClock
) -> None:
    def events(**asked: object) -> int:
        return analytics.overview(week, AnalyticsQuery(**asked)).events  # type: ignore[arg-type]

    assert events() == 2 and events(namespace=NAMESPACE) == 1 and events(days=1) == 1
    assert analytics.stats(week, Scope()).events == 2
    assert analytics.stats(week, Scope(namespace=ELSEWHERE)).event_kinds == {"note": 1}
    assert analytics.types(week, AnalyticsQuery())["events"] == {"prompt": 1, "note": 1}
    clock.jump(days=400)
    assert events(days=366) == 0


def test_what_was_injected_is_weighed_against_what_was_found_out(week: Runtime) -> None:
    saved = analytics.economics(week, AnalyticsQuery())
    assert saved.injected_tokens == 30 and saved.retrievals == 2
    assert saved.discovery_tokens > 100 and saved.memory_tokens > 10
    assert saved.saved_tokens == saved.discovery_tokens - 30
    assert saved.compression == round(saved.discovery_tokens / saved.memory_tokens, 1)
    untold = analytics.economics(week, AnalyticsQuery(namespace=ELSEWHERE))
    assert untold.discovery_tokens > 0 and untold.saved_tokens == 0
    empty = analytics.economics(week, AnalyticsQuery(namespace="/actor/ada/project/none/"))
    assert (empty.compression, empty.saved_tokens) == (None, 0)


def test_retrievals_are_counted_by_day_and_timed(week: Runtime) -> None:
    found = analytics.retrieval(week, AnalyticsQuery())
    assert (found.spoke, found.silent, found.triggers) == (1, 1, {"prompt": 2})
    assert (found.p50_ms, found.p95_ms) == (10.0, 10.0)
    (day,) = found.timeline
    assert (day.retrievals, day.tokens, day.mean_ms, day.longest_ms) == (2, 30, 5.5, 10.0)
    none = analytics.retrieval(week, AnalyticsQuery(namespace=ELSEWHERE))
    assert none.p50_ms is None and none.timeline == ()


def test_a_session_is_odd_only_where_the_figures_show_it(
    runtime: Runtime, clock: ManualClock
) -> None:
    def session(name: str, seconds: float) -> None:
        now = clock.now()
        for at in (now, now + timedelta(seconds=seconds)):
            runtime.store.events.put([arrival("x", session_id=name, valid_time=at)])

    for number in range(24):
        session(f"s{number}", 0)
    session("a blink", 0.2)
    assert analytics.anomalies(runtime, AnalyticsQuery()) == ()
    session("long", 3600)
    (odd,) = analytics.anomalies(runtime, AnalyticsQuery())
    assert (odd.session_id, odd.what, odd.value) == ("long", "minutes", 60.0)
