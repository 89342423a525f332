"""Imports sessions from transcripts through the write path.

In: transcripts. Out: events with the times at which they happened. Their ids are derived from the
host's, so that reading again, or continuing after a kill, adds nothing twice. What hooks captured
of the same session is recognised, and what was erased stays erased.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import msgspec

from recollect import __version__, privacy
from recollect.core import ids, private_sessions, projects
from recollect.core.clock import EPOCH, Clock
from recollect.core.errors import BadInput
from recollect.core.event_identity import mark
from recollect.core.values import IMPORTED, Body, Event, EventSource, TextBody
from recollect.hosts.transcript import Transcript, TranscriptEvent
from recollect.ingest.pipeline import Pipeline
from recollect.portable.attribution import Attribution
from recollect.portable.import_progress import ImportProgress
from recollect.store.interface import Store

BATCH = 200
# A session that was written to just now: its last turn may not be over.
LIVE = timedelta(minutes=3)


@dataclass(frozen=True)
class Period:
    """The wanted period; None means no bound."""

    since: datetime | None = None
    until: datetime | None = None

    def covers(self, at: datetime) -> bool:
        late_enough = self.since is None or at >= self.since
        return late_enough and (self.until is None or at < self.until)

    def touches(self, transcript: Transcript) -> bool:
        began, ended = transcript.began, transcript.ended
        if self.since is not None and ended is not None and ended < self.since:
            return False
        return not (self.until is not None and began is not None and began >= self.until)


def derived_id(at: datetime, *names: str) -> str:
    """A ULID made from a time and a key, always the same for both."""
    moment = max(0, (at.astimezone(UTC) - EPOCH) // timedelta(milliseconds=1))
    digest = hashlib.blake2b("\0".join(names).encode("utf-8", "replace"), digest_size=10).digest()
    return ids.join_ulid(moment, int.from_bytes(digest, "big"))


class TranscriptImporter:
    def __init__(
        self,
        store: Store,
        pipeline: Pipeline,
        clock: Clock,
        actor: str,
        attribution: Attribution,
        progress: ImportProgress,
        *,
        dry_run: bool = False,
        client: str = IMPORTED,
    ) -> None:
        self._store = store
        self._pipeline = pipeline
        self._clock = clock
        self._actor = actor
        self._attribution = attribution
        self._progress = progress
        self._dry_run = dry_run
        self._client = client

    def import_session(self, transcript: Transcript, period: Period, units: int = 0) -> None:
        """Import one session. What was stored before an interruption is recognised."""
        if self._pipeline.kept_out(transcript.cwd):
            self._progress.step(transcript.host, units, sessions=1, kept_out=1)
            return
        namespace = self._attribution.namespace(transcript.cwd)
        events = [
            self._event(transcript, one, namespace)
            for one in self._settled(transcript)
            if period.covers(one.at)
        ]
        self.import_events(transcript.host, namespace, transcript.session_id[:256], events, units)

    def import_events(
        self, source: str, namespace: str, session_id: str, events: list[Event], units: int = 0
    ) -> None:
        """Import events of one session, in order."""
        captured, stored = self._already(namespace, session_id, {one.event_id for one in events})
        new: list[Event] = []
        counts: Counter[str] = Counter(read=len(events), sessions=1)
        marks: dict[str, bytes | None] = {}
        if captured:
            marks.update(_marked(events))
        erased = self._store.bulk.forgotten(_new_marks(events, marks))
        for event in events:
            marked = marks.get(event.event_id)
            if event.event_id in stored:
                counts["known"] += 1
            elif marked is not None and captured[marked] > 0:
                captured[marked] -= 1
                counts["captured"] += 1
            elif marked in erased:
                counts["forgotten"] += 1
            else:
                new.append(event)
        counts.update(self._put(new))
        self._progress.step(source, units, **counts)

    def missing(self, transcript: Transcript) -> bool:
        """Whether the transcript may hold something that is not stored: it was written after the
        last event of its session."""
        if self._pipeline.kept_out(transcript.cwd):
            return False
        namespace = self._attribution.namespace(transcript.cwd)
        known = self._store.sessions.get(namespace, transcript.session_id)
        if known is None or transcript.ended is None:
            return True
        return transcript.ended > known.last_event_at + timedelta(seconds=5)

    # --- parts ---

    def _settled(self, transcript: Transcript) -> Iterator[TranscriptEvent]:
        """Without the last turn of a session that still runs: it is imported when it is
        complete."""
        recent = transcript.ended is not None and self._clock.now() - transcript.ended < LIVE
        waiting: list[TranscriptEvent] = []
        for one in without_private(transcript.events()):
            if one.draft.kind == "prompt":
                yield from waiting
                waiting = []
            waiting.append(one)
        if not recent:
            yield from waiting

    def _event(self, transcript: Transcript, one: TranscriptEvent, namespace: str) -> Event:
        cwd = transcript.cwd[:2048]
        return Event(
            event_id=derived_id(one.at, transcript.host, one.key),
            session_id=transcript.session_id[:256],
            actor_id=self._actor,
            namespace=namespace,
            kind=one.draft.kind,
            body=one.draft.body,
            valid_time=one.at,
            source=EventSource(
                surface=transcript.host,
                version=__version__,
                client_id=self._client,
                project_path=cwd.replace("\0", "") or None,
                branch=one.branch.replace("\0", "")[: projects.BRANCH_CHARS],
            ),
        )

    def _already(
        self, namespace: str, session_id: str, own: set[str]
    ) -> tuple[Counter[bytes], set[str]]:
        """What hooks captured of this session, by mark, and which of our own ids are stored."""
        captured: Counter[bytes] = Counter()
        stored: set[str] = set()
        for known in self._store.events.session(namespace, session_id):
            event = known.event
            if event.event_id in own:
                stored.add(event.event_id)
                continue
            marked = mark(event.session_id, event.kind, event.body)
            if marked is not None:
                captured[marked] += 1
        return captured, stored

    def _put(self, events: list[Event]) -> Counter[str]:
        counts: Counter[str] = Counter()
        if self._dry_run:
            return Counter(stored=len(events))
        for start in range(0, len(events), BATCH):
            batch = [(event, event.event_id) for event in events[start : start + BATCH]]
            try:
                outcomes = self._pipeline.events(batch)
            except BadInput as error:
                counts["refused"] += len(batch)
                self._progress.complain(str(error))
                continue
            for outcome in outcomes:
                status = {"stored": "stored", "kept out": "kept_out"}.get(outcome.status, "known")
                counts[status] += 1
        return counts


def without_private(told: Iterable[TranscriptEvent]) -> Iterator[TranscriptEvent]:
    """A session without what its user made private by a word in a prompt, which the transcript also
    holds."""
    private = False
    for one in told:
        said = one.draft.body.content if isinstance(one.draft.body, TextBody) else ""
        word = private_sessions.privacy_word(said) if one.draft.kind == "prompt" else ""
        if not private and not word:
            yield one
        private = word == "private" if word else private


def _clean(body: Body) -> Body:
    cleaned: Body = msgspec.convert(privacy.scrub_tree(msgspec.to_builtins(body)), type=Body)
    return cleaned


def _marked(events: Iterable[Event]) -> Iterator[tuple[str, bytes | None]]:
    """Ids with the marks of what would be stored, made after scrubbing like the stored ones. They
    cost as much as storing."""
    for one in events:
        yield one.event_id, mark(one.session_id, one.kind, _clean(one.body))


def _new_marks(events: Iterable[Event], marks: dict[str, bytes | None]) -> Iterator[bytes]:
    """The marks of events, which are kept in `marks`; made as they are asked for."""
    if not marks:
        marks.update(_marked(events))
    yield from (one for one in marks.values() if one)
