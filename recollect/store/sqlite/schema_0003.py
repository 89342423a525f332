"""Schema 3: what each run of extraction did, for status, dashboard and alarms."""

SQL = """
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
