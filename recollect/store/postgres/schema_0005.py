"""Schema 5, frozen once released: the table of kinds (core/kinds.py) alone says which kinds exist.

With the kinds in a CHECK, a new one would need a change of every database.
"""

SQL = """
ALTER TABLE memory_records DROP CONSTRAINT memory_records_kind_check;
ALTER TABLE memory_records ADD CONSTRAINT memory_records_kind_check
      CHECK (length(kind) BETWEEN 1 AND 32) NOT VALID;
"""
