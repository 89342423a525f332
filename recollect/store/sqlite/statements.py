"""Statements that only SQLite has: its index of words, and claims that are kept in memory.

In: nothing. Out: statements with `$name` for values.
"""

from recollect.store.sql import rows
from recollect.store.sql.engine import Statement, column_list, for_sqlite


def _own(text: str, across: str = "") -> Statement:
    return Statement(for_sqlite(text), "", across)


# --- events -------------------------------------------------------------------------------------

KNOWN_EVENT = _own(
    "SELECT seq, namespace, digest FROM events WHERE event_id = $event_id",
    across="an event id is unique in the whole store; only id, place and digest are read",
)
WAITING = _own("""
SELECT seq, bytes, failures FROM unextracted
 WHERE namespace = $namespace AND state = 'waiting' ORDER BY seq LIMIT $limit
""")

# --- words --------------------------------------------------------------------------------------

NAMESPACE_ID = _own("SELECT namespace_id FROM namespaces WHERE namespace = $namespace")
TERM_DOCUMENTS = _own("SELECT doc FROM memory_records_vocabulary WHERE term = $term")
# Weights of bm25 by column: ns, title, summary, facts, concepts, files, detail.
SEARCH_WORDS = _own(f"""
SELECT {column_list(rows.RECORD.columns, "r.")},
       -bm25(memory_records_fts, 0.0, 4.0, 2.0, 1.5, 2.0, 1.0, 1.0) AS score
  FROM memory_records_fts JOIN memory_records AS r ON r.row_id = memory_records_fts.rowid
 WHERE memory_records_fts MATCH $match AND r.namespace = $namespace
 ORDER BY score DESC, r.created_at DESC, r.record_id LIMIT $limit
""")


def _search(table: str, key: str, columns: tuple[str, ...], current: str = "") -> Statement:
    return _own(f"""
SELECT {column_list(columns, "t.")}
  FROM {table}_fts JOIN {table} AS t ON t.row_id = {table}_fts.rowid
 WHERE {table}_fts MATCH $match AND t.namespace = $namespace {current}
 ORDER BY bm25({table}_fts, 0.0), t.{key} LIMIT $limit
""")


SEARCH_ENTITIES = _search("entities", "entity_id", rows.ENTITY.columns)
SEARCH_FACTS = _search("facts", "fact_id", rows.FACT.columns, "AND t.valid_until IS NULL")
SEARCH_PROCEDURES = _search("procedures", "procedure_id", rows.PROCEDURE.columns)

# Not FTS5's own 'rebuild': it cannot read views that unfold JSON.
_INDEXED = {
    "memory_records": "title, summary, facts, concepts, files, detail",
    "entities": "name, aliases, description",
    "facts": "subject, predicate, object",
    "procedures": "name, trigger, steps",
}
REBUILD = tuple(
    _own(statement)
    for table, columns in _INDEXED.items()
    for statement in (
        f"INSERT INTO {table}_fts ({table}_fts) VALUES ('delete-all')",
        f"INSERT INTO {table}_fts (rowid, ns, {columns}) "
        f"SELECT row_id, ns, {columns} FROM {table}_text",
    )
)
INDEX_GAPS = tuple(
    (f"SELECT count(*) FROM (SELECT {rows} EXCEPT SELECT {others})", told)
    for table in _INDEXED
    for rows, others, told in (
        (f"row_id FROM {table}", f"id FROM {table}_fts_docsize",
         f"rows of {table} are missing in the full-text index"),
        (f"id FROM {table}_fts_docsize", f"row_id FROM {table}",
         f"entries of the full-text index have no row in {table}"),
    )
)  # fmt: skip
OPTIMIZE = tuple(
    _own(f"INSERT INTO {table}_fts ({table}_fts) VALUES ('optimize')") for table in _INDEXED
)
