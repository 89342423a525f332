"""What a person looks at once a week: what was learned and ended, what waits for a decision, what
was put before agents and what never was.

In: a number of days and a project. Out: beliefs, and counts of the period. Of each project the
newest 100 of what was learned or ended are read, so that the answer stays fast.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Annotated

from msgspec import Meta

from recollect.core.values import Moment, Operation, Record, Value
from recollect.service import beliefs
from recollect.service.runtime import ServiceRuntime
from recollect.service.scope import Scope, namespaces_to_list
from recollect.store.interface import RecordFilter

READ = 100
COUNTED = 1000  # beliefs that agents were told
SHOWN = 10  # of what was used, and of what never was
LOGGED = 200
CURRENT = RecordFilter(kind="knowledge", state="current")


class WeekQuery(Scope, frozen=True, kw_only=True):
    """The last `days`, or the time since `since`."""

    days: Annotated[int, Meta(ge=1, le=366)] = 7
    since: Moment | None = None


class Week(Value, frozen=True, kw_only=True):
    """`learned`, `ended`: of each project the newest 100. `used`: told to an agent in the period,
    the last first; `unused`: held, and never told to any. Both are the first few; `used_count` and
    `unused_count` are of all. `kept`: the ids of beliefs that a person rated as useful. `titles`:
    see /api/beliefs."""

    since: Moment
    learned: tuple[Record, ...]
    ended: tuple[Record, ...]
    waiting: tuple[Record, ...]
    used: tuple[Record, ...]
    unused: tuple[Record, ...]
    used_count: int
    unused_count: int
    kept: tuple[str, ...]
    titles: dict[str, str]
    briefs: int
    tokens: int
    verdicts: dict[str, int]


def week(runtime: ServiceRuntime, asked: WeekQuery) -> Week:
    until = runtime.clock.now()
    since = asked.since or until - timedelta(days=asked.days)
    namespaces = namespaces_to_list(runtime, asked)
    records = runtime.visible_store.records
    learned = [
        one
        for namespace in namespaces
        for one in records.page(namespace, CURRENT, limit=READ).items
        if _stored(one) >= since
    ]
    ended = [
        one
        for namespace in namespaces
        for one in records.beliefs(
            namespace, by="valid_until", since=since, state="ended", limit=READ
        )
    ]
    waiting = [one for namespace in namespaces for one in beliefs.waiting(runtime, namespace)]
    used = [
        one
        for namespace in namespaces
        for one in records.beliefs(namespace, by="last_accessed", since=since, limit=COUNTED)
    ]
    unused = [
        one
        for namespace in namespaces
        for one in records.beliefs(namespace, state="current", used=False, limit=SHOWN)
    ]
    used.sort(key=lambda one: one.last_accessed or since, reverse=True)
    unused.sort(key=lambda one: one.valid_from, reverse=True)
    told = [
        one
        for namespace in namespaces
        for one in runtime.store.upkeep.tally(
            "receipts", since, until, seconds=86_400, namespace=namespace
        )
    ]
    recall = runtime.loaded_recall
    return Week(
        since=since,
        learned=tuple(sorted(learned, key=_stored, reverse=True)),
        ended=tuple(sorted(ended, key=lambda one: one.valid_until or since, reverse=True)),
        waiting=tuple(waiting),
        used=tuple(used[:SHOWN]),
        unused=tuple(unused[:SHOWN]),
        used_count=len(used),
        unused_count=sum(
            beliefs.how_many(runtime, namespace, ("current",), used=False)
            for namespace in namespaces
        ),
        kept=tuple(
            record_id
            for namespace in namespaces
            for record_id, verdict in (
                recall.feedback.of(namespace).given if recall else {}
            ).items()
            if verdict == "useful"
        ),
        titles=beliefs.titles(runtime, (*ended, *waiting)),
        briefs=sum(one.count for one in told),
        tokens=sum(one.size for one in told),
        verdicts=dict(
            Counter(
                str(one.detail.get("verdict"))
                for one in _operations(runtime, namespaces, since)
                if one.kind == "feedback" and isinstance(one.detail, dict)
            )
        ),
    )


def _stored(record: Record) -> datetime:
    return record.created_at or record.valid_from


def _operations(
    runtime: ServiceRuntime, namespaces: tuple[str, ...], since: datetime
) -> Iterator[Operation]:
    for namespace in namespaces:
        for one in runtime.store.log.page(namespace, limit=LOGGED).items:
            if one.at < since:
                break
            yield one
