"""Schema 6, frozen once released: marks of erased events.

A mark (`core.event_identity`) is a digest of who said what in which session; nothing can be read
from it. It stays when an event is erased, so that an import of the host's transcript does not bring
it back.
"""

SQL = """
CREATE TABLE forgotten (
    mark BLOB PRIMARY KEY CHECK (length(mark) = 16)
) STRICT;
"""
