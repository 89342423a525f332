"""Statements that only PostgreSQL has: who we are, claims of several daemons, the server's search.

In: nothing. Out: statements with `$name` for values. Each on a namespaced table binds `$namespace`;
exceptions give their reason (`across`), and a test reads them all.
"""

from recollect.store.sql import rows
from recollect.store.sql.engine import Statement, column_list, for_postgres


def _own(text: str, across: str = "") -> Statement:
    return Statement("", for_postgres(text), across)


# --- connections ---------------------------------------------------------------------------------

INTRODUCE = _own("""
SELECT set_config('recollect.actor', $actor, false),
       set_config('recollect.origin', $origin, false),
       set_config('search_path', 'recollect, public', false),
       set_config('synchronous_commit', 'on', false),
       set_config('idle_in_transaction_session_timeout', '60s', false),
       set_config('lock_timeout', '10s', false),
       set_config('application_name', 'recollect', false)
""")
# Who we are, whether we may act for whom we say and write for them, and whether anybody may now.
MAY = _own("""
SELECT session_user::text,
       my_actor() IS NOT NULL
           OR pg_has_role(session_user, (SELECT relowner FROM pg_class
                                          WHERE oid = 'recollect.scopes'::regclass), 'USAGE'),
       has_table_privilege('recollect.operations', 'INSERT'),
       pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean
""")
BEGIN = _own("BEGIN")
DEFER = _own("SET CONSTRAINTS ALL DEFERRED")
BEGIN_READ = _own("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
# Read, decide, write: as SQLite's one writer does, one at a time for each actor.
ONE_WRITER = _own("SELECT pg_advisory_xact_lock(hashtextextended('recollect ' || $actor, 0))")

ALONE = _own("SELECT pg_try_advisory_lock(hashtextextended($work, 0))")

# --- events --------------------------------------------------------------------------------------

# In one order, so that two daemons that put events of the same sessions never wait for each other.
HOLD_SESSIONS = _own("""
SELECT 1 FROM sessions WHERE namespace = $namespace AND session_id = ANY($session_ids)
 ORDER BY session_id FOR UPDATE
""")
# What a daemon put, for the others' live feeds; after the fact, and many at a time.
TELL_EVENTS = _own("SELECT tell('events', $namespace, $event_ids)")
# Daemons that hold claims and have not been heard of for a while. The server's clock decides.
DEAD = _own("""
SELECT DISTINCT split_part(u.claim, '/', 1) FROM unextracted AS u
 WHERE u.namespace = $namespace AND u.claim IS NOT NULL AND NOT EXISTS (
       SELECT 1 FROM runners AS r
        WHERE r.actor = acting() AND r.runner_id = split_part(u.claim, '/', 1)
          AND r.seen_at > clock_timestamp() - make_interval(secs => $lease_s))
""")
# Free, or claimed by a dead daemon. There is no subquery in it, and must be none: when two daemons
# meet at a row, PostgreSQL (15 to 18) checks the condition once more, and with a subquery on a
# table that has a policy the server process died of it (signal 11), and all connections with it.
CLAIMABLE = _own("""
SELECT seq, bytes, failures FROM unextracted
 WHERE namespace = $namespace AND state = 'waiting'
   AND (claim IS NULL OR split_part(claim, '/', 1) = ANY($dead))
 ORDER BY seq LIMIT $limit FOR UPDATE SKIP LOCKED
""")
CLAIM = _own("""
UPDATE unextracted SET claim = $claim
 WHERE namespace = $namespace AND seq = ANY($seqs)
""")
RELEASE = _own("""
UPDATE unextracted SET claim = NULL
 WHERE namespace = $namespace AND seq = ANY($seqs) AND claim LIKE $mine
""")
RELEASE_ALL = _own(
    "UPDATE unextracted SET claim = NULL WHERE claim LIKE $mine",
    across="a daemon that stops gives back all that it claimed; it reads nothing",
)
HELD = _own(
    """
SELECT seq FROM unextracted AS u
 WHERE seq = ANY($seqs) AND claim IS NOT NULL AND EXISTS (
       SELECT 1 FROM runners AS r
        WHERE r.actor = acting() AND r.runner_id = split_part(u.claim, '/', 1)
          AND r.seen_at > clock_timestamp() - make_interval(secs => $lease_s))
""",
    across="whether events are being extracted; it reads numbers alone",
)
ALIVE = _own("""
INSERT INTO runners AS r (actor, runner_id) VALUES (acting(), $runner)
ON CONFLICT (actor, runner_id) DO UPDATE SET seen_at = clock_timestamp()
""")
FORGET_RUNNERS = _own("""
DELETE FROM runners WHERE actor = acting() AND seen_at < clock_timestamp() - interval '1 day'
""")
GONE = _own("DELETE FROM runners WHERE actor = acting() AND runner_id = $runner")

# --- the server's own search ---------------------------------------------------------------------

TERM_COUNTS = _own("SELECT term, count FROM term_counts($namespace, $terms, $most::int)")
COUNT_LIVE = _own("SELECT count(*) FROM memory_records WHERE namespace = $namespace")
ANY_OF = _own("SELECT phrase(term)::text FROM unnest($terms::text[]) AS t (term)")
PREFIX = _own("SELECT prefix($text)::text")
FIND_RECORDS = _own("""
SELECT record_id, score FROM find_records(
    $namespace, $wanted::tsquery, $queries::tsquery[], $idf::float8[], $limit::int)
""")
FIND_THINGS = _own("""
SELECT kind, id FROM find_things($namespace, $wanted::tsquery, $limit::int)
""")
FIND_NEAREST = _own("""
SELECT source_id, distance
  FROM find_nearest($namespace, $model, $near, $limit::int)
""")
THINGS_BY_ID = {
    "entity": _own(f"""
SELECT {column_list(rows.ENTITY.columns)} FROM entities
 WHERE namespace = $namespace AND entity_id = ANY($ids)
"""),
    "fact": _own(f"""
SELECT {column_list(rows.FACT.columns)} FROM facts
 WHERE namespace = $namespace AND fact_id = ANY($ids)
"""),
    "procedure": _own(f"""
SELECT {column_list(rows.PROCEDURE.columns)} FROM procedures
 WHERE namespace = $namespace AND procedure_id = ANY($ids)
"""),
}

SWEEP = _own(
    "VACUUM events, memory_records, embeddings, archive, operations, receipts, checkpoints"
)
GO_ON_COUNTING = _own("SELECT go_on_counting()")

# --- upkeep --------------------------------------------------------------------------------------

REBUILD = (
    *(
        _own(f"UPDATE {table} SET words = NULL")
        for table in ("memory_records", "entities", "facts", "procedures")
    ),
    _own("LOCK TABLE record_counts IN SHARE ROW EXCLUSIVE MODE"),  # which are made next
)
BROKEN_INDEXES = _own("""
SELECT c.relname FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
 WHERE c.relnamespace = 'recollect'::regnamespace AND NOT (i.indisvalid AND i.indisready)
""")
UNPROTECTED = _own("""
SELECT relname FROM pg_class
 WHERE relnamespace = 'recollect'::regnamespace AND relkind IN ('r', 'p')
   AND NOT relrowsecurity AND relname NOT IN ('scopes', '_migrations')
""")
NOT_INDEXED = _own(
    "SELECT count(*) FROM memory_records WHERE words IS NULL",
    across="the check counts rows that search cannot find; it reads nothing",
)
SIZE = _own("""
SELECT coalesce(sum(pg_total_relation_size(oid)), 0) FROM pg_class
 WHERE relnamespace = 'recollect'::regnamespace AND relkind IN ('r', 'p')
""")
