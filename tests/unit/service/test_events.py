"""A session's events as a client reads them."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from recollect.core.clock import ManualClock
from recollect.core.errors import BadCursor
from recollect.core.values import ChatMessage, JsonBody, MessageBody, TextBody
from recollect.daemon.runtime import Runtime
from recollect.ingest.counters import Counters
from recollect.ingest.messages import Notice
from recollect.ingest.turn_writer import TurnWriter
from recollect.service import read, sessions, write
from recollect.service.read import EventRow, EventsQuery
from recollect.service.scope import Scope
from tests.fakes.waiting import PATIENCE_S
from tests.make import NAMESPACE, NOON, arrival

ELSEWHERE = "/actor/ada/project/engine2/"


def texts(rows: Sequence[EventRow]) -> list[str]:
    return [getattr(row.event.body, "content", "") for row in rows]


def test_a_session_is_listed_as_it_happened_one_project_after_the_other(runtime: Runtime) -> None:
    for tick in (3, 0, 2, 1):
        for namespace in (NAMESPACE, ELSEWHERE):
            text = f"{namespace} {tick}"
            runtime.store.events.put(
                [arrival(text, namespace=namespace, boot_id="b", mono_ns=tick, session_id="s")]
            )
    wanted = [
        f"{namespace} {tick}"
        for namespace in sorted((NAMESPACE, ELSEWHERE))
        for tick in (3, 2, 1, 0)
    ]
    for size in (1, 3, 4, 8):
        found: list[str] = []
        before = None
        while True:
            asked = EventsQuery(session_id="s", before=before, limit=size)
            page = read.events(runtime, asked, (NAMESPACE, ELSEWHERE))
            found += texts(page.items)
            if page.next is None:
                break
            before = page.next
        assert found == wanted, size


def test_a_page_that_begins_nowhere_is_refused(runtime: Runtime) -> None:
    runtime.store.events.put([arrival("here", session_id="s"), arrival("there", session_id="t")])
    (other,) = runtime.store.events.session(NAMESPACE, "t")
    for before in ("7:NOWHERE", f"{other.seq}:{other.event.event_id}"):
        with pytest.raises(BadCursor) as told:
            read.events(runtime, EventsQuery(session_id="s", before=before), (NAMESPACE,))
        assert "first page" in told.value.hint


def test_work_is_resumed_where_it_stopped_not_where_the_last_turn_was_heard_of(
    runtime: Runtime,
) -> None:
    turn_writer = TurnWriter(runtime.store, runtime.memories, Counters(runtime.clock))
    turn_writer.start()
    for number in (3, 4, 5, 0, 1, 2):
        answer = MessageBody(turns=(ChatMessage(role="assistant", content=f"answer {number}"),))
        prompt = TextBody(content=f"turn {number}")
        for kind, body, tick in (("prompt", prompt, 0), ("session_summary", answer, 1)):
            since = 10 * number + tick
            one = arrival(
                kind=kind,
                body=body,
                boot_id="b",
                mono_ns=since,
                session_id="s",
                valid_time=NOON + timedelta(seconds=since),
            )
            runtime.store.events.put([one])
            turn_writer.on_event(Notice(one, "test"))
        assert turn_writer.wait(PATIENCE_S)
    turn_writer.close()
    found = sessions.resume(runtime, Scope(namespace=NAMESPACE), "s")
    assert [one.title for one in found.last_turns] == ["turn 3", "turn 4", "turn 5"]


def test_a_session_that_was_only_opened_is_not_where_work_stopped(runtime: Runtime) -> None:
    turn_writer = TurnWriter(runtime.store, runtime.memories, Counters(runtime.clock))
    turn_writer.start()
    ran = JsonBody(data={"class": "command", "command": "make", "tool": "Bash"})
    greeted = MessageBody(turns=(ChatMessage(role="assistant", content="Hello."),))
    told = [
        ("worked", "prompt", TextBody(content="build it")), ("worked", "tool_use", ran),
        ("greeted", "prompt", TextBody(content="hi")), ("greeted", "session_summary", greeted),
        ("opened", "prompt", TextBody(content="never answered")),
    ]  # fmt: skip
    for since, (name, kind, body) in enumerate(told):
        at = NOON + timedelta(seconds=since)
        one = arrival(kind=kind, body=body, mono_ns=since, session_id=name, valid_time=at)
        runtime.store.events.put([one])
        turn_writer.on_event(Notice(one, "test"))
    turn_writer.close()
    found = sessions.resume(runtime, Scope(namespace=NAMESPACE))
    assert found.session is not None and found.session.session_id == "worked"
    assert [one.title for one in found.last_turns] == ["build it"]


def test_a_stored_summary_can_be_resumed_though_its_session_has_no_events(
    runtime: Runtime, clock: ManualClock
) -> None:
    def stored(request: str, **more: Any) -> None:
        new = write.NewSummary(request=request, namespace=NAMESPACE, **more)
        write.add_summary(runtime, new)

    here = Scope(namespace=NAMESPACE)
    stored("Raise the cap", next_steps=("raise it",), session_id="told")
    assert sessions.checkpoint(runtime, here, "told").task == "Raise the cap"
    assert "Last session: told (" in sessions.resume(runtime, here, "told").text
    later = clock.now() + timedelta(hours=1)
    runtime.store.events.put([arrival("hello", session_id="seen", valid_time=later)])
    text = sessions.resume(runtime, here).text
    assert text.startswith("Last session: seen (") and "is of session told:" in text
    clock.advance(hours=2)
    stored("Move the store", session_id="newest")
    text = sessions.resume(runtime, here).text
    assert text.startswith("Last session: newest (") and "### Task\nMove the store" in text
    clock.advance(hours=1)
    stored("Tidy up", next_steps=("sweep",), questions=("who pays?",))
    text = sessions.resume(runtime, here).text
    assert "Tidy up\nNext steps\n- sweep\nOpen questions\n- who pays?" in text
