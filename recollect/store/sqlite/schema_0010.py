"""Schema 10, frozen once released: what was done in each turn, derived from its events.

A row goes when an event of its session is erased, moved or scrubbed, so that nothing of it is left
here; what remains of the session is derived again.
"""

from recollect.store.sqlite.schema_0001 import _NAMESPACE

SQL = f"""
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
