"""Schema 3, frozen once released: a session's events by their own clock, as SQLite's schema 8."""

SQL = """
DROP INDEX events_by_session;
CREATE INDEX events_by_session
    ON events (namespace, session_id,
               (CASE WHEN boot_id IS NULL THEN '' ELSE boot_id END),
               (CASE WHEN mono_ns IS NULL THEN seq ELSE mono_ns END), seq);
"""
