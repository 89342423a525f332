"""All values of Recollect, frozen, with their limits.

In: decoded JSON or rows. Out: structs that cannot change. `decode` and `check` raise BadInput that
names the field and what is wrong with it; constructors trust their caller.
"""

from datetime import datetime
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct

from recollect.core.errors import BadInput
from recollect.core.ids import RECORD, RECORD_NAME_PATTERN, RECORD_PATTERN, ULID_PATTERN
from recollect.core.input_errors import explained
from recollect.core.kinds import (
    KINDS,
    TYPES,
    UNKNOWN,
    Kind,
    KnowledgeType,
    Level,
    ObservationType,
    RecordKind,
)

# --- limits -------------------------------------------------------------------------------------

EVENT_BODY_BYTES = 1 << 20
REQUEST_BYTES = 2 << 20

Ulid = Annotated[str, Meta(pattern=ULID_PATTERN, description="a ULID, minted where it happened")]
RecordId = Annotated[str, Meta(pattern=RECORD_PATTERN, description="mr_ and a ULID")]
RecordName = Annotated[
    str, Meta(pattern=RECORD_NAME_PATTERN, description="an id, or the end of it that a brief shows")
]
Name = Annotated[str, Meta(min_length=1, max_length=256)]
Namespace = Annotated[
    str,
    Meta(pattern=r"^/actor/[^/\x00-\x1f]+/(project/[^/\x00-\x1f]+/)?$(?!\n)", max_length=600),
]
Moment = Annotated[datetime, Meta(tz=True)]
Unit = Annotated[float, Meta(ge=0.0, le=1.0)]
Count = Annotated[int, Meta(ge=0)]

TITLE_CHARS = 200
Title = Annotated[str, Meta(min_length=1, max_length=TITLE_CHARS)]
Summary = Annotated[str, Meta(max_length=4000)]
FactText = Annotated[str, Meta(min_length=1, max_length=500)]
Concept = Annotated[str, Meta(min_length=1, max_length=100)]
FilePath = Annotated[str, Meta(min_length=1, max_length=500)]
ProjectPath = Annotated[str, Meta(min_length=1, max_length=2048)]

# --- vocabularies -------------------------------------------------------------------------------

EventKind = Literal["prompt", "tool_use", "session_summary", "note"]
ToolClass = Literal["file-write", "file-read", "command", "research", "delegation", "tool-use"]
Strategy = Literal["rules", "llm-summary", "llm-reconciled", "user", "import"]
Author = Literal["user", "assistant", "tool", "file", "web"]
Freshness = Literal["unknown", "fresh", "drifted", "orphaned"]
SourceType = Literal["corrected", "stated", "observed", "inferred"]
BeliefState = Literal["proposed", "current", "ended", "disputed"]
BeliefScope = Literal["turn", "session", "branch", "project", "everywhere"]
Polarity = Literal["", "do", "avoid"]
SessionStatus = Literal["active", "completed", "failed"]
OperationKind = Literal[
    "add", "edit", "move", "merge", "delete", "feedback", "tombstone", "undo", "supersede", "forget"
]
SourceKind = Literal["record", "entity", "fact", "procedure"]
RunOutcome = Literal["failed", "nothing", "committed", "uncommitted", "direct"]


class Value(Struct, frozen=True, forbid_unknown_fields=True):
    """The base of all values: frozen, and strict about unknown fields."""


# --- events -------------------------------------------------------------------------------------


class TextBody(Value, tag="text", frozen=True, kw_only=True):
    content: str


class ChatMessage(Value, frozen=True, kw_only=True):
    role: Annotated[str, Meta(min_length=1, max_length=64)]
    content: str


class MessageBody(Value, tag="message", frozen=True, kw_only=True):
    turns: Annotated[tuple[ChatMessage, ...], Meta(min_length=1)]


class JsonBody(Value, tag="json", frozen=True, kw_only=True):
    data: Any


Body = TextBody | MessageBody | JsonBody


# The client that imported events name. What was imported goes to a language model only when whoever
# imported it said so: years of history are not sent anywhere, nor paid for, by surprise.
IMPORTED = "import"
IMPORTED_FOR_MODEL = "import-llm"


class EventSource(Value, frozen=True, kw_only=True):
    """Who sent an event: the surface (host), its version, the client and where it worked."""

    surface: Annotated[str, Meta(min_length=1, max_length=64)]
    version: Annotated[str, Meta(max_length=64)] = ""
    client_id: Annotated[str, Meta(max_length=256)] = ""
    project_path: ProjectPath | None = None
    branch: Annotated[str, Meta(max_length=256)] = ""  # checked out then; empty: none, or unknown
    root: Annotated[str, Meta(max_length=2048)] = ""  # of the work tree; empty: none, or unknown


class Event(Value, frozen=True, kw_only=True):
    """The event envelope, version 1."""

    event_id: Ulid
    session_id: Name
    actor_id: Name
    namespace: Namespace
    schema_version: Literal[1] = 1
    kind: EventKind
    body: Body
    valid_time: Moment
    source: EventSource
    parent_event_id: Ulid | None = None
    content_hash: Annotated[str, Meta(max_length=128)] | None = None


class Arrival(Value, frozen=True, kw_only=True):
    """An event with how it came: what recognises a repeat, and its true order."""

    event: Event
    digest: str = ""
    boot_id: str | None = None
    mono_ns: int | None = None


class StoredEvent(Value, frozen=True, kw_only=True):
    """An event as the store gives it back."""

    event: Event
    seq: int
    transaction_time: Moment
    boot_id: str | None = None
    mono_ns: int | None = None
    prompt_number: int | None = None


# --- memories -----------------------------------------------------------------------------------


class Citation(Value, frozen=True, kw_only=True):
    """A file that a memory cites, as it was when the memory was made."""

    path: FilePath
    sha256: str = ""
    commit: str = ""


UNSURE = 0.5  # the confidence of a belief that was only proposed


class Record(Value, frozen=True, kw_only=True):
    """A memory: a belief, a note, a summary or a turn; `core/kinds.py` says what each may do."""

    record_id: RecordId
    namespace: Namespace
    kind: RecordKind
    title: Title
    summary: Summary = ""
    detail: str = ""
    facts: tuple[FactText, ...] = ()
    concepts: tuple[Concept, ...] = ()
    files: tuple[FilePath, ...] = ()
    observation_type: ObservationType | None = None
    tool_class: ToolClass | None = None
    knowledge_type: KnowledgeType | None = None
    category: Annotated[str, Meta(max_length=64)] | None = None
    level: Level = "raw"
    strategy: Strategy
    author: Author
    session_id: Name | None = None
    position: Count | None = None
    importance: Annotated[int, Meta(ge=1, le=10)] = 5
    confidence: Unit = 1.0
    valid_from: Moment
    valid_until: Moment | None = None
    expires_at: Moment | None = None
    citations: tuple[Citation, ...] = ()
    freshness: Freshness = "unknown"
    pinned: bool = False
    source_event_ids: tuple[Ulid, ...] = ()
    content_hash: str = ""
    access_count: Count = 0
    last_accessed: Moment | None = None
    created_at: Moment | None = None
    updated_at: Moment | None = None
    version: Annotated[int, Meta(ge=1)] = 1
    # The life of a belief; other kinds keep the defaults (docs/decisions/beliefs.md).
    state: BeliefState = "current"
    scope: BeliefScope = "project"
    scope_name: Annotated[str, Meta(max_length=256)] = ""  # the session's id, or the branch
    subject: Annotated[str, Meta(max_length=256)] = ""  # what it is about, if that was found
    value: Annotated[str, Meta(max_length=500)] = ""  # what holds of the subject
    polarity: Polarity = ""
    source_type: SourceType = "stated"
    # What ended it: the id of a belief or of an event, or "user". Of a disputed belief: the id of
    # the newer one that disputes it.
    ended_by: Annotated[str, Meta(max_length=256)] = ""

    @property
    def traits(self) -> Kind:
        return KINDS.get(self.kind, UNKNOWN)

    @property
    def stands(self) -> bool:
        """Whether it may be put before an agent as what holds: a belief that is current, or the
        newer one of a dispute. Other kinds always stand."""
        return self.state == "current" or (self.state == "disputed" and not self.ended_by)

    @property
    def is_rule(self) -> bool:
        return self.knowledge_type is not None and TYPES[self.knowledge_type].is_rule

    @property
    def tells_cause(self) -> bool:
        return self.observation_type is not None and TYPES[self.observation_type].tells_cause

    @property
    def is_unsure(self) -> bool:
        """Whether it disputes another belief and was itself only proposed. It may answer a
        question, marked as disputed, but it instructs nobody."""
        return self.state == "disputed" and self.confidence <= UNSURE

    def outdoes(self, other: "Record") -> bool:
        """Whether it is news beside another with the same words: it stands, and that one does not
        (any more); or a newer belief has ended that one since."""
        changed = other.state == "ended" and other.ended_by.startswith(RECORD)
        since = other.valid_until is not None and other.valid_until <= self.valid_from
        return (self.stands and not other.stands) or (changed and since)

    def holds_in(self, session_id: str | None, branch: str) -> bool:
        """Whether it holds for a prompt of this session, on this branch. What was said for one
        turn is over when the next prompt comes."""
        match self.scope:
            case "turn":
                return False
            case "session":
                return self.scope_name == session_id
            case "branch":
                return self.scope_name == branch
        return True

    @property
    def is_whole_turn(self) -> bool:
        """A turn as it was said."""
        return self.traits.is_turn and self.level == "raw"

    @property
    def is_short_turn(self) -> bool:
        """What replaces old turns."""
        return self.traits.is_turn and self.level != "raw"


class Candidate(Value, frozen=True, kw_only=True):
    """A memory that is not written yet, with its vector or none."""

    record: Record
    vector: bytes | None = None


class Vector(Value, frozen=True, kw_only=True):
    """One stored vector: what it stands for, which part of it, and which model made it."""

    namespace: Namespace
    source_kind: SourceKind
    source_id: str
    part: Count = 0
    model: Name
    dim: Annotated[int, Meta(ge=1, le=8192)]
    vector: bytes


# --- graph --------------------------------------------------------------------------------------


class Entity(Value, frozen=True, kw_only=True):
    entity_id: Name
    namespace: Namespace
    name: Name
    type: Annotated[str, Meta(min_length=1, max_length=64)]
    description: Summary = ""
    aliases: tuple[Name, ...] = ()
    importance: Annotated[int, Meta(ge=1, le=10)] = 5
    mentions: Count = 1
    created_at: Moment | None = None
    updated_at: Moment | None = None


class Relationship(Value, frozen=True, kw_only=True):
    relationship_id: Name
    namespace: Namespace
    source_id: Name
    target_id: Name
    type: Annotated[str, Meta(min_length=1, max_length=64)]
    confidence: Unit = 1.0
    source_type: SourceType = "observed"
    source_event_ids: tuple[Ulid, ...] = ()
    valid_from: Moment
    valid_until: Moment | None = None
    created_at: Moment | None = None
    updated_at: Moment | None = None


class Fact(Value, frozen=True, kw_only=True):
    fact_id: Name
    namespace: Namespace
    entity_id: Name | None = None
    subject: Name
    predicate: Annotated[str, Meta(min_length=1, max_length=128)]
    object: FactText
    confidence: Unit = 1.0
    source_type: SourceType = "observed"
    author: Author = "tool"
    sensitive: bool = False
    valid_from: Moment
    valid_until: Moment | None = None
    superseded_by: Name | None = None
    confirmed_at: Moment | None = None  # when it was last said by one who may know
    source_event_ids: tuple[Ulid, ...] = ()
    created_at: Moment | None = None
    updated_at: Moment | None = None


class Procedure(Value, frozen=True, kw_only=True):
    procedure_id: Name
    namespace: Namespace
    name: Title
    trigger: FactText
    steps: Annotated[tuple[FactText, ...], Meta(min_length=1)]
    confidence: Unit = 0.5
    successes: Count = 0
    failures: Count = 0
    last_used: Moment | None = None
    source_event_ids: tuple[Ulid, ...] = ()
    created_at: Moment | None = None
    updated_at: Moment | None = None


class Preference(Value, frozen=True, kw_only=True):
    preference_id: Name
    namespace: Namespace
    category: Annotated[str, Meta(min_length=1, max_length=64)]
    key: Annotated[str, Meta(min_length=1, max_length=128)]
    value: FactText
    strength: Unit = 1.0
    source_type: SourceType = "stated"
    source_event_ids: tuple[Ulid, ...] = ()
    created_at: Moment | None = None
    updated_at: Moment | None = None


# --- sessions, checkpoints, receipts ------------------------------------------------------------


class Session(Value, frozen=True, kw_only=True):
    session_id: Name
    namespace: Namespace
    surface: Annotated[str, Meta(max_length=64)]
    status: SessionStatus = "active"
    started_at: Moment
    ended_at: Moment | None = None
    last_event_at: Moment


class Checkpoint(Value, frozen=True, kw_only=True):
    """Where a session stopped, for whoever resumes it."""

    checkpoint_id: Name
    namespace: Namespace
    session_id: Name
    task: Summary
    progress: Summary = ""
    next_steps: tuple[FactText, ...] = ()
    questions: tuple[FactText, ...] = ()
    files: Annotated[tuple[FilePath, ...], Meta(max_length=20)] = ()
    snapshot: tuple[RecordId, ...] = ()
    created_at: Moment | None = None


class Receipt(Value, frozen=True, kw_only=True):
    """What one retrieval did: the question, what was injected, what was left out, and why.
    `detail` has the very text that was injected (`text`) and the candidates."""

    receipt_id: Name
    namespace: Namespace
    session_id: Name | None = None
    event_id: Ulid | None = None
    trigger: Annotated[str, Meta(max_length=64)]
    query: str
    injected: tuple[RecordId, ...] = ()
    detail: Any = None
    tokens: Count = 0
    latency_us: Count = 0
    created_at: Moment | None = None


# --- work ---------------------------------------------------------------------------------------

How = Literal["edit", "read", "search", "run"]


class Action(Value, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that a tool did: a file and how it was touched, or a command in its normal form and
    how it ended."""

    how: How
    path: str = ""
    was: str = ""  # what the file, or the folder, was called before
    command: str = ""
    failed: bool = False
    error: str = ""


class TurnWork(Value, frozen=True, kw_only=True, omit_defaults=True):
    """What was done in one turn. Derived from its events, and can be made again from them."""

    turn_id: Ulid  # of the event it begins with
    namespace: Namespace
    session_id: Name
    at: Moment
    person: str = ""
    branch: str = ""
    actions: tuple[Action, ...] = ()
    commits: tuple[str, ...] = ()
    defines: tuple[tuple[str, str], ...] = ()  # a name, and the file that defines it
    edited: dict[str, tuple[str, ...]] = {}  # by file: names in the text of its edits
    terms: dict[str, Count] = {}


# --- extraction ---------------------------------------------------------------------------------


class ExtractionRun(Value, frozen=True, kw_only=True):
    """One run of extraction in counts, without any text."""

    run_id: Name
    namespace: Namespace
    started_at: Moment
    provider: Name
    outcome: RunOutcome
    reason: Summary = ""
    events: Count = 0
    candidates: Count = 0
    kept: Count = 0
    dropped: dict[str, Count] = {}
    clusters: Count = 0
    failed: Count = 0
    merged: Count = 0
    judge_calls: Count = 0
    judge_failures: Count = 0
    input_tokens: Count = 0
    output_tokens: Count = 0
    latency_us: dict[str, Count] = {}


# --- language models ----------------------------------------------------------------------------


class Usage(Value, frozen=True, kw_only=True):
    """What calls of one kind used in a day (UTC): one row by day, namespace, provider, model and
    purpose. `unpriced`: the model stands in no price list, so its cost is not known."""

    day: Annotated[str, Meta(pattern=r"^\d{4}-\d\d-\d\d$")]
    namespace: Namespace
    provider: Annotated[str, Meta(max_length=64)]
    model: Annotated[str, Meta(max_length=256)]
    purpose: Annotated[str, Meta(max_length=64)]
    calls: Count = 0
    failures: Count = 0
    input_tokens: Count = 0
    output_tokens: Count = 0
    cost_micros: Count = 0  # millionths of a US dollar
    unpriced: bool = False


# --- decisions ----------------------------------------------------------------------------------


class Operation(Value, frozen=True, kw_only=True):
    """A decision about memory by a person or an agent: one row of the append-only log."""

    op_id: Name
    namespace: Namespace
    kind: OperationKind
    actor: Name
    at: Moment
    targets: tuple[str, ...] = ()
    created: tuple[str, ...] = ()
    reason: Summary = ""
    detail: Any = None
    undoes: Name | None = None


class ArchivedVersion(Value, frozen=True, kw_only=True):
    """A row as it was, kept in the archive when it was merged, edited, moved or deleted."""

    op_id: Name
    namespace: Namespace
    source_kind: SourceKind
    source_id: str
    record: Record
    vectors: tuple[Vector, ...] = ()
    since: Moment
    until: Moment


# --- decoding -----------------------------------------------------------------------------------

V = TypeVar("V", bound=Value)


def decode(kind: type[V], raw: bytes | str) -> V:
    """Decode JSON into a value; BadInput names the field."""
    try:
        return msgspec.json.decode(raw, type=kind)
    except msgspec.MsgspecError as error:
        raise explained(error, kind) from error
    except (UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"not readable as JSON: {error}") from error


def convert(kind: type[V], data: Any, *, strict: bool = True) -> V:
    """The same for data that is decoded already; numbers may be texts unless it is strict."""
    try:
        return msgspec.convert(data, type=kind, strict=strict)
    except msgspec.ValidationError as error:
        raise explained(error, kind) from error


def copied(kind: type[V], source: Any, **other: Any) -> V:
    """A value with the fields of another that have the same names, and with `other` ones."""
    names = (name for name in kind.__struct_fields__ if name not in other)
    return kind(**{name: getattr(source, name) for name in names}, **other)


def check(value: V) -> V:
    """Check a value built in code against the same limits; returns it."""
    convert(type(value), msgspec.to_builtins(value, builtin_types=(datetime, bytes)))
    return value


def encode(value: Any) -> bytes:
    """Canonical JSON: the same value gives the same bytes."""
    return msgspec.json.encode(value, order="deterministic")


def query_text(body: Body) -> str:
    """The text of a body to search for: its content, its last message, or its data as JSON."""
    match body:
        case TextBody():
            return body.content
        case MessageBody():
            return body.turns[-1].content
        case JsonBody():
            return encode(body.data).decode()
