"""What the two engines do alike, written once: the statements, and the logic that runs them.

In: an `Engine` of SQLite or PostgreSQL. Out: the parts of a `Store`. `sqlite/` and `postgres/` add
what truly differs: connecting, locking, notifying, full text, claims, the schema.
"""
