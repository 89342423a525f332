"""News for watchers: nothing is missed, and what cannot be told is said to be lost."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from recollect.core.values import Receipt
from recollect.ingest.messages import Notice
from recollect.server.live import CLIENTS, KEPT, Live, News, TooManyWatchers
from tests.make import NAMESPACE, arrival, record


def parsed(line: bytes) -> tuple[str, str, Any]:
    fields = dict(part.split(": ", 1) for part in line.decode().strip().splitlines())
    return fields["id"], fields["event"], msgspec.json.decode(fields["data"])


async def some(lines: AsyncIterator[bytes], count: int) -> list[tuple[str, str, Any]]:
    found: list[tuple[str, str, Any]] = []
    while len(found) < count:
        line = await asyncio.wait_for(anext(lines), 5)
        if not line.startswith(b":"):
            found.append(parsed(line))
    return found


def test_a_watcher_that_comes_back_gets_exactly_what_it_missed() -> None:
    async def life() -> None:
        live = Live()
        first = await live.stream(None)
        for number in range(3):
            live.publish("event", {"n": number})
        seen = await some(first, 2)
        await first.aclose()  # type: ignore[attr-defined]
        live.publish("memory", {"n": 3})
        again = await live.stream(seen[-1][0])
        assert [data["n"] for _, _, data in await some(again, 2)] == [2, 3]
        live.publish("memory", {"n": 4})
        assert [data["n"] for _, _, data in await some(again, 1)] == [4]

    asyncio.run(life())


def test_a_gap_that_is_too_old_or_of_another_run_is_a_reset() -> None:
    async def life() -> None:
        live = Live()
        live.publish("event", {})
        ((first, _, _),) = await some(await live.stream(f"{live._run}-0"), 1)
        for _ in range(KEPT + 5):
            live.publish("event", {})
        for last in (first, "someone-else-3", "nonsense", f"{live._run}-999999"):
            ((identity, kind, _),) = await some(await live.stream(last), 1)
            assert kind == "reset" and identity == f"{live._run}-{KEPT + 6}"

    asyncio.run(life())


def test_a_watcher_that_does_not_read_is_told_to_start_over() -> None:
    async def life() -> None:
        live = Live()
        lines = await live.stream(None)
        await anext(lines)
        for number in range(KEPT + 10):
            live.publish("event", {"n": number})
            await asyncio.sleep(0)
        told = await some(lines, 1)
        assert told[0][1] == "reset"
        rest = await some(lines, 9)
        assert [data["n"] for _, _, data in rest] == list(range(KEPT + 1, KEPT + 10))

    asyncio.run(life())


def test_streams_end_when_the_feed_is_closed() -> None:
    async def life() -> None:
        live = Live()
        lines = await live.stream(None)
        live.publish("event", {"n": 1})
        await some(lines, 1)
        live.close()
        assert [line async for line in lines] == []
        assert not live._watchers

    asyncio.run(life())


def test_there_is_a_most_of_watchers_and_one_that_leaves_makes_room() -> None:
    async def life() -> None:
        live = Live()
        watchers = [await live.stream(None) for _ in range(CLIENTS)]
        with pytest.raises(TooManyWatchers):
            await live.stream(None)
        await anext(watchers[0])
        await watchers[0].aclose()  # type: ignore[attr-defined]
        await live.stream(None)

    asyncio.run(life())


def test_news_are_told_by_kind() -> None:
    told: list[tuple[str, Any]] = []
    news = News(lambda kind, data: told.append((kind, data)))
    news.on_event(Notice(arrival(), "codex", "session-start"))
    news.stored([record("A title", detail="long"), record(kind="summary")])
    news.removed(NAMESPACE, ["mr_x"])
    news.receipt(Receipt(receipt_id="rcp_1", namespace=NAMESPACE, trigger="prompt", query="q"))
    assert [kind for kind, _ in told] == [
        "event", "prompt", "session", "memory", "summary", "memory", "receipt",
    ]  # fmt: skip
    assert told[0][1]["preview"] == "hello"
    assert (told[3][1]["record"].title, told[3][1]["record"].detail) == ("A title", "")
    assert told[5][1]["removed"] and told[6][1]["query"] == "q"
