"""What changed in the schema since its second version: steps 3 and on, frozen once released."""

from recollect.store.postgres.schema_0001 import _TEXT, isolated

# Schema 3: a session's events by their own clock, as SQLite's schema 8.
SCHEMA_3 = """
DROP INDEX events_by_session;
CREATE INDEX events_by_session
    ON events (namespace, session_id,
               (CASE WHEN boot_id IS NULL THEN '' ELSE boot_id END),
               (CASE WHEN mono_ns IS NULL THEN seq ELSE mono_ns END), seq);
"""

# Schema 4: notifications that only the actor's own logins can name.
#
# The name of an actor's channel could be computed by every login of the server, and a server does
# not ask who listens or notifies: another login could learn ids of projects and memories, or send
# what looks like a change. Now the name needs a salt that no login can read.
SCHEMA_4 = """
-- Row-level security without a policy: only functions of the owner see the row.
CREATE TABLE channel_salt (salt TEXT NOT NULL);
ALTER TABLE channel_salt ENABLE ROW LEVEL SECURITY;
INSERT INTO channel_salt VALUES (gen_random_uuid()::text);

-- The channel of an actor, for logins that may act for it now; NULL for all others.
CREATE OR REPLACE FUNCTION channel(actor text) RETURNS text LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = recollect, pg_temp AS
$$ SELECT 'recollect_' || md5($1 || salt) FROM channel_salt
    WHERE pg_has_role(session_user, (SELECT c.relowner FROM pg_class AS c
                                      WHERE c.oid = 'recollect.scopes'::regclass), 'USAGE')
       OR EXISTS (SELECT 1 FROM scopes AS s
                   WHERE s.role = session_user AND s.actor = $1
                     AND s.actor = current_setting('recollect.actor', true)) $$;

CREATE OR REPLACE FUNCTION tell(kind text, namespace text, ids text[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    step CONSTANT int := 200;
    name CONSTANT text := channel(split_part(namespace, '/', 3));
    start int;
BEGIN
    IF name IS NULL THEN
        RETURN;
    END IF;
    FOR start IN SELECT generate_series(1, coalesce(cardinality(ids), 0), step) LOOP
        PERFORM pg_notify(name, concat_ws(
            E'\\n', origin(), kind, namespace,
            array_to_string(ids[start : start + step - 1], ',')));
    END LOOP;
END $$;
"""

# Schema 5: the table of kinds (core/kinds.py) alone says which kinds exist.
#
# With the kinds in a CHECK, a new one would need a change of every database.
SCHEMA_5 = """
ALTER TABLE memory_records DROP CONSTRAINT memory_records_kind_check;
ALTER TABLE memory_records ADD CONSTRAINT memory_records_kind_check
      CHECK (length(kind) BETWEEN 1 AND 32) NOT VALID;
"""

# Schema 6: what was done in each turn, derived from its events.
#
# A row goes when an event of its session is erased, moved or scrubbed, so that nothing of it is
# left here; what remains of the session is derived again.
SCHEMA_6 = f"""
CREATE TABLE turn_work (
    turn_id    {_TEXT} NOT NULL,
    namespace  {_TEXT} NOT NULL,
    session_id {_TEXT} NOT NULL,
    at         BIGINT NOT NULL,
    person     {_TEXT} NOT NULL,
    branch     {_TEXT} NOT NULL,
    actions    TEXT NOT NULL,
    commits    TEXT NOT NULL,
    defines    TEXT NOT NULL,
    terms      TEXT NOT NULL,
    PRIMARY KEY (namespace, turn_id)
);
CREATE INDEX turn_work_by_time    ON turn_work (namespace, at);
CREATE INDEX turn_work_by_session ON turn_work (namespace, session_id);
CREATE FUNCTION turn_work_underived() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM turn_work AS w USING (SELECT DISTINCT namespace, session_id FROM went) AS gone
     WHERE w.namespace = gone.namespace AND w.session_id = gone.session_id;
    RETURN NULL;
END $$;
CREATE TRIGGER turn_work_erased AFTER DELETE ON events
    REFERENCING OLD TABLE AS went FOR EACH STATEMENT EXECUTE FUNCTION turn_work_underived();
CREATE TRIGGER turn_work_changed AFTER UPDATE ON events
    REFERENCING OLD TABLE AS went FOR EACH STATEMENT EXECUTE FUNCTION turn_work_underived();
{isolated("turn_work")}
"""

# Schema 7: a belief has a life, as SQLite's schema 11.
#
# What a user stated is current; what was inferred, or written by an agent, is proposed. Two
# beliefs about one subject with different values are disputed, the older one by the newer.
# Subjects and values come from the preferences and facts that were made of the same statements,
# also from those that were replaced since.
SCHEMA_7 = f"""
ALTER TABLE memory_records ADD COLUMN state {_TEXT} NOT NULL DEFAULT 'current'
    CHECK (state IN ('proposed', 'current', 'ended', 'disputed'));
ALTER TABLE memory_records ADD COLUMN scope {_TEXT} NOT NULL DEFAULT 'project'
    CHECK (scope IN ('turn', 'session', 'branch', 'project', 'everywhere'));
ALTER TABLE memory_records ADD COLUMN scope_name {_TEXT} NOT NULL DEFAULT '';
ALTER TABLE memory_records ADD COLUMN subject {_TEXT} NOT NULL DEFAULT '';
ALTER TABLE memory_records ADD COLUMN value {_TEXT} NOT NULL DEFAULT '';
ALTER TABLE memory_records ADD COLUMN polarity {_TEXT} NOT NULL DEFAULT ''
    CHECK (polarity IN ('', 'do', 'avoid'));
ALTER TABLE memory_records ADD COLUMN source_type {_TEXT} NOT NULL DEFAULT 'stated'
    CHECK (source_type IN ('corrected', 'stated', 'observed', 'inferred'));
ALTER TABLE memory_records ADD COLUMN ended_by {_TEXT} NOT NULL DEFAULT '';
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
        SELECT namespace, replace(payload::json -> 'thing' ->> 'key', '_', ' '),
               payload::json -> 'thing' ->> 'value'
          FROM archive WHERE source_kind = 'preference') AS s
 WHERE memory_records.kind = 'knowledge' AND memory_records.author = 'user'
   AND memory_records.namespace = s.namespace AND memory_records.title = s.value;

UPDATE memory_records SET subject = s.subject, value = s.object
  FROM (SELECT f.namespace, e.value AS event_id, f.object,
               f.subject || ' ' || replace(f.predicate, '_', ' ') AS subject
          FROM facts AS f, unfold(f.source_event_ids) AS e
         WHERE f.superseded_by IS NOT NULL
            OR f.fact_id IN (SELECT superseded_by FROM facts)) AS s,
       record_events AS e
 WHERE memory_records.kind = 'knowledge' AND memory_records.author = 'user'
   AND memory_records.namespace = s.namespace AND memory_records.row_id = e.row_id
   AND e.namespace = s.namespace
   AND e.event_id = s.event_id
   AND strpos(lower(memory_records.title), lower(s.object)) > 0;

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

# Schema 8: memories by when what they tell of happened, as SQLite's schema 12.
#
# The timeline, reports and the filters by date go by it; an import is stored long after.
SCHEMA_8 = """
CREATE INDEX records_by_happening ON memory_records (namespace, valid_from, record_id);
"""

# Schema 9: how many memories there are of what, and the beliefs of a state or of a time, as
# SQLite's schema 13.
#
# The dashboard asks for both with every view; neither is read from all memories any more. Triggers
# keep the counts in the transaction of the write, whoever writes.
_COUNTED = "namespace, kind, type, state, freshness, used"
_COUNTS = """SELECT namespace, kind, coalesce(knowledge_type, observation_type, ''), state,
           freshness, CASE WHEN access_count > 0 THEN 1 ELSE 0 END"""


def _counting(act: str, referencing: str, changes: str, emptied: str = "") -> str:
    return f"""
CREATE FUNCTION records_counted_{act}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO record_counts ({_COUNTED}, count)
    SELECT {_COUNTED}, sum(change) FROM ({changes}) AS changed ({_COUNTED}, change)
     GROUP BY {_COUNTED} HAVING sum(change) <> 0
    ON CONFLICT ({_COUNTED}) DO UPDATE SET count = record_counts.count + excluded.count;
    {emptied}
    RETURN NULL;
END $$;
CREATE TRIGGER records_counted_{act} AFTER {act.upper()} ON memory_records
    REFERENCING {referencing} FOR EACH STATEMENT EXECUTE FUNCTION records_counted_{act}();
"""


_CAME, _WENT = f"{_COUNTS}, 1 FROM came", f"{_COUNTS}, -1 FROM went"
_EMPTIED = """DELETE FROM record_counts
     WHERE namespace IN (SELECT namespace FROM went) AND count = 0;"""

SCHEMA_9 = f"""
CREATE TABLE record_counts (
    namespace {_TEXT} NOT NULL,
    kind      {_TEXT} NOT NULL,
    type      {_TEXT} NOT NULL,
    state     {_TEXT} NOT NULL,
    freshness {_TEXT} NOT NULL,
    used      BIGINT NOT NULL,
    count     BIGINT NOT NULL,
    PRIMARY KEY ({_COUNTED})
);
{isolated("record_counts")}
INSERT INTO record_counts ({_COUNTED}, count)
{_COUNTS}, count(*) FROM memory_records GROUP BY 1, 2, 3, 4, 5, 6;
{_counting("insert", "NEW TABLE AS came", _CAME)}
{_counting("delete", "OLD TABLE AS went", _WENT, _EMPTIED)}
{_counting("update", "OLD TABLE AS went NEW TABLE AS came", f"{_CAME} UNION ALL {_WENT}", _EMPTIED)}
CREATE INDEX beliefs_by_state ON memory_records (namespace, state, valid_from, record_id)
    WHERE kind = 'knowledge';
CREATE INDEX beliefs_by_end ON memory_records (namespace, valid_until, record_id)
    WHERE kind = 'knowledge' AND valid_until IS NOT NULL;
CREATE INDEX beliefs_by_use ON memory_records (namespace, last_accessed, record_id)
    WHERE kind = 'knowledge' AND last_accessed IS NOT NULL;
"""

# What a session's start tells is asked for by type and category.
SCHEMA_10 = """
CREATE INDEX beliefs_by_type ON memory_records
    (namespace, knowledge_type, state, valid_from, record_id)
    WHERE kind = 'knowledge';
CREATE INDEX beliefs_by_category ON memory_records
    (namespace, category, state, valid_from, record_id)
    WHERE kind = 'knowledge' AND category IS NOT NULL;
"""

# Schema 11: a session that is resumed runs again, as SQLite's schema 15.
#
# What happened before its end and comes late, from a spool or a slow hook, does not open it.
SCHEMA_11 = """
CREATE OR REPLACE FUNCTION event_arrives() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO unextracted (seq, namespace, bytes)
    VALUES (NEW.seq, NEW.namespace, octet_length(NEW.body));
    INSERT INTO sessions AS s (namespace, session_id, surface, status, started_at, last_event_at)
    VALUES (NEW.namespace, NEW.session_id, NEW.surface, 'active', NEW.valid_time, NEW.valid_time)
    ON CONFLICT (namespace, session_id) DO UPDATE SET
        started_at = least(s.started_at, excluded.started_at),
        last_event_at = greatest(s.last_event_at, excluded.last_event_at),
        status = CASE WHEN s.ended_at < excluded.last_event_at THEN 'active' ELSE s.status END,
        ended_at = CASE WHEN s.ended_at < excluded.last_event_at THEN NULL ELSE s.ended_at END;
    RETURN NULL;
END $$;
"""

# Schema 12: names in the text of edits, as SQLite's schema 16.
#
# They are part of what a turn did; the rows are derived again, from events, at the next start.
SCHEMA_12 = """
ALTER TABLE turn_work ADD COLUMN edited TEXT NOT NULL DEFAULT '{}';
DELETE FROM turn_work;
"""
