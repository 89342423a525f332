"""Writing memories by hand: validate, deduplicate, store, log, update the index.

In: what a person or an agent wants to add, change or forget, scrubbed at the door
(`clean_input.py`). Out: the memory and the operation, which can be undone. The same content twice
is one memory.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from recollect.core import ids, values
from recollect.core.errors import BadInput, Conflict, NotFound
from recollect.core.kinds import EDITABLE, TYPES, KnowledgeType, ObservationType
from recollect.core.values import (
    TITLE_CHARS,
    Author,
    Checkpoint,
    Citation,
    Concept,
    FactText,
    FilePath,
    Name,
    Operation,
    Record,
    RecordName,
    Title,
    Unit,
    Value,
)
from recollect.extract.content_hash import REASON, hash_of_memory
from recollect.extract.tombstone_entry import tombstone_of, tombstone_of_edit
from recollect.lifecycle.file_freshness import cite
from recollect.reconcile.belief_changes import apply
from recollect.service.beliefs import ending_all
from recollect.service.clean_input import without_own_text
from recollect.service.record_ids import resolve, resolve_each
from recollect.service.runtime import ServiceRuntime
from recollect.service.scope import (
    Scope,
    all_namespaces,
    namespace_to_write,
    project_id,
)
from recollect.store.interface import with_content

Content = Annotated[str, Meta(max_length=100_000)]
Facts = Annotated[tuple[FactText, ...], Meta(max_length=50)]
Concepts = Annotated[tuple[Concept, ...], Meta(max_length=20)]
Files = Annotated[tuple[FilePath, ...], Meta(max_length=50)]
Lines = Annotated[tuple[FactText, ...], Meta(max_length=20)]
Importance = Annotated[int, Meta(ge=1, le=10)]

SUMMARY_CHARS = 4000
FACT_CHARS = 500
CHECKPOINT_FILES = 20
RATED_WRONG = "rated wrong"
TREE_S = 1.0  # that a caller waits for a work tree whose disk is slow


class NewObservation(Scope, frozen=True, kw_only=True):
    """A note: something that was seen, done or found out."""

    title: Title
    type: ObservationType = "discovery"
    content: Content = ""
    facts: Facts = ()
    concepts: Concepts = ()
    files: Files = ()
    session_id: Name | None = None
    importance: Importance = 5
    author: Author = "user"


class NewKnowledge(Scope, frozen=True, kw_only=True):
    """A belief: a constraint, a decision, a heuristic, or a rejected option."""

    type: KnowledgeType
    title: Title
    content: Content = ""
    reason: FactText | None = None
    alternatives: Annotated[tuple[FactText, ...], Meta(max_length=10)] = ()
    severity: Literal["hard", "soft"] | None = None
    category: Annotated[str, Meta(max_length=64)] | None = None
    context: FactText | None = None
    confidence: Unit = 1.0
    importance: Importance | None = None
    concepts: Concepts = ()
    files: Files = ()
    session_id: Name | None = None
    author: Author = "user"


class NewSummary(Scope, frozen=True, kw_only=True):
    """A summary of a session: what was asked, looked into, done and learned, and the next steps."""

    request: Annotated[str, Meta(min_length=1, max_length=2000)]
    title: Title | None = None
    investigated: Lines = ()
    completed: Lines = ()
    learned: Lines = ()
    next_steps: Lines = ()
    questions: Lines = ()
    notes: Annotated[str, Meta(max_length=4000)] = ""
    concepts: Concepts = ()
    files: Files = ()
    session_id: Name | None = None
    author: Author = "user"


class NewNote(Scope, frozen=True, kw_only=True):
    """A short note: just text."""

    text: Annotated[str, Meta(min_length=1, max_length=100_000)]
    concepts: Concepts = ()
    files: Files = ()
    session_id: Name | None = None


class MemoryEdit(Value, frozen=True, kw_only=True):
    """Changes to a memory; fields that are left out stay. `version`, if given, must be the stored
    one, so that nobody overwrites a version they have not seen."""

    title: Title | None = None
    summary: Annotated[str, Meta(max_length=SUMMARY_CHARS)] | None = None
    detail: Content | None = None
    facts: Facts | None = None
    concepts: Concepts | None = None
    files: Files | None = None
    importance: Importance | None = None
    confidence: Unit | None = None
    pinned: bool | None = None
    type: ObservationType | KnowledgeType | None = None
    version: Annotated[int, Meta(ge=1)] | None = None
    reason: Annotated[str, Meta(max_length=1000)] = ""


class Added(Value, frozen=True, kw_only=True):
    """`stored` is false when the same memory exists already; `record` is then that one."""

    record: Record
    stored: bool
    op_id: str | None = None


class Changed(Value, frozen=True, kw_only=True):
    record: Record
    op_id: str


class Deleted(Value, frozen=True, kw_only=True):
    record_ids: tuple[str, ...]
    op_ids: tuple[str, ...]


# --- adding --------------------------------------------------------------------------------------


def add_observation(runtime: ServiceRuntime, given: NewObservation) -> Added:
    new = without_own_text(runtime, given)
    summary, detail = _summary_and_detail(new.content)
    return _add(
        runtime,
        given,
        kind="observation",
        title=new.title,
        summary=summary,
        detail=detail,
        facts=new.facts,
        concepts=new.concepts,
        files=new.files,
        observation_type=new.type,
        session_id=new.session_id,
        importance=new.importance,
        author=new.author,
    )


def add_knowledge(runtime: ServiceRuntime, given: NewKnowledge, **life: Any) -> Added:
    """`life` are fields of a belief that no door takes: state, scope, evidence."""
    new = without_own_text(runtime, given)
    summary, detail = _summary_and_detail(new.content)
    facts = [
        *([f"Severity: {new.severity}"] if new.severity else []),
        *([f"{REASON}{new.reason}"] if new.reason else []),
        *([f"When: {new.context}"] if new.context else []),
        *(f"Alternative: {one}" for one in new.alternatives),
    ]
    return _add(
        runtime,
        given,
        kind="knowledge",
        title=new.title,
        summary=summary,
        detail=detail,
        facts=tuple(fact[:FACT_CHARS] for fact in facts),
        concepts=new.concepts,
        files=new.files,
        knowledge_type=new.type,
        category=new.category or new.severity,
        session_id=new.session_id,
        confidence=new.confidence,
        importance=new.importance or TYPES[new.type].importance_by_hand,
        **{"author": new.author, **life},
    )


def add_summary(runtime: ServiceRuntime, given: NewSummary) -> Added:
    """With a session, the summary is also a checkpoint to resume from."""
    new = without_own_text(runtime, given)
    sections = (
        ("Investigated", new.investigated),
        ("Completed", new.completed),
        ("Learned", new.learned),
        ("Next steps", new.next_steps),
        ("Open questions", new.questions),
    )
    parts = [f"### {name}\n" + "\n".join(f"- {one}" for one in told)
             for name, told in sections if told]  # fmt: skip
    if new.notes:
        parts.append(f"### Notes\n{new.notes}")
    done = "; ".join(new.completed)
    said = new.request if new.title else ""
    said = " ".join(filter(None, (said, f"Done: {done}." if done else "")))[:SUMMARY_CHARS]
    return _add(
        runtime,
        given,
        checkpoint=new if new.session_id else None,
        kind="summary",
        title=new.title or title_of(new.request),
        summary=said,
        detail="\n\n".join(parts),
        facts=new.learned,
        concepts=new.concepts,
        files=new.files,
        observation_type="session_summary",
        session_id=new.session_id,
        importance=7,
        author=new.author,
    )


def add_note(runtime: ServiceRuntime, new: NewNote) -> Added:
    title = title_of(new.text)
    if not title:
        raise BadInput("the text is empty", field="text")
    rest = "" if title == " ".join(new.text.split()) else new.text
    summary, detail = _summary_and_detail(rest)
    return _add(
        runtime,
        new,
        kind="observation",
        title=title,
        summary=summary,
        detail=detail,
        concepts=new.concepts,
        files=new.files,
        category="note",
        session_id=new.session_id,
        author="user",
    )


def _add(
    runtime: ServiceRuntime,
    place: Scope,
    *,
    checkpoint: NewSummary | None = None,
    **fields: Any,
) -> Added:
    if not fields["title"].strip():
        raise BadInput(
            "the title is empty once private spans and secrets are removed", field="title"
        )
    namespace = namespace_to_write(runtime, place)
    record = values.check(
        Record(
            record_id=ids.new_id(ids.RECORD),
            namespace=namespace,
            level="distilled",
            strategy="user",
            valid_from=runtime.clock.now(),
            citations=_cited(runtime, place, namespace, fields["files"]),
            **{**fields, "title": fields["title"][:TITLE_CHARS]},
        )
    )
    record = msgspec.structs.replace(record, content_hash=hash_of_memory(record))
    with runtime.add_lock:
        known = with_content(runtime.store.records, namespace, record.content_hash)
        if known is not None:
            return Added(record=known, stored=False)
        if record.author != "user" and runtime.tombstones.visible_record(record) is None:
            raise Conflict("not stored: the user has said that this is not to be remembered again")
        stood = _checkpoint(record, checkpoint) if checkpoint else None
        stored, operation = runtime.memories.remember(record, runtime.actor, checkpoint=stood)
    if stood is not None:
        runtime.publish("checkpoint", {"namespace": namespace, "session_id": stood.session_id})
    runtime.embed_soon()
    return Added(record=stored, stored=True, op_id=operation.op_id)


def _cited(
    runtime: ServiceRuntime, place: Scope, namespace: str, files: Sequence[str]
) -> tuple[Citation, ...]:
    """The files as they are now, in the directory that was named or where the project is."""
    if not files:
        return ()
    where = place.project_path or place.project or ""
    if not where.startswith("/"):
        here = project_id(namespace)
        known = (one.roots for one in runtime.store.projects.all() if one.project_id == here)
        where = next((roots[0] for roots in known if roots), "")
    return cite(files, where, TREE_S)


def _checkpoint(record: Record, new: NewSummary) -> Checkpoint:
    assert new.session_id is not None
    return Checkpoint(
        checkpoint_id=ids.new_id(ids.CHECKPOINT),
        namespace=record.namespace,
        session_id=new.session_id,
        task=new.request,
        progress="\n".join(new.completed)[:SUMMARY_CHARS],
        next_steps=new.next_steps,
        questions=new.questions,
        files=new.files[:CHECKPOINT_FILES],
        snapshot=(record.record_id,),
    )


# --- changing ------------------------------------------------------------------------------------


def edit(runtime: ServiceRuntime, record_id: RecordName, change: MemoryEdit) -> Changed:
    known = find(runtime, record_id)
    if change.version not in (None, known.version):
        raise Conflict(
            f"{record_id} is at version {known.version}, not {change.version}",
            hint="Read it again and repeat the change.",
        )
    wanted = {name: value for name in EDITABLE if (value := getattr(change, name)) is not None}
    if change.type is not None:
        wanted[_column_of_type(known, change.type)] = change.type
    if not wanted:
        raise BadInput("no change was given", hint="title, summary, detail, facts, …")
    types = ("knowledge_type", "observation_type")
    if fixed := sorted(wanted.keys() - {*known.traits.editable, *types}):
        raise BadInput(f"{fixed[0]} of a {known.traits.label} cannot be changed", field=fixed[0])
    if "files" in wanted:
        wanted["citations"] = _cited(runtime, Scope(), known.namespace, wanted["files"])
    edited = values.check(msgspec.structs.replace(known, **wanted))
    if edited == known:
        raise BadInput("the memory is already like that")
    edited = msgspec.structs.replace(edited, content_hash=hash_of_memory(edited))
    sessions = runtime.tombstones.sessions_of(known)
    earlier = runtime.tombstones.correction_of(known)
    stone = tombstone_of_edit(known, edited, earlier, sessions, runtime.clock.now())
    operation = runtime.memories.edit(edited, runtime.actor, change.reason, stone)
    runtime.tombstones.reload()
    runtime.recall().feedback.forget_known()
    runtime.embed_soon()
    return Changed(record=find(runtime, known.record_id), op_id=operation.op_id)


def _column_of_type(record: Record, wanted: str) -> str:
    """The column that holds the type of a memory. BadInput for a type that its kind does not have,
    and for a type of its own that only the daemon gives."""
    kind = record.traits
    if wanted not in kind.types or len(kind.types) < 2:
        known = f"It may be: {', '.join(kind.types)}." if len(kind.types) > 1 else ""
        raise BadInput(f"a {kind.label} cannot be of the type {wanted}", field="type", hint=known)
    return "knowledge_type" if kind.is_belief else "observation_type"


def delete(
    runtime: ServiceRuntime, record_ids: tuple[str, ...], reason: str = "", *, never: bool = False
) -> Deleted:
    """Delete memories with their vectors and index entries, and hide what else was made of the same
    statements; undo brings all of it back. With `never`, they are not learned again either, until
    undo. NotFound when none of them exists."""
    gone: list[str] = []
    operations: list[str] = []
    now = runtime.clock.now()
    record_ids = resolve_each(runtime, record_ids)

    def tombstone(record: Record) -> dict[str, Any]:
        sessions = where.get(record.record_id, ())
        return tombstone_of(record, "delete", again=not never, sessions=sessions, at=now)

    for namespace in all_namespaces(runtime):
        there = runtime.store.records.get(namespace, record_ids)
        where = {one.record_id: runtime.tombstones.sessions_of(one) for one in there}
        operation = runtime.memories.delete(namespace, record_ids, runtime.actor, reason, tombstone)
        if operation is not None:
            gone += operation.targets
            operations.append(operation.op_id)
    if not gone:
        raise NotFound(f"there is no memory {', '.join(record_ids)}")
    runtime.tombstones.reload()
    return Deleted(record_ids=tuple(gone), op_ids=tuple(operations))


def move(runtime: ServiceRuntime, record_id: str, scope: Scope, reason: str = "") -> Changed:
    known = find(runtime, record_id)
    target = namespace_to_write(runtime, scope)
    if target == known.namespace:
        raise Conflict(f"{record_id} is already in that project")
    _, came = runtime.memories.move(known, target, runtime.actor, reason)
    feedback = runtime.recall().feedback
    if feedback.of(known.namespace).given.get(known.record_id) == "never":
        feedback.give(target, known.record_id, "never", runtime.actor)  # the verdict moves along
    runtime.embed_soon()
    return Changed(record=find(runtime, known.record_id), op_id=came.op_id)


def find(runtime: ServiceRuntime, record_id: RecordName) -> Record:
    """A memory by its name, in whatever namespace it is."""
    whole = resolve(runtime, record_id)
    for namespace in all_namespaces(runtime):
        for record in runtime.store.records.get(namespace, [whole]):
            return record
    raise NotFound(f"there is no memory {record_id}")


def judge(
    runtime: ServiceRuntime, record_id: str, verdict: Literal["useful", "wrong", "never"]
) -> Operation:
    """Note a verdict on a memory. A belief that is wrong ends, with all that repeats it; undoing
    the operation that is returned brings it back."""
    record = find(runtime, record_id)
    feedback = runtime.recall().feedback
    given = feedback.give(record.namespace, record.record_id, verdict, runtime.actor)
    if verdict != "wrong" or not record.traits.is_belief or not record.stands:
        return given
    change = ending_all(runtime, record, "user", RATED_WRONG)
    operation = runtime.store.transaction(lambda tx: apply(tx, change, runtime.actor))
    runtime.memories.changed(record.namespace, [one.record_id for one in change.changed])
    return operation


# --- parts ---------------------------------------------------------------------------------------


def _summary_and_detail(content: str) -> tuple[str, str]:
    """Summary and detail: a short text is the summary; a long one is the detail, and its beginning
    the summary."""
    if len(content) <= SUMMARY_CHARS:
        return content, ""
    return content[:1000].rsplit(" ", 1)[0] + "…", content


def title_of(text: str) -> str:
    flat = " ".join(text.split())
    if len(flat) <= TITLE_CHARS:
        return flat
    return flat[: TITLE_CHARS - 1].rsplit(" ", 1)[0] + "…"
