"""Schema 8, frozen once released: a session's events by their own clock.

A session is read as it happened, not as it arrived: by boot, then by the monotonic clock, then by
number (docs/decisions/order.md). Events that carry no clock stand together, by number. CASE and not
coalesce, because PostgreSQL uses no index for the latter where a policy narrows the rows.
"""

SQL = """
DROP INDEX events_by_session;
CREATE INDEX events_by_session
    ON events (namespace, session_id,
               (CASE WHEN boot_id IS NULL THEN '' ELSE boot_id END),
               (CASE WHEN mono_ns IS NULL THEN seq ELSE mono_ns END), seq);
"""
