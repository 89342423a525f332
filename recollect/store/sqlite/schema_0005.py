"""Schema 5: marks of what grew old, so that no pass takes the same memory twice.

A mark says what stands for a memory since: the compressed episode for a turn, the distilled one for
compressed ones. A mark outlives its memory, so that what was forgotten is not made again from the
events. A day or a week whose summary was written has a mark too (`day:2026-01-31`).
"""

SQL = """
CREATE TABLE compacted (
    namespace TEXT NOT NULL CHECK (namespace GLOB '/actor/?*/' OR namespace GLOB '/actor/?*/*/'),
    source_id TEXT NOT NULL,
    into_id   TEXT NOT NULL,
    at        INTEGER NOT NULL,
    PRIMARY KEY (namespace, source_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX records_by_level ON memory_records (namespace, kind, level, created_at);
CREATE INDEX archive_by_end   ON archive (until);
"""
