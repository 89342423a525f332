"""The storage seam: what every backend promises, and the words it speaks in.

In: values of `core`. Out: values of `core`. All methods may raise StoreError; what else each one
can raise stands in its docstring. `tests/contract/store/` holds every backend to it.

Every read and write names its namespace and sees no other: namespaces are compared for equality.
A write has been committed durably when its method returns.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, Literal, Protocol, TypeVar

from recollect.core.errors import BadCursor
from recollect.core.kinds import Level, RecordKind
from recollect.core.projects import IdentityKind, Place
from recollect.core.values import (
    ArchivedVersion,
    Arrival,
    Checkpoint,
    Entity,
    EventKind,
    ExtractionRun,
    Fact,
    Freshness,
    Operation,
    OperationKind,
    Preference,
    Procedure,
    Receipt,
    Record,
    Relationship,
    Session,
    SessionStatus,
    SourceKind,
    StoredEvent,
    Usage,
    Vector,
)

T = TypeVar("T")

# What names a thing in any row: nobody's text, so neither cleaned nor rewritten.
IDENTITIES = frozenset(
    [
        "event_id",
        "namespace",
        "session_id",
        "actor_id",
        "record_id",
        "entity_id",
        "relationship_id",
        "fact_id",
        "procedure_id",
        "preference_id",
        "checkpoint_id",
        "receipt_id",
        "op_id",
        "source_id",
        "target_id",
        "parent_event_id",
        "digest",
        "boot_id",
        "content_hash",
        "superseded_by",
        "undoes",
        "made_by",
        "source_event_ids",
        "targets",
        "created",
        "injected",
        "snapshot",
    ]
)


# --- the words ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cursor:
    """A place in a listing: the key of the last row seen. Written `number:id`."""

    number: int
    id: str

    def __str__(self) -> str:
        return f"{self.number}:{self.id}"

    @classmethod
    def parse(cls, text: str) -> "Cursor":
        number, colon, identity = text.partition(":")
        try:
            if not colon or not identity or not -(2**63) <= int(number) < 2**63:
                raise ValueError
        except ValueError:
            raise BadCursor(f"{text!r} is not a cursor") from None
        return cls(int(number), identity)


@dataclass(frozen=True)
class Page(Generic[T]):
    """Some rows of a listing, and where to go on; `next` is None at the end."""

    items: tuple[T, ...]
    next: Cursor | None = None


@dataclass(frozen=True)
class Outcome:
    """What became of one event: stored, a repeat of one that is there, refused because the same id
    is there with other content, or kept out on purpose (which the store never hears of)."""

    event_id: str
    status: Literal["stored", "duplicate", "conflict", "kept out"]
    seq: int | None = None

    @property
    def stored(self) -> bool:
        return self.status == "stored"


@dataclass(frozen=True)
class Batch:
    """Unextracted events that are claimed by one run, in order."""

    namespace: str
    events: tuple[StoredEvent, ...]
    begun: bool = False  # the run is counted against them


@dataclass(frozen=True)
class Backlog:
    """What waits for extraction in one namespace."""

    namespace: str
    count: int
    bytes: int
    quarantined: int
    newest: datetime | None


@dataclass(frozen=True)
class SetAside:
    """An event whose runs failed too often, and why."""

    event_id: str
    session_id: str
    kind: EventKind
    at: datetime
    failures: int
    reason: str


@dataclass(frozen=True)
class RecordFilter:
    """What a listing of memories is narrowed to; None means all."""

    kind: RecordKind | None = None
    session_id: str | None = None
    observation_type: str | None = None
    concept: str | None = None
    file: str | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True)
class Hit:
    """A memory found by words. `score` is the backend's own, larger is better; `by` says how."""

    record: Record
    score: float
    by: Literal["words", "substring"]


@dataclass(frozen=True)
class ProjectInfo:
    project_id: str
    name: str
    identities: tuple[tuple[str, str], ...]
    created_at: datetime
    last_seen: datetime
    apart: tuple[str, ...] = ()  # roots that somebody wants kept apart from what they claim to be

    @property
    def roots(self) -> tuple[str, ...]:
        return tuple(value for kind, value in self.identities if kind == "root")


@dataclass(frozen=True)
class Stats:
    """Counts of what is stored, for one namespace or all."""

    events: int = 0
    records: int = 0
    sessions: int = 0
    embedded: int = 0
    event_kinds: dict[str, int] = field(default_factory=dict)
    record_kinds: dict[str, int] = field(default_factory=dict)
    observation_types: dict[str, int] = field(default_factory=dict)
    concepts: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Spent:
    """What language models used in a day; cost in millionths of a US dollar."""

    calls: int = 0
    failures: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_micros: int = 0
    unpriced: bool = False

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True)
class Tally:
    """What happened in one stretch of time: how many of a kind, and what they add up to.

    `at` is the beginning of the stretch. `size` is in bytes for events and memories, in tokens
    for receipts, in seconds for sessions; `took_us` is latency, of receipts alone."""

    at: datetime
    kind: str
    count: int
    size: int = 0
    took_us: int = 0
    longest_us: int = 0


Tallied = Literal["events", "records", "sessions", "receipts"]


@dataclass(frozen=True)
class Damage:
    """A row that no longer matches its hash."""

    table: str
    id: str


@dataclass(frozen=True)
class ScrubStep:
    """One step of the idle scrubber: where it is, what it looked at, what it found."""

    position: tuple[str, int] | None
    checked: int
    damaged: tuple[Damage, ...]


@dataclass(frozen=True)
class BackupInfo:
    path: str
    bytes: int
    events: int
    records: int
    schema: int


ChangeKind = Literal["records", "vectors", "events", "graph", "decisions", "projects", "all"]


@dataclass(frozen=True)
class Change:
    """What another process wrote: rows of a kind that came, changed or went, by id. `decisions`
    are stones and verdicts, `projects` names and marks. After a time in which nothing could be
    heard, `all` says that anything may have changed."""

    kind: ChangeKind
    namespace: str = ""
    ids: tuple[str, ...] = ()


ThingKind = Literal["entity", "relationship", "fact", "procedure", "preference"]


@dataclass(frozen=True)
class Selection:
    """Which memories are meant; exactly one of the fields says so.

    A memory brings what it was made from and what else was made from that: of a thing that is
    forgotten nothing stays behind from which it could be made again. `words` are texts to look
    for, whatever their case; with `whole` only as whole words. `before` is about when things
    happened, and spares what is pinned."""

    record_ids: tuple[str, ...] = ()
    session_id: str | None = None
    words: tuple[str, ...] = ()
    whole: bool = False
    before: datetime | None = None
    path: str | None = None
    everything: bool = False


@dataclass(frozen=True)
class Chosen:
    """What a selection comes to, in one namespace: how many rows of each kind, the memories among
    them, and a few of their titles."""

    namespace: str
    counts: dict[str, int] = field(default_factory=dict)
    record_ids: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        return sum(self.counts.values())


Row = tuple[str, dict[str, Any]]
"""A row as it travels: its kind, and its columns as plain data."""


@dataclass(frozen=True)
class Rewritten:
    """What cleaning would change or has changed: rows by kind, and what was taken out of them."""

    rows: dict[str, int] = field(default_factory=dict)
    found: dict[str, int] = field(default_factory=dict)
    records: dict[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Waiting:
    """What was heard of something that is not worth an entity yet: in which turns, and what."""

    key: str
    name: str
    turns: tuple[str, ...]
    claims: tuple[Any, ...]  # as JSON
    at: datetime


@dataclass(frozen=True)
class Aged:
    """An episode that is due for its next stage."""

    record_id: str
    session_id: str
    created_at: datetime
    chars: int


@dataclass(frozen=True)
class Forgetting:
    """When a memory may go, as moments: what is as old as that, or older."""

    now: datetime
    replaced: datetime  # a turn whose summary was made by then
    distilled: datetime  # a compressed turn made by then is distilled, not dropped
    retained: Mapping[str, datetime] = field(default_factory=dict)  # by kind; the others for ever
    short_turns: datetime | None = None  # of distilled turns
    important: int = 8  # from this importance on nothing goes


@dataclass(frozen=True)
class Due:
    """A memory that is to go, and why."""

    record_id: str
    reason: str


@dataclass(frozen=True)
class Alike:
    """Observations of one type about the same files, oldest first."""

    observation_type: str
    files: tuple[str, ...]
    record_ids: tuple[str, ...]


@dataclass(frozen=True)
class Age:
    """How old a memory is and how often it was used, for statistics."""

    kind: RecordKind
    level: Level
    created_at: datetime
    access_count: int


# --- the promises -------------------------------------------------------------------------------


class Events(Protocol):
    """What agents did. Events are never changed and never deleted by retrieval or extraction."""

    def put(self, arrivals: Sequence[Arrival]) -> list[Outcome]:
        """Store events, each on its own: a repeat is a no-op that keeps the first
        transaction time; the same id with another digest is refused and the first one stays."""

    def get(self, namespace: str, event_id: str) -> StoredEvent | None:
        """The event, or None."""

    def page(
        self,
        namespace: str,
        *,
        session_id: str | None = None,
        kind: EventKind | None = None,
        before: Cursor | None = None,
        limit: int = 50,
    ) -> Page[StoredEvent]:
        """Newest first: of a project as they arrived, of a session as they happened. Following
        `next` to the end meets every event that was there at the start exactly once, whatever is
        stored meanwhile. BadCursor when the event at which a session's page begins is gone."""

    def session(self, namespace: str, session_id: str) -> tuple[StoredEvent, ...]:
        """A session's events as they happened: by the monotonic clock within a boot, boots by the
        wall time of their earliest event, and by number where there is no clock. Every other
        reading of a session is a part of this one."""

    def beginning(self, namespace: str, session_id: str, limit: int) -> tuple[StoredEvent, ...]:
        """The first events of a session."""

    def around(
        self, namespace: str, session_id: str, seqs: Iterable[int], before: int, after: int
    ) -> tuple[StoredEvent, ...]:
        """The part of a session from `before` events ahead of the earliest of these to `after`
        behind the latest."""

    def turn(self, namespace: str, session_id: str, seq: int) -> tuple[StoredEvent, ...]:
        """The part of a session that an event belongs to: from the last prompt before it up to the
        next one after it."""

    def position(self, namespace: str, session_id: str, seq: int) -> int:
        """A number by which parts of a session can be put in order: its own, or that of whatever
        came later and arrived earlier."""

    def claim(self, namespace: str, limit: int, max_bytes: int) -> Batch | None:
        """Take up to `limit` unextracted events for one run; None when nothing is free. Takes at
        least one event, however large, and of those that failed before only a few at a time, so
        that the bad one ends up with few others. A claim dies with its process."""

    def begin(self, batch: Batch, reason: str, quarantine_after: int) -> Batch:
        """Count a run against each event before it starts, for good: a run that ends the process is
        counted too. Events that were begun that often are set aside with the reason at once;
        finishing them takes them out all the same. Returns the batch to go on with."""

    def release(self, batch: Batch) -> None:
        """Give a claim back unfinished: its events are as unextracted as before, and a run that was
        counted against them is not."""

    def fail(self, batch: Batch, reason: str) -> int:
        """Say why the run that was begun failed, and release the claim. Returns how many events
        are set aside."""

    def retry(self, namespace: str) -> int:
        """Put quarantined events back in line; returns how many."""

    def set_aside(self, namespace: str, limit: int = 100) -> list[SetAside]:
        """The quarantined events, oldest first."""

    def backlog(self) -> list[Backlog]:
        """What waits, per namespace."""


class Records(Protocol):
    """Memories: the live ones. What was merged, edited or deleted lies in the archive."""

    def put(self, records: Sequence[Record], vectors: Sequence[Vector] = ()) -> list[Record]:
        """Store new memories with created_at stamped, all or none. RecordExists on a collision."""

    def replace(self, records: Sequence[Record]) -> list[Record]:
        """Put memories that are derived from events, over what stood under their ids: no version
        is kept, created_at stays, their vectors go. Ids of another namespace: RecordExists."""

    def get(self, namespace: str, record_ids: Sequence[str]) -> list[Record]:
        """The ones that exist, in the order asked for."""

    def page(
        self,
        namespace: str,
        where: RecordFilter | None = None,
        *,
        before: Cursor | None = None,
        limit: int = 50,
        as_of: datetime | None = None,
    ) -> Page[Record]:
        """Newest first. With `as_of`: what memory held at that moment."""

    def last_episodes(self, namespace: str, session_id: str, limit: int) -> list[Record]:
        """The last turns of a session as they happened, whenever they were written; the last
        first."""

    def newer(
        self,
        namespace: str,
        after: Cursor,
        where: RecordFilter | None = None,
        *,
        limit: int = 50,
    ) -> list[Record]:
        """Those that come right after a place in time, oldest first; what `page` is backwards."""

    def search(
        self,
        namespaces: Sequence[str],
        query: str,
        limit: int,
        *,
        raw: bool = False,
        most_terms: int = 32,
    ) -> list[Hit]:
        """By words, best first. The query is any text: at most so many of its rarest words count,
        none is an operator. `raw` takes the backend's own query language instead. A query that the
        index refuses is looked for literally, newest first; BadInput when it was `raw` and is not
        found so either. An empty query finds nothing."""

    def edit(self, record: Record, actor: str, reason: str = "") -> Operation:
        """Replace a memory by a new version of itself; the old one goes to the archive.
        NotFound when there is none."""

    def delete(
        self, namespace: str, record_ids: Sequence[str], actor: str, reason: str = ""
    ) -> Operation | None:
        """Remove memories with their vectors and index entries; the originals go to the archive.
        Unknown ids are passed over; None when nothing was removed."""

    def touch(self, namespace: str, record_ids: Sequence[str], at: datetime) -> None:
        """Count an access; not an edit."""

    def freshen(self, namespace: str, found: Mapping[str, Freshness]) -> int:
        """Note how memories stand to their files now; not an edit. How many changed."""

    def by_hash(self, namespace: str, content_hash: str) -> Record | None:
        """The newest live memory with this content, if any."""

    def of_events(self, namespace: str, event_ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Which live memories come from these events; events without any are left out."""


class Vectors(Protocol):
    """Vectors are derived: they can be dropped and made again."""

    def put(self, vectors: Sequence[Vector]) -> int:
        """Store or replace vectors of things that exist; returns how many were stored. A blob
        whose length does not fit its dimension raises DamagedRow that names the owner."""

    def scan(self, namespace: str, model: str) -> Iterator[Vector]:
        """All vectors of one model in a namespace, in a stable order."""

    def knowledge(self, namespace: str, model: str) -> Iterator[tuple[str, bytes]]:
        """Id and whole vector (part 0) of every memory that is no episode."""

    def of(self, namespace: str, model: str, record_ids: Sequence[str]) -> list[Vector]:
        """The vectors that these memories have, by memory and part."""

    indexed: bool
    """Whether the backend has an index of its own that finds vectors by nearness."""

    def nearest(
        self, namespace: str, model: str, vector: bytes, limit: int
    ) -> list[tuple[str, float]]:
        """Memories nearest in meaning by an index of the backend's own, each with its cosine, best
        first; a memory may come with several parts. Nothing when the backend is not `indexed`."""

    def missing(self, namespace: str, model: str, limit: int) -> list[Record]:
        """Memories that have no vector of this model, oldest first."""

    def clear(self, namespace: str, source_kind: SourceKind, source_ids: Sequence[str]) -> None:
        """Drop the vectors of these things."""


class Graph(Protocol):
    """Entities, what is known of them, how they hang together; procedures and preferences.
    `put_*` replaces the row of the same id."""

    def put(self, *things: Entity | Relationship | Fact | Procedure | Preference) -> None: ...
    def version(self, namespace: str) -> int:
        """Grows with every committed change of a namespace's graph; begins anew with the store."""

    def changed(self, namespace: str, since: int) -> frozenset[str] | None:
        """Ids of what came, changed or went after that version; None when that is not known any
        more. A thing that went takes what hangs on it along: relationships, and of facts their
        entity."""

    def things(
        self, namespace: str, ids: Sequence[str]
    ) -> list[Entity | Relationship | Fact | Procedure | Preference]:
        """Those of these that exist; entities first."""

    def size(self, namespace: str, most: int) -> int:
        """How many entities and facts there are; counting ends at `most` of either."""

    def get_entity(self, namespace: str, entity_id: str) -> Entity | None: ...
    def entities(self, namespace: str) -> list[Entity]: ...
    def relationships(self, namespace: str, entity_id: str | None = None) -> list[Relationship]:
        """Of an entity in both directions, or all; most confident first."""

    def facts(
        self, namespace: str, *, entity_id: str | None = None, as_of: datetime | None = None
    ) -> list[Fact]:
        """Current ones (or those that held at `as_of`), most confident first."""

    def fact_history(self, namespace: str, entity_ids: Sequence[str]) -> list[Fact]:
        """All that was ever held of these entities, ended or not, oldest first."""

    def waiting(self, namespace: str, keys: Sequence[str] | None = None) -> list[Waiting]:
        """What was heard of things that are not entities yet; of these keys, or of all."""

    def procedures(self, namespace: str) -> list[Procedure]: ...
    def preferences(self, namespace: str) -> list[Preference]: ...
    def as_of(
        self, namespace: str, kind: ThingKind, moment: datetime
    ) -> list[Entity | Relationship | Fact | Procedure | Preference]:
        """Things of a kind as they were in the store at a moment, as far as the archive reaches.
        What was only said again since (strength, mentions, counts) is as it is now."""

    def search(self, namespace: str, query: str, limit: int) -> list[Entity | Fact | Procedure]:
        """By words, best first within each kind."""

    def delete(self, namespace: str, ids: Sequence[str]) -> int:
        """Remove things by id; unknown ids are passed over."""


class Sessions(Protocol):
    """A session is seen when its first event arrives; hosts tell when it ends, or never."""

    def get(self, namespace: str, session_id: str) -> Session | None: ...
    def page(
        self, namespace: str, *, before: Cursor | None = None, limit: int = 50
    ) -> Page[Session]: ...
    def end(self, ended: Sequence[tuple[str, str]], status: SessionStatus, at: datetime) -> int:
        """Close sessions, each named by namespace and id; how many of them there are."""

    def last_heard(self) -> dict[str, datetime]:
        """When each host last sent anything, over all namespaces; `doctor --prove` not counted."""

    def put_checkpoint(self, checkpoint: Checkpoint) -> Checkpoint: ...
    def last_checkpoint(
        self, namespace: str, session_id: str | None = None
    ) -> Checkpoint | None: ...


class Receipts(Protocol):
    def put(self, receipt: Receipt) -> Receipt: ...
    def get(self, namespace: str, receipt_id: str) -> Receipt | None: ...
    def page(
        self,
        namespace: str,
        *,
        session_id: str | None = None,
        before: Cursor | None = None,
        limit: int = 50,
    ) -> Page[Receipt]: ...

    def purge(self, namespace: str, before: datetime, limit: int) -> int:
        """Drop receipts made before a moment, oldest first; returns how many."""

    def purgeable(self, namespace: str, before: datetime) -> int:
        """How many that would be."""


class Runs(Protocol):
    """What runs of extraction did. Old ones are forgotten when there are many."""

    def put(self, run: ExtractionRun) -> None: ...
    def page(
        self, namespace: str, *, before: Cursor | None = None, limit: int = 50
    ) -> Page[ExtractionRun]:
        """Newest first."""

    def latest(self) -> list[ExtractionRun]:
        """The newest run of each namespace."""


class Log(Protocol):
    """The append-only log of decisions, and the archive from which they are undone."""

    def append(self, operation: Operation) -> Operation: ...
    def get(self, namespace: str, op_id: str) -> Operation | None: ...
    def page(
        self, namespace: str, *, before: Cursor | None = None, limit: int = 50
    ) -> Page[Operation]: ...
    def versions(self, namespace: str, source_id: str) -> list[ArchivedVersion]:
        """Earlier versions of a memory, newest first."""

    def tombstones(self, namespace: str) -> list[Any]:
        """The details of all operations of kind `tombstone`, oldest first."""

    def verdicts(self, namespace: str) -> list[Any]:
        """The details of all operations of kind `feedback`, oldest first."""

    def undo(self, namespace: str, op_id: str, actor: str) -> Operation:
        """Put back exactly what an operation displaced and take away what it made. The undo is
        an operation and can be undone. NotFound for an unknown one; CannotUndo when a later
        operation touched the same memories, or the archive no longer holds them."""

    def undoable(self, namespace: str, op_ids: Sequence[str]) -> set[str]:
        """Those of them that `undo` would take back now."""

    def purge(self, before: datetime, limit: int | None = None) -> int:
        """Drop archived versions that ended before a moment, oldest first; returns how many."""

    def purgeable(self, before: datetime) -> int:
        """How many that would be."""


class Aging(Protocol):
    """What grows old. Nothing is due that is pinned, important, written by hand, held by a
    checkpoint, or brought back by an undo."""

    def episodes(self, namespace: str, level: Level, before: datetime) -> list[Aged]:
        """Episodes of a level made at or before a moment that no mark names, by session and
        position. Turns stay when they are taken, so pinned ones are among them."""

    def forgettable(self, namespace: str, rules: Forgetting, limit: int | None = None) -> list[Due]:
        """What may go, oldest first, each once."""

    def alike(
        self, namespace: str, since: datetime, before: datetime, least: int, important: int
    ) -> list[Alike]:
        """Observations made after `since` and not after `before`, at least so many of the same
        type and files."""

    def inferred(self, namespace: str, before: datetime, limit: int) -> list[Fact | Relationship]:
        """Current facts and relationships that were only inferred, and not touched since."""

    def citing(self, namespace: str, after: str, limit: int) -> list[Record]:
        """Memories that cite files, by id."""

    def ages(self, namespace: str) -> list[Age]: ...
    def marked(self, namespace: str, source_ids: Sequence[str]) -> dict[str, str]:
        """What stands for these, where something does."""

    def gone(self, namespace: str, record_ids: Sequence[str]) -> set[str]:
        """Those that are not there because they were forgotten, deleted or merged; what never was
        is not among them. Ever after for what has a mark, else as long as the archive holds it."""


class Usages(Protocol):
    """What calls of language models used, so that a day's budget holds over restarts."""

    def reserve(self, worst: Usage, *, most_tokens: int, most_micros: int) -> bool:
        """Count a call's worst case in advance, if the whole store stays within both limits on
        that day with it; False, and nothing counted, if not. However many ask at once, together
        they stay within. A call that is never settled stays counted at its worst."""

    def settle(self, worst: Usage, actual: Usage) -> None:
        """Put what a call really used in the place of what was reserved for it. Both are of the
        same day and kind; a reservation is settled once."""

    def spent(self, day: str, namespace: str | None = None) -> Spent:
        """The day's total, of one namespace or all."""

    def days(self, since: str, namespace: str | None = None) -> list[Usage]:
        """Rows from a day on, by day, then namespace, provider, model and purpose."""


class Projects(Protocol):
    def resolve(self, place: Place) -> str:
        """The lasting id of a place: the project that any of its marks is known to belong to,
        strongest mark first, else a new one. Marks not seen before are added. What a place claims
        never decides; a remote that nobody has becomes its mark. The global place has the empty
        id."""

    def all(self) -> list[ProjectInfo]: ...
    def rename(self, project_id: str, name: str) -> None:
        """NotFound when there is none."""

    def alias(self, project_id: str, kind: IdentityKind, value: str) -> None:
        """Let a mark stand for a project from now on. NotFound when there is no such project;
        Conflict when the mark belongs to another one."""

    def commits(self, project_id: str) -> tuple[str, ...]:
        """The commits that stand for the project's history, as far as it was seen."""

    def learn(self, project_id: str, commits: Sequence[str]) -> None:
        """Remember commits of a project's history, given newest first. The latest few are kept."""

    def separate(self, place: Place) -> str:
        """Make a place a project of its own from now on, which is never joined unasked. What is
        stored stays where it is. The project's id."""

    def namespaces(self) -> list[str]:
        """Every namespace that holds anything."""


class Transaction(Protocol):
    """The restricted handle: what may happen inside one atomic unit of work."""

    def records(self, namespace: str, record_ids: Sequence[str]) -> list[Record]:
        """Like `Records.get`, as this transaction sees them."""

    def put_record(self, record: Record, operation: str | None = None) -> Record:
        """RecordExists on a collision. `operation` is the one that makes it, if any."""

    def replace_record(self, record: Record) -> Record:
        """Like `Records.replace`, for one memory."""

    def put_vector(self, vector: Vector) -> None: ...
    def put_graph(self, *things: Entity | Relationship | Fact | Procedure | Preference) -> None:
        """Like `Graph.put`."""

    def change_graph(
        self,
        namespace: str,
        operation: str,
        displaced: Sequence[str],
        things: Sequence[Entity | Relationship | Fact | Procedure | Preference] = (),
    ) -> None:
        """Put things on behalf of an operation that was logged in this transaction. What is
        displaced goes to the archive as it was; what no thing replaces goes from the graph. Its
        targets must be the displaced ids, and its `created` the ids that are new."""

    def keep_waiting(
        self, namespace: str, put: Sequence[Waiting], drop: Sequence[str], most: int
    ) -> None:
        """Store and drop what waits; of more than `most` the longest untouched go."""

    def put_checkpoint(self, checkpoint: Checkpoint) -> Checkpoint: ...
    def delete_records(self, namespace: str, record_ids: Sequence[str], operation: str) -> int: ...
    def log(
        self,
        kind: OperationKind,
        namespace: str,
        actor: str,
        *,
        targets: Sequence[str] = (),
        created: Sequence[str] = (),
        reason: str = "",
        detail: Any = None,
    ) -> Operation: ...
    def mark(self, namespace: str, source_ids: Sequence[str], into_id: str) -> None:
        """Say what stands for these from now on. Writing over a memory takes its mark away."""

    def finish(self, batch: Batch) -> None:
        """Mark a batch extracted: atomic with the memories it produced."""

    def attempt(self, part: Callable[[], T]) -> T:
        """Run a part that fails alone: its writes are rolled back and its error raised, while
        the rest of the transaction stands."""


class Upkeep(Protocol):
    def stats(self, namespace: str | None = None) -> Stats: ...
    def tally(
        self,
        what: Tallied,
        since: datetime,
        until: datetime,
        *,
        seconds: int = 3600,
        namespace: str | None = None,
    ) -> list[Tally]:
        """What happened in a period, by stretches of so many seconds (counted from 1970, UTC) and
        by kind (of a session: its host; of a receipt: its trigger), oldest first."""

    def backup(self, path: str) -> BackupInfo:
        """A verified copy of the running store; `path` appears only when it is whole."""

    def verify(self, path: str) -> BackupInfo:
        """Check that a file is a whole, undamaged store of a known schema."""

    def scrub(self, position: tuple[str, int] | None, limit: int) -> ScrubStep:
        """Compare the next rows with their hashes; `position` None starts over."""

    def size(self) -> tuple[int, int]:
        """Bytes of the database, and how many of them are free inside it."""

    def shrink(self, pages: int) -> int:
        """Give up to so many free pages back to the disk; returns how many."""

    def note(self) -> None:
        """Write down beside the database how much it holds, so that less is noticed when it is
        opened again. A server looks after that itself."""

    def alone(self, work: str) -> AbstractContextManager[bool]:
        """Whether no other process on this store does this work now; it is ours until the block
        is left."""

    def rebuild_index(self) -> None:
        """Make the full-text index anew from the rows."""

    def check(self) -> list[str]:
        """What is wrong with the database; empty when nothing is."""


class Changes(Protocol):
    """Other processes' writes. A store that has only one writer never tells of any."""

    def subscribe(self, told: Callable[[Change], None]) -> None:
        """Call this from a thread of the store's, after each commit of somebody else."""


class Bulk(Protocol):
    """Everything that is stored, as rows: to carry away, bring in, find, erase, clean and move.

    Vectors and indexes are derived and do not travel; they go when what they stand for goes."""

    def dump(self, namespace: str) -> Iterator[Row]:
        """Every row of a namespace as it is now, in an order in which `load` takes them; the
        project that it belongs to comes first."""

    def load(self, rows: Sequence[Row]) -> dict[str, int]:
        """Put rows where they were, all or none; those that are there already stay as they are.
        Returns how many were new, by kind. BadInput names a row that does not fit."""

    def choose(self, namespace: str, what: Selection) -> Chosen:
        """What `erase` or `move` would take."""

    def erase(self, namespace: str, what: Selection, actor: str) -> Chosen:
        """Remove it, all or nothing, from rows, index, vectors and archive; operations that speak
        of it keep who, when and which ids. Says in the log that it was done, not what it was.
        StoreBusy while its events are being extracted."""

    def move(self, namespace: str, what: Selection, target: str, actor: str) -> Chosen:
        """Give it to another namespace. With `everything` the project's marks follow, so that
        what comes next goes there too."""

    def rewrite(
        self, namespace: str, clean: Callable[[Any], tuple[Any, dict[str, int]]], *, apply: bool
    ) -> Rewritten:
        """Pass every text of a namespace through `clean`, which gives it back with what it took
        out; with `apply` changed rows are stored so, and their vectors dropped."""

    def any_forgotten(self) -> bool: ...
    def forgotten(self, marks: Sequence[bytes]) -> set[bytes]:
        """Which of these marks (`core.event_identity`) are of events that were erased."""

    def sweep(self) -> None:
        """Leave no bytes of what was erased in any file of the store."""

    def orphans(self) -> dict[str, int]:
        """Rows whose owner is gone, by kind; all of them derived or harmless, none should be."""

    def drop_orphans(self) -> int: ...


class Store(Protocol):
    @property
    def bulk(self) -> Bulk: ...
    @property
    def events(self) -> Events: ...
    @property
    def records(self) -> Records: ...
    @property
    def vectors(self) -> Vectors: ...
    @property
    def graph(self) -> Graph: ...
    @property
    def sessions(self) -> Sessions: ...
    @property
    def receipts(self) -> Receipts: ...
    @property
    def runs(self) -> Runs: ...
    @property
    def log(self) -> Log: ...
    @property
    def projects(self) -> Projects: ...
    @property
    def aging(self) -> Aging: ...
    @property
    def usage(self) -> Usages: ...
    @property
    def upkeep(self) -> Upkeep: ...
    @property
    def changes(self) -> Changes: ...

    def transaction(self, work: Callable[[Transaction], T]) -> T:
        """Run one atomic unit of work. Transactions do not nest."""

    def close(self) -> None:
        """Finish what was accepted, then close. A second close is a no-op."""
