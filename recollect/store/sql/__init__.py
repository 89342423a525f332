"""What the two engines do alike, written once: in each module the statements, then the logic that
runs them.

In: an `Engine` of SQLite or PostgreSQL. Out: the parts of a `Store`. `sqlite/` and `postgres/` add
what truly differs: connecting, locking, notifying, full text, claims, the schema.

Values are always bound as `$name`, never spliced in. A statement on a namespaced table binds
`$namespace`; the few that may look across namespaces say why (`across`), and a test holds
everything else to the rule.
"""
