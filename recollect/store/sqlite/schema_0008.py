"""Schema 8, frozen once released: a session's events by their own clock.

A session is read as it happened, not as it arrived: by boot, then by the monotonic clock, then by
number (docs/decisions/order.md). Events that carry no clock stand together, by number.
"""

SQL = """
DROP INDEX events_by_session;
CREATE INDEX events_by_session
    ON events (namespace, session_id, coalesce(boot_id, ''), coalesce(mono_ns, seq), seq);
"""
