"""Copies a whole store into another, of either kind.

In: two open stores and an actor. Out: what was copied, by table. Rows go over as they are, with
their numbers and hashes, a batch in one transaction. What is there already is passed over, so a
copy that was broken off is begun again; at the end every row is compared by its digest.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from recollect.core.errors import Conflict, StoreError
from recollect.store.sql import rows as layout
from recollect.store.sql.bulk import PUT_FORGOTTEN
from recollect.store.sql.bulk_rows import NOT_WAITING
from recollect.store.sql.engine import Statement, both, cached, column_list, each, insert_into
from recollect.store.sql.events import GET_EVENT
from recollect.store.sql.projects import LIST_PROJECTS

TABLE_COLUMNS = each(
    sqlite="SELECT name FROM pragma_table_info($table) ORDER BY cid",
    postgres="""
SELECT attname::text FROM pg_attribute
 WHERE attrelid = to_regclass($table) AND attnum > 0 AND NOT attisdropped ORDER BY attnum
""",
)


@cached
def copy_out(table: str, columns: tuple[str, ...], key: tuple[str, ...], after: bool) -> Statement:
    """One batch of rows, in the order of their key."""
    beyond = f"AND ({column_list(key)}) > ({column_list(key, '$after_')})" if after else ""
    return both(
        f"SELECT {column_list(columns)} FROM {table} WHERE namespace = $namespace {beyond} "
        f"ORDER BY {column_list(key)} LIMIT $limit"
    )


@cached
def copy_in(table: str, columns: tuple[str, ...]) -> Statement:
    return both(f"{insert_into(table, columns)} ON CONFLICT DO NOTHING")


@cached
def copy_session(columns: tuple[str, ...]) -> Statement:
    kept = ("namespace", "session_id")
    changes = ", ".join(f"{name} = excluded.{name}" for name in columns if name not in kept)
    return both(
        f"{insert_into('sessions', columns)} ON CONFLICT (namespace, session_id) DO UPDATE "
        f"SET {changes} WHERE sessions.namespace = $namespace"
    )


COPY_MARKS = each(
    sqlite="""
SELECT kind, value, project_id, first_seen FROM project_identities ORDER BY kind, value
""",
    postgres="""
SELECT kind, value, project_id, first_seen FROM project_identities
 WHERE actor = acting() ORDER BY kind, value
""",
)
COPY_FORGOTTEN = each(
    sqlite="SELECT mark FROM forgotten",
    postgres="SELECT mark FROM forgotten WHERE actor = acting()",
)
ARCHIVED_SAME = both("""
SELECT 1 FROM archive
 WHERE namespace = $namespace AND op_id = $op_id AND source_kind = $source_kind
   AND source_id = $source_id AND since = $since AND until = $until
""")

BATCH = 500

# In this order a row finds what it refers to. Each with the key by which it is read.
TABLES: dict[str, tuple[str, ...]] = {
    "events": ("seq",),
    "unextracted": ("seq",),
    "sessions": ("session_id",),
    "memory_records": ("row_id",),
    "embeddings": ("source_kind", "source_id", "part"),
    "entities": ("entity_id",),
    "relationships": ("relationship_id",),
    "facts": ("fact_id",),
    "procedures": ("procedure_id",),
    "preferences": ("preference_id",),
    "checkpoints": ("checkpoint_id",),
    "receipts": ("receipt_id",),
    "operations": ("seq",),
    "archive": ("row_id",),
    "extraction_runs": ("row_id",),
    "waiting_claims": ("key",),
    "compacted": ("source_id",),
    "llm_usage": ("day", "provider", "model", "purpose"),
}
# What a person calls one row of a table, and several, where it is not the table's name.
WORDS = {
    "unextracted": ("event in line for extraction", "events in line for extraction"),
    "memory_records": ("memory", "memories"),
    "embeddings": ("vector", "vectors"),
    "entities": ("entity", "entities"),
    "archive": ("archived version", "archived versions"),
    "extraction_runs": ("extraction run", "extraction runs"),
    "waiting_claims": ("claim made only once", "claims made only once"),
    "compacted": ("mark of a shortened turn", "marks of shortened turns"),
    "llm_usage": ("day's usage of a model", "days' usages of models"),
}
# What each store makes for itself.
LOCAL = frozenset({"row_id", "words", "near", "claim"})


@dataclass(frozen=True)
class Copied:
    """Rows of one table: how many the source has, and how many were new in the target."""

    table: str
    rows: int
    new: int


def copy(
    source: Any, target: Any, actor: str, progress: Callable[[str, int], None] = lambda t, n: None
) -> list[Copied]:
    """Everything of an actor. Conflict when the target holds other things under the same numbers;
    StoreError when a row is not the same on both sides afterwards, or only in the target."""
    counts = {table: [0, 0] for table in ("projects", "project_identities", *TABLES)}
    _projects(source, target, counts)
    mine = _namespaces(source, actor)
    for namespace in mine:
        for table, key in TABLES.items():
            columns = _columns(source, target, table)
            if not columns:
                continue
            for batch in _batches(source, table, columns, key, namespace):
                new = target.engine.write(
                    lambda db, batch=batch, table=table: _put(db, table, batch)
                )
                counts[table][0] += len(batch)
                counts[table][1] += new
                progress(table, counts[table][0])
    target.copied()
    _marks(source, target)
    extra: Counter[str] = Counter()
    for namespace in sorted({*mine, *_namespaces(target, actor)}):
        extra += _compare(source, target, namespace)
    if extra:
        raise StoreError(
            "everything here is in the target, but the target also has what is not here: "
            f"{_told(extra)}; it was forgotten here since an earlier copy, or written there",
            hint="For the same on both sides, copy into an empty store.",
        )
    return [Copied(table, there, new) for table, (there, new) in counts.items()]


def _namespaces(side: Any, actor: str) -> list[str]:
    return [one for one in side.projects.namespaces() if one.split("/")[2] == actor]


def _projects(source: Any, target: Any, counts: dict[str, list[int]]) -> None:
    for table, statement in (
        ("projects", LIST_PROJECTS),
        ("project_identities", COPY_MARKS),
    ):
        names = {
            "projects": ("project_id", "name", "created_at", "last_seen"),
            "project_identities": ("kind", "value", "project_id", "first_seen"),
        }[table]
        batch = [dict(zip(names, row, strict=True)) for row in source.engine.rows(statement, {})]
        new = target.engine.write(
            lambda db, table=table, batch=batch: sum(_insert(db, table, row) for row in batch)
        )
        counts[table] = [len(batch), new]


def _marks(source: Any, target: Any) -> None:
    """What was erased stays erased."""
    found = source.engine.rows(COPY_FORGOTTEN, {})

    def work(db: Any) -> None:
        for (mark,) in found:
            db.run(PUT_FORGOTTEN, {"mark": mark})

    target.engine.write(work)


def _columns(source: Any, target: Any, table: str) -> tuple[str, ...]:
    """The columns that both stores have."""
    sides = [
        [name for (name,) in side.engine.rows(TABLE_COLUMNS, {"table": table})]
        for side in (source, target)
    ]
    return tuple(name for name in sides[0] if name in sides[1] and name not in LOCAL)


def _batches(
    side: Any, table: str, columns: Sequence[str], key: Sequence[str], namespace: str
) -> Iterator[list[dict[str, Any]]]:
    names = [*columns, *(name for name in key if name not in columns)]
    last: dict[str, Any] = {}
    while True:
        statement = copy_out(table, tuple(names), tuple(key), bool(last))
        values = {"namespace": namespace, "limit": BATCH, **last}
        found = [dict(zip(names, row, strict=True)) for row in side.engine.rows(statement, values)]
        if found:
            yield found
        if len(found) < BATCH:
            return
        last = {f"after_{name}": found[-1][name] for name in key}


def _put(db: Any, table: str, batch: Sequence[dict[str, Any]]) -> int:
    new = 0
    for row in batch:
        cells = {name: cell for name, cell in row.items() if name not in LOCAL}
        if table == "sessions":
            _session(db, cells)
            continue
        inserted = _insert(db, table, cells)
        new += inserted
        if table == "events" and inserted:
            # It came in as if it had just happened; whether it waits is told by the next table.
            db.run(NOT_WAITING, cells)
        elif table == "events":
            _same(db, cells)
    return new


def _insert(db: Any, table: str, cells: dict[str, Any]) -> int:
    if table == "archive" and db.run(ARCHIVED_SAME, cells).fetchone():
        return 0
    if table == "embeddings":
        cells = db.vector_row(cells)
    db.run(copy_in(table, tuple(cells)), cells)
    return int(db.changes())


def _session(db: Any, cells: dict[str, Any]) -> None:
    db.run(copy_session(tuple(cells)), cells)


def _same(db: Any, cells: dict[str, Any]) -> None:
    """An event that was not taken must be there already, under its own number."""
    known = db.run(GET_EVENT, cells).fetchone()
    there = dict(zip(layout.EVENT_READ, known, strict=True)) if known else {}
    if there.get("seq") != cells["seq"]:
        raise Conflict(
            f"the target has other events where {cells['event_id']} belongs",
            hint="Copy into a store that is empty, or was begun by the same copy.",
        )


# --- afterwards ----------------------------------------------------------------------------------


def digests(side: Any, other: Any, table: str, namespace: str) -> set[bytes]:
    """A digest of every row, over the columns that both stores have."""
    columns = _columns(side, other, table)
    if not columns:
        return set()
    ordered = tuple(sorted(columns))
    return {
        _digest(row, ordered)
        for batch in _batches(side, table, columns, TABLES[table], namespace)
        for row in batch
    }


def _digest(row: dict[str, Any], columns: Sequence[str]) -> bytes:
    told = hashlib.blake2b(digest_size=16)
    for name in columns:
        cell = row[name]
        # What PostgreSQL cannot hold in a text is compared as what it holds instead.
        if isinstance(cell, str):
            cell = cell.replace("\0", "\u2400").replace("\\u0000", "\\u2400")
        if name != "hash":
            told.update(f"{name}={cell!r};".encode())
    return told.digest()


def _compare(source: Any, target: Any, namespace: str) -> Counter[str]:
    """How many rows only the target has, by table. StoreError when it lacks one of the source."""
    extra: Counter[str] = Counter()
    for table in TABLES:
        here = digests(source, target, table, namespace)
        there = digests(target, source, table, namespace)
        if missing := here - there:
            raise StoreError(
                f"{len(missing)} rows of {table} in {namespace} are not the same in the copy",
                hint="Stop whoever writes to either store, and copy again.",
            )
        extra[table] = len(there - here)
    return +extra


def _told(extra: Counter[str]) -> str:
    return ", ".join(
        f"{count} {WORDS.get(table, (table.removesuffix('s'), table))[count != 1]}"
        for table, count in extra.items()
    )
