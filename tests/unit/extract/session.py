"""A session told in a few lines, stored, and handed to the rules."""

from datetime import datetime, timedelta
from typing import Any

from recollect.core import ids
from recollect.core.clock import ManualClock
from recollect.core.values import (
    Arrival,
    Event,
    EventSource,
    JsonBody,
    Record,
    StoredEvent,
    TextBody,
)
from recollect.extract.interface import Extraction
from recollect.extract.rules.extractor import RulesExtractor
from recollect.extract.rules.store_reads import StoreReads
from recollect.hosts.adapter import answer_draft, tool_draft
from recollect.store.interface import Batch, Store, Transaction
from tests.make import NAMESPACE, NOON

CLOCK = ManualClock(NOON + timedelta(days=30))


class Told:
    """Events of one session, one after the other."""

    def __init__(
        self,
        session_id: str = "s1",
        start: datetime = NOON,
        project: str = "/work/orbit",
        branch: str = "",
    ) -> None:
        self.session_id = session_id
        self._project = project
        self._branch = branch
        self.events: list[Event] = []
        self._at = start

    def _add(self, kind: Any, body: Any) -> "Told":
        self._at += timedelta(seconds=5)
        event = Event(
            event_id=ids.new_ulid(int(self._at.timestamp() * 1000)),
            session_id=self.session_id,
            actor_id="ada",
            namespace=NAMESPACE,
            kind=kind,
            body=body,
            valid_time=self._at,
            source=EventSource(
                surface="claude-code", project_path=self._project, branch=self._branch
            ),
        )
        self.events.append(event)
        return self

    def ask(self, text: str) -> "Told":
        return self._add("prompt", TextBody(content=text))

    def answer(self, text: str) -> "Told":
        draft = answer_draft(text)
        assert draft is not None
        return self._add("session_summary", draft.body)

    def run(self, command: str, output: str = "", *, failed: bool = False) -> "Told":
        draft = tool_draft(
            "Bash", {"command": command}, {"stdout": output}, call="x", failed=failed
        )
        return self._add("tool_use", draft.body)

    def edit(self, path: str) -> "Told":
        change = {"file_path": path, "old_string": "a", "new_string": "b"}
        return self._add("tool_use", tool_draft("Edit", change, {"filePath": path}, call="x").body)

    def write(self, path: str, content: str) -> "Told":
        made = {"file_path": path, "content": content}
        return self._add("tool_use", tool_draft("Write", made, {"filePath": path}, call="x").body)

    def use(self, tool: str, arguments: Any, output: Any, *, failed: bool = False) -> "Told":
        draft = tool_draft(tool, arguments, output, call="x", failed=failed)
        return self._add("tool_use", draft.body)

    def fetch(self, url: str, output: str) -> "Told":
        draft = tool_draft("WebFetch", {"url": url}, {"result": output}, call="x")
        return self._add("tool_use", draft.body)

    def signal(self, name: str) -> "Told":
        return self._add("note", JsonBody(data={"signal": name, "reason": "x"}))


def stored(store: Store, *sessions: Told) -> Batch:
    """Put sessions into the store and claim what is new."""
    for told in sessions:
        known = {one.event.event_id for one in store.events.session(NAMESPACE, told.session_id)}
        new = [Arrival(event=event) for event in told.events if event.event_id not in known]
        store.events.put(new)
    batch = store.events.claim(NAMESPACE, 10_000, 1 << 30)
    assert batch is not None
    return batch


def extract(store: Store, *sessions: Told) -> Extraction:
    """Extract what is new, and finish it as the worker would: memories and batch together."""
    batch = stored(store, *sessions)
    extraction = RulesExtractor(StoreReads(store), CLOCK).extract(batch)

    def push(work: Transaction) -> None:
        for candidate in extraction.candidates:
            record = candidate.record
            if record.record_id in extraction.derived:
                work.put_record(record, over=True)
            else:
                work.put_record(record)
        for checkpoint in extraction.checkpoints:
            work.put_checkpoint(checkpoint)
        work.finish(batch)

    store.transaction(push)
    return extraction


def records(extraction: Extraction, **fields: Any) -> list[Record]:
    found = [candidate.record for candidate in extraction.candidates]
    return [
        one for one in found if all(getattr(one, name) == value for name, value in fields.items())
    ]


def outcomes(extraction: Extraction) -> list[Record]:
    return records(extraction, kind="observation")


def as_stored(told: Told) -> tuple[StoredEvent, ...]:
    return tuple(
        StoredEvent(event=event, seq=at, transaction_time=event.valid_time)
        for at, event in enumerate(told.events)
    )
