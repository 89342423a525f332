"""Schema 9, frozen once released: the table of kinds (core/kinds.py) alone says which kinds exist.

With the kinds in a CHECK, a new one would need a new table and a copy of every memory. SQLite has
no statement for dropping a CHECK; its documentation on ALTER TABLE names this way, which leaves all
rows where they are.
"""

SQL = """
PRAGMA writable_schema = ON;
UPDATE sqlite_schema
   SET sql = replace(sql,
       'CHECK (kind IN (''episode'', ''observation'', ''knowledge'', ''summary''))',
       'CHECK (length(kind) BETWEEN 1 AND 32)')
 WHERE type = 'table' AND name = 'memory_records';
PRAGMA writable_schema = RESET;
"""
