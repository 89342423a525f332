"""Laws of extraction by rules, for any events."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any, cast

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.core import ids, values
from recollect.core.clock import ManualClock
from recollect.core.values import (
    ChatMessage,
    Event,
    EventSource,
    JsonBody,
    MessageBody,
    StoredEvent,
    TextBody,
)
from recollect.extract.rules.extractor import RulesExtractor
from recollect.extract.rules.store_reads import StoreReads
from recollect.store.interface import Batch, Page, Store
from tests.fakes.growth import assert_linear
from tests.make import NAMESPACE, NOON
from tests.unit.extract.session import Told, as_stored

quick = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


class Untouchable:
    """A store that can only be read: whatever writes raises."""

    def __init__(self, *events: StoredEvent) -> None:
        self._events = events

    @property
    def events(self) -> "Untouchable":
        return self

    @property
    def records(self) -> "Records":
        return Records()

    def session(
        self, namespace: str, session_id: str, limit: int | None = None, **where: Any
    ) -> tuple[StoredEvent, ...]:
        own = [one for one in self._events if one.event.session_id == session_id]
        return tuple(own[:limit])

    def page(self, namespace: str, **how: Any) -> Page[StoredEvent]:
        return Page(tuple(one for one in self._events if one.event.kind == "tool_use"))

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"extraction touched {name}")


class Records:
    def by_hash(self, namespace: str, digest: str) -> None:
        return None

    def page(self, namespace: str, *where: Any, **how: Any) -> Page[Any]:
        return Page(())

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"extraction touched records.{name}")


def rules(events: tuple[StoredEvent, ...]) -> RulesExtractor:
    return RulesExtractor(
        StoreReads(cast(Store, Untouchable(*events))), ManualClock(NOON + timedelta(days=1))
    )


phrases = st.sampled_from(
    [
        "use pnpm not npm",
        "never do that again, always ask",
        "the root cause was `x.py`",
        "Next steps:\n- one\n- two?",
        "option 2",
        "```\ncode\n",
        "we decided to go with redis because of `a`",
        "fails with TimeoutError: no",
        "Added `--json` to report.py",
        "1. first\n2. second",
        "git commit -m \"$(cat <<'EOF'\nsubject line here\n\nbody\nEOF\n)\"",
        "renamed a to b",
        "\x00\u202e🙂" * 5,
        "a" * 3000,
    ]
)
texts = st.one_of(st.text(max_size=80), st.lists(phrases, max_size=4).map("\n".join))
data = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-9, 9), texts),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=8,
)
classes = st.sampled_from(
    ["file-write", "file-read", "command", "research", "delegation", "other", 3]
)
calls = st.fixed_dictionaries(
    {},
    optional={
        "class": classes,
        "tool": data,
        "files": st.one_of(data, st.lists(st.sampled_from(["a.py", "b/c.go", ""]), max_size=3)),
        "command": st.one_of(data, phrases, st.sampled_from(["pytest -q", "make", "git mv a b"])),
        "failed": st.one_of(st.booleans(), data),
        "input": data,
        "output": data,
    },
)
bodies = st.one_of(
    texts.map(lambda text: TextBody(content=text)),
    st.one_of(data, calls).map(lambda value: JsonBody(data=value)),
    st.lists(
        st.builds(
            lambda role, text: ChatMessage(role=role, content=text),
            st.sampled_from(["user", "assistant", "x"]),
            texts,
        ),
        min_size=1,
        max_size=3,
    ).map(lambda turns: MessageBody(turns=tuple(turns))),
)
kinds = st.sampled_from(["prompt", "tool_use", "tool_use", "session_summary", "note"])


@st.composite
def sessions(draw: Any) -> tuple[StoredEvent, ...]:
    found = []
    for at in range(draw(st.integers(0, 12))):
        event = Event(
            event_id=ids.derive_ulid("01ARZ3NDEKTSV4RRFFQ69G5FAV", at + 1),
            session_id=draw(st.sampled_from(["one", "two"])),
            actor_id="ada",
            namespace=NAMESPACE,
            kind=draw(kinds),
            body=draw(bodies),
            valid_time=NOON + timedelta(seconds=at),
            source=EventSource(surface="test", project_path=draw(st.sampled_from([None, "/w/p"]))),
        )
        found.append(StoredEvent(event=event, seq=at, transaction_time=NOON))
    return tuple(found)


@quick
@given(sessions())
def test_any_events_give_valid_memories_and_nothing_is_written(
    events: tuple[StoredEvent, ...],
) -> None:
    found = rules(events).extract(Batch(NAMESPACE, events))
    known = {one.event.event_id for one in events}
    for candidate in found.candidates:
        record = values.check(candidate.record)
        assert record.source_event_ids and known.issuperset(record.source_event_ids)
        if record.knowledge_type in ("constraint", "heuristic"):
            assert record.author == "user"
    for checkpoint in found.checkpoints:
        values.check(checkpoint)
    seen = [candidate.record.record_id for candidate in found.candidates]
    assert len(seen) == len(set(seen)) and found.derived <= set(seen)
    for claim in found.claims:
        assert known.issuperset(claim.event_ids)


@quick
@given(sessions())
def test_the_same_events_give_the_same_extraction(events: tuple[StoredEvent, ...]) -> None:
    batch = Batch(NAMESPACE, events)
    assert rules(events).extract(batch) == rules(events).extract(batch)


@quick
@given(output=st.lists(phrases, min_size=1, max_size=5).map(". ".join))
def test_what_a_tool_brings_never_becomes_a_rule(output: str) -> None:
    told = Told().ask("look at that").run("cat notes.md", output).fetch("https://x.org", output)
    events = as_stored(told.answer("I looked at it."))
    found = rules(events).extract(Batch(NAMESPACE, events))
    assert not any(one.record.kind == "knowledge" for one in found.candidates)


def test_four_times_the_events_are_about_four_times_the_work() -> None:
    told = Told()
    for number in range(140):
        told.ask(f"the handler {number} fails with TimeoutError: gave up, can you look? " * 3)
        told.run(f"pytest tests/test_h{number}.py", "E   TimeoutError: x\n" * 60, failed=True)
        told.edit(f"api/h{number}.py").edit(f"api/g{number}.py")
        told.run(f"pytest tests/test_h{number}.py", "3 passed").run(
            "git commit -m 'Fix the handler'"
        )
        told.answer(f"The cause was the timeout in `h{number}.py`. " + "It is longer now. " * 60)
    events = as_stored(told)
    found = rules(events[:1000]).extract(Batch(NAMESPACE, events[:1000]))
    assert len(found.candidates) > 20

    def work(size: int) -> Callable[[], object]:
        some = events[:size]
        extractor = rules(some)
        return lambda: extractor.extract(Batch(NAMESPACE, some))

    assert_linear(work, 250)
