"""Schema 6, frozen once released: what was done in each turn, derived from its events.

A row goes when an event of its session is erased, moved or scrubbed, so that nothing of it is left
here; what remains of the session is derived again.
"""

from recollect.store.postgres.schema_0001 import _TEXT, isolated

SQL = f"""
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
