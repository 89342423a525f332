"""`/api/memories` and related routes: list, add, read, edit, move, delete and undo."""

from typing import Annotated, Literal

from msgspec import Meta, structs

from recollect.core.errors import BadInput
from recollect.core.kinds import KINDS, TYPES, Kind, KnowledgeType, ObservationType, Type
from recollect.core.signals import SIGNALS
from recollect.core.values import Name, Namespace, Record, RecordName, Value, convert
from recollect.hosts import registry
from recollect.lifecycle.file_freshness import with_freshness
from recollect.server.endpoints import Endpoint
from recollect.server.runtime import ServerRuntime
from recollect.service import facets, read, write
from recollect.service.pagination import Listing
from recollect.service.record_ids import resolve_each
from recollect.service.scope import ProjectName, Scope
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


class MemoryIds(Value, frozen=True, kw_only=True):
    ids: read.Ids


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


class ListOfKind(read.ListQuery, frozen=True, kw_only=True):
    """As for /api/memories; the route sets the kind."""


def kind_table(runtime: ServerRuntime) -> KindTable:
    return KindTable(
        kinds=tuple(KINDS.values()),
        types=tuple(TYPES.values()),
        agents={one.name: one.title for one in registry.facts().values()},
        signals=SIGNALS,
    )


def observations(runtime: ServerRuntime, asked: ListOfKind) -> Listing[Record]:
    return read.memories(runtime, structs.replace(asked, kind="observation"))


def summaries(runtime: ServerRuntime, asked: ListOfKind) -> Listing[Record]:
    return read.memories(runtime, structs.replace(asked, kind="summary"))


def knowledge(runtime: ServerRuntime, asked: ListOfKind) -> Listing[Record]:
    return read.memories(runtime, structs.replace(asked, kind="knowledge"))


def add(runtime: ServerRuntime, new: NewMemory) -> Added:
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


def add_belief(runtime: ServerRuntime, new: write.NewKnowledge) -> Added:
    return write.add_knowledge(runtime, new)


def one(runtime: ServerRuntime, record_id: RecordName) -> Record:
    (found,) = with_freshness(runtime.store, [write.find(runtime, record_id)])
    return found


def batch(runtime: ServerRuntime, chosen: MemoryIds) -> MemoriesById:
    wanted = resolve_each(runtime, chosen.ids)
    found = read.get(runtime, wanted)
    there = {record.record_id for record in found}
    missing = tuple(one for one in wanted if one not in there)
    return MemoriesById(items=found, missing=missing)


def delete(
    runtime: ServerRuntime, record_id: RecordName, reason: Reason = "", never: bool = False
) -> Deleted:
    """`never`: also never learn it again, unless the delete is undone."""
    return write.delete(runtime, (record_id,), reason, never=never)


def delete_some(runtime: ServerRuntime, chosen: MemoriesToDelete) -> Deleted:
    return write.delete(runtime, chosen.ids, chosen.reason, never=chosen.never)


def pin(runtime: ServerRuntime, record_id: RecordName, wanted: Pin) -> Changed:
    return write.edit(runtime, record_id, MemoryEdit(pinned=wanted.pinned))


def move(runtime: ServerRuntime, record_id: RecordName, target: MoveTarget) -> Changed:
    return write.move(runtime, record_id, target, target.reason)


def undo(runtime: ServerRuntime, op_id: Name) -> Undone:
    return undo_operation(runtime, op_id)


def what_undo_takes_back(runtime: ServerRuntime, asked: Scope) -> read.LoggedOperation:
    return read.with_titles(runtime, newest_undoable(runtime, asked))


def undo_last(
    runtime: ServerRuntime,
    project: ProjectName | None = None,
    namespace: Namespace | None = None,
    project_path: ProjectName | None = None,
) -> Undone:
    scope = Scope(project=project, namespace=namespace, project_path=project_path)
    return undo_operation(runtime, scope=scope)


ENDPOINTS = (
    Endpoint(
        "GET", "/api/kinds", "The kinds and types of memory, and the titles of agents.", kind_table
    ),
    Endpoint("GET", "/api/memories", "Memories, newest first.", read.memories),
    Endpoint("GET", "/api/memories/counts", "How many memories there are of what.", facets.facets),
    Endpoint("POST", "/api/memories", "Store a note or a belief.", add),
    Endpoint("POST", "/api/memories/batch", "Memories by id, 1 to 100.", batch),
    Endpoint(
        "POST", "/api/memories/delete", "Delete memories by id; undo brings them back.", delete_some
    ),
    Endpoint("GET", "/api/memories/{record_id}", "One memory in full.", one),
    Endpoint(
        "PATCH", "/api/memories/{record_id}", "Edit a memory; the old version is kept.", write.edit
    ),
    Endpoint(
        "DELETE", "/api/memories/{record_id}", "Delete a memory; undo brings it back.", delete
    ),
    Endpoint(
        "GET", "/api/memories/{record_id}/history", "Earlier versions, and what ended them.",
        read.history,
    ),
    Endpoint(
        "GET", "/api/memories/{record_id}/provenance", "The events that a memory was made from.",
        read.provenance,
    ),
    Endpoint("POST", "/api/memories/{record_id}/pin", "Pin a memory, or unpin it.", pin),
    Endpoint("POST", "/api/memories/{record_id}/move", "Move a memory to another project.", move),
    Endpoint("GET", "/api/observations", "Notes, newest first.", observations),
    Endpoint(
        "POST", "/api/observations", "Store a note with a type and facts.", write.add_observation
    ),
    Endpoint("POST", "/api/observations/batch", "Notes by id, 1 to 100.", batch),
    Endpoint("GET", "/api/summaries", "Summaries, newest first.", summaries),
    Endpoint(
        "POST", "/api/summaries", "Store a summary of a session; with its id, also a checkpoint.",
        write.add_summary,
    ),
    Endpoint("GET", "/api/knowledge", "Beliefs, newest first.", knowledge),
    Endpoint("POST", "/api/knowledge", "Store a belief.", add_belief),
    Endpoint("POST", "/api/notes", "Store a short note.", write.add_note),
    Endpoint(
        "GET", "/api/timeline", "Memories around another one, around a time, or the newest.",
        read.timeline,
    ),
    Endpoint(
        "GET", "/api/operations", "The log of changes to memories, newest first.", read.log
    ),
    Endpoint("POST", "/api/operations/{op_id}/undo", "Undo a change.", undo),
    Endpoint("GET", "/api/undo", "The change that undo would take back.", what_undo_takes_back),
    Endpoint(
        "POST", "/api/undo", "Undo the newest change in a project, or in all.", undo_last
    ),
)  # fmt: skip
