"""What the tables hold, for whatever treats them all alike: export, erasure, cleaning, moving.

In: a connection. Out: the tables that have a namespace and are not derived, each with its columns.
A table that a later migration adds is found by itself; it travels and is erased like the others.
"""

from dataclasses import dataclass
from typing import Any

import msgspec

from recollect.core.clock import from_micros, to_micros
from recollect.core.errors import BadInput
from recollect.core.values import Moment, encode
from recollect.store.sql.engine import (
    Connection,
    Statement,
    both,
    cached,
    column_list,
    each,
    insert_into,
)

# Without what each engine makes for itself.
COLUMNS_OF = each(
    sqlite="SELECT name FROM pragma_table_info($table)",
    postgres="""
SELECT attname::text FROM pg_attribute
 WHERE attrelid = to_regclass($table) AND attnum > 0 AND NOT attisdropped
   AND attname NOT IN ('words', 'near', 'claim')
   AND NOT (attname = 'actor' AND $table IN ('projects', 'project_identities'))
 ORDER BY attnum
""",
)
KEY_OF = each(
    sqlite="SELECT name FROM pragma_table_info($table) WHERE pk ORDER BY pk",
    postgres="""
SELECT a.attname::text FROM pg_index AS i, unnest(i.indkey) WITH ORDINALITY AS k (number, place)
  JOIN pg_attribute AS a ON a.attnum = k.number
 WHERE i.indrelid = to_regclass($table) AND i.indisprimary AND a.attrelid = i.indrelid
 ORDER BY k.place
""",
)
HAS_NO_ROWID = each(
    sqlite="SELECT wr FROM pragma_table_list($table) WHERE schema = 'main'",
    postgres="""
SELECT CASE WHEN EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass($table)
                            AND attname = 'row_id') THEN 0 ELSE 1 END
""",
)
TABLES_WITH_NAMESPACE = each(
    sqlite="""
SELECT m.name FROM sqlite_schema AS m JOIN pragma_table_info(m.name) AS c
 WHERE m.type = 'table' AND c.name = 'namespace' ORDER BY m.name
""",
    postgres="""
SELECT c.relname::text FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
 WHERE c.relnamespace = 'recollect'::regnamespace AND c.relkind IN ('r', 'p')
   AND a.attname = 'namespace' AND c.relname NOT IN ('scopes', 'record_events')
 ORDER BY c.relname
""",
)


@cached
def dump_rows(table: str, columns: tuple[str, ...], order: str) -> Statement:
    return both(
        f"SELECT {column_list(columns)} FROM {table} WHERE namespace = $namespace ORDER BY {order}"
    )


@cached
def load_row(table: str, columns: tuple[str, ...]) -> Statement:
    return both(f"{insert_into(table, columns)} ON CONFLICT DO NOTHING RETURNING 1")


@cached
def seq_taken(table: str) -> Statement:
    return both(f"SELECT 1 FROM {table} WHERE seq = $seq")


@cached
def scan_rows(table: str, key: str, columns: tuple[str, ...]) -> Statement:
    return both(f"SELECT {key}, {column_list(columns)} FROM {table} WHERE namespace = $namespace")


@cached
def select_keys(table: str, key: str) -> Statement:
    return both(f"SELECT {key} FROM {table} WHERE namespace = $namespace")


def _listed(key: str) -> str:
    """Rows of these keys, which are numbers in some tables."""
    numbers = key in ("seq", "row_id", "rowid")
    return f"{key} IN {'{numbers[ids]}' if numbers else '{texts[ids]}'}"


@cached
def erase_rows(table: str, key: str) -> Statement:
    return both(f"DELETE FROM {table} WHERE namespace = $namespace AND {_listed(key)}")


@cached
def get_rows(table: str, key: str, columns: tuple[str, ...]) -> Statement:
    names = column_list(columns)
    return both(f"SELECT {names} FROM {table} WHERE namespace = $namespace AND {_listed(key)}")


@cached
def rewrite_row(table: str, key: str, columns: tuple[str, ...]) -> Statement:
    changes = ", ".join(f"{name} = ${name}" for name in columns)
    return both(f"UPDATE {table} SET {changes} WHERE namespace = $namespace AND {key} = $key_")


@cached
def move_row(table: str, key: str) -> Statement:
    return both(
        f"UPDATE {table} SET namespace = $into, hash = $hash "
        f"WHERE namespace = $namespace AND {key} = $key_"
    )


@cached
def move_rows(table: str, key: str) -> Statement:
    return both(
        f"UPDATE {table} SET namespace = $target WHERE namespace = $namespace AND {_listed(key)}"
    )


# The name under which a table's rows travel, and the column that names a row.
_KNOWN = {
    "events": ("event", "event_id"),
    "sessions": ("session", "session_id"),
    "memory_records": ("memory", "record_id"),
    "entities": ("entity", "entity_id"),
    "relationships": ("relationship", "relationship_id"),
    "facts": ("fact", "fact_id"),
    "procedures": ("procedure", "procedure_id"),
    "preferences": ("preference", "preference_id"),
    "checkpoints": ("checkpoint", "checkpoint_id"),
    "receipts": ("receipt", "receipt_id"),
    "operations": ("operation", "op_id"),
    "archive": ("version", "row_id"),
}
# Made from the others: indexes, vectors, what was done in each turn, and the extraction buffer,
# which travels with its event.
_DERIVED = frozenset({"namespaces", "embeddings", "unextracted", "turn_work", "record_counts"})
_JSON = {
    "events": frozenset({"body", "source"}),
    "memory_records": frozenset({"facts", "concepts", "files", "citations", "source_event_ids"}),
    "entities": frozenset({"aliases"}),
    "relationships": frozenset({"source_event_ids"}),
    "facts": frozenset({"source_event_ids"}),
    "procedures": frozenset({"steps", "source_event_ids"}),
    "preferences": frozenset({"source_event_ids"}),
    "checkpoints": frozenset({"next_steps", "questions", "files", "snapshot"}),
    "receipts": frozenset({"injected", "detail"}),
    "operations": frozenset({"targets", "created", "detail"}),
    "archive": frozenset({"payload"}),
}
_TIMES = frozenset(
    [
        "valid_time",
        "transaction_time",
        "created_at",
        "updated_at",
        "valid_from",
        "valid_until",
        "expires_at",
        "since",
        "until",
        "last_accessed",
        "at",
        "started_at",
        "ended_at",
        "last_event_at",
        "last_used",
        "first_seen",
        "last_seen",
    ]
)
# Numbers that only this file knows rows by, and what is computed from the rest.
_LOCAL = frozenset({"row_id", "hash"})


@dataclass(frozen=True)
class Table:
    name: str
    kind: str
    key: str
    columns: tuple[str, ...]
    json: frozenset[str]
    order: str = ""

    @property
    def travelling(self) -> tuple[str, ...]:
        return tuple(name for name in self.columns if name not in _LOCAL)

    @property
    def has_sources(self) -> bool:
        return "source_event_ids" in self.columns

    def plain(self, columns: tuple[str, ...], cells: tuple[Any, ...]) -> dict[str, Any]:
        """A row as plain data: times as text, JSON unfolded."""
        return {name: self._plain(name, cell) for name, cell in zip(columns, cells, strict=True)}

    def _plain(self, name: str, cell: Any) -> Any:
        if cell is None:
            return None
        if name in self.json:
            return msgspec.json.decode(cell)
        if name in _TIMES and isinstance(cell, int):
            return from_micros(cell).isoformat()
        return cell

    def cells(self, row: dict[str, Any]) -> dict[str, Any]:
        """The columns of a row that came as plain data. BadInput names one that cannot be."""
        found: dict[str, Any] = {}
        for name, value in row.items():
            if name not in self.columns or name in _LOCAL:
                continue
            found[name] = self._cell(name, value)
        return found

    def _cell(self, name: str, value: Any) -> Any:
        if name in self.json:
            return encode(value).decode()
        if name in _TIMES and isinstance(value, str):
            try:
                moment = msgspec.convert(value, type=Moment)
            except msgspec.ValidationError as error:
                raise BadInput(
                    f"{self.kind}.{name} is not a time: {value!r}", field=name
                ) from error
            return to_micros(moment)
        if isinstance(value, (dict, list)):
            raise BadInput(f"{self.kind}.{name} is not a plain value", field=name)
        return value


def columns_of(db: Connection, table: str) -> tuple[str, ...]:
    return tuple(name for (name,) in db.run(COLUMNS_OF, {"table": table}))


def tables(db: Connection) -> dict[str, Table]:
    """All tables whose rows are the truth, by name, parents before children."""
    there = [name for (name,) in db.run(TABLES_WITH_NAMESPACE)]
    order = [*(name for name in _KNOWN if name in there)]
    order += [name for name in there if name not in _KNOWN and name not in _DERIVED]
    return {name: _table(db, name) for name in order}


def _table(db: Connection, name: str) -> Table:
    order = db.row_number
    if db.run(HAS_NO_ROWID, {"table": name}).get:
        names = [column for (column,) in db.run(KEY_OF, {"table": name})]
        order = names[0] if len(names) == 1 else db.one_text(names)
    kind, key = _KNOWN.get(name, (name, order))
    columns = columns_of(db, name)
    return Table(name, kind, key, columns, _JSON.get(name, frozenset()), order)
