"""Every SQL statement that both engines have, by name.

In: nothing. Out: statements; values are always bound as `$name`, never spliced in. Each on a
namespaced table binds `$namespace`; the few that may look across namespaces are listed in
WHOLE_STORE with the reason, and a test holds everything else to the rule. What only one engine has
stands in its own `statements.py`.
"""

from functools import lru_cache

from recollect.core import kinds
from recollect.store.sql import rows
from recollect.store.sql.statement import Statement, both, each, filtered


def _insert(table: str, columns: tuple[str, ...]) -> str:
    names = ", ".join(columns)
    return f"INSERT INTO {table} ({names}) VALUES ({', '.join('$' + name for name in columns)})"


def _replace(table: str, key: str, columns: tuple[str, ...]) -> Statement:
    """Insert, or overwrite the row of the same id, but only within its own namespace."""
    kept = {key, "namespace", "created_at"}
    changes = ", ".join(f"{name} = excluded.{name}" for name in columns if name not in kept)
    return both(
        f"{_insert(table, columns)} ON CONFLICT ({{key[{key}]}}) DO UPDATE SET {changes} "
        f"WHERE {table}.namespace = $namespace"
    )


def _columns(names: tuple[str, ...], prefix: str = "") -> str:
    return ", ".join(prefix + name for name in names)


_EVENT = _columns(rows.EVENT_READ)
_RECORD = _columns(rows.RECORD.columns)
_RECORD_R = _columns(rows.RECORD.columns, "r.")

# --- events -------------------------------------------------------------------------------------

_EVENT_PUT = (*rows.EVENT_COLUMNS, "surface", "project_path", "hash")
# SQLite has one writer, and gives the number of a new event or nothing. On the server a function
# looks, numbers a prompt under the session's lock and inserts: one message instead of five. It also
# gives what is there already.
PUT_EVENT = each(
    sqlite=f"""
INSERT INTO events ({_columns(_EVENT_PUT)}, prompt_number)
VALUES ({_columns(_EVENT_PUT, "$")},
        CASE $kind WHEN 'prompt' THEN
            (SELECT coalesce(max(prompt_number), 0) + 1 FROM events
              WHERE namespace = $namespace AND session_id = $session_id
                AND prompt_number IS NOT NULL)
        END)
ON CONFLICT (event_id) DO NOTHING RETURNING seq
""",
    postgres=f"""
SELECT fresh, seq, namespace, digest
  FROM put_event({", ".join(f"new_{name} => ${name}" for name in _EVENT_PUT)})
""",
)
GET_EVENT = both(f"""
SELECT {_EVENT} FROM events WHERE namespace = $namespace AND event_id = $event_id
""")
LIST_EVENTS = filtered(
    f"SELECT {_EVENT} FROM events WHERE namespace = $namespace AND seq < $before",
    {"kind": "kind = $kind"},
    "ORDER BY seq DESC LIMIT $limit",
)
# The order of a session (docs/decisions/order.md) is boot, tick, number; `events_by_session` has
# it. Boots follow each other by the wall time of their earliest event: they are few, and found by
# leaping from one to the next.
_BOOT = "CASE WHEN boot_id IS NULL THEN '' ELSE boot_id END"
_TICK = "CASE WHEN mono_ns IS NULL THEN seq ELSE mono_ns END"
_SESSION = "namespace = $namespace AND session_id = $session_id"
PLACES = both(f"""
SELECT {_BOOT}, {_TICK}, seq FROM events
 WHERE {{by_key}}namespace = $namespace AND {{by_key}}session_id = $session_id
   AND seq IN {{numbers[seqs]}}
""")
_EARLIEST = f"(SELECT {{0}} FROM events WHERE {_SESSION} AND {_BOOT} = b.boot {{1}} LIMIT 1)".format
_BY_CLOCK = f"ORDER BY {_TICK}, seq"
SESSION_BOOTS = both(f"""
WITH RECURSIVE boots (boot) AS (
    SELECT boot FROM (SELECT {_BOOT} AS boot FROM events
                       WHERE {_SESSION} ORDER BY {_BOOT} LIMIT 1) AS first
    UNION ALL
    SELECT (SELECT {_BOOT} FROM events
             WHERE {_SESSION} AND {_BOOT} > b.boot ORDER BY {_BOOT} LIMIT 1)
      FROM boots AS b WHERE b.boot IS NOT NULL)
SELECT b.boot FROM boots AS b WHERE b.boot IS NOT NULL
 ORDER BY {_EARLIEST("valid_time", _BY_CLOCK)}, {_EARLIEST("seq", _BY_CLOCK)}
""")
# The bounds of the tick alone are for the planner, which uses no index for pairs.
_BETWEEN = f"""
  FROM events
 WHERE {_SESSION} AND {_BOOT} = $boot
   AND {_TICK} >= $after_tick AND {_TICK} <= $before_tick
   AND ({_TICK}, seq) > ($after_tick, $after_seq) AND ({_TICK}, seq) < ($before_tick, $before_seq)
"""
LATER_IN_BOOT = filtered(
    f"SELECT {_EVENT} {_BETWEEN}",
    {"kind": "kind = $kind"},
    f"{_BY_CLOCK} {{limit[limit]}}",
)
EARLIER_IN_BOOT = filtered(
    f"SELECT {_EVENT} {_BETWEEN}",
    {"kind": "kind = $kind"},
    f"ORDER BY {_TICK} DESC, seq DESC {{limit[limit]}}",
)
LOWEST_IN_BOOT = both(f"SELECT min({{by_key}}seq) {_BETWEEN}")
EVENTS_BY_SEQ = both(f"""
SELECT {_EVENT} FROM events
 WHERE {{by_key}}namespace = $namespace AND seq IN {{numbers[seqs]}} ORDER BY seq
""")
# On the server only what is still claimed by this daemon ($mine) is finished, counted or released.
FINISH = each(
    sqlite="""
DELETE FROM unextracted
 WHERE +namespace = $namespace AND seq IN (SELECT value FROM json_each($seqs))
""",
    postgres="""
DELETE FROM unextracted
 WHERE namespace = $namespace AND seq = ANY($seqs) AND claim LIKE $mine
""",
)
BEGIN_RUN = each(
    sqlite="""
UPDATE unextracted
   SET failures = failures + 1, reason = $reason,
       state = CASE WHEN failures + 1 >= $quarantine_after THEN 'quarantined' ELSE state END
 WHERE +namespace = $namespace AND seq IN (SELECT value FROM json_each($seqs))
""",
    postgres="""
UPDATE unextracted
   SET failures = failures + 1, reason = $reason,
       state = CASE WHEN failures + 1 >= $quarantine_after THEN 'quarantined' ELSE state END
 WHERE namespace = $namespace AND seq = ANY($seqs) AND claim LIKE $mine
""",
)
TAKE_BACK_RUN = each(
    sqlite="""
UPDATE unextracted
   SET failures = max(failures - 1, 0), state = 'waiting',
       reason = CASE WHEN failures > 1 THEN reason END
 WHERE +namespace = $namespace AND seq IN (SELECT value FROM json_each($seqs))
""",
    postgres="""
UPDATE unextracted
   SET failures = greatest(failures - 1, 0), state = 'waiting', claim = NULL,
       reason = CASE WHEN failures > 1 THEN reason END
 WHERE namespace = $namespace AND seq = ANY($seqs) AND claim LIKE $mine
""",
)
FAIL = each(
    sqlite="""
UPDATE unextracted SET reason = $reason
 WHERE +namespace = $namespace AND seq IN (SELECT value FROM json_each($seqs))
RETURNING state
""",
    postgres="""
UPDATE unextracted SET reason = $reason, claim = NULL
 WHERE namespace = $namespace AND seq = ANY($seqs) AND claim LIKE $mine
RETURNING state
""",
)
RETRY = both("""
UPDATE unextracted SET state = 'waiting', failures = 0, reason = NULL
 WHERE namespace = $namespace AND state = 'quarantined'
""")
BACKLOG = both("""
SELECT u.namespace, count(*) FILTER (WHERE u.state = 'waiting'),
       coalesce(sum(u.bytes) FILTER (WHERE u.state = 'waiting'), 0),
       count(*) FILTER (WHERE u.state = 'quarantined'),
       max(e.transaction_time) FILTER (WHERE u.state = 'waiting')
  FROM unextracted AS u JOIN events AS e USING ({key[seq]})
 GROUP BY u.namespace ORDER BY u.namespace
""")
SET_ASIDE = both("""
SELECT e.event_id, e.session_id, e.kind, e.transaction_time, u.failures, coalesce(u.reason, '')
  FROM unextracted AS u JOIN events AS e USING ({key[seq]})
 WHERE u.namespace = $namespace AND u.state = 'quarantined' ORDER BY u.seq LIMIT $limit
""")

# --- memories -----------------------------------------------------------------------------------

PUT_RECORD = both(_insert("memory_records", (*rows.RECORD.columns, "since", "op_id", "hash")))
GET_RECORDS = both(f"""
SELECT {_RECORD} FROM memory_records
 WHERE {{by_key}}namespace = $namespace AND record_id IN {{texts[record_ids]}}
""")
RECORD_STATE = both("""
SELECT record_id, since, op_id FROM memory_records
 WHERE {by_key}namespace = $namespace AND record_id IN {texts[record_ids]}
""")


def _narrowed(hint: str = "") -> dict[str, str]:
    """The conditions of a RecordFilter, with a hint for the planner before some columns."""
    return {
        "kind": f"{hint}kind = $kind",
        "observation_type": "observation_type = $observation_type",
        "since": f"{hint}created_at >= $since",
        "until": f"{hint}created_at < $until",
        "concept": "EXISTS (SELECT 1 FROM {unfold}(r.concepts) WHERE value = $concept)",
        "file": "EXISTS (SELECT 1 FROM {unfold}(r.files) WHERE value = $file)",
    }


LIST_RECORDS = filtered(
    f"""
SELECT {_RECORD} FROM memory_records AS r
 WHERE namespace = $namespace AND (created_at, record_id) < ($before_number, $before_id)
""",
    {**_narrowed(), "as_of": "r.since <= $as_of"},
    "ORDER BY created_at DESC, record_id DESC LIMIT $limit",
)
# A session has few memories: they are looked up by it and sorted.
LIST_SESSION_RECORDS = filtered(
    f"""
SELECT {_RECORD} FROM memory_records AS r
 WHERE session_id = $session_id AND namespace = $namespace
   AND ({{by_key}}created_at, record_id) < ($before_number, $before_id)
""",
    {**_narrowed("{by_key}"), "as_of": "r.since <= $as_of"},
    "ORDER BY {by_key}created_at DESC, record_id DESC LIMIT $limit",
)
LAST_EPISODES = both(f"""
SELECT {_RECORD} FROM memory_records
 WHERE namespace = $namespace AND session_id = $session_id AND {{by_key}}kind = '{kinds.TURN.name}'
 ORDER BY position DESC, valid_from DESC, record_id DESC LIMIT $limit
""")
RECORDS_OF_EVENTS = both("""
SELECT e.event_id, r.record_id
  FROM record_events AS e JOIN memory_records AS r USING ({key[row_id]})
 WHERE r.namespace = $namespace AND e.event_id IN {texts[event_ids]}
 ORDER BY e.event_id, r.record_id
""")
NEWER_RECORDS = filtered(
    f"""
SELECT {_RECORD} FROM memory_records AS r
 WHERE namespace = $namespace AND (created_at, record_id) > ($after_number, $after_id)
""",
    {**_narrowed(), "session_id": "session_id = $session_id"},
    "ORDER BY created_at, record_id LIMIT $limit",
)
RECORD_BY_HASH = both(f"""
SELECT {_RECORD} FROM memory_records
 WHERE namespace = $namespace AND content_hash = $content_hash
 ORDER BY {{by_key}}created_at DESC, record_id DESC LIMIT 1
""")
DELETE_RECORD = both("""
DELETE FROM memory_records WHERE namespace = $namespace AND record_id = $record_id
""")
TOUCH_RECORDS = both("""
UPDATE memory_records SET access_count = access_count + 1, last_accessed = $at
 WHERE {by_key}namespace = $namespace AND record_id IN {texts[record_ids]}
""")
SEARCH_LITERAL = both(rf"""
SELECT {_RECORD} FROM memory_records
 WHERE namespace = $namespace
   AND (title {{like}} $pattern ESCAPE '\' OR summary {{like}} $pattern ESCAPE '\'
        OR detail {{like}} $pattern ESCAPE '\'
        OR EXISTS (SELECT 1 FROM {{unfold}}(facts) WHERE value {{like}} $pattern ESCAPE '\')
        OR EXISTS (SELECT 1 FROM {{unfold}}(concepts) WHERE value {{like}} $pattern ESCAPE '\')
        OR EXISTS (SELECT 1 FROM {{unfold}}(files) WHERE value {{like}} $pattern ESCAPE '\'))
 ORDER BY created_at DESC, record_id LIMIT $limit
""")

# --- vectors ------------------------------------------------------------------------------------


def _put_vector(table: str, key: str) -> Statement:
    """Of something that exists. The server keeps it twice: as it came, and for its own index."""
    owner = f"SELECT 1 FROM {table} WHERE namespace = $namespace AND {key} = $source_id"
    return each(
        sqlite=f"""
INSERT INTO embeddings (namespace, source_kind, source_id, part, model, dim, vector)
SELECT $namespace, $source_kind, $source_id, $part, $model, $dim, $vector
 WHERE EXISTS ({owner})
ON CONFLICT (namespace, source_kind, source_id, part) DO UPDATE
   SET model = excluded.model, dim = excluded.dim, vector = excluded.vector
""",
        postgres=f"""
INSERT INTO embeddings (namespace, source_kind, source_id, part, model, dim, vector, near)
SELECT $namespace, $source_kind, $source_id, $part, $model, $dim, $vector, $near
 WHERE EXISTS ({owner})
ON CONFLICT (namespace, source_kind, source_id, part) DO UPDATE
   SET model = excluded.model, dim = excluded.dim, vector = excluded.vector, near = excluded.near
""",
    )


PUT_VECTOR = {
    "record": _put_vector("memory_records", "record_id"),
    "entity": _put_vector("entities", "entity_id"),
    "fact": _put_vector("facts", "fact_id"),
    "procedure": _put_vector("procedures", "procedure_id"),
}
SCAN_VECTORS = both(f"""
SELECT {_columns(rows.VECTOR.columns)} FROM embeddings
 WHERE namespace = $namespace AND model = $model ORDER BY source_kind, source_id, part
""")
KNOWLEDGE_VECTORS = both(f"""
SELECT e.source_id, e.vector FROM embeddings AS e
  JOIN memory_records AS r ON r.record_id = e.source_id AND r.namespace = e.namespace
 WHERE e.namespace = $namespace AND e.model = $model AND e.source_kind = 'record' AND e.part = 0
   AND r.kind <> '{kinds.TURN.name}' ORDER BY e.source_id
""")
VECTORS_OF = both(f"""
SELECT {_columns(rows.VECTOR.columns)} FROM embeddings
 WHERE namespace = $namespace AND source_kind = $source_kind AND source_id = $source_id
 ORDER BY part
""")
VECTORS_OF_RECORDS = both(f"""
SELECT {_columns(rows.VECTOR.columns)} FROM embeddings
 WHERE namespace = $namespace AND model = $model AND source_kind = 'record'
   AND source_id IN {{texts[record_ids]}}
 ORDER BY source_id, part
""")
MISSING_VECTORS = both(f"""
SELECT {_RECORD_R} FROM memory_records AS r
 WHERE r.namespace = $namespace AND NOT EXISTS (
       SELECT 1 FROM embeddings AS e
        WHERE e.namespace = $namespace AND e.model = $model
          AND e.source_kind = 'record' AND e.source_id = r.record_id)
 ORDER BY r.created_at, r.record_id LIMIT $limit
""")
DELETE_VECTORS = both("""
DELETE FROM embeddings
 WHERE namespace = $namespace AND source_kind = $source_kind AND source_id = $source_id
""")

# --- graph --------------------------------------------------------------------------------------

PUT_ENTITY = _replace("entities", "entity_id", rows.ENTITY.columns)
PUT_RELATIONSHIP = _replace("relationships", "relationship_id", rows.RELATIONSHIP.columns)
PUT_FACT = _replace("facts", "fact_id", rows.FACT.columns)
PUT_PROCEDURE = _replace("procedures", "procedure_id", rows.PROCEDURE.columns)
PUT_PREFERENCE = _replace("preferences", "preference_id", rows.PREFERENCE.columns)

GET_ENTITY = both(f"""
SELECT {_columns(rows.ENTITY.columns)} FROM entities
 WHERE namespace = $namespace AND entity_id = $entity_id
""")
LIST_ENTITIES = both(f"""
SELECT {_columns(rows.ENTITY.columns)} FROM entities
 WHERE namespace = $namespace ORDER BY name, entity_id
""")
LIST_RELATIONSHIPS = both(f"""
SELECT {_columns(rows.RELATIONSHIP.columns)} FROM relationships
 WHERE namespace = $namespace ORDER BY confidence DESC, relationship_id
""")
RELATIONSHIPS_OF = both(f"""
SELECT {_columns(rows.RELATIONSHIP.columns)} FROM relationships
 WHERE namespace = $namespace AND source_id = $entity_id
UNION
SELECT {_columns(rows.RELATIONSHIP.columns)} FROM relationships
 WHERE namespace = $namespace AND target_id = $entity_id
 ORDER BY confidence DESC, relationship_id
""")
_OF_ENTITY: dict[str, str] = {"entity_id": "entity_id = $entity_id"}
CURRENT_FACTS = filtered(
    f"""
SELECT {_columns(rows.FACT.columns)} FROM facts
 WHERE namespace = $namespace AND valid_until IS NULL
""",
    _OF_ENTITY,
    "ORDER BY confidence DESC, fact_id",
)
FACTS_AS_OF = filtered(
    f"""
SELECT {_columns(rows.FACT.columns)} FROM facts
 WHERE namespace = $namespace
   AND valid_from <= $as_of AND (valid_until IS NULL OR valid_until > $as_of)
""",
    _OF_ENTITY,
    "ORDER BY confidence DESC, fact_id",
)
FACT_HISTORY = both(f"""
SELECT {_columns(rows.FACT.columns)} FROM facts
 WHERE namespace = $namespace AND entity_id IN {{texts[entity_ids]}}
 ORDER BY valid_from, fact_id
""")
LIST_PROCEDURES = both(f"""
SELECT {_columns(rows.PROCEDURE.columns)} FROM procedures
 WHERE namespace = $namespace ORDER BY confidence DESC, procedure_id
""")
LIST_PREFERENCES = both(f"""
SELECT {_columns(rows.PREFERENCE.columns)} FROM preferences
 WHERE namespace = $namespace ORDER BY category, key, preference_id
""")

GRAPH_SIZE = both("""
SELECT (SELECT count(*) FROM (SELECT 1 FROM entities WHERE namespace = $namespace LIMIT $most) AS e)
     + (SELECT count(*) FROM (SELECT 1 FROM facts WHERE namespace = $namespace LIMIT $most) AS f)
""")

GRAPH_TABLES = (
    ("entities", "entity_id"),
    ("relationships", "relationship_id"),
    ("facts", "fact_id"),
    ("procedures", "procedure_id"),
    ("preferences", "preference_id"),
)
DELETE_GRAPH = {
    table: both(f"DELETE FROM {table} WHERE namespace = $namespace AND {key} = $id")
    for table, key in GRAPH_TABLES
}
_GRAPH_COLUMNS = (
    rows.ENTITY.columns,
    rows.RELATIONSHIP.columns,
    rows.FACT.columns,
    rows.PROCEDURE.columns,
    rows.PREFERENCE.columns,
)


def _graph_rows(table: str, key: str, columns: tuple[str, ...]) -> Statement:
    return both(f"""
SELECT op_id, {_columns(columns)} FROM {table}
 WHERE {{by_key}}namespace = $namespace AND {key} IN {{texts[ids]}}
""")


GRAPH_ROWS = {
    table: _graph_rows(table, key, columns)
    for (table, key), columns in zip(GRAPH_TABLES, _GRAPH_COLUMNS, strict=True)
}
GRAPH_MADE_BY = {
    table: both(f"UPDATE {table} SET op_id = $op_id WHERE namespace = $namespace AND {key} = $id")
    for table, key in GRAPH_TABLES
}
# A thing as it was: a version that an operation made is what stood from then until another
# operation displaced it. What is only surer since, or met more often, has no version of its own.
THINGS_SINCE = {
    table: both(f"""
SELECT {_columns(columns, "t.")} FROM {table} AS t
  LEFT JOIN operations AS o ON o.op_id = t.op_id AND o.namespace = t.namespace
 WHERE t.namespace = $namespace AND t.created_at <= $as_of AND (o.at IS NULL OR o.at <= $as_of)
""")
    for (table, _), columns in zip(GRAPH_TABLES, _GRAPH_COLUMNS, strict=True)
}
THINGS_THEN = both("""
SELECT a.payload FROM archive AS a
  LEFT JOIN operations AS o ON o.op_id = a.made_by AND o.namespace = a.namespace
 WHERE a.namespace = $namespace AND a.source_kind = $kind AND a.until > $as_of
   AND (o.at IS NULL OR o.at <= $as_of)
""")
LIST_WAITING = filtered(
    "SELECT key, name, turns, claims, at FROM waiting_claims WHERE namespace = $namespace",
    {"keys": "key IN {texts[keys]}"},
    "ORDER BY key",
)
PUT_WAITING = both("""
INSERT INTO waiting_claims (namespace, key, name, turns, claims, at)
VALUES ($namespace, $key, $name, $turns, $claims, $at)
ON CONFLICT (namespace, key) DO UPDATE SET
    name = excluded.name, turns = excluded.turns, claims = excluded.claims, at = excluded.at
""")
DELETE_WAITING = both("""
DELETE FROM waiting_claims
 WHERE namespace = $namespace AND key IN {texts[keys]}
""")
TRIM_WAITING = both("""
DELETE FROM waiting_claims WHERE namespace = $namespace AND key IN (
    SELECT key FROM waiting_claims WHERE namespace = $namespace
     ORDER BY at DESC, key LIMIT {unlimited} OFFSET $most)
""")

# --- what was done in each turn -----------------------------------------------------------------

PUT_TURN_WORK = _replace("turn_work", "turn_id", rows.TURN_WORK.columns)
LIST_TURN_WORK = filtered(
    f"SELECT {_columns(rows.TURN_WORK.columns)} FROM turn_work WHERE namespace = $namespace",
    {"session_id": "session_id = $session_id"},
    "ORDER BY at, turn_id",
)
MISSING_TURN_WORK = both("""
SELECT session_id FROM events WHERE namespace = $namespace
EXCEPT
SELECT session_id FROM turn_work WHERE namespace = $namespace
""")
CLEAR_TURN_WORK = both("DELETE FROM turn_work WHERE namespace = $namespace")
# Events came to sessions of which the work was known: it is derived again, with theirs.
UNDERIVE_TURN_WORK = both("""
DELETE FROM turn_work
 WHERE namespace = $namespace AND session_id IN (
       SELECT session_id FROM events WHERE namespace = $namespace AND event_id IN {texts[ids]})
""")

# --- sessions, checkpoints, receipts ------------------------------------------------------------

GET_SESSION = both(f"""
SELECT {_columns(rows.SESSION.columns)} FROM sessions
 WHERE namespace = $namespace AND session_id = $session_id
""")
LIST_SESSIONS = both(f"""
SELECT {_columns(rows.SESSION.columns)} FROM sessions
 WHERE namespace = $namespace AND (started_at, session_id) < ($before_number, $before_id)
 ORDER BY started_at DESC, session_id DESC LIMIT $limit
""")
END_SESSION = both("""
UPDATE sessions SET status = $status, ended_at = $at
 WHERE namespace = $namespace AND session_id = $session_id
""")
LAST_HEARD = each(
    sqlite="""
SELECT surface, max(last_event_at) FROM sessions
 WHERE session_id NOT GLOB 'prove-*' GROUP BY surface ORDER BY surface
""",
    postgres="""
SELECT surface, max(last_event_at) FROM sessions
 WHERE session_id NOT LIKE 'prove-%' GROUP BY surface ORDER BY surface
""",
)
PUT_CHECKPOINT = both(_insert("checkpoints", rows.CHECKPOINT.columns))
LAST_CHECKPOINT = filtered(
    f"""
SELECT {_columns(rows.CHECKPOINT.columns)} FROM checkpoints
 WHERE namespace = $namespace
""",
    {"session_id": "session_id = $session_id"},
    "ORDER BY created_at DESC, checkpoint_id DESC LIMIT 1",
)
PUT_RECEIPT = both(_insert("receipts", rows.RECEIPT.columns))
GET_RECEIPT = both(f"""
SELECT {_columns(rows.RECEIPT.columns)} FROM receipts
 WHERE namespace = $namespace AND receipt_id = $receipt_id
""")
LIST_RECEIPTS = filtered(
    f"""
SELECT {_columns(rows.RECEIPT.columns)} FROM receipts
 WHERE namespace = $namespace AND (created_at, receipt_id) < ($before_number, $before_id)
""",
    {"session_id": "session_id = $session_id"},
    "ORDER BY created_at DESC, receipt_id DESC LIMIT $limit",
)

# --- runs of extraction -------------------------------------------------------------------------

PUT_RUN = both(_insert("extraction_runs", rows.RUN.columns))
LIST_RUNS = both(f"""
SELECT {_columns(rows.RUN.columns)} FROM extraction_runs
 WHERE namespace = $namespace AND (started_at, run_id) < ($before_number, $before_id)
 ORDER BY started_at DESC, run_id DESC LIMIT $limit
""")
FORGET_RUNS = both("""
DELETE FROM extraction_runs WHERE namespace = $namespace AND row_id IN (
       SELECT row_id FROM extraction_runs WHERE namespace = $namespace
        ORDER BY started_at DESC, run_id DESC LIMIT {unlimited} OFFSET $kept)
""")
LATEST_RUNS = both(f"""
SELECT {_columns(rows.RUN.columns, "r.")} FROM extraction_runs AS r
 WHERE r.row_id = (SELECT row_id FROM extraction_runs AS l WHERE l.namespace = r.namespace
                    ORDER BY started_at DESC, run_id DESC LIMIT 1)
 ORDER BY r.namespace
""")

# --- decisions ----------------------------------------------------------------------------------

PUT_OPERATION = both(_insert("operations", rows.OPERATION.columns))
GET_OPERATION = both(f"""
SELECT {_columns(rows.OPERATION.columns)} FROM operations
 WHERE namespace = $namespace AND op_id = $op_id
""")
LIST_OPERATIONS = both(f"""
SELECT seq, {_columns(rows.OPERATION.columns)} FROM operations
 WHERE namespace = $namespace AND seq < $before ORDER BY seq DESC LIMIT $limit
""")
LIST_DETAILS = both("""
SELECT detail FROM operations WHERE namespace = $namespace AND kind = $kind ORDER BY seq
""")
UNDONE_BY = both("SELECT op_id FROM operations WHERE namespace = $namespace AND undoes = $op_id")
ARCHIVE = both("""
INSERT INTO archive (op_id, namespace, source_kind, source_id, since, until, made_by, payload)
VALUES ($op_id, $namespace, $source_kind, $source_id, $since, $until, $made_by, $payload)
""")
ARCHIVED_BY = both("""
SELECT source_kind, payload FROM archive
 WHERE namespace = $namespace AND op_id = $op_id ORDER BY row_id
""")
VERSIONS = both("""
SELECT payload FROM archive
 WHERE namespace = $namespace AND source_kind = 'record' AND source_id = $source_id
 ORDER BY until DESC, row_id DESC
""")
ARCHIVED_AT = both("""
SELECT payload FROM archive
 WHERE namespace = $namespace AND source_kind = 'record'
   AND until > $as_of AND since <= $as_of
""")
PURGE_ARCHIVE = both("""
DELETE FROM archive
 WHERE row_id IN (SELECT row_id FROM archive WHERE until < $before
                   ORDER BY until {limit[limit]})
""")
COUNT_ARCHIVE = both("SELECT count(*) FROM archive WHERE until < $before")

# --- aging --------------------------------------------------------------------------------------

# What a person brought back stays until a person takes it away again.
_BROUGHT_BACK = """
       EXISTS (SELECT 1 FROM operations AS o
                WHERE o.op_id = r.op_id AND o.namespace = $namespace AND o.kind = 'undo')
"""


# A checkpoint holds what it shows while it may be gone on with: those of the last thirty days in
# which there were any (in microseconds).
_HELD = """
       SELECT value FROM checkpoints AS k, {unfold}(k.snapshot)
        WHERE k.namespace = $namespace AND k.created_at >= (
              SELECT max(created_at) - 2592000000000 FROM checkpoints
               WHERE namespace = $namespace)
"""


AGED_EPISODES = both(f"""
SELECT r.record_id, r.session_id, r.position, r.created_at, length(r.detail)
  FROM memory_records AS r
 WHERE r.namespace = $namespace AND r.kind = '{kinds.TURN.name}' AND r.level = $level
   AND r.created_at <= $before
   AND NOT EXISTS (SELECT 1 FROM compacted AS c
                    WHERE c.namespace = $namespace AND c.source_id = r.record_id)
   AND NOT {_BROUGHT_BACK}
   AND (r.level = 'raw' OR r.pinned = 0 AND r.record_id NOT IN ({_HELD}))
 ORDER BY r.session_id, r.position, r.valid_from, r.record_id
""")
# Those that might go, each by an index: a pass does not look at all that is kept.
_MADE = tuple(one for one in kinds.KINDS.values() if not one.is_turn)
_OLD = f"""
       SELECT row_id FROM memory_records WHERE namespace = $namespace AND expires_at <= $now
       UNION ALL SELECT row_id FROM memory_records
        WHERE namespace = $namespace AND kind = '{kinds.TURN.name}' AND level = 'raw'
       UNION ALL SELECT row_id FROM memory_records
        WHERE namespace = $namespace AND kind = '{kinds.TURN.name}' AND level = 'distilled'
          AND created_at <= $short_turns
""" + "".join(
    f"""       UNION ALL SELECT row_id FROM memory_records
        WHERE namespace = $namespace AND kind = '{one.name}' AND created_at <= ${one.name}
"""
    for one in _MADE
)
_PAST_RETENTION = "\n        ".join(
    f"WHEN r.kind = '{one.name}' AND r.created_at <= ${one.name} THEN 'retention of {one.plural}'"
    for one in _MADE
)
# One row a memory, whatever speaks against it. A turn goes when what stands for it has stood for a
# while and still does (itself, or what it went into); retention takes it in any case.
FORGETTABLE = both(f"""
SELECT record_id, reason FROM (
    SELECT r.record_id, r.created_at, CASE
        WHEN r.expires_at <= $now AND NOT (r.kind = '{kinds.TURN.name}' AND r.level = 'compressed'
             AND c.source_id IS NULL AND r.created_at <= $distilled) THEN 'expired'
        WHEN r.kind = '{kinds.TURN.name}' AND r.level = 'raw' AND c.at <= $replaced AND (
             EXISTS (SELECT 1 FROM memory_records AS s
                      WHERE s.record_id = c.into_id AND s.namespace = $namespace)
             OR EXISTS (SELECT 1 FROM compacted AS d JOIN memory_records AS s
                            ON s.record_id = d.into_id AND s.namespace = $namespace
                         WHERE d.namespace = $namespace AND d.source_id = c.into_id))
            THEN 'its summary stands for it'
        WHEN r.kind = '{kinds.TURN.name}' AND r.level = 'raw' AND r.created_at <= ${kinds.TURN.name}
             AND c.at <= $replaced THEN 'retention of {kinds.TURN.plural}'
        WHEN r.kind = '{kinds.TURN.name}' AND r.level = 'distilled' AND r.created_at <= $short_turns
            THEN 'retention of shortened {kinds.TURN.plural}'
        {_PAST_RETENTION}
        END AS reason
      FROM memory_records AS r
      LEFT JOIN compacted AS c ON c.namespace = $namespace AND c.source_id = r.record_id
     WHERE r.row_id IN ({_OLD}) AND {{by_key}}r.namespace = $namespace AND r.pinned = 0
       AND r.importance < $important AND r.strategy <> 'user' AND NOT {_BROUGHT_BACK}
       AND r.record_id NOT IN ({_HELD})) AS due
 WHERE reason IS NOT NULL ORDER BY created_at, record_id {{limit[limit]}}
""")
MARK = both("""
INSERT INTO compacted (namespace, source_id, into_id, at)
VALUES ($namespace, $source_id, $into_id, $at)
ON CONFLICT (namespace, source_id) DO UPDATE SET into_id = excluded.into_id, at = excluded.at
""")
UNMARK = both("DELETE FROM compacted WHERE namespace = $namespace AND source_id = $source_id")
MARKED = both("""
SELECT source_id, into_id FROM compacted
 WHERE namespace = $namespace AND source_id IN {texts[source_ids]}
""")
GONE = both("""
SELECT value FROM {unfold}($record_ids)
 WHERE NOT EXISTS (SELECT 1 FROM memory_records
                    WHERE namespace = $namespace AND record_id = value)
   AND (EXISTS (SELECT 1 FROM compacted WHERE namespace = $namespace AND source_id = value)
        OR EXISTS (SELECT 1 FROM archive WHERE namespace = $namespace AND source_id = value))
""")


def _alike(ids: str) -> str:
    return f"""
SELECT r.observation_type, r.files, {ids}
  FROM (SELECT * FROM memory_records
         WHERE namespace = $namespace AND kind = '{kinds.NOTE.name}'
           AND observation_type IS NOT NULL AND files <> '[]'
           AND pinned = 0 AND importance < $important AND strategy <> 'user'
           AND created_at > $since AND created_at <= $before
           AND (expires_at IS NULL OR expires_at > $before)
         ORDER BY valid_from, record_id) AS r
 WHERE r.record_id NOT IN ({_HELD})
 GROUP BY r.observation_type, r.files HAVING count(*) >= $least
 ORDER BY min(r.valid_from), r.observation_type, r.files
"""


# SQLite gathers rows in the order of the inner query; the server wants to be told.
ALIKE_OBSERVATIONS = each(
    sqlite=_alike("json_group_array(r.record_id)"),
    postgres=_alike("json_agg(r.record_id ORDER BY r.valid_from, r.record_id)::text"),
)
INFERRED_FACTS = both(f"""
SELECT {_columns(rows.FACT.columns)} FROM facts
 WHERE namespace = $namespace AND source_type = 'inferred' AND valid_until IS NULL
   AND updated_at <= $before ORDER BY fact_id LIMIT $limit
""")
INFERRED_RELATIONSHIPS = both(f"""
SELECT {_columns(rows.RELATIONSHIP.columns)} FROM relationships
 WHERE namespace = $namespace AND source_type = 'inferred' AND valid_until IS NULL
   AND updated_at <= $before ORDER BY relationship_id LIMIT $limit
""")
CITING_RECORDS = both(f"""
SELECT {_RECORD} FROM memory_records
 WHERE {{by_key}}namespace = $namespace AND citations <> '[]' AND record_id > $after
 ORDER BY record_id LIMIT $limit
""")
SET_FRESHNESS = both("""
UPDATE memory_records SET freshness = $freshness
 WHERE namespace = $namespace AND record_id = $record_id AND freshness <> $freshness
""")
RECORD_AGES = both("""
SELECT kind, level, created_at, access_count FROM memory_records WHERE namespace = $namespace
""")
PURGE_RECEIPTS = both("""
DELETE FROM receipts
 WHERE namespace = $namespace AND receipt_id IN (
       SELECT receipt_id FROM receipts WHERE namespace = $namespace AND created_at < $before
        ORDER BY created_at {limit[limit]})
""")
COUNT_RECEIPTS = both("""
SELECT count(*) FROM receipts WHERE namespace = $namespace AND created_at < $before
""")

# --- language models ----------------------------------------------------------------------------

_SPENT = ("calls", "failures", "input_tokens", "output_tokens", "cost_micros")

# Adds to the row of its kind; `settle` adds differences, which may be negative.
ADD_USAGE = each(
    sqlite=(
        _insert("llm_usage", rows.USAGE.columns)
        + " ON CONFLICT (day, namespace, provider, model, purpose) DO UPDATE SET "
        + ", ".join(f"{name} = {name} + excluded.{name}" for name in _SPENT)
        + ", unpriced = max(unpriced, excluded.unpriced)"
    ),
    postgres=(
        _insert("llm_usage AS u", rows.USAGE.columns)
        + " ON CONFLICT (namespace, day, provider, model, purpose) DO UPDATE SET "
        + ", ".join(f"{name} = u.{name} + excluded.{name}" for name in _SPENT)
        + ", unpriced = greatest(u.unpriced, excluded.unpriced)"
    ),
)
_ANY_OR_ONE: dict[str, str] = {"namespace": "namespace = $namespace"}
SPENT = filtered(
    f"""
SELECT {", ".join(f"coalesce(sum({name}), 0)" for name in _SPENT)}, coalesce(max(unpriced), 0)
  FROM llm_usage WHERE day = $day
""",
    _ANY_OR_ONE,
)
LIST_USAGE = filtered(
    f"SELECT {_columns(rows.USAGE.columns)} FROM llm_usage WHERE day >= $since",
    _ANY_OR_ONE,
    "ORDER BY day, namespace, provider, model, purpose",
)

# --- projects -----------------------------------------------------------------------------------

FIND_PROJECT = each(
    sqlite="SELECT project_id FROM project_identities WHERE kind = $kind AND value = $value",
    postgres="""
SELECT project_id FROM project_identities
 WHERE actor = acting() AND kind = $kind AND value = $value
""",
)
PUT_PROJECT = both("""
INSERT INTO projects (project_id, name, created_at, last_seen)
VALUES ($project_id, $name, $at, $at)
""")
PUT_IDENTITY = both("""
INSERT INTO project_identities (kind, value, project_id, first_seen)
VALUES ($kind, $value, $project_id, $at) ON CONFLICT DO NOTHING
""")
SEEN_PROJECT = both("UPDATE projects SET last_seen = $at WHERE project_id = $project_id")
RENAME_PROJECT = both("UPDATE projects SET name = $name WHERE project_id = $project_id")
LIST_PROJECTS = each(
    sqlite="SELECT project_id, name, created_at, last_seen FROM projects ORDER BY project_id",
    postgres="""
SELECT project_id, name, created_at, last_seen FROM projects
 WHERE actor = acting() ORDER BY project_id
""",
)
# Commits are marks too, and many: whoever lists projects does not want them.
LIST_IDENTITIES = both("""
SELECT project_id, kind, value FROM project_identities
 WHERE NOT (kind = 'alias' AND value >= 'commit:' AND value < 'commit;') ORDER BY kind, value
""")
LIST_COMMITS = both("""
SELECT value FROM project_identities
 WHERE project_id = $project_id AND kind = 'alias' AND value >= 'commit:' AND value < 'commit;'
 ORDER BY first_seen DESC, value
""")
GIVE_IDENTITY = both("""
UPDATE project_identities SET project_id = $into WHERE kind = $kind AND value = $value
""")
DROP_IDENTITY = both("DELETE FROM project_identities WHERE kind = $kind AND value = $value")
# Only tables with an index of words make their namespace known by themselves, and what a user wants
# in every project may be all that the global one holds.
LIST_NAMESPACES = both("""
SELECT namespace FROM namespaces UNION SELECT namespace FROM preferences ORDER BY namespace
""")

# --- all rows, as rows --------------------------------------------------------------------------

# Functions: `bulk.py`, `selection.py` and `copying.py` give the tables and columns that the schema
# really has. Keys come from `tables.py`, in the engine's own words.

_cached = lru_cache(maxsize=512)


TABLE_COLUMNS = each(
    sqlite="SELECT name FROM pragma_table_info($table) ORDER BY cid",
    postgres="""
SELECT attname::text FROM pg_attribute
 WHERE attrelid = to_regclass($table) AND attnum > 0 AND NOT attisdropped ORDER BY attnum
""",
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


@_cached
def dump_events(columns: tuple[str, ...]) -> Statement:
    return both(f"""
SELECT {_columns(columns, "t.")}, u.failures, u.reason, u.state
  FROM events AS t LEFT JOIN unextracted AS u USING ({{key[seq]}})
 WHERE t.namespace = $namespace ORDER BY t.seq
""")


@_cached
def dump_rows(table: str, columns: tuple[str, ...], order: str) -> Statement:
    return both(
        f"SELECT {_columns(columns)} FROM {table} WHERE namespace = $namespace ORDER BY {order}"
    )


@_cached
def dump_project(columns: tuple[str, ...]) -> Statement:
    return both(f"SELECT {_columns(columns)} FROM projects WHERE project_id = $project_id")


@_cached
def dump_identities(columns: tuple[str, ...]) -> Statement:
    return both(
        f"SELECT {_columns(columns)} FROM project_identities WHERE project_id = $project_id"
    )


@_cached
def load_row(table: str, columns: tuple[str, ...]) -> Statement:
    return both(f"{_insert(table, columns)} ON CONFLICT DO NOTHING RETURNING 1")


@_cached
def seq_taken(table: str) -> Statement:
    return both(f"SELECT 1 FROM {table} WHERE seq = $seq")


@_cached
def load_session(columns: tuple[str, ...]) -> Statement:
    """A session came with its events; what they do not tell is added."""
    put = f"{_insert('sessions', columns)} ON CONFLICT (namespace, session_id) DO UPDATE SET"
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

# --- which rows a selection means ---------------------------------------------------------------


@_cached
def scan(table: str, key: str, columns: tuple[str, ...]) -> Statement:
    return both(f"SELECT {key}, {_columns(columns)} FROM {table} WHERE namespace = $namespace")


@_cached
def keys(table: str, key: str) -> Statement:
    return both(f"SELECT {key} FROM {table} WHERE namespace = $namespace")


@_cached
def keys_of_session(table: str, key: str) -> Statement:
    return both(f"SELECT {key} FROM {table} WHERE namespace = $namespace AND session_id = $session")


OLD_BY = {
    "events": "valid_time < $edge",
    "memory_records": "valid_from < $edge AND pinned = 0",
    "facts": "valid_from < $edge",
    "relationships": "valid_from < $edge",
    "receipts": "created_at < $edge",
    "checkpoints": "created_at < $edge",
    "archive": "until < $edge",
    "operations": "at < $edge",
    "procedures": "updated_at < $edge",
    "preferences": "updated_at < $edge",
}


@_cached
def old_keys(table: str, key: str) -> Statement:
    return both(f"SELECT {key} FROM {table} WHERE namespace = $namespace AND {OLD_BY[table]}")


@_cached
def made_from(table: str, key: str) -> Statement:
    return both(f"""
SELECT t.{key} FROM {table} AS t
 WHERE t.namespace = $namespace AND EXISTS (
       SELECT 1 FROM {{unfold}}(t.source_event_ids) AS e
        WHERE e.value IN {{texts[ids]}})
""")


RECORDS_NAMED = both("""
SELECT record_id FROM memory_records
 WHERE namespace = $namespace AND record_id IN {texts[ids]}
""")
EVENTS_NAMED = both("""
SELECT event_id FROM events WHERE namespace = $namespace AND event_id IN {texts[ids]}
""")
SOURCES_OF = both("""
SELECT DISTINCT e.value FROM memory_records AS r, {unfold}(r.source_event_ids) AS e
 WHERE r.namespace = $namespace AND r.record_id IN {texts[ids]}
""")
EVENTS_UNDER = both("""
SELECT event_id FROM events
 WHERE namespace = $namespace
   AND (project_path = $path OR substr(project_path, 1, length($path) + 1) = $path || '/')
""")
SEQS_OF = both("""
SELECT seq FROM events
 WHERE {by_key}namespace = $namespace AND event_id IN {texts[ids]}
""")
SESSIONS_OF = both("""
SELECT DISTINCT session_id FROM events
 WHERE namespace = $namespace AND event_id IN {texts[ids]}
""")
EMPTIED_SESSIONS = both("""
SELECT s.session_id FROM sessions AS s
 WHERE s.namespace = $namespace AND NOT EXISTS (
       SELECT 1 FROM events AS e
        WHERE e.namespace = $namespace AND e.session_id = s.session_id
          AND e.event_id NOT IN {texts[ids]})
   AND EXISTS (SELECT 1 FROM events AS e
                WHERE e.namespace = $namespace AND e.session_id = s.session_id)
""")
BARE_ENTITIES = both("""
SELECT n.entity_id FROM entities AS n
 WHERE n.namespace = $namespace
   AND (EXISTS (SELECT 1 FROM facts AS f WHERE f.namespace = $namespace
                   AND f.entity_id = n.entity_id
                   AND f.fact_id IN {texts[ids]})
        OR EXISTS (SELECT 1 FROM relationships AS r WHERE r.namespace = $namespace
                      AND n.entity_id IN (r.source_id, r.target_id)
                      AND r.relationship_id IN {texts[ids]}))
   AND NOT EXISTS (SELECT 1 FROM facts AS f WHERE f.namespace = $namespace
                      AND f.entity_id = n.entity_id
                      AND f.fact_id NOT IN {texts[ids]})
   AND NOT EXISTS (SELECT 1 FROM relationships AS r WHERE r.namespace = $namespace
                      AND n.entity_id IN (r.source_id, r.target_id)
                      AND r.relationship_id NOT IN {texts[ids]})
""")
ABOUT_ENTITIES = both("""
SELECT 'fact', fact_id FROM facts
 WHERE namespace = $namespace AND entity_id IN {texts[ids]}
UNION ALL
SELECT 'relationship', relationship_id FROM relationships
 WHERE namespace = $namespace AND (source_id IN {texts[ids]}
                                   OR target_id IN {texts[ids]})
""")
TITLES_OF = both("""
SELECT title FROM memory_records
 WHERE namespace = $namespace AND record_id IN {texts[ids]}
 ORDER BY valid_from DESC, record_id LIMIT $limit
""")

# --- erasing, rewriting, moving -----------------------------------------------------------------


def _listed(key: str) -> str:
    """Rows of these keys, which are numbers in some tables."""
    numbers = key in ("seq", "row_id", "rowid")
    return f"{key} IN {'{numbers[ids]}' if numbers else '{texts[ids]}'}"


@_cached
def erase_rows(table: str, key: str) -> Statement:
    return both(f"DELETE FROM {table} WHERE namespace = $namespace AND {_listed(key)}")


@_cached
def get_rows(table: str, key: str, columns: tuple[str, ...]) -> Statement:
    return both(
        f"SELECT {_columns(columns)} FROM {table} WHERE namespace = $namespace AND {_listed(key)}"
    )


@_cached
def rewrite_row(table: str, key: str, columns: tuple[str, ...]) -> Statement:
    changes = ", ".join(f"{name} = ${name}" for name in columns)
    return both(f"UPDATE {table} SET {changes} WHERE namespace = $namespace AND {key} = $key_")


@_cached
def move_row(table: str, key: str) -> Statement:
    return both(
        f"UPDATE {table} SET namespace = $into, hash = $hash "
        f"WHERE namespace = $namespace AND {key} = $key_"
    )


@_cached
def move_rows(table: str, key: str) -> Statement:
    return both(
        f"UPDATE {table} SET namespace = $target WHERE namespace = $namespace AND {_listed(key)}"
    )


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
ADD_NAMESPACE = both("INSERT INTO namespaces (namespace) VALUES ($target) ON CONFLICT DO NOTHING")
PUT_FORGOTTEN = both("INSERT INTO forgotten (mark) VALUES ($mark) ON CONFLICT DO NOTHING")
ORPHAN_VECTORS = both("""
SELECT row_id FROM embeddings AS e WHERE NOT EXISTS (
    SELECT 1 FROM memory_records AS o
     WHERE e.source_kind = 'record' AND o.namespace = e.namespace AND o.record_id = e.source_id
     UNION ALL SELECT 1 FROM entities AS o
     WHERE e.source_kind = 'entity' AND o.namespace = e.namespace AND o.entity_id = e.source_id
     UNION ALL SELECT 1 FROM facts AS o
     WHERE e.source_kind = 'fact' AND o.namespace = e.namespace AND o.fact_id = e.source_id
     UNION ALL SELECT 1 FROM procedures AS o
     WHERE e.source_kind = 'procedure' AND o.namespace = e.namespace
       AND o.procedure_id = e.source_id)
""")
DROP_VECTORS = both("""
DELETE FROM embeddings WHERE row_id IN {numbers[ids]}
""")
FORGOTTEN = each(
    sqlite="SELECT 1 FROM forgotten WHERE mark = $mark",
    postgres="SELECT 1 FROM forgotten WHERE actor = acting() AND mark = $mark",
)
ANY_FORGOTTEN = each(
    sqlite="SELECT 1 FROM forgotten LIMIT 1",
    postgres="SELECT 1 FROM forgotten WHERE actor = acting() LIMIT 1",
)
ORPHAN_SESSIONS = each(
    sqlite="""
SELECT s.rowid FROM sessions AS s WHERE NOT EXISTS (
    SELECT 1 FROM events AS e WHERE e.namespace = s.namespace AND e.session_id = s.session_id)
""",
    postgres="""
SELECT jsonb_build_array(s.namespace, s.session_id)::text FROM sessions AS s
 WHERE NOT EXISTS (SELECT 1 FROM events AS e
                    WHERE e.namespace = s.namespace AND e.session_id = s.session_id)
""",
)
DROP_SESSIONS = each(
    sqlite="DELETE FROM sessions WHERE rowid IN (SELECT value FROM json_each($ids))",
    postgres="""
DELETE FROM sessions
 WHERE jsonb_build_array(namespace, session_id)::text IN (SELECT value FROM unfold($ids))
""",
)

# --- copying to another store -------------------------------------------------------------------


@_cached
def copy_out(table: str, columns: tuple[str, ...], key: tuple[str, ...], after: bool) -> Statement:
    """One batch of rows, in the order of their key."""
    beyond = f"AND ({_columns(key)}) > ({_columns(key, '$after_')})" if after else ""
    return both(
        f"SELECT {_columns(columns)} FROM {table} WHERE namespace = $namespace {beyond} "
        f"ORDER BY {_columns(key)} LIMIT $limit"
    )


@_cached
def copy_in(table: str, columns: tuple[str, ...]) -> Statement:
    return both(f"{_insert(table, columns)} ON CONFLICT DO NOTHING")


@_cached
def copy_session(columns: tuple[str, ...]) -> Statement:
    kept = ("namespace", "session_id")
    changes = ", ".join(f"{name} = excluded.{name}" for name in columns if name not in kept)
    return both(
        f"{_insert('sessions', columns)} ON CONFLICT (namespace, session_id) DO UPDATE "
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

# --- upkeep -------------------------------------------------------------------------------------

COUNT_EVENTS = filtered(
    "SELECT kind, count(*) FROM events WHERE TRUE", _ANY_OR_ONE, "GROUP BY kind"
)
COUNT_RECORDS = filtered(
    "SELECT kind, coalesce(observation_type, ''), count(*) FROM memory_records WHERE TRUE",
    _ANY_OR_ONE,
    "GROUP BY 1, 2",
)
COUNT_SESSIONS = filtered("SELECT count(*) FROM sessions WHERE TRUE", _ANY_OR_ONE)
COUNT_EMBEDDED = filtered(
    "SELECT count(DISTINCT source_id) FROM embeddings WHERE source_kind = 'record'", _ANY_OR_ONE
)
COUNT_CONCEPTS = filtered(
    """
SELECT c.value, count(*) FROM memory_records AS r, {unfold}(r.concepts) AS c WHERE TRUE
""",
    {"namespace": "r.namespace = $namespace"},
    "GROUP BY c.value ORDER BY count(*) DESC, c.value LIMIT 50",
)


def _tally(table: str, at: str, kind: str, size: str, took: str) -> Statement:
    return filtered(
        f"""
SELECT {at} / $step, {kind}, count(*), coalesce(sum({size}), 0), coalesce(sum({took}), 0),
       coalesce(max({took}), 0)
  FROM {table}
 WHERE {at} >= $since AND {at} < $until
""",
        _ANY_OR_ONE,
        "GROUP BY 1, 2 ORDER BY 1, 2",
    )


_TEXT = "octet_length(title) + octet_length(summary) + octet_length(detail) + octet_length(facts)"
TALLY = {
    "events": _tally("events", "valid_time", "kind", "octet_length(body)", "0"),
    "records": _tally("memory_records", "created_at", "kind", _TEXT, "0"),
    "sessions": _tally(
        "sessions", "started_at", "surface", "(last_event_at - started_at) / 1000000", "0"
    ),
    "receipts": _tally("receipts", "created_at", "trigger", "tokens", "latency_us"),
}


def _bare(names: tuple[str, ...]) -> str:
    """Columns whose text comes as bytes, so that a damaged one can be read too; a blob, which
    none of them should be, comes as its digits."""
    return ", ".join(
        f"CASE typeof({name}) WHEN 'text' THEN CAST({name} AS BLOB)"
        f" WHEN 'blob' THEN hex({name}) ELSE {name} END"
        for name in names
    )


def _scrub(table: str, number: str, columns: tuple[str, ...]) -> Statement:
    rest = f"FROM {table} WHERE {number} > $after ORDER BY {number} LIMIT $limit"
    return each(
        sqlite=f"SELECT {number}, hash, {_bare(columns)} {rest}",
        postgres=f"SELECT {number}, hash, {_columns(columns)} {rest}",
    )


SCRUB_EVENTS = _scrub("events", "seq", rows.EVENT_COLUMNS)
SCRUB_RECORDS = _scrub("memory_records", "row_id", rows.RECORD_HASHED)

# What may look across namespaces, and why. On the server, row-level security narrows all of them to
# the actor.
WHOLE_STORE = {
    "BACKLOG": "the watcher schedules all projects; it reads counts, no content",
    "LIST_NAMESPACES": "what there is: names of namespaces, no content",
    "LATEST_RUNS": "status tells how each project's last run went; it reads counts, no content",
    "LAST_HEARD": "health tells when a host was last heard of; it reads names of hosts and times",
    "PURGE_ARCHIVE": "retention holds for everybody; it reads nothing",
    "COUNT_ARCHIVE": "retention holds for everybody; it counts and reads nothing",
    "SCRUB_EVENTS": "the scrubber checks hashes of every row; no content leaves it",
    "SCRUB_RECORDS": "the scrubber checks hashes of every row; no content leaves it",
    "ORPHAN_VECTORS": "doctor counts rows without an owner; no content leaves it",
    "ORPHAN_SESSIONS": "doctor counts rows without an owner; no content leaves it",
    "DROP_VECTORS": "removes exactly the orphans that were counted",
    "DROP_SESSIONS": "removes exactly the orphans that were counted",
}
