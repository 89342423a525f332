"""The one write path: validate, scrub, deduplicate, store, notify.

In: frames from hooks, events from the API. Out: what to answer, after COMMIT. Bad input raises
BadInput; a store that cannot write now raises StoreError and the sender keeps the event.
"""

import logging
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import msgspec

from recollect import __version__, privacy
from recollect.capture import frames, hosts
from recollect.capture.frames import Frame
from recollect.capture.hosts import Capture, Draft, Payload
from recollect.core import errors, ids, projects, values
from recollect.core.clock import Clock
from recollect.core.projects import Place
from recollect.core.values import Arrival, Event, Source, StoredEvent
from recollect.ingest.counters import Counters
from recollect.ingest.keepout import KeepOut
from recollect.ingest.recent import Recent
from recollect.ingest.sessions import Continuity, Turns
from recollect.store.interface import Outcome, Store

log = logging.getLogger(__name__)

# A loop in a host, not a person: beyond this a session's events are refused until the next minute.
RUNAWAY_PER_MINUTE = 3000
_TRANSCRIPT_TAIL = 256 << 10
# Copilot writes its transcript a moment after it calls the hook that names it. When a hook has
# waited so long, its frame goes to the spool, which brings it back when all is written.
_TRANSCRIPT_WAIT_S = 0.3
_TRANSCRIPT_LOOK_S = 0.02
_PROMPTS_SEARCHED = 20


@dataclass(frozen=True)
class Question:
    """What a hook wants to hear: the context for a prompt or for the start of a session."""

    trigger: str
    text: str
    namespaces: tuple[str, ...]
    session_id: str
    event_id: str | None
    limit_chars: int
    reason: str = ""  # of a session's start: startup, resume, compact, clear


@dataclass(frozen=True)
class Recalled:
    """What is remembered: the text to inject, which memories it holds, how long it took."""

    context: str = ""
    records: tuple[str, ...] = ()
    latency_us: int = 0
    receipt_id: str | None = None


@dataclass(frozen=True)
class Notice:
    """What is told to whoever watches: an event was stored."""

    stored: StoredEvent | Arrival
    host: str
    signal: str | None = None


@dataclass(frozen=True)
class Reply:
    """The answer to a hook: a status of `frames`, and the bytes it prints."""

    status: int
    stdout: bytes = b""


Recall = Callable[[Question], Recalled]
Listener = Callable[[Notice], None]


def nothing_to_say(question: Question) -> Recalled:
    return Recalled()


class Pipeline:
    def __init__(
        self,
        store: Store,
        clock: Clock,
        actor: str,
        counters: Counters,
        *,
        recall: Recall = nothing_to_say,
        keep_out: KeepOut | None = None,
    ) -> None:
        self.keep_out = keep_out
        self._store = store
        self._clock = clock
        self._actor = actor
        self._counters = counters
        self._continuity = Continuity(store, clock)
        self._ids = Recent()
        self._keys = Recent()
        self._turns = Turns()
        self._pace = Pace(clock)
        self.recall = recall
        # What an agent says in a session, without what the session was told by us.
        self.own_text: Callable[[str, str], str] = lambda _session_id, text: text
        self.listeners: list[Listener] = []

    # --- hooks ---

    def frame(self, frame: Frame, digest: bytes, *, live: bool = True) -> Reply:
        """Take what a hook sent, or, with `live` off, what it spooled earlier."""
        key = f"{frame.ulid}/{digest.hex()}"
        if not self._ids.add(key):
            self._counters.count("repeats")
            return Reply(frames.STORED)
        try:
            reply = self._frame(frame, digest, live)
        except BaseException:
            self._ids.forget(key)
            raise
        if reply.status == frames.NOT_NOW:
            self._ids.forget(key)
        return reply

    def _frame(self, frame: Frame, digest: bytes, live: bool) -> Reply:
        captured = hosts.capture(_payload(frame))
        if captured.damaged:
            self._counters.count("payloads not readable")
            self._counters.error(f"a payload of {captured.host} could not be read in full")
        named = _clean(captured.session_id)[:256] if captured.session_id else None
        if self.keep_out is not None:
            happened = captured.happened_at or _wall(frame.wall_ns)
            refusal = self.keep_out.refuses(captured, named, happened)
            if refusal is not None:
                self._counters.count(f"kept out: {refusal.reason}")
                told = refusal.told if captured.wants else ""
                return Reply(frames.STORED, hosts.answer(captured, told) if live else b"")
            captured = self._without_kept_out(captured)
        place, path = self._place(captured.cwd)
        namespace = self._namespace(place)
        session_id = self._continuity.session(
            captured.host,
            namespace,
            named,
            begins=captured.signal == "session-start",
        )
        if not self._pace.allows(session_id):
            self._counters.count("refused: runaway")
            self._counters.error(f"a session of {captured.host} sends events in a loop")
            return Reply(frames.REFUSED)
        if captured.transcript is not None:
            ended = captured.happened_at or _wall(frame.wall_ns)
            began = self._prompted(namespace, session_id, ended)
            captured = _with_transcript(captured, began, ended, wait=live)
            if live and captured.transcript is not None:
                return Reply(frames.NOT_NOW)
        keys, drafts = self._new_drafts(captured, session_id)
        try:
            arrivals = [
                self._arrival(frame, digest, captured, draft, index, namespace, session_id, path)
                for index, draft in drafts
            ]
            outcomes = self._put(arrivals)
        except BaseException:
            for key in keys:
                self._keys.forget(key)
            raise
        fresh = [one for one, outcome in zip(arrivals, outcomes, strict=True) if outcome.stored]
        if fresh and captured.signal in ("session-start", "session-end"):
            self._keys.forget(self._turns.passed(session_id, captured.signal, keys[0]))
        if captured.signal == "session-end":
            self._store.sessions.end(namespace, session_id, "completed", self._clock.now())
            self._continuity.ended(captured.host, namespace)
        self._notify(fresh, captured)
        if any(outcome.status == "conflict" for outcome in outcomes):
            return Reply(frames.REFUSED)
        if not live:
            return Reply(frames.STORED)
        return Reply(frames.STORED, self._answer(captured, place, session_id, fresh))

    def _without_kept_out(self, captured: Capture) -> Capture:
        assert self.keep_out is not None
        kept, reasons = self.keep_out.left(captured)
        for reason in reasons:
            self._counters.count(f"kept out: {reason}")
        return replace(captured, drafts=kept)

    def _prompted(self, namespace: str, session_id: str, before: datetime) -> datetime | None:
        """When the turn that ended at this time began, as far as we know."""
        prompts = self._store.events.page(
            namespace, session_id=session_id, kind="prompt", limit=_PROMPTS_SEARCHED
        )
        times = (stored.event.valid_time for stored in prompts.items)
        return next((time for time in times if time <= before), None)

    def _new_drafts(
        self, captured: Capture, session_id: str
    ) -> tuple[list[str], list[tuple[int, Draft]]]:
        """Drafts that no double firing of the host has brought before, with their place in the
        frame, and the keys that were remembered for them."""
        keys, kept = [], []
        for index, draft in enumerate(captured.drafts):
            if draft.dedupe_key is not None:
                key = f"{captured.host}\0{session_id}\0{draft.dedupe_key}"
                if not self._keys.add(key, draft.dedupe_seconds):
                    self._counters.count("repeats")
                    continue
                keys.append(key)
            kept.append((index, draft))
        return keys, kept

    def _arrival(
        self,
        frame: Frame,
        digest: bytes,
        captured: Capture,
        draft: Draft,
        index: int,
        namespace: str,
        session_id: str,
        path: str | None,
    ) -> Arrival:
        body = self._scrubbed_body(draft.body, draft.kind, session_id)
        happened = captured.happened_at or _wall(frame.wall_ns)
        return Arrival(
            event=Event(
                event_id=ids.derive_ulid(frame.ulid, index),
                session_id=session_id,
                actor_id=self._actor,
                namespace=namespace,
                kind=draft.kind,
                body=body,
                valid_time=happened,
                source=Source(surface=captured.host[:64], version=__version__, project_path=path),
            ),
            digest=digest.hex(),
            boot_id=frame.boot_id or None,
            mono_ns=frame.mono_ns & (2**63 - 1),
        )

    def _answer(
        self, captured: Capture, place: Place, session_id: str, fresh: list[Arrival]
    ) -> bytes:
        """What the hook prints. Nothing is recalled for what is only a repeat."""
        host = hosts.host(captured.host)
        context = ""
        if captured.wants is not None and (fresh or not captured.drafts):
            question = Question(
                trigger=captured.wants,
                text=_clean(captured.query),
                namespaces=(self._namespace(place), projects.namespace(self._actor)),
                session_id=session_id,
                event_id=fresh[0].event.event_id if fresh else None,
                limit_chars=host.context_chars,
                reason=captured.reason,
            )
            context = self.recall(question).context
        return hosts.answer(captured, context)

    # --- the API ---

    def event(self, event: Event, digest: str) -> Outcome:
        """Take one event that is whole already; `digest` is of what its sender gave, so that a
        repeat is recognised. EventConflict when its id is there with other content."""
        (outcome,) = self.events([(event, digest)])
        if outcome.status == "conflict":
            raise errors.EventConflict(f"event {event.event_id} is stored with other content")
        return outcome

    def events(self, given: Sequence[tuple[Event, str]]) -> list[Outcome]:
        """Take many events, each with its digest, in one commit and in this order."""
        cleaned = {}
        kept_out: dict[str, Outcome] = {}
        for event, digest in given:
            key = f"{event.event_id}/{digest}"
            _check_size(event)
            if reason := self.keep_out.event(event) if self.keep_out is not None else "":
                self._counters.count(f"kept out: {reason}")
                kept_out[key] = Outcome(event.event_id, "kept out")
            elif key not in cleaned and self._ids.add(key):
                cleaned[key] = Arrival(event=self._scrubbed(event), digest=digest)
        try:
            outcomes = dict(zip(cleaned, self._put(list(cleaned.values())), strict=True))
        except BaseException:
            for key in cleaned:
                self._ids.forget(key)
            raise
        for key, outcome in outcomes.items():
            if outcome.status == "conflict":
                self._ids.forget(key)
            elif outcome.stored:
                event = cleaned[key].event
                for listener in self.listeners:
                    listener(Notice(Arrival(event=event), event.source.surface))
        outcomes |= kept_out
        return [
            outcomes.get(f"{event.event_id}/{digest}", Outcome(event.event_id, "duplicate"))
            for event, digest in given
        ]

    def forget_seen(self) -> None:
        """What was seen lately may be new again: it was erased."""
        self._ids.clear()
        self._keys.clear()

    def kept_out(self, directory: str | None) -> str:
        """Why nothing is captured in a directory, or nothing."""
        if self.keep_out is None or not directory:
            return ""
        return self.keep_out.here(directory).off

    def namespace_of(self, directory: str | None) -> str:
        """The namespace of a working directory, or the actor's global one."""
        return self._namespace(self._place(directory or "")[0])

    # --- parts of both ---

    def _put(self, arrivals: list[Arrival]) -> list[Outcome]:
        if not arrivals:
            return []
        outcomes = self._store.events.put(arrivals)
        for outcome in outcomes:
            self._counters.count(f"events {outcome.status}")
            if outcome.status == "conflict":
                self._counters.error(f"event {outcome.event_id} came again with other content")
        return outcomes

    def _notify(self, arrivals: list[Arrival], captured: Capture) -> None:
        for arrival in arrivals:
            for listener in self.listeners:
                listener(Notice(arrival, captured.host, captured.signal))

    def _scrubbed_body(
        self, body: values.Body, kind: values.EventKind, session_id: str
    ) -> values.Body:
        match body:
            case values.MessageBody(turns=turns):
                said = [
                    turn
                    if turn.role == "user"
                    else msgspec.structs.replace(
                        turn, content=self.own_text(session_id, turn.content)
                    )
                    for turn in turns
                ]
                body = values.MessageBody(turns=tuple(said))
            case values.TextBody(content=content) if kind != "prompt":
                body = values.TextBody(content=self.own_text(session_id, content))
        clean = self._clean_tree(msgspec.to_builtins(body))
        cleaned: values.Body = msgspec.convert(clean, type=values.Body)
        return cleaned

    def _scrubbed(self, event: Event) -> Event:
        """Every text of an event cleaned, the session's name and the path included."""
        clean = self._clean_tree(msgspec.to_builtins(event, builtin_types=(datetime,)))
        kept = {"event_id": event.event_id, "namespace": event.namespace, "body": None}
        body = self._scrubbed_body(event.body, event.kind, event.session_id)
        return msgspec.structs.replace(
            values.convert(Event, clean | kept | {"body": msgspec.to_builtins(body)}), body=body
        )

    def _clean_tree(self, tree: Any) -> Any:
        scrubbed = privacy.scrub_tree(tree)
        if scrubbed.private:
            self._counters.count("private spans removed", scrubbed.private)
        for kind, number in scrubbed.secrets.items():
            self._counters.count(f"secrets removed: {kind}", number)
        return scrubbed.value

    def _place(self, directory: str) -> tuple[Place, str | None]:
        """Where work happens, and the path as it may be stored. A path that holds something
        private is stored without it and belongs to the global project."""
        if not directory or not directory.startswith("/"):
            return Place(), None
        shown = _clean(directory)[:2048]
        if shown != directory or "\0" in directory:
            return Place(), shown.replace("\0", "") or None
        return projects.locate(directory), shown

    def _namespace(self, place: Place) -> str:
        return projects.namespace(self._actor, self._store.projects.resolve(place))


class Pace:
    """How many events a session sends in a minute, to stop a host that runs in a loop."""

    def __init__(self, clock: Clock, limit: int = RUNAWAY_PER_MINUTE) -> None:
        self._clock = clock
        self._limit = limit
        self._minute = 0
        self._counts: dict[str, int] = {}

    def allows(self, session_id: str) -> bool:
        minute = self._clock.mono_ns() // 60_000_000_000
        if minute != self._minute:
            self._minute, self._counts = minute, {}
        self._counts[session_id] = self._counts.get(session_id, 0) + 1
        return self._counts[session_id] <= self._limit


def _check_size(event: Event) -> None:
    size = len(values.encode(event.body))
    if size > values.EVENT_BODY_BYTES:
        raise errors.TooLarge(
            f"the body has {size} bytes, at most {values.EVENT_BODY_BYTES} are taken", field="body"
        )


def _payload(frame: Frame) -> Payload:
    def text(raw: bytes) -> str:
        return raw.decode("utf-8", "replace")

    env = dict(text(item).partition("=")[::2] for item in frame.env)
    return Payload(
        host=text(frame.host),
        event=text(frame.event),
        args=tuple(map(text, frame.argv[2:])),
        cwd=text(frame.cwd),
        env=env,
        stdin=frame.stdin,
        truncated=bool(frame.flags & (frames.TRUNCATED | frames.LATE)),
    )


def _with_transcript(
    captured: Capture, began: datetime | None, ended: datetime, *, wait: bool
) -> Capture:
    """A stop whose answer stands only in the host's transcript: find it among the lines of its own
    turn."""
    deadline = time.monotonic() + _TRANSCRIPT_WAIT_S
    if captured.transcript and not os.path.isdir(os.path.dirname(captured.transcript)):
        return replace(captured, transcript=None)  # it will never come
    while captured.transcript is not None:
        tail = _tail(captured.transcript)
        captured = hosts.answered_from_transcript(captured, tail, began, ended)
        if not wait or time.monotonic() >= deadline:
            break
        time.sleep(_TRANSCRIPT_LOOK_S)
    return captured


def _tail(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - _TRANSCRIPT_TAIL))
            return file.read(_TRANSCRIPT_TAIL)
    except (OSError, ValueError):
        return b""  # not there yet, or never


def _wall(wall_ns: int) -> datetime:
    try:
        return datetime.fromtimestamp(wall_ns / 1e9, UTC)
    except (OverflowError, ValueError, OSError):
        return datetime.fromtimestamp(0, UTC)  # a clock that is beyond all dates


def _clean(text: str) -> str:
    return privacy.scrub(text).text
