"""`/api/memories` and related routes: list, add, read, edit, move, delete and undo."""

from typing import Annotated, Literal

from msgspec import Meta, structs

from recollect.core.errors import BadInput
from recollect.core.kinds import KINDS, TYPES, Kind, KnowledgeType, ObservationType, Type
from recollect.core.signals import SIGNALS
from recollect.core.values import Name, Record, RecordName, Value, convert
from recollect.hosts import registry
from recollect.server.endpoints import Endpoint, NoParameters
from recollect.server.runtime import ServerRuntime
from recollect.service import facets, read, write
from recollect.service.facets import Facets
from recollect.service.pagination import Listing
from recollect.service.read import History, Ids, ListQuery, Provenance, TimelineAnswer
from recollect.service.record_ids import resolve_each
from recollect.service.scope import Scope
from recollect.service.search import Filters
from recollect.service.undo import Undone, newest_undoable, undo_operation
from recollect.service.write import Added, Changed, Deleted, MemoryEdit

Reason = Annotated[str, Meta(max_length=1000)]


class NewMemory(Scope, frozen=True, kw_only=True):
    """A note or a belief; `type` must belong to the kind."""

    kind: Literal["observation", "knowledge", "note"] = "observation"
    title: Annotated[str, Meta(min_length=1, max_length=200)]
    type: ObservationType | KnowledgeType | None = None
    content: write.Content = ""
    facts: write.Facts = ()
    concepts: write.Concepts = ()
    files: write.Files = ()
    session_id: Name | None = None


class KindTable(Value, frozen=True, kw_only=True):
    """The kinds and types of memory, and what each may do; what agents and the signals of
    a score are called."""

    kinds: tuple[Kind, ...]
    types: tuple[Type, ...]
    agents: dict[str, str]
    signals: dict[str, str]


class OneMemory(Value, frozen=True, kw_only=True):
    record_id: RecordName


class RemoveMemory(OneMemory, frozen=True, kw_only=True):
    """`never`: also never learn it again, unless the delete is undone."""

    reason: Reason = ""
    never: bool = False


class MemoryIds(Value, frozen=True, kw_only=True):
    ids: Ids


class MemoriesToDelete(MemoryIds, frozen=True, kw_only=True):
    """`never`: also never learn them again, unless the delete is undone."""

    reason: Reason = ""
    never: bool = False


class MemoriesById(Value, frozen=True, kw_only=True):
    """The memories that exist, in the order of the request; `missing`: the other ids."""

    items: tuple[Record, ...]
    missing: tuple[str, ...]


class Pin(Value, frozen=True, kw_only=True):
    pinned: bool = True


class MoveTarget(Scope, frozen=True, kw_only=True):
    """The project to move to: its id, name or path, or `global`."""

    reason: Reason = ""


class OneOperation(Value, frozen=True, kw_only=True):
    op_id: Name


class ListOfKind(read.ListQuery, frozen=True, kw_only=True):
    """As for /api/memories; the route sets the kind."""


def one(runtime: ServerRuntime, asked: OneMemory) -> Record:
    return write.find(runtime, asked.record_id)


def kind_table(runtime: ServerRuntime, asked: NoParameters) -> KindTable:
    return KindTable(
        kinds=tuple(KINDS.values()),
        types=tuple(TYPES.values()),
        agents={one.name: one.title for one in registry.facts().values()},
        signals=SIGNALS,
    )


def page(runtime: ServerRuntime, asked: ListQuery) -> Listing[Record]:
    return read.memories(runtime, asked)


def observations(runtime: ServerRuntime, asked: ListOfKind) -> Listing[Record]:
    return read.memories(runtime, structs.replace(asked, kind="observation"))


def summaries(runtime: ServerRuntime, asked: ListOfKind) -> Listing[Record]:
    return read.memories(runtime, structs.replace(asked, kind="summary"))


def knowledge(runtime: ServerRuntime, asked: ListOfKind) -> Listing[Record]:
    return read.memories(runtime, structs.replace(asked, kind="knowledge"))


def add(runtime: ServerRuntime, asked: NoParameters, new: NewMemory) -> Added:
    given = {name: value for name, value in structs.asdict(new).items() if value is not None}
    kind, title = given.pop("kind"), given["title"]
    if kind == "note":
        text = f"{title}\n{new.content}" if new.content else title
        for name in ("title", "type", "content", "facts"):
            given.pop(name, None)
        return write.add_note(runtime, convert(write.NewNote, {**given, "text": text}))
    if KINDS[kind].is_belief:
        belief = {"type": "decision", **given}
        if belief.pop("facts", None):
            raise BadInput("a belief has a reason and alternatives, no facts", field="facts")
        return write.add_knowledge(runtime, convert(write.NewKnowledge, belief))
    return write.add_observation(runtime, convert(write.NewObservation, given))


def add_observation(
    runtime: ServerRuntime, asked: NoParameters, new: write.NewObservation
) -> Added:
    return write.add_observation(runtime, new)


def add_knowledge(runtime: ServerRuntime, asked: NoParameters, new: write.NewKnowledge) -> Added:
    return write.add_knowledge(runtime, new)


def counts(runtime: ServerRuntime, asked: Filters) -> Facets:
    return facets.facets(runtime, asked)


def add_summary(runtime: ServerRuntime, asked: NoParameters, new: write.NewSummary) -> Added:
    return write.add_summary(runtime, new)


def add_note(runtime: ServerRuntime, asked: NoParameters, new: write.NewNote) -> Added:
    return write.add_note(runtime, new)


def batch(runtime: ServerRuntime, asked: NoParameters, chosen: MemoryIds) -> MemoriesById:
    wanted = resolve_each(runtime, chosen.ids)
    found = read.get(runtime, wanted)
    there = {record.record_id for record in found}
    missing = tuple(one for one in wanted if one not in there)
    return MemoriesById(items=found, missing=missing)


def edit(runtime: ServerRuntime, asked: OneMemory, change: MemoryEdit) -> Changed:
    return write.edit(runtime, asked.record_id, change)


def delete(runtime: ServerRuntime, asked: RemoveMemory) -> Deleted:
    return write.delete(runtime, (asked.record_id,), asked.reason, never=asked.never)


def delete_some(runtime: ServerRuntime, asked: NoParameters, chosen: MemoriesToDelete) -> Deleted:
    return write.delete(runtime, chosen.ids, chosen.reason, never=chosen.never)


def pin(runtime: ServerRuntime, asked: OneMemory, wanted: Pin) -> Changed:
    return write.edit(runtime, asked.record_id, MemoryEdit(pinned=wanted.pinned))


def move(runtime: ServerRuntime, asked: OneMemory, target: MoveTarget) -> Changed:
    return write.move(runtime, asked.record_id, target, target.reason)


def history(runtime: ServerRuntime, asked: OneMemory) -> History:
    return read.history(runtime, asked.record_id)


def provenance(runtime: ServerRuntime, asked: OneMemory) -> Provenance:
    return read.provenance(runtime, asked.record_id)


def timeline(runtime: ServerRuntime, asked: read.TimelineQuery) -> TimelineAnswer:
    return read.timeline(runtime, asked)


def operations(
    runtime: ServerRuntime, asked: read.OperationsQuery
) -> Listing[read.LoggedOperation]:
    return read.log(runtime, asked)


def undo(runtime: ServerRuntime, asked: OneOperation) -> Undone:
    return undo_operation(runtime, asked.op_id)


def what_undo_takes_back(runtime: ServerRuntime, asked: Scope) -> read.LoggedOperation:
    return read.with_titles(runtime, newest_undoable(runtime, asked))


def undo_last(runtime: ServerRuntime, asked: Scope) -> Undone:
    return undo_operation(runtime, scope=asked)


ENDPOINTS = (
    Endpoint("GET", "/api/kinds", "The kinds and types of memory, and the titles of agents.",
        kind_table, KindTable),
    Endpoint("GET", "/api/memories", "Memories, newest first.", page, Listing[Record], ListQuery),
    Endpoint(
        "GET", "/api/memories/counts", "How many memories there are of what.",
        counts, Facets, Filters,
    ),
    Endpoint("POST", "/api/memories", "Store a note or a belief.", add, Added, body=NewMemory),
    Endpoint(
        "POST", "/api/memories/batch", "Memories by id, 1 to 100.",
        batch, MemoriesById, body=MemoryIds,
    ),
    Endpoint(
        "POST", "/api/memories/delete", "Delete memories by id; undo brings them back.",
        delete_some, Deleted, body=MemoriesToDelete,
    ),
    Endpoint("GET", "/api/memories/{record_id}", "One memory in full.", one, Record, OneMemory),
    Endpoint(
        "PATCH", "/api/memories/{record_id}", "Edit a memory; the old version is kept.",
        edit, Changed, OneMemory, MemoryEdit,
    ),
    Endpoint(
        "DELETE", "/api/memories/{record_id}", "Delete a memory; undo brings it back.",
        delete, Deleted, RemoveMemory,
    ),
    Endpoint(
        "GET", "/api/memories/{record_id}/history", "Earlier versions, and what ended them.",
        history, History, OneMemory,
    ),
    Endpoint(
        "GET", "/api/memories/{record_id}/provenance", "The events that a memory was made from.",
        provenance, Provenance, OneMemory,
    ),
    Endpoint(
        "POST", "/api/memories/{record_id}/pin", "Pin a memory, or unpin it.",
        pin, Changed, OneMemory, Pin,
    ),
    Endpoint(
        "POST", "/api/memories/{record_id}/move", "Move a memory to another project.",
        move, Changed, OneMemory, MoveTarget,
    ),
    Endpoint(
        "GET", "/api/observations", "Notes, newest first.",
        observations, Listing[Record], ListOfKind,
    ),
    Endpoint(
        "POST", "/api/observations", "Store a note with a type and facts.",
        add_observation, Added, body=write.NewObservation,
    ),
    Endpoint(
        "POST", "/api/observations/batch", "Notes by id, 1 to 100.",
        batch, MemoriesById, body=MemoryIds,
    ),
    Endpoint(
        "GET", "/api/summaries", "Summaries, newest first.",
        summaries, Listing[Record], ListOfKind,
    ),
    Endpoint(
        "POST", "/api/summaries", "Store a summary of a session; with its id, also a checkpoint.",
        add_summary, Added, body=write.NewSummary,
    ),
    Endpoint(
        "GET", "/api/knowledge", "Beliefs, newest first.",
        knowledge, Listing[Record], ListOfKind,
    ),
    Endpoint(
        "POST", "/api/knowledge", "Store a belief.",
        add_knowledge, Added, body=write.NewKnowledge,
    ),
    Endpoint("POST", "/api/notes", "Store a short note.", add_note, Added, body=write.NewNote),
    Endpoint(
        "GET", "/api/timeline", "Memories around another one, around a time, or the newest.",
        timeline, TimelineAnswer, read.TimelineQuery,
    ),
    Endpoint(
        "GET", "/api/operations", "The log of changes to memories, newest first.",
        operations, Listing[read.LoggedOperation], read.OperationsQuery,
    ),
    Endpoint(
        "POST", "/api/operations/{op_id}/undo", "Undo a change.",
        undo, Undone, OneOperation,
    ),
    Endpoint(
        "GET", "/api/undo", "The change that undo would take back.",
        what_undo_takes_back, read.LoggedOperation, Scope,
    ),
    Endpoint(
        "POST", "/api/undo", "Undo the newest change in a project, or in all.",
        undo_last, Undone, Scope,
    ),
)  # fmt: skip
