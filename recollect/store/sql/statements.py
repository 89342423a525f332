"""Every SQL statement of the SQLite backend, by name.

In: nothing. Out: strings with named parameters; values are always bound, never spliced in. Each
statement on a namespaced table binds `:namespace`; the few that may look across namespaces are
listed in WHOLE_STORE with the reason, and a test holds everything else to the rule.
"""

from recollect.core import kinds
from recollect.store.sql import rows


def _insert(table: str, columns: tuple[str, ...]) -> str:
    names = ", ".join(columns)
    return f"INSERT INTO {table} ({names}) VALUES ({', '.join(':' + name for name in columns)})"


def _replace(table: str, key: str, columns: tuple[str, ...]) -> str:
    """Insert, or overwrite the row of the same id, but only within its own namespace."""
    kept = {key, "namespace", "created_at"}
    changes = ", ".join(f"{name} = excluded.{name}" for name in columns if name not in kept)
    return (
        f"{_insert(table, columns)} ON CONFLICT ({key}) DO UPDATE SET {changes} "
        f"WHERE {table}.namespace = :namespace"
    )


def _columns(names: tuple[str, ...], prefix: str = "") -> str:
    return ", ".join(prefix + name for name in names)


_EVENT = _columns(rows.EVENT_READ)
_RECORD = _columns(rows.RECORD.columns)
_RECORD_R = _columns(rows.RECORD.columns, "r.")

# Rows that are named by their keys are looked up by them: the plus keeps SQLite from walking all of
# the namespace instead, which it takes for the better plan. `:name IS NULL` is answered before a
# statement is planned (`engine.planned`), so that a filter that is given can choose its index.

# --- events -------------------------------------------------------------------------------------

PUT_EVENT = """
INSERT INTO events (event_id, namespace, session_id, actor_id, kind, body, valid_time, utc_offset,
                    source, surface, project_path, parent_event_id, content_hash, digest, boot_id,
                    mono_ns, transaction_time, hash, prompt_number)
VALUES (:event_id, :namespace, :session_id, :actor_id, :kind, :body, :valid_time, :utc_offset,
        :source, :surface, :project_path, :parent_event_id, :content_hash, :digest, :boot_id,
        :mono_ns, :transaction_time, :hash,
        CASE :kind WHEN 'prompt' THEN
            (SELECT coalesce(max(prompt_number), 0) + 1 FROM events
              WHERE namespace = :namespace AND session_id = :session_id
                AND prompt_number IS NOT NULL)
        END)
ON CONFLICT (event_id) DO NOTHING RETURNING seq
"""
KNOWN_EVENT = "SELECT seq, namespace, digest FROM events WHERE event_id = :event_id"
GET_EVENT = f"SELECT {_EVENT} FROM events WHERE namespace = :namespace AND event_id = :event_id"
LIST_EVENTS = f"""
SELECT {_EVENT} FROM events
 WHERE namespace = :namespace AND seq < :before AND (:kind IS NULL OR kind = :kind)
 ORDER BY seq DESC LIMIT :limit
"""
# The order of a session (docs/decisions/order.md) is boot, tick, number; `events_by_session` has
# it. Boots follow each other by the wall time of their earliest event: they are few, and found by
# leaping from one to the next.
_BOOT = "CASE WHEN boot_id IS NULL THEN '' ELSE boot_id END"
_TICK = "CASE WHEN mono_ns IS NULL THEN seq ELSE mono_ns END"
_SESSION = "namespace = :namespace AND session_id = :session_id"
PLACES = f"""
SELECT {_BOOT}, {_TICK}, seq FROM events
 WHERE +namespace = :namespace AND +session_id = :session_id
   AND seq IN (SELECT value FROM json_each(:seqs))
"""
_EARLIEST = f"(SELECT {{0}} FROM events WHERE {_SESSION} AND {_BOOT} = b.boot {{1}} LIMIT 1)".format
_BY_CLOCK = f"ORDER BY {_TICK}, seq"
SESSION_BOOTS = f"""
WITH RECURSIVE boots (boot) AS (
    SELECT boot FROM (SELECT {_BOOT} AS boot FROM events
                       WHERE {_SESSION} ORDER BY {_BOOT} LIMIT 1) AS first
    UNION ALL
    SELECT (SELECT {_BOOT} FROM events
             WHERE {_SESSION} AND {_BOOT} > b.boot ORDER BY {_BOOT} LIMIT 1)
      FROM boots AS b WHERE b.boot IS NOT NULL)
SELECT b.boot FROM boots AS b WHERE b.boot IS NOT NULL
 ORDER BY {_EARLIEST("valid_time", _BY_CLOCK)}, {_EARLIEST("seq", _BY_CLOCK)}
"""
# The bounds of the tick alone are for the planner, which uses no index for pairs.
_BETWEEN = f"""
  FROM events
 WHERE {_SESSION} AND {_BOOT} = :boot
   AND {_TICK} >= :after_tick AND {_TICK} <= :before_tick
   AND ({_TICK}, seq) > (:after_tick, :after_seq) AND ({_TICK}, seq) < (:before_tick, :before_seq)
"""
_OF_KIND = "AND (:kind IS NULL OR kind = :kind)"
LATER_IN_BOOT = f"SELECT {_EVENT} {_BETWEEN} {_OF_KIND} {_BY_CLOCK} LIMIT :limit"
EARLIER_IN_BOOT = (
    f"SELECT {_EVENT} {_BETWEEN} {_OF_KIND} ORDER BY {_TICK} DESC, seq DESC LIMIT :limit"
)
LOWEST_IN_BOOT = f"SELECT min(+seq) {_BETWEEN}"
WAITING = """
SELECT seq, bytes, failures FROM unextracted
 WHERE namespace = :namespace AND state = 'waiting' ORDER BY seq LIMIT :limit
"""
EVENTS_BY_SEQ = f"""
SELECT {_EVENT} FROM events
 WHERE +namespace = :namespace AND seq IN (SELECT value FROM json_each(:seqs)) ORDER BY seq
"""
FINISH = """
DELETE FROM unextracted
 WHERE +namespace = :namespace AND seq IN (SELECT value FROM json_each(:seqs))
"""
BEGIN_RUN = """
UPDATE unextracted
   SET failures = failures + 1, reason = :reason,
       state = CASE WHEN failures + 1 >= :quarantine_after THEN 'quarantined' ELSE state END
 WHERE +namespace = :namespace AND seq IN (SELECT value FROM json_each(:seqs))
"""
TAKE_BACK_RUN = """
UPDATE unextracted
   SET failures = max(failures - 1, 0), state = 'waiting',
       reason = CASE WHEN failures > 1 THEN reason END
 WHERE +namespace = :namespace AND seq IN (SELECT value FROM json_each(:seqs))
"""
FAIL = """
UPDATE unextracted SET reason = :reason
 WHERE +namespace = :namespace AND seq IN (SELECT value FROM json_each(:seqs))
RETURNING state
"""
RETRY = """
UPDATE unextracted SET state = 'waiting', failures = 0, reason = NULL
 WHERE namespace = :namespace AND state = 'quarantined'
"""
BACKLOG = """
SELECT u.namespace, count(*) FILTER (WHERE u.state = 'waiting'),
       coalesce(sum(u.bytes) FILTER (WHERE u.state = 'waiting'), 0),
       count(*) FILTER (WHERE u.state = 'quarantined'),
       max(e.transaction_time) FILTER (WHERE u.state = 'waiting')
  FROM unextracted AS u JOIN events AS e USING (seq) GROUP BY u.namespace ORDER BY u.namespace
"""
SET_ASIDE = """
SELECT e.event_id, e.session_id, e.kind, e.transaction_time, u.failures, coalesce(u.reason, '')
  FROM unextracted AS u JOIN events AS e USING (seq)
 WHERE u.namespace = :namespace AND u.state = 'quarantined' ORDER BY u.seq LIMIT :limit
"""

# --- memories -----------------------------------------------------------------------------------

PUT_RECORD = _insert("memory_records", (*rows.RECORD.columns, "since", "op_id", "hash"))
GET_RECORDS = f"""
SELECT {_RECORD} FROM memory_records
 WHERE +namespace = :namespace AND record_id IN (SELECT value FROM json_each(:record_ids))
"""
RECORD_STATE = """
SELECT record_id, since, op_id FROM memory_records
 WHERE +namespace = :namespace AND record_id IN (SELECT value FROM json_each(:record_ids))
"""
LIST_RECORDS = f"""
SELECT {_RECORD} FROM memory_records AS r
 WHERE namespace = :namespace AND (created_at, record_id) < (:before_number, :before_id)
   AND (:kind IS NULL OR kind = :kind)
   AND (:observation_type IS NULL OR observation_type = :observation_type)
   AND (:since IS NULL OR created_at >= :since) AND (:until IS NULL OR created_at < :until)
   AND (:concept IS NULL OR EXISTS (SELECT 1 FROM json_each(r.concepts) WHERE value = :concept))
   AND (:file IS NULL OR EXISTS (SELECT 1 FROM json_each(r.files) WHERE value = :file))
   AND (:as_of IS NULL OR r.since <= :as_of)
 ORDER BY created_at DESC, record_id DESC LIMIT :limit
"""
# A session has few memories: they are looked up by it and sorted.
LIST_SESSION_RECORDS = (
    LIST_RECORDS.replace("(created_at, record_id) <", "(+created_at, record_id) <")
    .replace("OR kind =", "OR +kind =")
    .replace("created_at >=", "+created_at >=")
    .replace("created_at <", "+created_at <")
    .replace("ORDER BY created_at", "ORDER BY +created_at")
    .replace("WHERE namespace", "WHERE session_id = :session_id AND namespace")
)
LAST_EPISODES = f"""
SELECT {_RECORD} FROM memory_records
 WHERE namespace = :namespace AND session_id = :session_id AND +kind = '{kinds.TURN.name}'
 ORDER BY position DESC, valid_from DESC, record_id DESC LIMIT :limit
"""
RECORDS_OF_EVENTS = """
SELECT e.event_id, r.record_id FROM record_events AS e JOIN memory_records AS r USING (row_id)
 WHERE r.namespace = :namespace AND e.event_id IN (SELECT value FROM json_each(:event_ids))
 ORDER BY e.event_id, r.record_id
"""
NEWER_RECORDS = f"""
SELECT {_RECORD} FROM memory_records AS r
 WHERE namespace = :namespace AND (created_at, record_id) > (:after_number, :after_id)
   AND (:kind IS NULL OR kind = :kind)
   AND (:session_id IS NULL OR session_id = :session_id)
   AND (:observation_type IS NULL OR observation_type = :observation_type)
   AND (:since IS NULL OR created_at >= :since) AND (:until IS NULL OR created_at < :until)
   AND (:concept IS NULL OR EXISTS (SELECT 1 FROM json_each(r.concepts) WHERE value = :concept))
   AND (:file IS NULL OR EXISTS (SELECT 1 FROM json_each(r.files) WHERE value = :file))
 ORDER BY created_at, record_id LIMIT :limit
"""
RECORD_BY_HASH = f"""
SELECT {_RECORD} FROM memory_records
 WHERE namespace = :namespace AND content_hash = :content_hash
 ORDER BY +created_at DESC, record_id DESC LIMIT 1
"""
DELETE_RECORD = "DELETE FROM memory_records WHERE namespace = :namespace AND record_id = :record_id"
TOUCH_RECORDS = """
UPDATE memory_records SET access_count = access_count + 1, last_accessed = :at
 WHERE +namespace = :namespace AND record_id IN (SELECT value FROM json_each(:record_ids))
"""
# Weights of bm25 by column: ns, title, summary, facts, concepts, files, detail.
SEARCH_WORDS = f"""
SELECT {_RECORD_R}, -bm25(memory_records_fts, 0.0, 4.0, 2.0, 1.5, 2.0, 1.0, 1.0) AS score
  FROM memory_records_fts JOIN memory_records AS r ON r.row_id = memory_records_fts.rowid
 WHERE memory_records_fts MATCH :match AND r.namespace = :namespace
 ORDER BY score DESC, r.created_at DESC, r.record_id LIMIT :limit
"""
SEARCH_LITERAL = f"""
SELECT {_RECORD} FROM memory_records
 WHERE namespace = :namespace
   AND (title LIKE :pattern ESCAPE '\\' OR summary LIKE :pattern ESCAPE '\\'
        OR detail LIKE :pattern ESCAPE '\\'
        OR EXISTS (SELECT 1 FROM json_each(facts) WHERE value LIKE :pattern ESCAPE '\\')
        OR EXISTS (SELECT 1 FROM json_each(concepts) WHERE value LIKE :pattern ESCAPE '\\')
        OR EXISTS (SELECT 1 FROM json_each(files) WHERE value LIKE :pattern ESCAPE '\\'))
 ORDER BY created_at DESC, record_id LIMIT :limit
"""
NAMESPACE_ID = "SELECT namespace_id FROM namespaces WHERE namespace = :namespace"
TERM_DOCUMENTS = "SELECT doc FROM memory_records_vocabulary WHERE term = :term"

# --- vectors ------------------------------------------------------------------------------------

PUT_VECTOR = """
INSERT INTO embeddings (namespace, source_kind, source_id, part, model, dim, vector)
SELECT :namespace, :source_kind, :source_id, :part, :model, :dim, :vector
 WHERE EXISTS (SELECT 1 FROM {table} WHERE namespace = :namespace AND {key} = :source_id)
ON CONFLICT (namespace, source_kind, source_id, part) DO UPDATE
   SET model = excluded.model, dim = excluded.dim, vector = excluded.vector
"""
SCAN_VECTORS = f"""
SELECT {_columns(rows.VECTOR.columns)} FROM embeddings
 WHERE namespace = :namespace AND model = :model ORDER BY source_kind, source_id, part
"""
KNOWLEDGE_VECTORS = f"""
SELECT e.source_id, e.vector FROM embeddings AS e
  JOIN memory_records AS r ON r.record_id = e.source_id AND r.namespace = e.namespace
 WHERE e.namespace = :namespace AND e.model = :model AND e.source_kind = 'record' AND e.part = 0
   AND r.kind <> '{kinds.TURN.name}' ORDER BY e.source_id
"""
VECTORS_OF = f"""
SELECT {_columns(rows.VECTOR.columns)} FROM embeddings
 WHERE namespace = :namespace AND source_kind = :source_kind AND source_id = :source_id
 ORDER BY part
"""
VECTORS_OF_RECORDS = f"""
SELECT {_columns(rows.VECTOR.columns)} FROM embeddings
 WHERE namespace = :namespace AND model = :model AND source_kind = 'record'
   AND source_id IN (SELECT value FROM json_each(:record_ids))
 ORDER BY source_id, part
"""
MISSING_VECTORS = f"""
SELECT {_RECORD_R} FROM memory_records AS r
 WHERE r.namespace = :namespace AND NOT EXISTS (
       SELECT 1 FROM embeddings AS e
        WHERE e.namespace = :namespace AND e.model = :model
          AND e.source_kind = 'record' AND e.source_id = r.record_id)
 ORDER BY r.created_at, r.record_id LIMIT :limit
"""
DELETE_VECTORS = """
DELETE FROM embeddings
 WHERE namespace = :namespace AND source_kind = :source_kind AND source_id = :source_id
"""

# --- graph --------------------------------------------------------------------------------------

PUT_ENTITY = _replace("entities", "entity_id", rows.ENTITY.columns)
PUT_RELATIONSHIP = _replace("relationships", "relationship_id", rows.RELATIONSHIP.columns)
PUT_FACT = _replace("facts", "fact_id", rows.FACT.columns)
PUT_PROCEDURE = _replace("procedures", "procedure_id", rows.PROCEDURE.columns)
PUT_PREFERENCE = _replace("preferences", "preference_id", rows.PREFERENCE.columns)

GET_ENTITY = f"""
SELECT {_columns(rows.ENTITY.columns)} FROM entities
 WHERE namespace = :namespace AND entity_id = :entity_id
"""
LIST_ENTITIES = f"""
SELECT {_columns(rows.ENTITY.columns)} FROM entities
 WHERE namespace = :namespace ORDER BY name, entity_id
"""
LIST_RELATIONSHIPS = f"""
SELECT {_columns(rows.RELATIONSHIP.columns)} FROM relationships
 WHERE namespace = :namespace ORDER BY confidence DESC, relationship_id
"""
RELATIONSHIPS_OF = f"""
SELECT {_columns(rows.RELATIONSHIP.columns)} FROM relationships
 WHERE namespace = :namespace AND source_id = :entity_id
UNION
SELECT {_columns(rows.RELATIONSHIP.columns)} FROM relationships
 WHERE namespace = :namespace AND target_id = :entity_id
 ORDER BY confidence DESC, relationship_id
"""
LIST_FACTS = f"""
SELECT {_columns(rows.FACT.columns)} FROM facts
 WHERE namespace = :namespace AND (:entity_id IS NULL OR entity_id = :entity_id)
   AND CASE WHEN :as_of IS NULL THEN valid_until IS NULL
            ELSE valid_from <= :as_of AND (valid_until IS NULL OR valid_until > :as_of) END
 ORDER BY confidence DESC, fact_id
"""
FACT_HISTORY = f"""
SELECT {_columns(rows.FACT.columns)} FROM facts
 WHERE namespace = :namespace AND entity_id IN (SELECT value FROM json_each(:entity_ids))
 ORDER BY valid_from, fact_id
"""
LIST_PROCEDURES = f"""
SELECT {_columns(rows.PROCEDURE.columns)} FROM procedures
 WHERE namespace = :namespace ORDER BY confidence DESC, procedure_id
"""
LIST_PREFERENCES = f"""
SELECT {_columns(rows.PREFERENCE.columns)} FROM preferences
 WHERE namespace = :namespace ORDER BY category, key, preference_id
"""
SEARCH_GRAPH = """
SELECT {columns} FROM {table}_fts JOIN {table} AS t ON t.row_id = {table}_fts.rowid
 WHERE {table}_fts MATCH :match AND t.namespace = :namespace {current}
 ORDER BY bm25({table}_fts, 0.0), t.{key} LIMIT :limit
"""
SEARCH_ENTITIES = SEARCH_GRAPH.format(
    table="entities", key="entity_id", columns=_columns(rows.ENTITY.columns, "t."), current=""
)
GRAPH_SIZE = """
SELECT (SELECT count(*) FROM (SELECT 1 FROM entities WHERE namespace = :namespace LIMIT :most) AS e)
     + (SELECT count(*) FROM (SELECT 1 FROM facts WHERE namespace = :namespace LIMIT :most) AS f)
"""
SEARCH_FACTS = SEARCH_GRAPH.format(
    table="facts",
    key="fact_id",
    columns=_columns(rows.FACT.columns, "t."),
    current="AND t.valid_until IS NULL",
)
SEARCH_PROCEDURES = SEARCH_GRAPH.format(
    table="procedures",
    key="procedure_id",
    columns=_columns(rows.PROCEDURE.columns, "t."),
    current="",
)
DELETE_THING = "DELETE FROM {table} WHERE namespace = :namespace AND {key} = :id"
GRAPH_TABLES = (
    ("entities", "entity_id"),
    ("relationships", "relationship_id"),
    ("facts", "fact_id"),
    ("procedures", "procedure_id"),
    ("preferences", "preference_id"),
)
DELETE_GRAPH = {table: DELETE_THING.format(table=table, key=key) for table, key in GRAPH_TABLES}
_THINGS = "WHERE +namespace = :namespace AND {0} IN (SELECT value FROM json_each(:ids))"
_GRAPH_COLUMNS = (
    rows.ENTITY.columns,
    rows.RELATIONSHIP.columns,
    rows.FACT.columns,
    rows.PROCEDURE.columns,
    rows.PREFERENCE.columns,
)
GRAPH_ROWS = {
    table: f"SELECT op_id, {_columns(columns)} FROM {table} {_THINGS.format(key)}"
    for (table, key), columns in zip(GRAPH_TABLES, _GRAPH_COLUMNS, strict=True)
}
GRAPH_MADE_BY = {
    table: f"UPDATE {table} SET op_id = :op_id WHERE namespace = :namespace AND {key} = :id"
    for table, key in GRAPH_TABLES
}
# A thing as it was: a version that an operation made is what stood from then until another
# operation displaced it. What is only surer since, or met more often, has no version of its own.
THINGS_SINCE = {
    table: f"SELECT {_columns(columns, 't.')} FROM {table} AS t "
    "LEFT JOIN operations AS o ON o.op_id = t.op_id AND o.namespace = t.namespace "
    "WHERE t.namespace = :namespace AND t.created_at <= :as_of "
    "AND (o.at IS NULL OR o.at <= :as_of)"
    for (table, _), columns in zip(GRAPH_TABLES, _GRAPH_COLUMNS, strict=True)
}
THINGS_THEN = """
SELECT a.payload FROM archive AS a
  LEFT JOIN operations AS o ON o.op_id = a.made_by AND o.namespace = a.namespace
 WHERE a.namespace = :namespace AND a.source_kind = :kind AND a.until > :as_of
   AND (o.at IS NULL OR o.at <= :as_of)
"""
LIST_WAITING = """
SELECT key, name, turns, claims, at FROM waiting_claims
 WHERE namespace = :namespace
   AND (:keys IS NULL OR key IN (SELECT value FROM json_each(:keys))) ORDER BY key
"""
PUT_WAITING = """
INSERT INTO waiting_claims (namespace, key, name, turns, claims, at)
VALUES (:namespace, :key, :name, :turns, :claims, :at)
ON CONFLICT (namespace, key) DO UPDATE SET
    name = excluded.name, turns = excluded.turns, claims = excluded.claims, at = excluded.at
"""
DELETE_WAITING = """
DELETE FROM waiting_claims
 WHERE namespace = :namespace AND key IN (SELECT value FROM json_each(:keys))
"""
TRIM_WAITING = """
DELETE FROM waiting_claims WHERE namespace = :namespace AND key IN (
    SELECT key FROM waiting_claims WHERE namespace = :namespace
     ORDER BY at DESC, key LIMIT -1 OFFSET :most)
"""
VECTOR_OWNERS = {
    "record": PUT_VECTOR.format(table="memory_records", key="record_id"),
    "entity": PUT_VECTOR.format(table="entities", key="entity_id"),
    "fact": PUT_VECTOR.format(table="facts", key="fact_id"),
    "procedure": PUT_VECTOR.format(table="procedures", key="procedure_id"),
}

# --- sessions, checkpoints, receipts ------------------------------------------------------------

GET_SESSION = f"""
SELECT {_columns(rows.SESSION.columns)} FROM sessions
 WHERE namespace = :namespace AND session_id = :session_id
"""
LIST_SESSIONS = f"""
SELECT {_columns(rows.SESSION.columns)} FROM sessions
 WHERE namespace = :namespace AND (started_at, session_id) < (:before_number, :before_id)
 ORDER BY started_at DESC, session_id DESC LIMIT :limit
"""
END_SESSION = """
UPDATE sessions SET status = :status, ended_at = :at
 WHERE namespace = :namespace AND session_id = :session_id
"""
LAST_HEARD = """
SELECT surface, max(last_event_at) FROM sessions
 WHERE session_id NOT GLOB 'prove-*' GROUP BY surface ORDER BY surface
"""
PUT_CHECKPOINT = _insert("checkpoints", rows.CHECKPOINT.columns)
LAST_CHECKPOINT = f"""
SELECT {_columns(rows.CHECKPOINT.columns)} FROM checkpoints
 WHERE namespace = :namespace AND (:session_id IS NULL OR session_id = :session_id)
 ORDER BY created_at DESC, checkpoint_id DESC LIMIT 1
"""
PUT_RECEIPT = _insert("receipts", rows.RECEIPT.columns)
GET_RECEIPT = f"""
SELECT {_columns(rows.RECEIPT.columns)} FROM receipts
 WHERE namespace = :namespace AND receipt_id = :receipt_id
"""
LIST_RECEIPTS = f"""
SELECT {_columns(rows.RECEIPT.columns)} FROM receipts
 WHERE namespace = :namespace AND (created_at, receipt_id) < (:before_number, :before_id)
   AND (:session_id IS NULL OR session_id = :session_id)
 ORDER BY created_at DESC, receipt_id DESC LIMIT :limit
"""

# --- runs of extraction -------------------------------------------------------------------------

PUT_RUN = _insert("extraction_runs", rows.RUN.columns)
LIST_RUNS = f"""
SELECT {_columns(rows.RUN.columns)} FROM extraction_runs
 WHERE namespace = :namespace AND (started_at, run_id) < (:before_number, :before_id)
 ORDER BY started_at DESC, run_id DESC LIMIT :limit
"""
FORGET_RUNS = """
DELETE FROM extraction_runs WHERE namespace = :namespace AND row_id IN (
       SELECT row_id FROM extraction_runs WHERE namespace = :namespace
        ORDER BY started_at DESC, run_id DESC LIMIT -1 OFFSET :kept)
"""
LATEST_RUNS = f"""
SELECT {_columns(rows.RUN.columns, "r.")} FROM extraction_runs AS r
 WHERE r.row_id = (SELECT row_id FROM extraction_runs AS l WHERE l.namespace = r.namespace
                    ORDER BY started_at DESC, run_id DESC LIMIT 1)
 ORDER BY r.namespace
"""

# --- decisions ----------------------------------------------------------------------------------

PUT_OPERATION = _insert("operations", rows.OPERATION.columns)
GET_OPERATION = f"""
SELECT {_columns(rows.OPERATION.columns)} FROM operations
 WHERE namespace = :namespace AND op_id = :op_id
"""
LIST_OPERATIONS = f"""
SELECT seq, {_columns(rows.OPERATION.columns)} FROM operations
 WHERE namespace = :namespace AND seq < :before ORDER BY seq DESC LIMIT :limit
"""
LIST_DETAILS = """
SELECT detail FROM operations WHERE namespace = :namespace AND kind = :kind ORDER BY seq
"""
UNDONE_BY = "SELECT op_id FROM operations WHERE namespace = :namespace AND undoes = :op_id"
ARCHIVE = """
INSERT INTO archive (op_id, namespace, source_kind, source_id, since, until, made_by, payload)
VALUES (:op_id, :namespace, :source_kind, :source_id, :since, :until, :made_by, :payload)
"""
ARCHIVED_BY = """
SELECT source_kind, payload FROM archive
 WHERE namespace = :namespace AND op_id = :op_id ORDER BY row_id
"""
VERSIONS = """
SELECT payload FROM archive
 WHERE namespace = :namespace AND source_kind = 'record' AND source_id = :source_id
 ORDER BY until DESC, row_id DESC
"""
ARCHIVED_AT = """
SELECT payload FROM archive
 WHERE namespace = :namespace AND source_kind = 'record'
   AND until > :as_of AND since <= :as_of
"""
PURGE_ARCHIVE = """
DELETE FROM archive
 WHERE row_id IN (SELECT row_id FROM archive WHERE until < :before ORDER BY until LIMIT :limit)
"""
COUNT_ARCHIVE = "SELECT count(*) FROM archive WHERE until < :before"

# --- aging --------------------------------------------------------------------------------------

# What a person brought back stays until a person takes it away again.
_BROUGHT_BACK = """
       EXISTS (SELECT 1 FROM operations AS o
                WHERE o.op_id = r.op_id AND o.namespace = :namespace AND o.kind = 'undo')
"""
# A checkpoint holds what it shows while it may be gone on with: those of the last thirty days in
# which there were any (in microseconds).
_HELD = """
       SELECT value FROM checkpoints AS k, json_each(k.snapshot)
        WHERE k.namespace = :namespace AND k.created_at >= (
              SELECT max(created_at) - 2592000000000 FROM checkpoints
               WHERE namespace = :namespace)
"""
AGED_EPISODES = f"""
SELECT r.record_id, r.session_id, r.position, r.created_at, length(r.detail)
  FROM memory_records AS r
 WHERE r.namespace = :namespace AND r.kind = '{kinds.TURN.name}' AND r.level = :level
   AND r.created_at <= :before
   AND NOT EXISTS (SELECT 1 FROM compacted AS c
                    WHERE c.namespace = :namespace AND c.source_id = r.record_id)
   AND NOT {_BROUGHT_BACK}
   AND (r.level = 'raw' OR r.pinned = 0 AND r.record_id NOT IN ({_HELD}))
 ORDER BY r.session_id, r.position, r.valid_from, r.record_id
"""
# Those that might go, each by an index: a pass does not look at all that is kept.
_MADE = tuple(one for one in kinds.KINDS.values() if not one.is_turn)
_OLD = f"""
       SELECT row_id FROM memory_records WHERE namespace = :namespace AND expires_at <= :now
       UNION ALL SELECT row_id FROM memory_records
        WHERE namespace = :namespace AND kind = '{kinds.TURN.name}' AND level = 'raw'
       UNION ALL SELECT row_id FROM memory_records
        WHERE namespace = :namespace AND kind = '{kinds.TURN.name}' AND level = 'distilled'
          AND created_at <= :short_turns
""" + "".join(
    f"""       UNION ALL SELECT row_id FROM memory_records
        WHERE namespace = :namespace AND kind = '{one.name}' AND created_at <= :{one.name}
"""
    for one in _MADE
)
_PAST_RETENTION = "\n        ".join(
    f"WHEN r.kind = '{one.name}' AND r.created_at <= :{one.name} THEN 'retention of {one.plural}'"
    for one in _MADE
)
# One row a memory, whatever speaks against it. A turn goes when what stands for it has stood for a
# while and still does (itself, or what it went into); retention takes it in any case.
FORGETTABLE = f"""
SELECT record_id, reason FROM (
    SELECT r.record_id, r.created_at, CASE
        WHEN r.expires_at <= :now AND NOT (r.kind = '{kinds.TURN.name}' AND r.level = 'compressed'
             AND c.source_id IS NULL AND r.created_at <= :distilled) THEN 'expired'
        WHEN r.kind = '{kinds.TURN.name}' AND r.level = 'raw' AND c.at <= :replaced AND (
             EXISTS (SELECT 1 FROM memory_records AS s
                      WHERE s.record_id = c.into_id AND s.namespace = :namespace)
             OR EXISTS (SELECT 1 FROM compacted AS d JOIN memory_records AS s
                            ON s.record_id = d.into_id AND s.namespace = :namespace
                         WHERE d.namespace = :namespace AND d.source_id = c.into_id))
            THEN 'its summary stands for it'
        WHEN r.kind = '{kinds.TURN.name}' AND r.level = 'raw' AND r.created_at <= :{kinds.TURN.name}
             AND c.at <= :replaced THEN 'retention of {kinds.TURN.plural}'
        WHEN r.kind = '{kinds.TURN.name}' AND r.level = 'distilled' AND r.created_at <= :short_turns
            THEN 'retention of shortened {kinds.TURN.plural}'
        {_PAST_RETENTION}
        END AS reason
      FROM memory_records AS r
      LEFT JOIN compacted AS c ON c.namespace = :namespace AND c.source_id = r.record_id
     WHERE r.row_id IN ({_OLD}) AND +r.namespace = :namespace AND r.pinned = 0
       AND r.importance < :important AND r.strategy <> 'user' AND NOT {_BROUGHT_BACK}
       AND r.record_id NOT IN ({_HELD}))
 WHERE reason IS NOT NULL ORDER BY created_at, record_id LIMIT :limit
"""
MARK = """
INSERT INTO compacted (namespace, source_id, into_id, at)
VALUES (:namespace, :source_id, :into_id, :at)
ON CONFLICT DO UPDATE SET into_id = excluded.into_id, at = excluded.at
"""
UNMARK = "DELETE FROM compacted WHERE namespace = :namespace AND source_id = :source_id"
MARKED = """
SELECT source_id, into_id FROM compacted
 WHERE namespace = :namespace AND source_id IN (SELECT value FROM json_each(:source_ids))
"""
GONE = """
SELECT value FROM json_each(:record_ids)
 WHERE NOT EXISTS (SELECT 1 FROM memory_records
                    WHERE namespace = :namespace AND record_id = value)
   AND (EXISTS (SELECT 1 FROM compacted WHERE namespace = :namespace AND source_id = value)
        OR EXISTS (SELECT 1 FROM archive WHERE namespace = :namespace AND source_id = value))
"""
ALIKE_OBSERVATIONS = f"""
SELECT r.observation_type, r.files, json_group_array(r.record_id)
  FROM (SELECT * FROM memory_records
         WHERE namespace = :namespace AND kind = '{kinds.NOTE.name}'
           AND observation_type IS NOT NULL AND files <> '[]'
           AND pinned = 0 AND importance < :important AND strategy <> 'user'
           AND created_at > :since AND created_at <= :before
           AND (expires_at IS NULL OR expires_at > :before)
         ORDER BY valid_from, record_id) AS r
 WHERE r.record_id NOT IN ({_HELD})
 GROUP BY r.observation_type, r.files HAVING count(*) >= :least
 ORDER BY min(r.valid_from), r.observation_type, r.files
"""
INFERRED_FACTS = f"""
SELECT {_columns(rows.FACT.columns)} FROM facts
 WHERE namespace = :namespace AND source_type = 'inferred' AND valid_until IS NULL
   AND updated_at <= :before ORDER BY fact_id LIMIT :limit
"""
INFERRED_RELATIONSHIPS = f"""
SELECT {_columns(rows.RELATIONSHIP.columns)} FROM relationships
 WHERE namespace = :namespace AND source_type = 'inferred' AND valid_until IS NULL
   AND updated_at <= :before ORDER BY relationship_id LIMIT :limit
"""
CITING_RECORDS = f"""
SELECT {_RECORD} FROM memory_records
 WHERE +namespace = :namespace AND citations <> '[]' AND record_id > :after
 ORDER BY record_id LIMIT :limit
"""
SET_FRESHNESS = """
UPDATE memory_records SET freshness = :freshness
 WHERE namespace = :namespace AND record_id = :record_id AND freshness <> :freshness
"""
RECORD_AGES = """
SELECT kind, level, created_at, access_count FROM memory_records WHERE namespace = :namespace
"""
PURGE_RECEIPTS = """
DELETE FROM receipts
 WHERE namespace = :namespace AND receipt_id IN (
       SELECT receipt_id FROM receipts WHERE namespace = :namespace AND created_at < :before
        ORDER BY created_at LIMIT :limit)
"""
COUNT_RECEIPTS = """
SELECT count(*) FROM receipts WHERE namespace = :namespace AND created_at < :before
"""

# --- language models ----------------------------------------------------------------------------

_SPENT = ("calls", "failures", "input_tokens", "output_tokens", "cost_micros")

# Adds to the row of its kind; `settle` adds differences, which may be negative.
ADD_USAGE = (
    _insert("llm_usage", rows.USAGE.columns)
    + """
ON CONFLICT (day, namespace, provider, model, purpose) DO UPDATE SET
"""
    + ", ".join(f"{name} = {name} + excluded.{name}" for name in _SPENT)
    + ", unpriced = max(unpriced, excluded.unpriced)"
)
SPENT = f"""
SELECT {", ".join(f"coalesce(sum({name}), 0)" for name in _SPENT)}, coalesce(max(unpriced), 0)
  FROM llm_usage WHERE day = :day AND (:namespace IS NULL OR namespace = :namespace)
"""
LIST_USAGE = f"""
SELECT {_columns(rows.USAGE.columns)} FROM llm_usage
 WHERE day >= :since AND (:namespace IS NULL OR namespace = :namespace)
 ORDER BY day, namespace, provider, model, purpose
"""

# --- projects -----------------------------------------------------------------------------------

FIND_PROJECT = "SELECT project_id FROM project_identities WHERE kind = :kind AND value = :value"
PUT_PROJECT = """
INSERT INTO projects (project_id, name, created_at, last_seen)
VALUES (:project_id, :name, :at, :at)
"""
PUT_IDENTITY = """
INSERT INTO project_identities (kind, value, project_id, first_seen)
VALUES (:kind, :value, :project_id, :at) ON CONFLICT DO NOTHING
"""
SEEN_PROJECT = "UPDATE projects SET last_seen = :at WHERE project_id = :project_id"
RENAME_PROJECT = "UPDATE projects SET name = :name WHERE project_id = :project_id"
LIST_PROJECTS = "SELECT project_id, name, created_at, last_seen FROM projects ORDER BY project_id"
# Commits are marks too, and many: whoever lists projects does not want them.
LIST_IDENTITIES = """
SELECT project_id, kind, value FROM project_identities
 WHERE NOT (kind = 'alias' AND value >= 'commit:' AND value < 'commit;') ORDER BY kind, value
"""
LIST_COMMITS = """
SELECT value FROM project_identities
 WHERE project_id = :project_id AND kind = 'alias' AND value >= 'commit:' AND value < 'commit;'
 ORDER BY first_seen DESC, value
"""
GIVE_IDENTITY = """
UPDATE project_identities SET project_id = :into WHERE kind = :kind AND value = :value
"""
DROP_IDENTITY = "DELETE FROM project_identities WHERE kind = :kind AND value = :value"
# Only tables with an index of words make their namespace known by themselves, and what a user wants
# in every project may be all that the global one holds.
LIST_NAMESPACES = """
SELECT namespace FROM namespaces UNION SELECT namespace FROM preferences ORDER BY namespace
"""

# --- copying to another store -------------------------------------------------------------------

# Templates: `store/copying.py` fills in the tables and columns that both stores have.
TABLE_COLUMNS = "SELECT name FROM pragma_table_info(:table) ORDER BY cid"
COPY_OUT = """
SELECT {columns} FROM {table} WHERE namespace = :namespace AND {after} ORDER BY {key} LIMIT :limit
"""
COPY_IN = "INSERT INTO {table} ({columns}) VALUES ({values}) ON CONFLICT DO NOTHING"
COPY_SESSION = """
INSERT INTO sessions ({columns}) VALUES ({values})
ON CONFLICT (namespace, session_id) DO UPDATE SET {changes} WHERE sessions.namespace = :namespace
"""
COPY_PROJECTS = "SELECT project_id, name, created_at, last_seen FROM projects ORDER BY project_id"
COPY_MARKS = """
SELECT kind, value, project_id, first_seen FROM project_identities ORDER BY kind, value
"""
ARCHIVED_SAME = """
SELECT 1 FROM archive
 WHERE namespace = :namespace AND op_id = :op_id AND source_kind = :source_kind
   AND source_id = :source_id AND since = :since AND until = :until
"""
COPY_FORGOTTEN = "SELECT mark FROM forgotten"
NOT_WAITING = "DELETE FROM unextracted WHERE namespace = :namespace AND seq = :seq"

# --- all rows, as rows --------------------------------------------------------------------------

# Templates: `bulk.py` fills in the tables and columns that the schema really has.
COLUMNS_OF = "SELECT name FROM pragma_table_info(:table)"
KEY_OF = "SELECT name FROM pragma_table_info(:table) WHERE pk ORDER BY pk"
HAS_NO_ROWID = "SELECT wr FROM pragma_table_list(:table) WHERE schema = 'main'"
TABLES_WITH_NAMESPACE = """
SELECT m.name FROM sqlite_schema AS m JOIN pragma_table_info(m.name) AS c
 WHERE m.type = 'table' AND c.name = 'namespace' ORDER BY m.name
"""
DUMP_EVENTS = """
SELECT {columns}, u.failures, u.reason, u.state
  FROM events AS t LEFT JOIN unextracted AS u USING (seq)
 WHERE t.namespace = :namespace ORDER BY t.seq
"""
DUMP_ROWS = "SELECT {columns} FROM {table} WHERE namespace = :namespace ORDER BY {order}"
DUMP_PROJECT = "SELECT {columns} FROM projects WHERE project_id = :project_id"
DUMP_IDENTITIES = "SELECT {columns} FROM project_identities WHERE project_id = :project_id"
LOAD_ROW = "INSERT INTO {table} ({columns}) VALUES ({values}) ON CONFLICT DO NOTHING RETURNING 1"
SEQ_TAKEN = "SELECT 1 FROM {table} WHERE seq = :seq"
ARCHIVED_ALREADY = """
SELECT 1 FROM archive WHERE namespace = :namespace AND op_id = :op_id AND source_id = :source_id
"""
WAIT_AS = """
UPDATE unextracted SET failures = :failures, reason = :reason, state = :state
 WHERE namespace = :namespace AND seq = :seq
"""
LOAD_SESSION = """
INSERT INTO sessions ({columns}) VALUES ({values})
ON CONFLICT (namespace, session_id) DO UPDATE SET
    started_at = min(started_at, excluded.started_at),
    last_event_at = max(last_event_at, excluded.last_event_at),
    ended_at = coalesce(ended_at, excluded.ended_at),
    status = CASE status WHEN 'active' THEN excluded.status ELSE status END
 WHERE sessions.namespace = :namespace
"""
SCAN = "SELECT {key}, {columns} FROM {table} WHERE namespace = :namespace"
KEYS = "SELECT {key} FROM {table} WHERE namespace = :namespace"
KEYS_WHERE = "SELECT {key} FROM {table} WHERE namespace = :namespace AND {condition}"
MADE_FROM = """
SELECT t.{key} FROM {table} AS t
 WHERE t.namespace = :namespace AND EXISTS (
       SELECT 1 FROM json_each(t.source_event_ids) AS e
        WHERE e.value IN (SELECT value FROM json_each(:ids)))
"""
SOURCES_OF = """
SELECT DISTINCT e.value FROM memory_records AS r, json_each(r.source_event_ids) AS e
 WHERE r.namespace = :namespace AND r.record_id IN (SELECT value FROM json_each(:ids))
"""
EVENTS_UNDER = """
SELECT event_id FROM events
 WHERE namespace = :namespace
   AND (project_path = :path OR substr(project_path, 1, length(:path) + 1) = :path || '/')
"""
SEQS_OF = """
SELECT seq FROM events
 WHERE +namespace = :namespace AND event_id IN (SELECT value FROM json_each(:ids))
"""
SESSIONS_OF = """
SELECT DISTINCT session_id FROM events
 WHERE namespace = :namespace AND event_id IN (SELECT value FROM json_each(:ids))
"""
EMPTIED_SESSIONS = """
SELECT s.session_id FROM sessions AS s
 WHERE s.namespace = :namespace AND NOT EXISTS (
       SELECT 1 FROM events AS e
        WHERE e.namespace = :namespace AND e.session_id = s.session_id
          AND e.event_id NOT IN (SELECT value FROM json_each(:ids)))
   AND EXISTS (SELECT 1 FROM events AS e
                WHERE e.namespace = :namespace AND e.session_id = s.session_id)
"""
BARE_ENTITIES = """
SELECT n.entity_id FROM entities AS n
 WHERE n.namespace = :namespace
   AND (EXISTS (SELECT 1 FROM facts AS f WHERE f.namespace = :namespace
                   AND f.entity_id = n.entity_id
                   AND f.fact_id IN (SELECT value FROM json_each(:ids)))
        OR EXISTS (SELECT 1 FROM relationships AS r WHERE r.namespace = :namespace
                      AND n.entity_id IN (r.source_id, r.target_id)
                      AND r.relationship_id IN (SELECT value FROM json_each(:ids))))
   AND NOT EXISTS (SELECT 1 FROM facts AS f WHERE f.namespace = :namespace
                      AND f.entity_id = n.entity_id
                      AND f.fact_id NOT IN (SELECT value FROM json_each(:ids)))
   AND NOT EXISTS (SELECT 1 FROM relationships AS r WHERE r.namespace = :namespace
                      AND n.entity_id IN (r.source_id, r.target_id)
                      AND r.relationship_id NOT IN (SELECT value FROM json_each(:ids)))
"""
ABOUT_ENTITIES = """
SELECT 'fact', fact_id FROM facts
 WHERE namespace = :namespace AND entity_id IN (SELECT value FROM json_each(:ids))
UNION ALL
SELECT 'relationship', relationship_id FROM relationships
 WHERE namespace = :namespace AND (source_id IN (SELECT value FROM json_each(:ids))
                                   OR target_id IN (SELECT value FROM json_each(:ids)))
"""
TITLES_OF = """
SELECT title FROM memory_records
 WHERE namespace = :namespace AND record_id IN (SELECT value FROM json_each(:ids))
 ORDER BY valid_from DESC, record_id LIMIT :limit
"""
ERASE_ROWS = """
DELETE FROM {table}
 WHERE namespace = :namespace AND {key} IN (SELECT value FROM json_each(:ids))
"""
ERASE_NAMESPACE = "DELETE FROM namespaces WHERE namespace = :namespace"
ERASE_PROJECT = "DELETE FROM projects WHERE project_id = :project_id"
ERASE_IDENTITIES = "DELETE FROM project_identities WHERE project_id = :project_id"
ERASE_VECTORS = """
DELETE FROM embeddings
 WHERE namespace = :namespace AND source_id IN (SELECT value FROM json_each(:ids))
"""
GET_ROWS = """
SELECT {columns} FROM {table}
 WHERE namespace = :namespace AND {key} IN (SELECT value FROM json_each(:ids))
"""
REWRITE_ROW = "UPDATE {table} SET {changes} WHERE namespace = :namespace AND {key} = :key_"
MOVE_ROWS = """
UPDATE {table} SET namespace = :target
 WHERE namespace = :namespace AND {key} IN (SELECT value FROM json_each(:ids))
"""
MOVE_WAITING = """
UPDATE unextracted SET namespace = :target
 WHERE namespace = :namespace AND seq IN (SELECT value FROM json_each(:ids))
"""
MOVE_VECTORS = """
UPDATE embeddings SET namespace = :target
 WHERE namespace = :namespace AND source_id IN (SELECT value FROM json_each(:ids))
"""
LOOSEN_FACTS = """
UPDATE facts SET entity_id = NULL
 WHERE namespace = :namespace AND fact_id IN (SELECT value FROM json_each(:ids))
   AND entity_id NOT IN (SELECT value FROM json_each(:kept))
"""
MOVE_IDENTITIES = """
UPDATE project_identities SET project_id = :into WHERE project_id = :project_id
"""
ADD_NAMESPACE = "INSERT INTO namespaces (namespace) VALUES (:target) ON CONFLICT DO NOTHING"
PUT_FORGOTTEN = "INSERT INTO forgotten (mark) VALUES (:mark) ON CONFLICT DO NOTHING"
FORGOTTEN = "SELECT 1 FROM forgotten WHERE mark = :mark"
ANY_FORGOTTEN = "SELECT 1 FROM forgotten LIMIT 1"
ORPHAN_VECTORS = """
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
"""
ORPHAN_SESSIONS = """
SELECT s.rowid FROM sessions AS s WHERE NOT EXISTS (
    SELECT 1 FROM events AS e WHERE e.namespace = s.namespace AND e.session_id = s.session_id)
"""
DROP_VECTORS = "DELETE FROM embeddings WHERE row_id IN (SELECT value FROM json_each(:ids))"
DROP_SESSIONS = "DELETE FROM sessions WHERE rowid IN (SELECT value FROM json_each(:ids))"

# --- upkeep -------------------------------------------------------------------------------------

COUNT_EVENTS = """
SELECT kind, count(*) FROM events WHERE :namespace IS NULL OR namespace = :namespace GROUP BY kind
"""
COUNT_RECORDS = """
SELECT kind, coalesce(observation_type, ''), count(*) FROM memory_records
 WHERE :namespace IS NULL OR namespace = :namespace GROUP BY 1, 2
"""
COUNT_SESSIONS = "SELECT count(*) FROM sessions WHERE :namespace IS NULL OR namespace = :namespace"
COUNT_EMBEDDED = """
SELECT count(DISTINCT source_id) FROM embeddings
 WHERE source_kind = 'record' AND (:namespace IS NULL OR namespace = :namespace)
"""
COUNT_CONCEPTS = """
SELECT c.value, count(*) FROM memory_records AS r, json_each(r.concepts) AS c
 WHERE :namespace IS NULL OR r.namespace = :namespace
 GROUP BY c.value ORDER BY count(*) DESC, c.value LIMIT 50
"""


def _tally(table: str, at: str, kind: str, size: str, took: str) -> str:
    return f"""
SELECT {at} / :step, {kind}, count(*), coalesce(sum({size}), 0), coalesce(sum({took}), 0),
       coalesce(max({took}), 0)
  FROM {table}
 WHERE (:namespace IS NULL OR namespace = :namespace) AND {at} >= :since AND {at} < :until
 GROUP BY 1, 2 ORDER BY 1, 2
"""


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


SCRUB_EVENTS = f"""
SELECT seq, hash, {_bare(rows.EVENT_COLUMNS)} FROM events
 WHERE seq > :after ORDER BY seq LIMIT :limit
"""
SCRUB_RECORDS = f"""
SELECT row_id, hash, {_bare(rows.RECORD_HASHED)} FROM memory_records
 WHERE row_id > :after ORDER BY row_id LIMIT :limit
"""
# Not FTS5's own 'rebuild': it cannot read views that unfold JSON.
_INDEXED = {
    "memory_records": "title, summary, facts, concepts, files, detail",
    "entities": "name, aliases, description",
    "facts": "subject, predicate, object",
    "procedures": "name, trigger, steps",
}
REBUILD = tuple(
    statement
    for table, columns in _INDEXED.items()
    for statement in (
        f"INSERT INTO {table}_fts ({table}_fts) VALUES ('delete-all')",
        f"INSERT INTO {table}_fts (rowid, ns, {columns}) "
        f"SELECT row_id, ns, {columns} FROM {table}_text",
    )
)
OPTIMIZE = tuple(f"INSERT INTO {table}_fts ({table}_fts) VALUES ('optimize')" for table in _INDEXED)

# What may look across namespaces, and why.
WHOLE_STORE = {
    "KNOWN_EVENT": "an event id is unique in the whole store; only id, place and digest are read",
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
