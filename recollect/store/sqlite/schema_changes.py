"""What changed in the schema since its first version: steps 2 and on, frozen once released."""

from recollect.store.sqlite.schema_0001 import _NAMESPACE

# Schema 2: what calls of language models used, a row by day, namespace, route and purpose.
SCHEMA_2 = f"""
CREATE TABLE llm_usage (
    day           TEXT NOT NULL CHECK (day GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'),
    namespace     {_NAMESPACE},
    provider      TEXT NOT NULL,
    model         TEXT NOT NULL,
    purpose       TEXT NOT NULL,
    calls         INTEGER NOT NULL,
    failures      INTEGER NOT NULL,
    input_tokens  INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost_micros   INTEGER NOT NULL,
    unpriced      INTEGER NOT NULL CHECK (unpriced IN (0, 1)),
    PRIMARY KEY (day, namespace, provider, model, purpose)
) STRICT, WITHOUT ROWID;
"""

# Schema 3: what each run of extraction did, for status, dashboard and alarms.
SCHEMA_3 = """
CREATE TABLE extraction_runs (
    row_id         INTEGER PRIMARY KEY,
    run_id         TEXT NOT NULL UNIQUE,
    namespace      TEXT NOT NULL
                   CHECK (namespace GLOB '/actor/?*/' OR namespace GLOB '/actor/?*/*/'),
    started_at     INTEGER NOT NULL,
    provider       TEXT NOT NULL,
    outcome        TEXT NOT NULL
                   CHECK (outcome IN ('failed', 'nothing', 'committed', 'uncommitted', 'direct')),
    reason         TEXT NOT NULL,
    events         INTEGER NOT NULL CHECK (events >= 0),
    candidates     INTEGER NOT NULL CHECK (candidates >= 0),
    kept           INTEGER NOT NULL CHECK (kept >= 0),
    dropped        TEXT NOT NULL CHECK (json_type(dropped) = 'object'),
    clusters       INTEGER NOT NULL CHECK (clusters >= 0),
    failed         INTEGER NOT NULL CHECK (failed >= 0),
    merged         INTEGER NOT NULL CHECK (merged >= 0),
    judge_calls    INTEGER NOT NULL CHECK (judge_calls >= 0),
    judge_failures INTEGER NOT NULL CHECK (judge_failures >= 0),
    input_tokens   INTEGER NOT NULL CHECK (input_tokens >= 0),
    output_tokens  INTEGER NOT NULL CHECK (output_tokens >= 0),
    latency_us     TEXT NOT NULL CHECK (json_type(latency_us) = 'object')
) STRICT;
CREATE INDEX extraction_runs_by_time ON extraction_runs (namespace, started_at, run_id);
"""

# Schema 4: a graph whose decisions can be undone.
#
# The archive takes every kind of thing; rows of the graph know the operation that made them so; a
# fact knows when it was last said. `waiting_claims` holds what was heard once of things that are
# not worth an entity yet. `record_events` says which memories come from an event; triggers keep
# it.
_OPERATED = "\n".join(
    f"ALTER TABLE {table} ADD COLUMN op_id TEXT;"
    for table in ("entities", "relationships", "facts", "procedures", "preferences")
)

SCHEMA_4 = f"""
ALTER TABLE archive RENAME TO archive_before;
CREATE TABLE archive (
    row_id      INTEGER PRIMARY KEY,
    op_id       TEXT NOT NULL,
    namespace   {_NAMESPACE},
    source_kind TEXT NOT NULL CHECK (source_kind IN ('record', 'entity', 'fact', 'procedure',
                                                     'preference', 'relationship')),
    source_id   TEXT NOT NULL,
    since       INTEGER NOT NULL,
    until       INTEGER NOT NULL,
    made_by     TEXT,
    payload     TEXT NOT NULL
) STRICT;
INSERT INTO archive
SELECT row_id, op_id, namespace, source_kind, source_id, since, until, made_by, payload
  FROM archive_before;
DROP TABLE archive_before;
CREATE INDEX archive_by_operation ON archive (namespace, op_id);
CREATE INDEX archive_by_source    ON archive (namespace, source_id, until);
CREATE INDEX archive_by_time      ON archive (namespace, until, since);

{_OPERATED}
ALTER TABLE facts ADD COLUMN confirmed_at INTEGER;

CREATE TABLE waiting_claims (
    namespace {_NAMESPACE},
    key       TEXT NOT NULL,
    name      TEXT NOT NULL,
    turns     TEXT NOT NULL CHECK (json_type(turns) = 'array'),
    claims    TEXT NOT NULL CHECK (json_type(claims) = 'array'),
    at        INTEGER NOT NULL,
    PRIMARY KEY (namespace, key)
) STRICT;
CREATE INDEX waiting_claims_by_time ON waiting_claims (namespace, at);

CREATE TABLE record_events (
    event_id TEXT NOT NULL,
    row_id   INTEGER NOT NULL,
    PRIMARY KEY (event_id, row_id)
) STRICT, WITHOUT ROWID;
INSERT OR IGNORE INTO record_events (event_id, row_id)
SELECT e.value, r.row_id FROM memory_records AS r, json_each(r.source_event_ids) AS e;
CREATE TRIGGER record_events_insert AFTER INSERT ON memory_records BEGIN
    INSERT OR IGNORE INTO record_events (event_id, row_id)
    SELECT value, new.row_id FROM json_each(new.source_event_ids);
END;
CREATE TRIGGER record_events_delete BEFORE DELETE ON memory_records BEGIN
    DELETE FROM record_events
     WHERE row_id = old.row_id
       AND event_id IN (SELECT value FROM json_each(old.source_event_ids));
END;
CREATE TRIGGER record_events_before_update BEFORE UPDATE OF source_event_ids ON memory_records BEGIN
    DELETE FROM record_events
     WHERE row_id = old.row_id
       AND event_id IN (SELECT value FROM json_each(old.source_event_ids));
END;
CREATE TRIGGER record_events_after_update AFTER UPDATE OF source_event_ids ON memory_records BEGIN
    INSERT OR IGNORE INTO record_events (event_id, row_id)
    SELECT value, new.row_id FROM json_each(new.source_event_ids);
END;
"""

# Schema 5: marks of what grew old, so that no pass takes the same memory twice.
#
# A mark says what stands for a memory since: the compressed episode for a turn, the distilled one
# for compressed ones. A mark outlives its memory, so that what was forgotten is not made again
# from the events. A day or a week whose summary was written has a mark too (`day:2026-01-31`).
SCHEMA_5 = """
CREATE TABLE compacted (
    namespace TEXT NOT NULL CHECK (namespace GLOB '/actor/?*/' OR namespace GLOB '/actor/?*/*/'),
    source_id TEXT NOT NULL,
    into_id   TEXT NOT NULL,
    at        INTEGER NOT NULL,
    PRIMARY KEY (namespace, source_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX records_by_level ON memory_records (namespace, kind, level, created_at);
CREATE INDEX archive_by_end   ON archive (until);
"""

# Schema 6: marks of erased events.
#
# A mark (`core.event_identity`) is a digest of who said what in which session; nothing can be read
# from it. It stays when an event is erased, so that an import of the host's transcript does not
# bring it back.
SCHEMA_6 = """
CREATE TABLE forgotten (
    mark BLOB PRIMARY KEY CHECK (length(mark) = 16)
) STRICT;
"""

# Schema 7: the newest events of a project without reading all of them.
#
# Extraction, the scribe and the dashboard ask for the last events of a namespace; without this
# index SQLite reads every event of it and sorts them.
SCHEMA_7 = """
CREATE INDEX events_in_order ON events (namespace, seq);
"""

# Schema 8: a session's events by their own clock.
#
# A session is read as it happened, not as it arrived: by boot, then by the monotonic clock, then
# by number (docs/decisions/order.md). Events that carry no clock stand together, by number. CASE
# and not coalesce, because PostgreSQL uses no index for the latter where a policy narrows the
# rows.
SCHEMA_8 = """
DROP INDEX events_by_session;
CREATE INDEX events_by_session
    ON events (namespace, session_id,
               (CASE WHEN boot_id IS NULL THEN '' ELSE boot_id END),
               (CASE WHEN mono_ns IS NULL THEN seq ELSE mono_ns END), seq);
"""

# Schema 9: the table of kinds (core/kinds.py) alone says which kinds exist.
#
# With the kinds in a CHECK, a new one would need a new table and a copy of every memory. SQLite
# has no statement for dropping a CHECK; its documentation on ALTER TABLE names this way, which
# leaves all rows where they are.
SCHEMA_9 = """
PRAGMA writable_schema = ON;
UPDATE sqlite_schema
   SET sql = replace(sql,
       'CHECK (kind IN (''episode'', ''observation'', ''knowledge'', ''summary''))',
       'CHECK (length(kind) BETWEEN 1 AND 32)')
 WHERE type = 'table' AND name = 'memory_records';
PRAGMA writable_schema = RESET;
"""

# Schema 10: what was done in each turn, derived from its events.
#
# A row goes when an event of its session is erased, moved or scrubbed, so that nothing of it is
# left here; what remains of the session is derived again.
SCHEMA_10 = f"""
CREATE TABLE turn_work (
    turn_id    TEXT PRIMARY KEY CHECK (length(turn_id) = 26),
    namespace  {_NAMESPACE},
    session_id TEXT NOT NULL,
    at         INTEGER NOT NULL,
    person     TEXT NOT NULL,
    branch     TEXT NOT NULL,
    actions    TEXT NOT NULL,
    commits    TEXT NOT NULL,
    defines    TEXT NOT NULL,
    terms      TEXT NOT NULL
) STRICT;
CREATE INDEX turn_work_by_time    ON turn_work (namespace, at);
CREATE INDEX turn_work_by_session ON turn_work (namespace, session_id);
CREATE TRIGGER turn_work_erased AFTER DELETE ON events BEGIN
    DELETE FROM turn_work WHERE namespace = old.namespace AND session_id = old.session_id;
END;
CREATE TRIGGER turn_work_changed AFTER UPDATE OF namespace, session_id, body, source ON events BEGIN
    DELETE FROM turn_work WHERE namespace = old.namespace AND session_id = old.session_id;
END;
"""

# Schema 11: a belief has a life.
#
# What a user stated is current; what was inferred, or written by an agent, is proposed. Two
# beliefs about one subject with different values are disputed, the older one by the newer.
# Subjects and values come from the preferences and facts that were made of the same statements,
# also from those that were replaced since.
SCHEMA_11 = """
ALTER TABLE memory_records ADD COLUMN state TEXT NOT NULL DEFAULT 'current'
    CHECK (state IN ('proposed', 'current', 'ended', 'disputed'));
ALTER TABLE memory_records ADD COLUMN scope TEXT NOT NULL DEFAULT 'project'
    CHECK (scope IN ('turn', 'session', 'branch', 'project', 'everywhere'));
ALTER TABLE memory_records ADD COLUMN scope_name TEXT NOT NULL DEFAULT '';
ALTER TABLE memory_records ADD COLUMN subject TEXT NOT NULL DEFAULT '';
ALTER TABLE memory_records ADD COLUMN value TEXT NOT NULL DEFAULT '';
ALTER TABLE memory_records ADD COLUMN polarity TEXT NOT NULL DEFAULT ''
    CHECK (polarity IN ('', 'do', 'avoid'));
ALTER TABLE memory_records ADD COLUMN source_type TEXT NOT NULL DEFAULT 'stated'
    CHECK (source_type IN ('corrected', 'stated', 'observed', 'inferred'));
ALTER TABLE memory_records ADD COLUMN ended_by TEXT NOT NULL DEFAULT '';
CREATE INDEX records_by_subject ON memory_records (namespace, subject) WHERE subject <> '';

UPDATE memory_records
   SET state = CASE WHEN valid_until IS NOT NULL THEN 'ended'
                    WHEN author = 'user' OR pinned = 1 THEN 'current' ELSE 'proposed' END,
       source_type = CASE WHEN author <> 'user' THEN 'inferred'
                          WHEN strategy = 'rules' AND confidence >= 0.95 THEN 'corrected'
                          ELSE 'stated' END,
       scope = CASE WHEN replace(namespace, '/project/', '') <> namespace THEN 'project'
                    ELSE 'everywhere' END
 WHERE kind = 'knowledge';

UPDATE memory_records SET subject = s.subject, value = s.value
  FROM (SELECT namespace, replace(key, '_', ' ') AS subject, value FROM preferences
        UNION
        SELECT namespace, replace(json_extract(payload, '$.thing.key'), '_', ' '),
               json_extract(payload, '$.thing.value')
          FROM archive WHERE source_kind = 'preference') AS s
 WHERE memory_records.kind = 'knowledge' AND memory_records.author = 'user'
   AND memory_records.namespace = s.namespace AND memory_records.title = s.value;

UPDATE memory_records SET subject = s.subject, value = s.object
  FROM (SELECT f.namespace, e.value AS event_id, f.object,
               f.subject || ' ' || replace(f.predicate, '_', ' ') AS subject
          FROM facts AS f, json_each(f.source_event_ids) AS e
         WHERE f.superseded_by IS NOT NULL
            OR f.fact_id IN (SELECT superseded_by FROM facts)) AS s,
       record_events AS e
 WHERE memory_records.kind = 'knowledge' AND memory_records.author = 'user'
   AND memory_records.namespace = s.namespace AND memory_records.row_id = e.row_id
   AND e.event_id = s.event_id
   AND instr(lower(memory_records.title), lower(s.object)) > 0;

UPDATE memory_records
   SET state = 'disputed',
       ended_by = coalesce((
           SELECT n.record_id FROM memory_records AS n
            WHERE n.namespace = memory_records.namespace AND n.subject = memory_records.subject
              AND n.kind = 'knowledge' AND n.state IN ('current', 'disputed')
              AND n.value <> memory_records.value
              AND (n.valid_from, n.record_id) >
                  (memory_records.valid_from, memory_records.record_id)
            ORDER BY n.valid_from DESC, n.record_id DESC LIMIT 1), '')
 WHERE kind = 'knowledge' AND state = 'current' AND subject <> ''
   AND EXISTS (
       SELECT 1 FROM memory_records AS o
        WHERE o.namespace = memory_records.namespace AND o.subject = memory_records.subject
          AND o.kind = 'knowledge' AND o.state IN ('current', 'disputed')
          AND o.value <> memory_records.value);
"""

# Schema 12: memories by when what they tell of happened.
#
# The timeline, reports and the filters by date go by it; an import is stored long after.
SCHEMA_12 = """
CREATE INDEX records_by_happening ON memory_records (namespace, valid_from, record_id);
"""

# Schema 13: how many memories there are of what, and the beliefs of a state or of a time.
#
# The dashboard asks for both with every view; neither is read from all memories any more. Triggers
# keep the counts in the transaction of the write, whoever writes.
_COUNTED = "namespace, kind, type, state, freshness, used"


def _counted(row: str, change: str) -> str:
    return f"""
    INSERT INTO record_counts ({_COUNTED}, count)
    VALUES ({row}.namespace, {row}.kind,
            coalesce({row}.knowledge_type, {row}.observation_type, ''), {row}.state,
            {row}.freshness, {row}.access_count > 0, {change})
    ON CONFLICT DO UPDATE SET count = count + excluded.count;"""


_EMPTIED = "DELETE FROM record_counts WHERE namespace = old.namespace AND count = 0;"

SCHEMA_13 = f"""
CREATE TABLE record_counts (
    namespace {_NAMESPACE},
    kind      TEXT NOT NULL,
    type      TEXT NOT NULL,
    state     TEXT NOT NULL,
    freshness TEXT NOT NULL,
    used      INTEGER NOT NULL,
    count     INTEGER NOT NULL,
    PRIMARY KEY ({_COUNTED})
) STRICT, WITHOUT ROWID;
INSERT INTO record_counts ({_COUNTED}, count)
SELECT namespace, kind, coalesce(knowledge_type, observation_type, ''), state, freshness,
       access_count > 0, count(*)
  FROM memory_records GROUP BY 1, 2, 3, 4, 5, 6;
CREATE TRIGGER record_counts_insert AFTER INSERT ON memory_records BEGIN{_counted("new", "1")}
END;
CREATE TRIGGER record_counts_delete AFTER DELETE ON memory_records BEGIN{_counted("old", "-1")}
    {_EMPTIED}
END;
CREATE TRIGGER record_counts_update AFTER UPDATE OF namespace, kind, knowledge_type,
    observation_type, state, freshness, access_count ON memory_records
WHEN old.namespace <> new.namespace OR old.kind <> new.kind
  OR old.knowledge_type IS NOT new.knowledge_type
  OR old.observation_type IS NOT new.observation_type OR old.state <> new.state
  OR old.freshness <> new.freshness OR (old.access_count > 0) <> (new.access_count > 0)
BEGIN{_counted("old", "-1")}{_counted("new", "1")}
    {_EMPTIED}
END;
CREATE INDEX beliefs_by_state ON memory_records (namespace, state, valid_from, record_id)
    WHERE kind = 'knowledge';
CREATE INDEX beliefs_by_end ON memory_records (namespace, valid_until, record_id)
    WHERE kind = 'knowledge' AND valid_until IS NOT NULL;
CREATE INDEX beliefs_by_use ON memory_records (namespace, last_accessed, record_id)
    WHERE kind = 'knowledge' AND last_accessed IS NOT NULL;
"""

# What a session's start tells is asked for by type and category.
SCHEMA_14 = """
CREATE INDEX beliefs_by_type ON memory_records
    (namespace, knowledge_type, state, valid_from, record_id)
    WHERE kind = 'knowledge';
CREATE INDEX beliefs_by_category ON memory_records
    (namespace, category, state, valid_from, record_id)
    WHERE kind = 'knowledge' AND category IS NOT NULL;
"""

# Schema 15: a session that is resumed runs again.
#
# What happened before its end and comes late, from a spool or a slow hook, does not open it.
SCHEMA_15 = """
DROP TRIGGER events_arrive;
CREATE TRIGGER events_arrive AFTER INSERT ON events BEGIN
    INSERT INTO namespaces (namespace) VALUES (new.namespace) ON CONFLICT DO NOTHING;
    INSERT INTO unextracted (seq, namespace, bytes)
    VALUES (new.seq, new.namespace, octet_length(new.body));
    INSERT INTO sessions (namespace, session_id, surface, status, started_at, last_event_at)
    VALUES (new.namespace, new.session_id, new.surface, 'active', new.valid_time, new.valid_time)
    ON CONFLICT (namespace, session_id) DO UPDATE SET
        started_at = min(started_at, excluded.started_at),
        last_event_at = max(last_event_at, excluded.last_event_at),
        status = CASE WHEN ended_at < excluded.last_event_at THEN 'active' ELSE status END,
        ended_at = CASE WHEN ended_at < excluded.last_event_at THEN NULL ELSE ended_at END;
END;
"""

# Schema 16: names in the text of edits.
#
# They are part of what a turn did; the rows are derived again, from events, at the next start.
SCHEMA_16 = """
ALTER TABLE turn_work ADD COLUMN edited TEXT NOT NULL DEFAULT '{}';
DELETE FROM turn_work;
"""
