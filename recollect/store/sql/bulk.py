"""Everything that is stored, as rows: carried away, brought in, erased, cleaned, moved.

In: namespaces, selections, rows. Out: rows and counts. Each change is one transaction; what cannot
be done whole is not done.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from recollect.core.errors import BadInput, StoreBusy
from recollect.core.event_identity import mark
from recollect.store.interface import IDENTITIES, Chosen, Rewritten, Row, Selection
from recollect.store.sql import rows
from recollect.store.sql.bulk_rows import (
    ADD_NAMESPACE,
    SEQS_OF,
    checked,
    insert,
    project_id,
    project_rows,
    put_row,
    put_rows,
    rows_of,
)
from recollect.store.sql.engine import Connection, Engine, both, each, ids_json
from recollect.store.sql.events import SqlEvents
from recollect.store.sql.operations import new_operation, put_operation
from recollect.store.sql.projects import SqlProjects
from recollect.store.sql.selection import BLANKED, Choice
from recollect.store.sql.tables import (
    Table,
    erase_rows,
    get_rows,
    move_row,
    move_rows,
    rewrite_row,
    scan_rows,
    select_keys,
    tables,
)
from recollect.store.sql.turn_works import UNDERIVE_TURN_WORK

ERASE_NAMESPACE = both("DELETE FROM namespaces WHERE namespace = $namespace")
ERASE_PROJECT = both("DELETE FROM projects WHERE project_id = $project_id")
ERASE_IDENTITIES = both("DELETE FROM project_identities WHERE project_id = $project_id")
ERASE_VECTORS = both("""
DELETE FROM embeddings
 WHERE namespace = $namespace AND source_id IN {texts[ids]}
""")
MOVE_WAITING = both("""
UPDATE unextracted SET namespace = $target
 WHERE namespace = $namespace AND seq IN {numbers[ids]}
""")
MOVE_VECTORS = both("""
UPDATE embeddings SET namespace = $target
 WHERE namespace = $namespace AND source_id IN {texts[ids]}
""")
LOOSEN_FACTS = both("""
UPDATE facts SET entity_id = NULL
 WHERE namespace = $namespace AND fact_id IN {texts[ids]}
   AND entity_id NOT IN {texts[kept]}
""")
MOVE_IDENTITIES = both("""
UPDATE project_identities SET project_id = $into WHERE project_id = $project_id
""")
PUT_FORGOTTEN = both("INSERT INTO forgotten (mark) VALUES ($mark) ON CONFLICT DO NOTHING")
FORGOTTEN = each(
    sqlite="SELECT 1 FROM forgotten WHERE mark = $mark",
    postgres="SELECT 1 FROM forgotten WHERE actor = acting() AND mark = $mark",
)
ANY_FORGOTTEN = each(
    sqlite="SELECT 1 FROM forgotten LIMIT 1",
    postgres="SELECT 1 FROM forgotten WHERE actor = acting() LIMIT 1",
)

CLAIM_WAIT_S = 30.0
# Names of things are not texts: a rewritten id would be another thing.
_NAMES = IDENTITIES | {"kind", "status", "surface", "seq"}

Clean = Callable[[Any], tuple[Any, dict[str, int]]]


class SqlBulk:
    def __init__(self, engine: Engine, events: SqlEvents, projects: SqlProjects) -> None:
        self._engine = engine
        self._events = events
        self._projects = projects

    # --- out and in ---

    def dump(self, namespace: str) -> Iterator[Row]:
        with self._engine.reader() as db:
            yield from project_rows(db, namespace)
            for table in tables(db).values():
                yield from rows_of(db, table, namespace)

    def load(self, rows: Sequence[Row]) -> dict[str, int]:
        loaded = self._engine.write(lambda db: put_rows(db, rows))
        self._projects.forget_known()
        self._engine.graph_versions.note_all()
        return loaded

    # --- erasing and moving ---

    def erase(self, namespace: str, what: Selection, actor: str, *, apply: bool = True) -> Chosen:
        if not apply:
            with self._engine.reader() as db:
                return Choice(db, namespace, what).chosen()
        clock = self._engine.clock

        def work(db: Connection) -> Chosen:
            choice = Choice(db, namespace, what)
            self._refuse_claimed(db, choice)
            chosen = choice.chosen()
            erase_selected(db, choice)
            if what.everything:
                erase_project(db, namespace)
            elif chosen.total:
                log = new_operation(
                    clock, "forget", namespace, actor,
                    targets=chosen.record_ids, detail={"erased": chosen.counts},
                )  # fmt: skip
                put_operation(db, log)
            return chosen

        chosen = self._patiently(work)
        self._projects.forget_known()
        self._engine.graph_versions.note(namespace)
        return chosen

    def move(self, namespace: str, what: Selection, target: str, actor: str) -> Chosen:
        if target == namespace:
            raise BadInput("these memories are there already", field="target")
        clock = self._engine.clock

        def work(db: Connection) -> Chosen:
            choice = Choice(db, namespace, what)
            self._refuse_claimed(db, choice)
            chosen = choice.chosen()
            if chosen.total:
                _move(db, choice, target, everything=what.everything)
                detail = {"from": namespace, "moved": chosen.counts}
                log = new_operation(
                    clock, "move", target, actor, targets=chosen.record_ids, detail=detail
                )
                put_operation(db, log)
            if what.everything:
                _move_marks(db, namespace, target)
            return chosen

        chosen = self._patiently(work)
        self._projects.forget_known()
        self._engine.graph_versions.note(namespace)
        self._engine.graph_versions.note(target)
        return chosen

    def _refuse_claimed(self, db: Connection, choice: Choice) -> None:
        """A run of the extractor holds these events in its hands, and would write what it made of
        them after they are gone."""
        values = {"namespace": choice.namespace, "ids": ids_json(sorted(choice.keys["events"]))}
        if self._events.claimed(seq for (seq,) in db.run(SEQS_OF, values)):
            raise StoreBusy(
                "some of these events are being extracted right now", hint="Try again in a minute."
            )

    def _patiently(self, work: Callable[[Connection], Chosen]) -> Chosen:
        deadline = time.monotonic() + CLAIM_WAIT_S
        while True:
            try:
                return self._engine.write(work, when_full=True)
            except StoreBusy:
                if time.monotonic() >= deadline:
                    raise
            time.sleep(0.2)

    # --- cleaning ---

    def rewrite(self, namespace: str, clean: Clean, *, apply: bool) -> Rewritten:
        dirty: dict[str, list[Any]] = {}
        found: dict[str, int] = {}
        with self._engine.reader() as db:
            all_tables = tables(db)
            for table in all_tables.values():
                for key, row in _plain_rows(db, table, namespace):
                    taken = clean(_texts(row))[1]
                    if taken:
                        dirty.setdefault(table.name, []).append(key)
                        for kind, count in taken.items():
                            found[kind] = found.get(kind, 0) + count
        records = tuple(dirty.get("memory_records", ()))
        counts = {all_tables[name].kind: len(keys) for name, keys in dirty.items()}
        if apply and dirty:
            self._engine.write(
                lambda db: _rewrite(db, tables(db), namespace, dirty, clean), when_full=True
            )
            self._engine.graph_versions.note(namespace)
        return Rewritten(counts, found, {namespace: records} if records else {})

    def forgotten(self, marks: Iterable[bytes]) -> set[bytes]:
        with self._engine.reader() as db:
            if db.run(ANY_FORGOTTEN).fetchone() is None:
                return set()
            return {mark for mark in marks if db.run(FORGOTTEN, {"mark": mark}).fetchone()}


def _plain_rows(
    db: Connection, table: Table, namespace: str
) -> Iterator[tuple[Any, dict[str, Any]]]:
    statement = scan_rows(table.name, table.key, table.columns)
    for key, *cells in db.run(statement, {"namespace": namespace}):
        yield key, table.plain(table.columns, tuple(cells))


def _texts(row: dict[str, Any]) -> dict[str, Any]:
    """What of a row may be cleaned."""
    return {
        name: value
        for name, value in row.items()
        if name not in _NAMES and isinstance(value, (str, list, dict))
    }


# --- erasing -------------------------------------------------------------------------------------


def erase_selected(db: Connection, choice: Choice) -> None:
    """Children before parents. A mark of each event stays, so that no import brings it back."""
    _remember_forgotten(db, choice)
    scope = {"namespace": choice.namespace}
    db.run(ERASE_VECTORS, {**scope, "ids": ids_json(choice.things())})
    for table in reversed(choice.tables.values()):
        keys = choice.keys[table.name]
        if not keys:
            continue
        ids = ids_json(sorted(keys))
        blanked = [] if table.name != BLANKED else _blank(db, table, choice.namespace, ids)
        db.run(erase_rows(table.name, table.key), {**scope, "ids": ids})
        for cells in blanked:
            insert(db, table, cells)


def _remember_forgotten(db: Connection, choice: Choice) -> None:
    if not db.has_table("forgotten"):
        return  # a backup from before there were marks
    statement = get_rows("events", "event_id", rows.EVENT_READ)
    values = {
        "namespace": choice.namespace,
        "ids": ids_json(sorted(choice.keys["events"])),
    }
    for cells in list(db.run(statement, values)):
        event = rows.read_event(cells).event
        marked = mark(event.session_id, event.kind, event.body)
        if marked is not None:
            db.run(PUT_FORGOTTEN, {"mark": marked})


def _blank(db: Connection, table: Table, namespace: str, ids: str) -> list[dict[str, Any]]:
    """Operations without their words. They cannot be changed, only written anew in their place."""
    names = table.travelling
    statement = get_rows(table.name, table.key, names)
    found = db.run(statement, {"namespace": namespace, "ids": ids})
    return [
        {**dict(zip(names, cells, strict=True)), "reason": "", "detail": "null"} for cells in found
    ]


def erase_project(db: Connection, namespace: str) -> None:
    """Nothing is left of it: not even its operations, its name and where it lay."""
    for table in tables(db).values():
        keys = [
            key for (key,) in db.run(select_keys(table.name, table.key), {"namespace": namespace})
        ]
        db.run(
            erase_rows(table.name, table.key),
            {"namespace": namespace, "ids": ids_json(keys)},
        )
    db.run(ERASE_NAMESPACE, {"namespace": namespace})
    project = {"project_id": project_id(namespace)}
    db.run(ERASE_IDENTITIES, project)
    db.run(ERASE_PROJECT, project)


# --- cleaning ------------------------------------------------------------------------------------


def _rewrite(
    db: Connection,
    all_tables: dict[str, Table],
    namespace: str,
    dirty: dict[str, list[Any]],
    clean: Clean,
) -> None:
    for name, keys in dirty.items():
        table = all_tables[name]
        names = table.columns
        statement = get_rows(name, table.key, (table.key, *names))
        found = list(db.run(statement, {"namespace": namespace, "ids": ids_json(keys)}))
        for key, *cells in found:
            row = table.plain(names, tuple(cells))
            changed = table.cells(clean(_texts(row))[0])
            _store_cleaned(db, table, namespace, key, dict(zip(names, cells, strict=True)), changed)
    records = ids_json(dirty.get("memory_records", []))
    db.run(ERASE_VECTORS, {"namespace": namespace, "ids": records})


def _store_cleaned(
    db: Connection,
    table: Table,
    namespace: str,
    key: Any,
    before: dict[str, Any],
    changed: dict[str, Any],
) -> None:
    if table.name == BLANKED:
        scope = {"namespace": namespace, "ids": ids_json([key])}
        db.run(erase_rows(table.name, table.key), scope)
        kept = {name: before[name] for name in table.travelling}
        insert(db, table, {**kept, **changed})
        return
    changed = _with_hash(table, {**before, **changed}, changed)
    statement = rewrite_row(table.name, table.key, tuple(changed))
    checked(db, table, statement, {**changed, "namespace": namespace, "key_": key})


def _with_hash(table: Table, row: dict[str, Any], changed: dict[str, Any]) -> dict[str, Any]:
    hashed = {"events": rows.EVENT_COLUMNS, "memory_records": rows.RECORD_HASHED}.get(table.name)
    return changed if hashed is None else {**changed, "hash": rows.row_hash(row, hashed)}


# --- moving --------------------------------------------------------------------------------------


def _move(db: Connection, choice: Choice, target: str, *, everything: bool) -> None:
    namespace = choice.namespace
    scope = {"namespace": namespace, "target": target}
    db.run(ADD_NAMESPACE, {"target": target})
    if not everything:
        _leave_shared_things(db, choice)
    events = {"namespace": namespace, "ids": ids_json(sorted(choice.keys["events"]))}
    waiting = [seq for (seq,) in db.run(SEQS_OF, events)]
    db.run(MOVE_WAITING, {**scope, "ids": ids_json(waiting)})
    db.run(MOVE_VECTORS, {**scope, "ids": ids_json(choice.things())})
    for table in choice.tables.values():
        keys = choice.keys[table.name]
        if not keys:
            continue
        ids = ids_json(sorted(keys))
        if table.name in ("events", "memory_records", "archive", "sessions", BLANKED):
            _move_one_by_one(db, table, namespace, target, ids)
        else:
            db.run(move_rows(table.name, table.key), {**scope, "ids": ids})


def _leave_shared_things(db: Connection, choice: Choice) -> None:
    """Part of a project moves: what is known of an entity that stays, stays connected to it."""
    choice.keys["relationships"].clear()
    values = {
        "namespace": choice.namespace,
        "ids": ids_json(sorted(choice.keys["facts"])),
        "kept": ids_json([]),
    }
    choice.keys["entities"].clear()
    db.run(LOOSEN_FACTS, values)


def _move_one_by_one(db: Connection, table: Table, namespace: str, target: str, ids: str) -> None:
    """Rows that say their namespace in more than its column, or that meet others there."""
    names = table.columns
    statement = get_rows(table.name, table.key, names)
    found = [
        dict(zip(names, cells, strict=True))
        for cells in db.run(statement, {"namespace": namespace, "ids": ids})
    ]
    if table.name in ("events", "memory_records"):
        for row in found:
            moved = {**row, "namespace": target}
            changed = _with_hash(table, moved, {})
            values = {"namespace": namespace, "into": target, "key_": row[table.key], **changed}
            db.run(move_row(table.name, table.key), values)
        if table.name == "events":
            db.run(UNDERIVE_TURN_WORK, {"namespace": target, "ids": ids})
        return
    scope = {"namespace": namespace, "ids": ids}
    db.run(erase_rows(table.name, table.key), scope)
    for row in found:
        plain = table.plain(names, tuple(row.values()))
        plain["namespace"] = target
        if table.name == "archive":
            _rename(plain["payload"], namespace, target)
        put_row(db, table, plain)


def _rename(tree: Any, namespace: str, target: str) -> None:
    if isinstance(tree, dict):
        if tree.get("namespace") == namespace:
            tree["namespace"] = target
        for value in tree.values():
            _rename(value, namespace, target)
    elif isinstance(tree, list):
        for value in tree:
            _rename(value, namespace, target)


def _move_marks(db: Connection, namespace: str, target: str) -> None:
    """What is seen there from now on belongs to the other project."""
    project, into = project_id(namespace), project_id(target)
    if not project or not into:
        return
    db.run(MOVE_IDENTITIES, {"project_id": project, "into": into})
    db.run(ERASE_PROJECT, {"project_id": project})
    db.run(ERASE_NAMESPACE, {"namespace": namespace})
