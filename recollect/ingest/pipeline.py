"""The one write path: validate, scrub, deduplicate, store, notify.

In: frames from hooks, events from the API. Out: what to answer, after COMMIT. Bad input raises
BadInput; a store that cannot write now raises StoreError and the sender keeps the event.
"""

import contextlib
import logging
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

import msgspec

from recollect import __version__, privacy
from recollect.capture import frames
from recollect.capture.frames import Frame
from recollect.core import errors, ids, projects, values
from recollect.core.clock import Clock, from_micros
from recollect.core.projects import ProjectPlace
from recollect.core.values import Arrival, Event, EventSource, SessionStatus
from recollect.hosts import hooks
from recollect.hosts.payloads import Capture, EventDraft, Payload
from recollect.ingest.counters import Counters
from recollect.ingest.keepout import KeepOut
from recollect.ingest.messages import (
    Listener,
    Notice,
    Recall,
    Recalled,
    RecallQuestion,
    Reply,
    Send,
    do_not_send,
    nothing_to_say,
)
from recollect.ingest.origins import (
    FileEnds,
    Namespaces,
    SeenCache,
    SessionContinuity,
    SessionSignals,
)
from recollect.store.interface import Outcome, Store

log = logging.getLogger(__name__)

_TRANSCRIPT_TAIL = 256 << 10
_PROMPT_FILE = 4 << 20  # read whole by hosts whose file is one JSON document
# Copilot writes its transcript a moment after it calls the hook that names it. When a hook has
# waited so long, its frame goes to the spool, which brings it back when all is written.
_TRANSCRIPT_WAIT_S = 0.3
_TRANSCRIPT_LOOK_S = 0.02
_PROMPTS_SEARCHED = 20
_LAST_NS = 253_402_300_800 * 10**9  # the end of the year 9999


@dataclass(frozen=True)
class _EventKey:
    """What identifies an event of a hook: its frame, its index in it, and the digest."""

    ulid: str
    index: int
    digest: str


@dataclass
class _ReadFrame:
    """A frame that was read: what it means, where and when it happened (`path`: as it may be
    stored), and the events to store."""

    captured: Capture
    place: ProjectPlace
    path: str | None
    namespace: str
    session_id: str
    happened: datetime
    live: bool  # else it comes from the spool, long after
    arrivals: list[Arrival] = field(default_factory=list)
    refused: bool = False


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
        namespaces: Namespaces | None = None,
        visible_line: bool = True,
    ) -> None:
        self.keep_out = keep_out
        self._visible_line = visible_line
        self._store = store
        self._clock = clock
        self._actor = actor
        self._counters = counters
        self._continuity = SessionContinuity(store, clock)
        self._keys: SeenCache[_EventKey] = SeenCache()
        self._signals = SessionSignals()
        self._files = FileEnds()
        self._namespaces = namespaces or Namespaces(store, actor)
        self.recall = recall
        # Removes from an agent's text what Recollect itself put into the session.
        self.own_text: Callable[[str, str], str] = lambda _session_id, text: text
        self.listeners: list[Listener] = []

    # --- hooks ---

    def frame(self, frame: Frame, digest: bytes, send: Send = do_not_send) -> Reply:
        """Take a frame from a hook that waits. The answer is sent after COMMIT and before listeners
        are called, so that the hook waits for none of them. Only the store decides that a frame is
        a repeat: what is merely on its way may still be lost."""
        captured = hooks.capture(_payload(frame))
        taken = self._take(frame, digest, captured, live=True)
        if isinstance(taken, Reply):
            send(taken)
            return taken
        (fresh,) = self._stored([taken])
        refused = Reply(frames.REFUSED) if taken.refused else None
        reply = refused or Reply(frames.STORED, self._answer(taken, fresh))
        send(reply)
        self._notify(taken, fresh)
        return reply

    def spooled(self, waiting: Sequence[tuple[Frame, bytes]]) -> list[Reply]:
        """Take spooled frames, in this order and in as few commits as possible. Each gets its own
        answer, NOT_NOW when it failed unexpectedly; StoreError when nothing can be stored now."""
        replies = [Reply(frames.NOT_NOW)] * len(waiting)
        together: dict[int, _ReadFrame] = {}
        for number, (frame, digest) in enumerate(waiting):
            with self._isolated(replies, number):
                captured = hooks.capture(_payload(frame))
                if captured.transcript is not None:
                    # Its answer is searched from the turn's prompt on, so that must be stored.
                    self._store_together(together, replies)
                taken = self._take(frame, digest, captured, live=False)
                if isinstance(taken, Reply):
                    replies[number] = taken
                else:
                    together[number] = taken
        self._store_together(together, replies)
        return replies

    def _store_together(self, together: dict[int, "_ReadFrame"], replies: list[Reply]) -> None:
        """Store all in one commit. When one of them cannot be stored, each gets its own."""
        groups = [dict(together)]
        together.clear()
        while groups:
            group = groups.pop()
            try:
                news = self._stored(list(group.values()))
                for taken, fresh in zip(group.values(), news, strict=True):
                    self._notify(taken, fresh)
            except errors.StoreError:
                raise
            except Exception:
                if len(group) > 1:
                    groups += [{number: taken} for number, taken in reversed(group.items())]
                    continue
                (number,) = group
                with self._isolated(replies, number):
                    raise
            else:
                for number, taken in group.items():
                    replies[number] = Reply(frames.REFUSED if taken.refused else frames.STORED)

    @contextlib.contextmanager
    def _isolated(self, replies: list[Reply], number: int) -> Iterator[None]:
        """Let what is wrong with one spooled frame not hold up the others."""
        try:
            yield
        except errors.BadInput as error:
            replies[number] = Reply(frames.REFUSED)
            self._counters.error(f"a spooled frame was refused: {error}")
        except errors.StoreError:
            raise
        except Exception:
            log.exception("a spooled frame could not be taken")
            self._counters.error("a spooled frame could not be taken; the log says why")

    def _take(
        self, frame: Frame, digest: bytes, captured: Capture, *, live: bool
    ) -> "_ReadFrame | Reply":
        """The events to store of a frame, or the answer when there are none."""
        if frame.flags or captured.damaged:
            self._report_damage(frame, captured)
        if captured.prompt_file is not None:
            file = self._files.end_of(os.path.expanduser(captured.prompt_file), _PROMPT_FILE)
            captured = hooks.prompted_from_file(captured, file or b"")
        named = privacy.scrub(captured.session_id or "")[:256] or None
        # A clock beyond all valid dates says nothing.
        sent = from_micros(frame.wall_ns // 1000 if frame.wall_ns < _LAST_NS else 0)
        happened = captured.happened_at or sent
        if self.keep_out is not None:
            refusal = self.keep_out.refusal_of(captured, named, happened)
            if refusal is not None:
                self._counters.count(f"kept out: {refusal.reason}")
                shown = refusal.message if captured.wants else ""
                answering = hooks.adapter(captured.host)
                told = answering.answer(captured.event, shown) if live else b""
                return Reply(frames.STORED, told)
            if any(draft.kind == "tool_use" for draft in captured.drafts):
                captured = self.keep_out.without_kept_out(captured)
        place, path = self._namespaces.place(captured.cwd)
        namespace = projects.namespace(self._actor, self._store.projects.resolve(place))
        begins = captured.signal == "session-start"
        session_id, in_a_loop = self._continuity.session(
            captured.host, namespace, named, begins=begins, live=live
        )
        if in_a_loop:
            self._counters.count("refused: runaway")
            self._counters.error(f"a session of {captured.host} sends events in a loop")
            return Reply(frames.REFUSED)
        if captured.transcript is not None:
            began = self._turn_began(namespace, session_id, happened)
            captured = self._with_transcript(captured, began, happened, wait=live)
            if live and captured.transcript is not None:
                return Reply(frames.NOT_NOW)
        if not live:
            # Another branch may be checked out by now: whoever spooled the frame looked.
            place = replace(place, branch=frames.noted_branch(frame))
        taken = _ReadFrame(captured, place, path, namespace, session_id, happened, live)
        taken.arrivals = self._arrivals(frame, digest, taken)
        if captured.signal == "session-end":
            self._continuity.ended(captured.host, namespace)
        return taken

    def _report_damage(self, frame: Frame, captured: Capture) -> None:
        """Count and log that a payload did not come whole, or could not be read."""
        cut = frames.told_cut(frame.flags)
        if not cut and not captured.damaged:
            return
        self._counters.count("payloads cut" if cut else "payloads not readable")
        told_of = f"was cut: {cut}" if cut else "could not be read in full"
        self._counters.error(f"a payload of {captured.host} {told_of}")
        log.warning("frame %s: a payload of %s %s", frame.ulid, captured.host, told_of)

    def _arrivals(self, frame: Frame, digest: bytes, taken: "_ReadFrame") -> list[Arrival]:
        """The events of a frame as they are stored: scrubbed, each under its key."""
        source = EventSource(
            surface=taken.captured.host[:64],
            version=__version__,
            project_path=taken.path,
            branch=privacy.scrub(taken.place.branch)[: projects.BRANCH_CHARS],
            root=taken.place.top if taken.path else "",
        )
        return [
            Arrival(
                event=Event(
                    event_id=ids.derive_ulid(key.ulid, key.index),
                    session_id=taken.session_id,
                    actor_id=self._actor,
                    namespace=taken.namespace,
                    kind=draft.kind,
                    body=self._scrubbed_body(draft.body, draft.kind, taken.session_id),
                    valid_time=taken.happened,
                    source=source,
                ),
                digest=key.digest,
                boot_id=frame.boot_id or None,
                mono_ns=frame.mono_ns & (2**63 - 1),
            )
            for draft, key in self._with_keys(frame, digest, taken)
        ]

    def _stored(self, group: Sequence["_ReadFrame"]) -> list[list[Arrival]]:
        """Store these frames in one commit; returns the new events of each."""
        outcomes = iter(self._put([arrival for taken in group for arrival in taken.arrivals]))
        news = []
        for taken in group:
            came = [(arrival, next(outcomes)) for arrival in taken.arrivals]
            taken.refused = any(outcome.status == "conflict" for _, outcome in came)
            news.append([arrival for arrival, outcome in came if outcome.status == "stored"])
        # A session that was resumed in the same group goes on.
        last = {(taken.namespace, taken.session_id): taken for taken in group}
        ended: dict[tuple[SessionStatus, datetime], list[tuple[str, str]]] = {}
        for session, taken in last.items():
            if taken.captured.signal == "session-end":
                status: SessionStatus = "failed" if taken.captured.session_failed else "completed"
                at = self._clock.now() if taken.live else taken.happened
                ended.setdefault((status, at), []).append(session)
        for (status, at), sessions in ended.items():
            self._store.sessions.end(sessions, status, at)
        return news

    def _notify(self, taken: "_ReadFrame", fresh: Sequence[Arrival]) -> None:
        """Tell the listeners about the new events of a frame."""
        for arrival in fresh:
            notice = Notice(arrival, taken.captured.host, taken.captured.signal)
            for listener in self.listeners:
                listener(notice)

    def _stored_before(
        self, mine: "_EventKey", parts: tuple[str, str, str, str, str], draft: EventDraft
    ) -> bool:
        """Whether a prompt that comes with every event of its turn was stored by a daemon that is
        gone, and its key with it: only until this one has stored a prompt of the session."""
        host, namespace, session_id, *_ = parts
        mark = "\0".join((host, namespace, session_id, "prompt_file"))
        if draft.kind != "prompt" or self._keys.first(mark, mine) is not mine:
            return False
        body = self._scrubbed_body(draft.body, draft.kind, session_id)
        if all(one.body != body for one in self._prompts(namespace, session_id)[:1]):
            return False
        self._keys.forget(mark)
        return True

    def _prompts(self, namespace: str, session_id: str) -> list[Event]:
        """The last prompts of a session, newest first."""
        try:
            page = self._store.events.page(
                namespace, session_id=session_id, kind="prompt", limit=_PROMPTS_SEARCHED
            )
        except errors.DamagedRow:
            return []  # a damaged old row must not block new events
        return [stored.event for stored in page.items]

    def _turn_began(self, namespace: str, session_id: str, before: datetime) -> datetime | None:
        """When the turn that ended at this time began, if known."""
        times = (prompt.valid_time for prompt in self._prompts(namespace, session_id))
        return next((time for time in times if time <= before), None)

    def _with_transcript(
        self, captured: Capture, began: datetime | None, ended: datetime, *, wait: bool
    ) -> Capture:
        """Complete a stop whose answer is only in the host's transcript, from the lines of its
        turn."""
        deadline = time.monotonic() + _TRANSCRIPT_WAIT_S
        while captured.transcript is not None:
            tail = self._files.end_of(captured.transcript, _TRANSCRIPT_TAIL)
            if tail is None:
                return replace(captured, transcript=None)  # it will never come
            captured = hooks.answered_from_transcript(captured, tail, began, ended)
            if not wait or time.monotonic() >= deadline:
                break
            time.sleep(_TRANSCRIPT_LOOK_S)
        return captured

    def _with_keys(
        self, frame: Frame, digest: bytes, taken: "_ReadFrame"
    ) -> Iterator[tuple[EventDraft, "_EventKey"]]:
        """Each draft with the key under which it is stored. What a host fires twice gets the key of
        the first firing, so that the store recognises the repeat, or stores it when the first was
        lost. The time between two firings is measured by the hooks' clock, since a spool is read in
        an instant."""
        captured, session_id = taken.captured, taken.session_id
        for index, draft in enumerate(captured.drafts):
            mine = _EventKey(frame.ulid, index, digest.hex())
            if draft.dedupe_key is None:
                yield draft, mine
                continue
            boot = "" if draft.dedupe_seconds is None else frame.boot_id
            parts = (captured.host, taken.namespace, session_id, boot, draft.dedupe_key)
            key = "\0".join(parts)
            first = self._keys.first(key, mine, frame.mono_ns / 1e9, draft.dedupe_seconds)
            if first.ulid != frame.ulid:
                self._counters.count("repeats")
            elif captured.prompt_file and self._stored_before(mine, parts, draft):
                self._keys.forget(key)
                continue
            elif first is mine and captured.signal in ("session-start", "session-end"):
                self._keys.forget(self._signals.passed(session_id, captured.signal, key))
            yield draft, first

    def _answer(self, taken: "_ReadFrame", fresh: list[Arrival]) -> bytes:
        """What the hook prints. Nothing is recalled for a repeat."""
        captured = taken.captured
        recalled = Recalled()
        if captured.wants is not None and (fresh or not captured.drafts):
            # What was asked or what a tool ran, as it was stored: without secrets.
            body, text = fresh[0].event.body if fresh else None, ""
            if isinstance(body, values.TextBody) and captured.wants == "prompt":
                text = body.content
            elif isinstance(body, values.JsonBody) and captured.wants == "tool":
                command = body.data.get("command") if isinstance(body.data, dict) else None
                text = command if isinstance(command, str) else ""
            question = RecallQuestion(
                trigger=captured.wants,
                text=text or privacy.scrub(captured.query),
                namespaces=(taken.namespace, projects.namespace(self._actor)),
                session_id=taken.session_id,
                event_id=fresh[0].event.event_id if fresh else None,
                limit_chars=hooks.CONTEXT_CHARS,
                reason=captured.reason,
                branch=taken.place.branch,
                person=self._actor,
                host=captured.host,
                size_file=captured.size_file or "",
            )
            recalled = self.recall(question)
        message = ""
        if recalled.context and self._visible_line:  # one line for the user, where memory spoke
            count = len(recalled.records)
            notes = "1 note" if count == 1 else f"{count} notes"
            what = notes if count else " and ".join(recalled.besides) or "a hint"
            message = f"Recollect: {what} (recollect why)"
        answering = hooks.adapter(captured.host)
        return answering.answer(captured.event, recalled.context, message)

    # --- the API ---

    def event(self, event: Event, digest: str) -> Outcome:
        """Take one complete event; `digest` is of what its sender gave, so that a repeat is
        recognised. EventConflict when its id is stored with other content."""
        (outcome,) = self.events([(event, digest)])
        if outcome.status == "conflict":
            raise errors.EventConflict(f"event {event.event_id} is stored with other content")
        return outcome

    def events(self, given: Sequence[tuple[Event, str]]) -> list[Outcome]:
        """Take many events, each with its digest, in one commit and in this order."""
        cleaned: dict[tuple[str, str], Arrival] = {}
        kept_out: dict[tuple[str, str], Outcome] = {}
        for event, digest in given:
            _check_size(event)
            if reason := self.keep_out.reason_against(event) if self.keep_out is not None else "":
                self._counters.count(f"kept out: {reason}")
                kept_out[event.event_id, digest] = Outcome(event.event_id, "kept out")
            elif (event.event_id, digest) not in cleaned:
                arrival = Arrival(event=self._scrubbed(event), digest=digest)
                cleaned[event.event_id, digest] = arrival
        told = dict(zip(cleaned, self._put(list(cleaned.values())), strict=True))
        for key, outcome in told.items():
            if outcome.status == "stored":
                event = cleaned[key].event
                for listener in self.listeners:
                    listener(Notice(Arrival(event=event), event.source.surface))
        told |= kept_out
        outcomes = []
        for event, digest in given:
            outcomes.append(told[event.event_id, digest])
            if outcomes[-1].status == "stored":  # the second time within one call it is a repeat
                told[event.event_id, digest] = replace(outcomes[-1], status="duplicate")
        return outcomes

    def forget_seen(self) -> None:
        """Forget recent keys: what they stand for was erased and may be new again."""
        self._keys.clear()

    def kept_out(self, directory: str | None) -> str:
        """Why nothing is captured in a directory, or nothing."""
        if self.keep_out is None or not directory:
            return ""
        return self.keep_out.rules_for(directory).off

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
        removed: dict[str, int] = {}
        clean = privacy.scrub_tree(msgspec.to_builtins(body), removed)
        if removed:
            self._counters.removed(removed)
        cleaned: values.Body = msgspec.convert(clean, type=values.Body)
        return cleaned

    def _scrubbed(self, event: Event) -> Event:
        """An event with every text scrubbed, including session name and path."""
        body = self._scrubbed_body(event.body, event.kind, event.session_id)
        tree = msgspec.to_builtins(event, builtin_types=(datetime,))
        del tree["body"]  # else what is removed from it would be counted twice
        kept = {"event_id": event.event_id, "namespace": event.namespace}
        removed: dict[str, int] = {}
        clean = privacy.scrub_tree(tree, removed) | kept | {"body": msgspec.to_builtins(body)}
        self._counters.removed(removed)
        return msgspec.structs.replace(values.convert(Event, clean), body=body)


def _check_size(event: Event) -> None:
    size = len(values.encode(event.body))
    if size > values.EVENT_BODY_BYTES:
        raise errors.TooLarge(
            f"the body has {size} bytes, at most {values.EVENT_BODY_BYTES} are taken", field="body"
        )


def _payload(frame: Frame) -> Payload:
    text = partial(str, encoding="utf-8", errors="replace")
    host, event = (*map(text, frame.argv[:2]), "", "")[:2]
    env = dict(text(item).partition("=")[::2] for item in frame.env)
    return Payload(
        host=privacy.scrub(host),
        event=privacy.scrub(event),
        args=tuple(map(text, frame.argv[2:])),
        cwd=text(frame.cwd),
        env=env,
        stdin=frame.stdin,
        truncated=bool(frame.flags & (frames.TRUNCATED | frames.LATE)),
    )
