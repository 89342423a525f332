"""Schema 4, frozen once released: a graph whose decisions can be undone.

The archive takes every kind of thing; rows of the graph know the operation that made them so; a
fact knows when it was last said. `waiting_claims` holds what was heard once of things that are not
worth an entity yet. `record_events` says which memories come from an event; triggers keep it.
"""

from recollect.store.sqlite.schema_0001 import _NAMESPACE

_OPERATED = "\n".join(
    f"ALTER TABLE {table} ADD COLUMN op_id TEXT;"
    for table in ("entities", "relationships", "facts", "procedures", "preferences")
)

SQL = f"""
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
