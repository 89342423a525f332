"""Schema 3, frozen once released: a session's events by their own clock, as SQLite's schema 8."""

from recollect.store.sqlite import schema_0008

SQL = schema_0008.SQL
