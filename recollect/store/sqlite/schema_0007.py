"""Schema 7, frozen once released: the newest events of a project without reading all of them.

Extraction, the scribe and the dashboard ask for the last events of a namespace; without this index
SQLite reads every event of it and sorts them.
"""

SQL = """
CREATE INDEX events_in_order ON events (namespace, seq);
"""
