"""Schema 2: what calls of language models used, a row by day, namespace, route and purpose."""

_NAMESPACE = "TEXT NOT NULL CHECK (namespace GLOB '/actor/?*/' OR namespace GLOB '/actor/?*/*/')"

SQL = f"""
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
