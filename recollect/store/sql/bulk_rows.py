"""Rows out of a store and into one, as an export carries them.

In: namespaces, or rows. Out: rows, or how many of each kind were new. A row that does not fit, or
that could not be read back, raises BadInput.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from recollect.core.errors import BadInput, RecollectError
from recollect.core.kinds import traits
from recollect.core.values import check
from recollect.store.interface import Row
from recollect.store.sql import rows
from recollect.store.sql.engine import (
    Connection,
    Statement,
    StatementRefused,
    both,
    cached,
    column_list,
    each,
    ids_json,
    insert_into,
)
from recollect.store.sql.tables import (
    Table,
    columns_of,
    dump_rows,
    load_row,
    seq_taken,
    tables,
)
from recollect.store.sql.turn_works import UNDERIVE_TURN_WORK


@cached
def dump_events(columns: tuple[str, ...]) -> Statement:
    return both(f"""
SELECT {column_list(columns, "t.")}, u.failures, u.reason, u.state
  FROM events AS t LEFT JOIN unextracted AS u USING ({{key[seq]}})
 WHERE t.namespace = $namespace ORDER BY t.seq
""")


@cached
def dump_project(columns: tuple[str, ...]) -> Statement:
    return both(f"SELECT {column_list(columns)} FROM projects WHERE project_id = $project_id")


@cached
def dump_identities(columns: tuple[str, ...]) -> Statement:
    return both(
        f"SELECT {column_list(columns)} FROM project_identities WHERE project_id = $project_id"
    )


@cached
def load_session(columns: tuple[str, ...]) -> Statement:
    """A session came with its events; what they do not tell is added."""
    put = f"{insert_into('sessions', columns)} ON CONFLICT (namespace, session_id) DO UPDATE SET"
    rest = """
    ended_at = coalesce(sessions.ended_at, excluded.ended_at),
    status = CASE sessions.status WHEN 'active' THEN excluded.status ELSE sessions.status END
 WHERE sessions.namespace = $namespace
"""
    return each(
        sqlite=f"""{put}
    started_at = min(sessions.started_at, excluded.started_at),
    last_event_at = max(sessions.last_event_at, excluded.last_event_at),{rest}""",
        postgres=f"""{put}
    started_at = least(sessions.started_at, excluded.started_at),
    last_event_at = greatest(sessions.last_event_at, excluded.last_event_at),{rest}""",
    )


ARCHIVED_ALREADY = both("""
SELECT 1 FROM archive WHERE namespace = $namespace AND op_id = $op_id AND source_id = $source_id
""")
NOT_WAITING = both("DELETE FROM unextracted WHERE namespace = $namespace AND seq = $seq")
WAIT_AS = both("""
UPDATE unextracted SET failures = $failures, reason = $reason, state = $state
 WHERE namespace = $namespace AND seq = $seq
""")
SEQS_OF = both("""
SELECT seq FROM events
 WHERE {by_key}namespace = $namespace AND event_id IN {texts[ids]}
""")
ADD_NAMESPACE = both("INSERT INTO namespaces (namespace) VALUES ($target) ON CONFLICT DO NOTHING")

_PROJECT = "project"
# What a value of each kind must be, beyond what the table checks.
_CODECS: dict[str, rows.Codec[Any]] = {
    "memory_records": rows.RECORD,
    "entities": rows.ENTITY,
    "relationships": rows.RELATIONSHIP,
    "facts": rows.FACT,
    "procedures": rows.PROCEDURE,
    "preferences": rows.PREFERENCE,
    "sessions": rows.SESSION,
    "checkpoints": rows.CHECKPOINT,
    "receipts": rows.RECEIPT,
    "operations": rows.OPERATION,
}


def project_id(namespace: str) -> str:
    return namespace.rstrip("/").rpartition("/project/")[2] if "/project/" in namespace else ""


def project_rows(db: Connection, namespace: str) -> Iterator[Row]:
    key = {"project_id": project_id(namespace)}
    names = columns_of(db, "projects")
    mark_names = columns_of(db, "project_identities")
    about = Table("projects", _PROJECT, "project_id", names, frozenset())
    marks = Table("project_identities", "mark", "value", mark_names, frozenset())
    for cells in db.run(dump_project(names), key):
        row = about.plain(names, cells)
        found = db.run(dump_identities(mark_names), key)
        row["marks"] = [marks.plain(mark_names, one) for one in found]
        yield _PROJECT, row


def rows_of(db: Connection, table: Table, namespace: str) -> Iterator[Row]:
    names = table.travelling
    scope = {"namespace": namespace}
    if table.name == "events":
        for *cells, failures, reason, state in db.run(dump_events(names), scope):
            row = table.plain(names, tuple(cells))
            # `failures` is NULL when a run has finished the event.
            waits = {"failures": failures, "reason": reason, "state": state}
            row["unextracted"] = None if state is None else waits
            yield table.kind, row
        return
    statement = dump_rows(table.name, names, table.order)
    for found in db.run(statement, scope):
        row = table.plain(names, found)
        if table.name == "archive":
            row["payload"].pop("vectors", None)
        yield table.kind, row


def put_rows(db: Connection, given: Sequence[Row]) -> dict[str, int]:
    known = {table.kind: table for table in tables(db).values()}
    loaded: dict[str, int] = {}
    for kind, row in given:
        if kind == _PROJECT:
            new = _load_project(db, row)
        elif kind in known:
            new = put_row(db, known[kind], row)
        else:
            raise BadInput(f"rows of kind {kind!r} are not known to this version", field="kind")
        if new:
            loaded[kind] = loaded.get(kind, 0) + 1
    return loaded


def _load_project(db: Connection, row: dict[str, Any]) -> bool:
    names = columns_of(db, "projects")
    about = Table("projects", _PROJECT, "project_id", names, frozenset())
    new = insert(db, about, about.cells(row))
    mark_names = columns_of(db, "project_identities")
    marks = Table("project_identities", "mark", "value", mark_names, frozenset())
    for one in row.get("marks") or ():
        if not isinstance(one, dict):
            raise BadInput("a project's mark is not an object", field="marks")
        insert(db, marks, marks.cells(one))
    return new


def put_row(db: Connection, table: Table, row: dict[str, Any]) -> bool:
    cells = table.cells(row)
    if table.name == "memory_records":
        cells = _with_life(cells)
    _valid(table, cells)
    # Only some tables make their namespace known by themselves.
    checked(db, table, ADD_NAMESPACE, {"target": cells.get("namespace")})
    if table.name == "events":
        return _load_event(db, table, cells, row.get("unextracted"))
    if table.name == "memory_records":
        cells["hash"] = rows.row_hash(cells, rows.RECORD_HASHED)
    if table.name == "archive" and db.run(ARCHIVED_ALREADY, cells).fetchone():
        return False
    if table.name == "sessions":
        db.run(load_session(tuple(cells)), cells)
        return False  # it came with its events
    return insert(db, table, cells)


def _with_life(cells: dict[str, Any]) -> dict[str, Any]:
    """A memory of an export from before beliefs had a life, as the migration would have it."""
    life = dict(rows.LIFE)
    if traits(str(cells.get("kind"))).is_belief and cells.get("author") != "user":
        state = "current" if cells.get("pinned") else "proposed"
        life |= {"source_type": "inferred", "state": state}
    return life | cells


def _load_event(
    db: Connection, table: Table, cells: dict[str, Any], waits: dict[str, Any] | None
) -> bool:
    cells["hash"] = rows.row_hash(cells, rows.EVENT_COLUMNS)
    if not insert(db, table, cells):
        return False
    place = {"namespace": cells["namespace"], "event_id": cells["event_id"]}
    db.run(
        UNDERIVE_TURN_WORK,
        {"namespace": cells["namespace"], "ids": ids_json([cells["event_id"]])},
    )
    seq = db.run(SEQS_OF, {**place, "ids": ids_json([cells["event_id"]])}).get
    if waits is None:
        db.run(NOT_WAITING, {"namespace": cells["namespace"], "seq": seq})
    elif isinstance(waits, dict):
        state = {name: waits.get(name) for name in ("failures", "reason", "state")}
        checked(db, table, WAIT_AS, {"namespace": cells["namespace"], "seq": seq, **state})
    return True


def insert(db: Connection, table: Table, cells: dict[str, Any]) -> bool:
    if "seq" in cells and db.run(seq_taken(table.name), cells).fetchone():
        cells = {name: cell for name, cell in cells.items() if name != "seq"}
    return checked(db, table, load_row(table.name, tuple(cells)), cells) is not None


def checked(db: Connection, table: Table, statement: Statement, cells: dict[str, Any]) -> Any:
    try:
        return db.run(statement, cells).fetchone()
    except (StatementRefused, TypeError) as error:
        key = cells.get(table.key)
        reason = error.reason if isinstance(error, StatementRefused) else str(error)
        raise BadInput(f"{table.kind} {key} does not fit: {reason}", field=table.kind) from error


def _valid(table: Table, cells: dict[str, Any]) -> None:
    """A row that could not be read back is not taken."""
    try:
        if table.name == "events":
            known = {"seq": 0, "prompt_number": None, **cells}
            check(rows.read_event([known[name] for name in rows.EVENT_READ]).event)
        elif table.name in _CODECS:
            codec = _CODECS[table.name]
            check(codec.decode([cells[name] for name in codec.columns]))
    except KeyError as error:
        raise BadInput(f"a {table.kind} has no {error.args[0]}", field=error.args[0]) from error
    except RecollectError as error:
        if isinstance(error, BadInput):
            raise
        raise BadInput(f"a {table.kind} cannot be read: {error}", field=table.kind) from error
