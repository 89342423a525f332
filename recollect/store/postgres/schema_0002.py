"""Schema 2, frozen once released: what other daemons decide is heard, and events are put at once.

Schema 1 tells of rows that came and went. A stone or a verdict is a row of the log, an alias of a
thing is a changed row, and names and marks of projects stand in tables without a namespace; what a
daemon keeps of them in memory was old until it was restarted.

A transaction that notifies holds a lock of the whole server until it is on the disk, so that events
could only be committed one after the other. They are told by their daemon now, many at a time, and
one call puts one event: what took five messages to the server takes one.
"""

_GRAPH = {
    "entities": "entity_id",
    "relationships": "relationship_id",
    "facts": "fact_id",
    "procedures": "procedure_id",
    "preferences": "preference_id",
}
_ACTS = {
    "insert": ("NEW TABLE AS came", "SELECT * FROM came"),
    "update": (
        "OLD TABLE AS went NEW TABLE AS came",
        "SELECT * FROM went UNION ALL SELECT * FROM came",  # one that moved is told in both places
    ),
    "delete": ("OLD TABLE AS went", "SELECT * FROM went"),
}


def told(table: str, kind: str, key: str, place: str, acts: tuple[str, ...], only: str) -> str:
    """Triggers that tell which rows came, changed or went, by id; never what is in them."""
    parts = []
    for act in acts:
        tables, changed = _ACTS[act]
        parts.append(f"""
CREATE FUNCTION {table}_{act}_told() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM tell('{kind}', place, array_agg(DISTINCT id))
       FROM (SELECT {place} AS place, {key} AS id FROM ({changed}) AS changed WHERE {only}) AS rows
      GROUP BY place;
    RETURN NULL;
END $$;
CREATE TRIGGER {table}_{act}_told AFTER {act.upper()} ON {table}
    REFERENCING {tables} FOR EACH STATEMENT EXECUTE FUNCTION {table}_{act}_told();
""")
    return "".join(parts)


_ALWAYS = ("insert", "update", "delete")
_HOME = "'/actor/' || actor || '/'"

# A project is seen often and renamed seldom: only a new name is worth telling.
_RENAMED = """
CREATE FUNCTION project_renamed_told() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM tell('projects', '/actor/' || NEW.actor || '/', ARRAY[NEW.project_id]);
    RETURN NULL;
END $$;
CREATE TRIGGER project_renamed_told AFTER UPDATE OF name ON projects FOR EACH ROW
    WHEN (OLD.name <> NEW.name) EXECUTE FUNCTION project_renamed_told();
"""

_COLUMNS = {
    "event_id": "text",
    "namespace": "text",
    "session_id": "text",
    "actor_id": "text",
    "kind": "text",
    "body": "text",
    "valid_time": "bigint",
    "utc_offset": "bigint",
    "source": "text",
    "surface": "text",
    "project_path": "text",
    "parent_event_id": "text",
    "content_hash": "text",
    "digest": "text",
    "boot_id": "text",
    "mono_ns": "bigint",
    "transaction_time": "bigint",
    "hash": "bytea",
}
_PUT_EVENT = f"""
DROP TRIGGER events_insert_told ON events;
DROP FUNCTION events_insert_told();

-- One event, once: whether it is new, and where the event of this id stands, with its digest.
CREATE FUNCTION put_event({", ".join(f"new_{name} {of}" for name, of in _COLUMNS.items())})
RETURNS TABLE (fresh boolean, seq bigint, namespace text, digest text) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    number bigint;
BEGIN
    RETURN QUERY SELECT false, e.seq, e.namespace, e.digest FROM events AS e
                  WHERE e.event_id = new_event_id;
    IF FOUND THEN
        RETURN;
    END IF;
    IF new_kind = 'prompt' THEN
        -- Takes the session's row before its prompts are counted, so that two daemons cannot
        -- count alike.
        INSERT INTO sessions AS s (namespace, session_id, surface, status, started_at,
                                   last_event_at)
        VALUES (new_namespace, new_session_id, new_surface, 'active', new_valid_time,
                new_valid_time)
        ON CONFLICT (namespace, session_id) DO UPDATE SET
            started_at = least(s.started_at, excluded.started_at);
        SELECT coalesce(max(e.prompt_number), 0) + 1 INTO number FROM events AS e
         WHERE e.namespace = new_namespace AND e.session_id = new_session_id
           AND e.prompt_number IS NOT NULL;
    END IF;
    RETURN QUERY
    INSERT INTO events AS e ({", ".join(_COLUMNS)}, prompt_number)
    VALUES ({", ".join(f"new_{name}" for name in _COLUMNS)}, number)
    ON CONFLICT (namespace, event_id) DO NOTHING
    RETURNING true, e.seq, e.namespace, e.digest;
    IF NOT FOUND THEN  -- another daemon was faster by a moment
        RETURN QUERY SELECT false, e.seq, e.namespace, e.digest FROM events AS e
                      WHERE e.event_id = new_event_id;
    END IF;
END $$;
"""

# The server's own search by words, with milder weights than ts_rank's own: those put a common word
# in a title before the rare one in the text (docs/decisions/postgres.md has the figures).
_FIND_RECORDS = """
CREATE OR REPLACE FUNCTION find_records(place text, wanted tsquery, terms tsquery[], idf float8[],
                                        most int)
RETURNS TABLE (record_id text, score float8) LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = recollect, pg_temp AS
$$ SELECT r.record_id,
          (SELECT coalesce(sum(i.idf * ts_rank('{0.6, 0.7, 0.8, 1.0}', r.words, i.term, 1)), 0)
             FROM unnest(terms, idf) AS i (term, idf)) AS score
     FROM memory_records AS r
    WHERE may_see(place) AND r.namespace = place AND r.words @@ within(place, wanted)
    ORDER BY score DESC, r.created_at DESC, r.record_id LIMIT most $$;
"""

SQL = (
    "".join(told(table, "graph", key, "namespace", ("update",), "true")
            for table, key in _GRAPH.items())
    + told("operations", "decisions", "op_id", "namespace", _ALWAYS,
           "kind IN ('tombstone', 'feedback')")
    + told("project_identities", "projects", "project_id", _HOME, _ALWAYS, "true")
    + told("projects", "projects", "project_id", _HOME, ("delete",), "true")
    + _RENAMED
    + _PUT_EVENT
    + _FIND_RECORDS
)  # fmt: skip
