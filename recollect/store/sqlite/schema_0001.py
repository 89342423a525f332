"""Schema 1, frozen once released: all tables of the first version.

Times are microseconds since 1970 (UTC). Lists are JSON. `since` is when a row version became the
live one, for as-of queries; `op_id` is the operation that made it so. Full-text tables hold no
text of their own: they index views of the rows and are kept by triggers, so a row and its entry
live and die in one transaction.
"""

_FTS_TOKENIZER = "porter unicode61 remove_diacritics 2"


def _full_text(table: str, columns: str, expressions: str) -> str:
    """An index over a table's text, narrowed by namespace inside the index itself."""
    names = ", ".join(f'"{name}"' for name in columns.split())
    changed = ", ".join(["namespace", *columns.split()])
    return f"""
CREATE VIEW {table}_text AS
SELECT t.row_id, n.namespace_id AS ns, {expressions}
  FROM {table} AS t JOIN namespaces AS n USING (namespace);

CREATE VIRTUAL TABLE {table}_fts USING fts5(
    ns, {names}, content='{table}_text', content_rowid='row_id', tokenize='{_FTS_TOKENIZER}'
);
INSERT INTO {table}_fts ({table}_fts, rank) VALUES ('secure-delete', 1);

CREATE TRIGGER {table}_fts_insert AFTER INSERT ON {table} BEGIN
    INSERT INTO namespaces (namespace) VALUES (new.namespace) ON CONFLICT DO NOTHING;
    INSERT INTO {table}_fts (rowid, ns, {names})
    SELECT row_id, ns, {names} FROM {table}_text WHERE row_id = new.row_id;
END;
CREATE TRIGGER {table}_fts_delete BEFORE DELETE ON {table} BEGIN
    INSERT INTO {table}_fts ({table}_fts, rowid, ns, {names})
    SELECT 'delete', row_id, ns, {names} FROM {table}_text WHERE row_id = old.row_id;
END;
CREATE TRIGGER {table}_fts_before_update BEFORE UPDATE OF {changed} ON {table} BEGIN
    INSERT INTO {table}_fts ({table}_fts, rowid, ns, {names})
    SELECT 'delete', row_id, ns, {names} FROM {table}_text WHERE row_id = old.row_id;
END;
CREATE TRIGGER {table}_fts_after_update AFTER UPDATE OF {changed} ON {table} BEGIN
    INSERT INTO namespaces (namespace) VALUES (new.namespace) ON CONFLICT DO NOTHING;
    INSERT INTO {table}_fts (rowid, ns, {names})
    SELECT row_id, ns, {names} FROM {table}_text WHERE row_id = new.row_id;
END;
"""


def _joined(column: str) -> str:
    """A JSON list as lines of text."""
    lines = f"(SELECT group_concat(value, char(10)) FROM json_each(t.{column}))"
    return f"coalesce({lines}, '') AS {column}"


_NAMESPACE = "TEXT NOT NULL CHECK (namespace GLOB '/actor/?*/' OR namespace GLOB '/actor/?*/*/')"
_UNIT = "REAL NOT NULL CHECK ({0} BETWEEN 0 AND 1)"

SQL = f"""
CREATE TABLE namespaces (
    namespace_id INTEGER PRIMARY KEY,
    namespace    {_NAMESPACE} UNIQUE
) STRICT;

CREATE TABLE projects (
    project_id TEXT PRIMARY KEY,
    name       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    last_seen  INTEGER NOT NULL
) STRICT;

CREATE TABLE project_identities (
    kind       TEXT NOT NULL CHECK (kind IN ('git', 'root', 'remote', 'alias')),
    value      TEXT NOT NULL,
    project_id TEXT NOT NULL REFERENCES projects,
    first_seen INTEGER NOT NULL,
    PRIMARY KEY (kind, value)
) STRICT;
CREATE INDEX project_identities_by_project ON project_identities (project_id);

CREATE TABLE events (
    seq              INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id         TEXT NOT NULL UNIQUE CHECK (length(event_id) = 26),
    namespace        {_NAMESPACE},
    session_id       TEXT NOT NULL,
    actor_id         TEXT NOT NULL,
    kind             TEXT NOT NULL
                     CHECK (kind IN ('prompt', 'tool_use', 'session_summary', 'note')),
    body             TEXT NOT NULL,
    valid_time       INTEGER NOT NULL,
    utc_offset       INTEGER NOT NULL CHECK (utc_offset BETWEEN -1440 AND 1440),
    transaction_time INTEGER NOT NULL,
    source           TEXT NOT NULL,
    surface          TEXT NOT NULL,
    project_path     TEXT,
    parent_event_id  TEXT,
    content_hash     TEXT,
    digest           TEXT NOT NULL,
    boot_id          TEXT,
    mono_ns          INTEGER,
    prompt_number    INTEGER CHECK ((prompt_number IS NOT NULL) = (kind = 'prompt')),
    hash             BLOB NOT NULL CHECK (length(hash) = 8)
) STRICT;
CREATE INDEX events_by_time    ON events (namespace, valid_time);
CREATE INDEX events_by_session ON events (namespace, session_id, seq);
CREATE INDEX events_by_prompt  ON events (namespace, session_id, prompt_number)
    WHERE prompt_number IS NOT NULL;
CREATE INDEX events_by_parent  ON events (namespace, parent_event_id)
    WHERE parent_event_id IS NOT NULL;
CREATE INDEX events_by_path    ON events (namespace, project_path);

-- The extraction buffer: the events that no run has finished yet.
CREATE TABLE unextracted (
    seq       INTEGER PRIMARY KEY REFERENCES events ON DELETE CASCADE,
    namespace {_NAMESPACE},
    bytes     INTEGER NOT NULL,
    failures  INTEGER NOT NULL DEFAULT 0,
    reason    TEXT,
    state     TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'quarantined'))
) STRICT;
CREATE INDEX unextracted_by_namespace ON unextracted (namespace, state, seq);

CREATE TABLE sessions (
    namespace     {_NAMESPACE},
    session_id    TEXT NOT NULL,
    surface       TEXT NOT NULL,
    status        TEXT NOT NULL CHECK (status IN ('active', 'completed', 'failed')),
    started_at    INTEGER NOT NULL,
    ended_at      INTEGER,
    last_event_at INTEGER NOT NULL,
    PRIMARY KEY (namespace, session_id)
) STRICT;
CREATE INDEX sessions_by_time ON sessions (namespace, started_at, session_id);

CREATE TRIGGER events_arrive AFTER INSERT ON events BEGIN
    INSERT INTO namespaces (namespace) VALUES (new.namespace) ON CONFLICT DO NOTHING;
    INSERT INTO unextracted (seq, namespace, bytes)
    VALUES (new.seq, new.namespace, octet_length(new.body));
    INSERT INTO sessions (namespace, session_id, surface, status, started_at, last_event_at)
    VALUES (new.namespace, new.session_id, new.surface, 'active', new.valid_time, new.valid_time)
    ON CONFLICT (namespace, session_id) DO UPDATE SET
        started_at = min(started_at, excluded.started_at),
        last_event_at = max(last_event_at, excluded.last_event_at);
END;

CREATE TABLE memory_records (
    row_id           INTEGER PRIMARY KEY,
    record_id        TEXT NOT NULL UNIQUE CHECK (length(record_id) = 29),
    namespace        {_NAMESPACE},
    kind             TEXT NOT NULL
                     CHECK (kind IN ('episode', 'observation', 'knowledge', 'summary')),
    title            TEXT NOT NULL CHECK (length(title) BETWEEN 1 AND 200),
    summary          TEXT NOT NULL CHECK (length(summary) <= 4000),
    detail           TEXT NOT NULL,
    facts            TEXT NOT NULL CHECK (json_type(facts) = 'array'),
    concepts         TEXT NOT NULL CHECK (json_type(concepts) = 'array'),
    files            TEXT NOT NULL CHECK (json_type(files) = 'array'),
    observation_type TEXT CHECK (observation_type IN
                     ('tool_use', 'decision', 'error', 'discovery', 'pattern', 'session_summary')),
    tool_class       TEXT CHECK (tool_class IN
                     ('file-write', 'file-read', 'command', 'research', 'delegation', 'tool-use')),
    knowledge_type   TEXT CHECK (knowledge_type IN
                     ('constraint', 'decision', 'heuristic', 'rejected')),
    category         TEXT,
    level            TEXT NOT NULL CHECK (level IN ('raw', 'compressed', 'distilled')),
    strategy         TEXT NOT NULL CHECK (strategy IN
                     ('rules', 'llm-summary', 'llm-reconciled', 'user', 'import')),
    author           TEXT NOT NULL CHECK (author IN ('user', 'assistant', 'tool', 'file', 'web')),
    session_id       TEXT,
    position         INTEGER CHECK (position >= 0),
    importance       INTEGER NOT NULL CHECK (importance BETWEEN 1 AND 10),
    confidence       {_UNIT.format("confidence")},
    valid_from       INTEGER NOT NULL,
    valid_until      INTEGER,
    expires_at       INTEGER,
    citations        TEXT NOT NULL CHECK (json_type(citations) = 'array'),
    freshness        TEXT NOT NULL
                     CHECK (freshness IN ('unknown', 'fresh', 'drifted', 'orphaned')),
    pinned           INTEGER NOT NULL CHECK (pinned IN (0, 1)),
    source_event_ids TEXT NOT NULL CHECK (json_type(source_event_ids) = 'array'),
    content_hash     TEXT NOT NULL,
    access_count     INTEGER NOT NULL CHECK (access_count >= 0),
    last_accessed    INTEGER,
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL,
    version          INTEGER NOT NULL CHECK (version >= 1),
    since            INTEGER NOT NULL,
    op_id            TEXT,
    hash             BLOB NOT NULL CHECK (length(hash) = 8)
) STRICT;
CREATE INDEX records_by_time    ON memory_records (namespace, created_at, record_id);
CREATE INDEX records_by_kind    ON memory_records (namespace, kind, created_at, record_id);
CREATE INDEX records_by_session ON memory_records (namespace, session_id, position)
    WHERE session_id IS NOT NULL;
CREATE INDEX records_by_hash    ON memory_records (namespace, content_hash);
CREATE INDEX records_by_expiry  ON memory_records (namespace, expires_at)
    WHERE expires_at IS NOT NULL;

CREATE TABLE embeddings (
    row_id      INTEGER PRIMARY KEY,
    namespace   {_NAMESPACE},
    source_kind TEXT NOT NULL CHECK (source_kind IN ('record', 'entity', 'fact', 'procedure')),
    source_id   TEXT NOT NULL,
    part        INTEGER NOT NULL CHECK (part >= 0),
    model       TEXT NOT NULL,
    dim         INTEGER NOT NULL CHECK (dim BETWEEN 1 AND 8192),
    vector      BLOB NOT NULL CHECK (length(vector) = 4 * dim),
    UNIQUE (namespace, source_kind, source_id, part)
) STRICT;
CREATE INDEX embeddings_by_model ON embeddings (namespace, model, source_kind, source_id, part);

CREATE TABLE entities (
    row_id      INTEGER PRIMARY KEY,
    entity_id   TEXT NOT NULL UNIQUE,
    namespace   {_NAMESPACE},
    name        TEXT NOT NULL,
    type        TEXT NOT NULL,
    description TEXT NOT NULL,
    aliases     TEXT NOT NULL CHECK (json_type(aliases) = 'array'),
    importance  INTEGER NOT NULL CHECK (importance BETWEEN 1 AND 10),
    mentions    INTEGER NOT NULL CHECK (mentions >= 0),
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX entities_by_name ON entities (namespace, name);

CREATE TABLE relationships (
    row_id           INTEGER PRIMARY KEY,
    relationship_id  TEXT NOT NULL UNIQUE,
    namespace        {_NAMESPACE},
    source_id        TEXT NOT NULL REFERENCES entities (entity_id) ON DELETE CASCADE,
    target_id        TEXT NOT NULL REFERENCES entities (entity_id) ON DELETE CASCADE,
    type             TEXT NOT NULL,
    confidence       {_UNIT.format("confidence")},
    source_type      TEXT NOT NULL
                     CHECK (source_type IN ('corrected', 'stated', 'observed', 'inferred')),
    source_event_ids TEXT NOT NULL CHECK (json_type(source_event_ids) = 'array'),
    valid_from       INTEGER NOT NULL,
    valid_until      INTEGER,
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL
) STRICT;
CREATE INDEX relationships_by_source ON relationships (namespace, source_id);
CREATE INDEX relationships_by_target ON relationships (namespace, target_id);

CREATE TABLE facts (
    row_id           INTEGER PRIMARY KEY,
    fact_id          TEXT NOT NULL UNIQUE,
    namespace        {_NAMESPACE},
    entity_id        TEXT REFERENCES entities (entity_id) ON DELETE SET NULL,
    subject          TEXT NOT NULL,
    predicate        TEXT NOT NULL,
    object           TEXT NOT NULL,
    confidence       {_UNIT.format("confidence")},
    source_type      TEXT NOT NULL
                     CHECK (source_type IN ('corrected', 'stated', 'observed', 'inferred')),
    author           TEXT NOT NULL CHECK (author IN ('user', 'assistant', 'tool', 'file', 'web')),
    sensitive        INTEGER NOT NULL CHECK (sensitive IN (0, 1)),
    valid_from       INTEGER NOT NULL,
    valid_until      INTEGER,
    superseded_by    TEXT,
    source_event_ids TEXT NOT NULL CHECK (json_type(source_event_ids) = 'array'),
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL
) STRICT;
CREATE INDEX facts_by_entity  ON facts (namespace, entity_id);
CREATE INDEX facts_by_subject ON facts (namespace, subject, predicate);

CREATE TABLE procedures (
    row_id           INTEGER PRIMARY KEY,
    procedure_id     TEXT NOT NULL UNIQUE,
    namespace        {_NAMESPACE},
    name             TEXT NOT NULL,
    trigger          TEXT NOT NULL,
    steps            TEXT NOT NULL CHECK (json_array_length(steps) >= 1),
    confidence       {_UNIT.format("confidence")},
    successes        INTEGER NOT NULL CHECK (successes >= 0),
    failures         INTEGER NOT NULL CHECK (failures >= 0),
    last_used        INTEGER,
    source_event_ids TEXT NOT NULL CHECK (json_type(source_event_ids) = 'array'),
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL
) STRICT;
CREATE INDEX procedures_by_name ON procedures (namespace, name);

CREATE TABLE preferences (
    row_id           INTEGER PRIMARY KEY,
    preference_id    TEXT NOT NULL UNIQUE,
    namespace        {_NAMESPACE},
    category         TEXT NOT NULL,
    key              TEXT NOT NULL,
    value            TEXT NOT NULL,
    strength         {_UNIT.format("strength")},
    source_type      TEXT NOT NULL
                     CHECK (source_type IN ('corrected', 'stated', 'observed', 'inferred')),
    source_event_ids TEXT NOT NULL CHECK (json_type(source_event_ids) = 'array'),
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL
) STRICT;
CREATE INDEX preferences_by_key ON preferences (namespace, category, key);

CREATE TABLE checkpoints (
    checkpoint_id TEXT PRIMARY KEY,
    namespace     {_NAMESPACE},
    session_id    TEXT NOT NULL,
    task          TEXT NOT NULL,
    progress      TEXT NOT NULL,
    next_steps    TEXT NOT NULL CHECK (json_type(next_steps) = 'array'),
    questions     TEXT NOT NULL CHECK (json_type(questions) = 'array'),
    files         TEXT NOT NULL CHECK (json_array_length(files) <= 20),
    snapshot      TEXT NOT NULL CHECK (json_type(snapshot) = 'array'),
    created_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX checkpoints_by_time ON checkpoints (namespace, created_at);

CREATE TABLE receipts (
    receipt_id TEXT PRIMARY KEY,
    namespace  {_NAMESPACE},
    session_id TEXT,
    event_id   TEXT,
    trigger    TEXT NOT NULL,
    query      TEXT NOT NULL,
    injected   TEXT NOT NULL CHECK (json_type(injected) = 'array'),
    detail     TEXT NOT NULL CHECK (json_valid(detail)),
    tokens     INTEGER NOT NULL CHECK (tokens >= 0),
    latency_us INTEGER NOT NULL CHECK (latency_us >= 0),
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX receipts_by_time ON receipts (namespace, created_at, receipt_id);

CREATE TABLE operations (
    seq       INTEGER PRIMARY KEY AUTOINCREMENT,
    op_id     TEXT NOT NULL UNIQUE,
    namespace {_NAMESPACE},
    kind      TEXT NOT NULL CHECK (kind IN ('add', 'edit', 'move', 'merge', 'delete', 'feedback',
                                            'tombstone', 'undo', 'supersede', 'forget')),
    actor     TEXT NOT NULL,
    at        INTEGER NOT NULL,
    targets   TEXT NOT NULL CHECK (json_type(targets) = 'array'),
    created   TEXT NOT NULL CHECK (json_type(created) = 'array'),
    reason    TEXT NOT NULL,
    detail    TEXT NOT NULL CHECK (json_valid(detail)),
    undoes    TEXT
) STRICT;
CREATE INDEX operations_by_namespace ON operations (namespace, seq);
CREATE TRIGGER operations_are_kept BEFORE UPDATE ON operations BEGIN
    SELECT raise(ABORT, 'the operations log is append-only');
END;

CREATE TABLE archive (
    row_id      INTEGER PRIMARY KEY,
    op_id       TEXT NOT NULL,
    namespace   {_NAMESPACE},
    source_kind TEXT NOT NULL CHECK (source_kind IN ('record', 'entity', 'fact', 'procedure')),
    source_id   TEXT NOT NULL,
    since       INTEGER NOT NULL,
    until       INTEGER NOT NULL,
    made_by     TEXT,
    payload     TEXT NOT NULL
) STRICT;
CREATE INDEX archive_by_operation ON archive (namespace, op_id);
CREATE INDEX archive_by_source    ON archive (namespace, source_id, until);
CREATE INDEX archive_by_time      ON archive (namespace, until, since);

{
    _full_text(
        "memory_records",
        "title summary facts concepts files detail",
        "t.title, t.summary, "
        + ", ".join(map(_joined, ("facts", "concepts", "files")))
        + ", t.detail",
    )
}
{_full_text("entities", "name aliases description", f"t.name, {_joined('aliases')}, t.description")}
{_full_text("facts", "subject predicate object", "t.subject, t.predicate, t.object")}
{_full_text("procedures", "name trigger steps", f"t.name, t.trigger, {_joined('steps')}")}

CREATE VIRTUAL TABLE memory_records_vocabulary USING fts5vocab(memory_records_fts, 'row');
"""
