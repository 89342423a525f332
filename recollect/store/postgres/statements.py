"""Statements that only PostgreSQL has, and those that SQLite says in another way.

In: nothing. Out: strings with psycopg's named parameters. Each on a namespaced table binds
`%(namespace)s`; WHOLE_STORE lists the exceptions with their reason, and a test reads them all.
"""

from recollect.store.sql import rows

_EVENT = ", ".join(rows.EVENT_READ)
_EVENT_PUT = [
    "event_id",
    "namespace",
    "session_id",
    "actor_id",
    "kind",
    "body",
    "valid_time",
    "utc_offset",
    "source",
    "surface",
    "project_path",
    "parent_event_id",
    "content_hash",
    "digest",
    "boot_id",
    "mono_ns",
    "transaction_time",
    "hash",
]

# --- instead of SQLite's -------------------------------------------------------------------------

_SPENT = ("calls", "failures", "input_tokens", "output_tokens", "cost_micros")
INSTEAD = {
    "ADD_USAGE": (
        f"INSERT INTO llm_usage AS u ({', '.join(rows.USAGE.columns)}) "
        f"VALUES ({', '.join(f'%({name})s' for name in rows.USAGE.columns)}) "
        "ON CONFLICT (namespace, day, provider, model, purpose) DO UPDATE SET "
        + ", ".join(f"{name} = u.{name} + excluded.{name}" for name in _SPENT)
        + ", unpriced = greatest(u.unpriced, excluded.unpriced)"
    ),
    "FIND_PROJECT": """
SELECT project_id FROM project_identities
 WHERE actor = acting() AND kind = %(kind)s AND value = %(value)s
""",
    "COLUMNS_OF": """
SELECT attname::text FROM pg_attribute
 WHERE attrelid = to_regclass(%(table)s) AND attnum > 0 AND NOT attisdropped
   AND attname NOT IN ('words', 'near', 'claim')
   AND NOT (attname = 'actor' AND %(table)s IN ('projects', 'project_identities'))
 ORDER BY attnum
""",
    "KEY_OF": """
SELECT a.attname::text FROM pg_index AS i, unnest(i.indkey) WITH ORDINALITY AS k (number, place)
  JOIN pg_attribute AS a ON a.attnum = k.number
 WHERE i.indrelid = to_regclass(%(table)s) AND i.indisprimary AND a.attrelid = i.indrelid
 ORDER BY k.place
""",
    "HAS_NO_ROWID": """
SELECT CASE WHEN EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass(%(table)s)
                            AND attname = 'row_id') THEN 0 ELSE 1 END
""",
    "TABLES_WITH_NAMESPACE": """
SELECT c.relname::text FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
 WHERE c.relnamespace = 'recollect'::regnamespace AND c.relkind IN ('r', 'p')
   AND a.attname = 'namespace' AND c.relname NOT IN ('scopes', 'record_events')
 ORDER BY c.relname
""",
    "FORGOTTEN": "SELECT 1 FROM forgotten WHERE actor = acting() AND mark = %(mark)s",
    "COPY_FORGOTTEN": "SELECT mark FROM forgotten WHERE actor = acting()",
    "ANY_FORGOTTEN": "SELECT 1 FROM forgotten WHERE actor = acting() LIMIT 1",
    "ORPHAN_SESSIONS": """
SELECT jsonb_build_array(s.namespace, s.session_id)::text FROM sessions AS s
 WHERE NOT EXISTS (SELECT 1 FROM events AS e
                    WHERE e.namespace = s.namespace AND e.session_id = s.session_id)
""",
    "DROP_SESSIONS": """
DELETE FROM sessions
 WHERE jsonb_build_array(namespace, session_id)::text IN (SELECT value FROM unfold(%(ids)s))
""",
    "COPY_PROJECTS": """
SELECT project_id, name, created_at, last_seen FROM projects
 WHERE actor = acting() ORDER BY project_id
""",
    "COPY_MARKS": """
SELECT kind, value, project_id, first_seen FROM project_identities
 WHERE actor = acting() ORDER BY kind, value
""",
    "TABLE_COLUMNS": """
SELECT attname::text FROM pg_attribute
 WHERE attrelid = to_regclass(%(table)s) AND attnum > 0 AND NOT attisdropped ORDER BY attnum
""",
    "LAST_HEARD": r"""
SELECT surface, max(last_event_at) FROM sessions
 WHERE session_id NOT LIKE 'prove-%%' GROUP BY surface ORDER BY surface
""",
}

# --- connections ---------------------------------------------------------------------------------

INTRODUCE = """
SELECT set_config('recollect.actor', %(actor)s, false),
       set_config('recollect.origin', %(origin)s, false),
       set_config('search_path', 'recollect, public', false),
       set_config('synchronous_commit', 'on', false),
       set_config('idle_in_transaction_session_timeout', '60s', false),
       set_config('lock_timeout', '10s', false),
       set_config('application_name', 'recollect', false)
"""
# Who we are, whether we may act for whom we say and write for them, and whether anybody may now.
MAY = """
SELECT session_user::text,
       my_actor() IS NOT NULL
           OR pg_has_role(session_user, (SELECT relowner FROM pg_class
                                          WHERE oid = 'recollect.scopes'::regclass), 'USAGE'),
       has_table_privilege('recollect.operations', 'INSERT'),
       pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean
"""
BEGIN = "BEGIN"
DEFER = "SET CONSTRAINTS ALL DEFERRED"
BEGIN_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
# Read, decide, write: as SQLite's one writer does, one at a time for each actor.
ONE_WRITER = "SELECT pg_advisory_xact_lock(hashtextextended('recollect ' || %(actor)s, 0))"

ALONE = "SELECT pg_try_advisory_lock(hashtextextended(%(work)s, 0))"

# --- events --------------------------------------------------------------------------------------

PUT_EVENT = (
    "SELECT fresh, seq, namespace, digest FROM put_event("
    + ", ".join(f"new_{name} => %({name})s" for name in _EVENT_PUT)
    + ")"
)
# In one order, so that two daemons that put events of the same sessions never wait for each other.
HOLD_SESSIONS = """
SELECT 1 FROM sessions WHERE namespace = %(namespace)s AND session_id = ANY(%(session_ids)s)
 ORDER BY session_id FOR UPDATE
"""
# What a daemon put, for the others' live feeds; after the fact, and many at a time.
TELL_EVENTS = "SELECT tell('events', %(namespace)s, %(event_ids)s)"
# Daemons that hold claims and have not been heard of for a while. The server's clock decides.
DEAD = """
SELECT DISTINCT split_part(u.claim, '/', 1) FROM unextracted AS u
 WHERE u.namespace = %(namespace)s AND u.claim IS NOT NULL AND NOT EXISTS (
       SELECT 1 FROM runners AS r
        WHERE r.actor = acting() AND r.runner_id = split_part(u.claim, '/', 1)
          AND r.seen_at > clock_timestamp() - make_interval(secs => %(lease_s)s))
"""
# Free, or claimed by a dead daemon. There is no subquery in it, and must be none: when two daemons
# meet at a row, PostgreSQL (15 to 18) checks the condition once more, and with a subquery on a
# table that has a policy the server process died of it (signal 11), and all connections with it.
CLAIMABLE = """
SELECT seq, bytes, failures FROM unextracted
 WHERE namespace = %(namespace)s AND state = 'waiting'
   AND (claim IS NULL OR split_part(claim, '/', 1) = ANY(%(dead)s))
 ORDER BY seq LIMIT %(limit)s FOR UPDATE SKIP LOCKED
"""
CLAIM = """
UPDATE unextracted SET claim = %(claim)s
 WHERE namespace = %(namespace)s AND seq = ANY(%(seqs)s)
"""
CLAIMED_EVENTS = f"""
SELECT {_EVENT} FROM events WHERE namespace = %(namespace)s AND seq = ANY(%(seqs)s) ORDER BY seq
"""
RELEASE = """
UPDATE unextracted SET claim = NULL
 WHERE namespace = %(namespace)s AND seq = ANY(%(seqs)s) AND claim LIKE %(mine)s
"""
RELEASE_ALL = "UPDATE unextracted SET claim = NULL WHERE claim LIKE %(mine)s"
FINISH = """
DELETE FROM unextracted
 WHERE namespace = %(namespace)s AND seq = ANY(%(seqs)s) AND claim LIKE %(mine)s
"""
BEGIN_RUN = """
UPDATE unextracted
   SET failures = failures + 1, reason = %(reason)s,
       state = CASE WHEN failures + 1 >= %(quarantine_after)s THEN 'quarantined' ELSE state END
 WHERE namespace = %(namespace)s AND seq = ANY(%(seqs)s) AND claim LIKE %(mine)s
"""
TAKE_BACK_RUN = """
UPDATE unextracted
   SET failures = greatest(failures - 1, 0), state = 'waiting', claim = NULL,
       reason = CASE WHEN failures > 1 THEN reason END
 WHERE namespace = %(namespace)s AND seq = ANY(%(seqs)s) AND claim LIKE %(mine)s
"""
FAIL = """
UPDATE unextracted SET reason = %(reason)s, claim = NULL
 WHERE namespace = %(namespace)s AND seq = ANY(%(seqs)s) AND claim LIKE %(mine)s
RETURNING state
"""
HELD = """
SELECT seq FROM unextracted AS u
 WHERE seq = ANY(%(seqs)s) AND claim IS NOT NULL AND EXISTS (
       SELECT 1 FROM runners AS r
        WHERE r.actor = acting() AND r.runner_id = split_part(u.claim, '/', 1)
          AND r.seen_at > clock_timestamp() - make_interval(secs => %(lease_s)s))
"""
ALIVE = """
INSERT INTO runners AS r (actor, runner_id) VALUES (acting(), %(runner)s)
ON CONFLICT (actor, runner_id) DO UPDATE SET seen_at = clock_timestamp()
"""
FORGET_RUNNERS = """
DELETE FROM runners WHERE actor = acting() AND seen_at < clock_timestamp() - interval '1 day'
"""
GONE = "DELETE FROM runners WHERE actor = acting() AND runner_id = %(runner)s"

# --- the server's own search ---------------------------------------------------------------------

TERM_COUNTS = "SELECT term, count FROM term_counts(%(namespace)s, %(terms)s, %(most)s::int)"
COUNT_LIVE = "SELECT count(*) FROM memory_records WHERE namespace = %(namespace)s"
ANY_OF = "SELECT phrase(term)::text FROM unnest(%(terms)s::text[]) AS t (term)"
PREFIX = "SELECT prefix(%(text)s)::text"
FIND_RECORDS = """
SELECT record_id, score FROM find_records(
    %(namespace)s, %(wanted)s::tsquery, %(queries)s::tsquery[], %(idf)s::float8[], %(limit)s::int)
"""
FIND_THINGS = """
SELECT kind, id FROM find_things(%(namespace)s, %(wanted)s::tsquery, %(limit)s::int)
"""
FIND_NEAREST = """
SELECT source_id, distance
  FROM find_nearest(%(namespace)s, %(model)s, %(near)s, %(limit)s::int)
"""
THINGS_BY_ID = {
    "entity": f"""
SELECT {", ".join(rows.ENTITY.columns)} FROM entities
 WHERE namespace = %(namespace)s AND entity_id = ANY(%(ids)s)
""",
    "fact": f"""
SELECT {", ".join(rows.FACT.columns)} FROM facts
 WHERE namespace = %(namespace)s AND fact_id = ANY(%(ids)s)
""",
    "procedure": f"""
SELECT {", ".join(rows.PROCEDURE.columns)} FROM procedures
 WHERE namespace = %(namespace)s AND procedure_id = ANY(%(ids)s)
""",
}

SWEEP = "VACUUM events, memory_records, embeddings, archive, operations, receipts, checkpoints"
GO_ON_COUNTING = "SELECT go_on_counting()"

# --- upkeep --------------------------------------------------------------------------------------

SCRUB_EVENTS = f"""
SELECT seq, hash, {", ".join(rows.EVENT_COLUMNS)} FROM events
 WHERE seq > %(after)s ORDER BY seq LIMIT %(limit)s
"""
SCRUB_RECORDS = f"""
SELECT row_id, hash, {", ".join(rows.RECORD_HASHED)} FROM memory_records
 WHERE row_id > %(after)s ORDER BY row_id LIMIT %(limit)s
"""
REBUILD = tuple(
    f"UPDATE {table} SET words = NULL"
    for table in ("memory_records", "entities", "facts", "procedures")
)
BROKEN_INDEXES = """
SELECT c.relname FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
 WHERE c.relnamespace = 'recollect'::regnamespace AND NOT (i.indisvalid AND i.indisready)
"""
UNPROTECTED = """
SELECT relname FROM pg_class
 WHERE relnamespace = 'recollect'::regnamespace AND relkind IN ('r', 'p')
   AND NOT relrowsecurity AND relname NOT IN ('scopes', '_migrations')
"""
NOT_INDEXED = "SELECT count(*) FROM memory_records WHERE words IS NULL"
SIZE = """
SELECT coalesce(sum(pg_total_relation_size(oid)), 0) FROM pg_class
 WHERE relnamespace = 'recollect'::regnamespace AND relkind IN ('r', 'p')
"""

# What may look across namespaces, and why. Row-level security narrows all of them to the actor.
WHOLE_STORE = {
    "RELEASE_ALL": "a daemon that stops gives back all that it claimed; it reads nothing",
    "HELD": "whether events are being extracted; it reads numbers alone",
    "SCRUB_EVENTS": "the scrubber checks hashes of every row; no content leaves it",
    "SCRUB_RECORDS": "the scrubber checks hashes of every row; no content leaves it",
    "NOT_INDEXED": "the check counts rows that search cannot find; it reads nothing",
    "INSTEAD.ORPHAN_SESSIONS": "doctor counts rows without an owner; no content leaves it",
    "INSTEAD.DROP_SESSIONS": "removes exactly the orphans that were counted",
    "INSTEAD.LAST_HEARD": "health tells when a host was last heard of: names and times",
}
