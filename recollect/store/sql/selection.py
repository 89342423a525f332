"""Which rows a selection means, in one namespace.

In: a connection and a selection. Out: keys by table. What is chosen is complete: with an event goes
all that was made from it, with a memory all that it was made from, and nothing that tells of them
is forgotten. Nothing is written here.
"""

import re
from collections.abc import Iterable
from typing import Any

from recollect.core.clock import to_micros
from recollect.core.values import encode
from recollect.store.interface import Chosen, Selection
from recollect.store.sql.engine import Connection, Statement, both, cached, ids_json
from recollect.store.sql.tables import scan_rows, select_keys, tables


@cached
def keys_of_session(table: str, key: str) -> Statement:
    return both(f"SELECT {key} FROM {table} WHERE namespace = $namespace AND session_id = $session")


OLD_BY = {
    "events": "valid_time < $edge",
    "memory_records": "valid_from < $edge AND pinned = 0",
    "facts": "valid_from < $edge",
    "relationships": "valid_from < $edge",
    "receipts": "created_at < $edge",
    "checkpoints": "created_at < $edge",
    "archive": "until < $edge",
    "operations": "at < $edge",
    "procedures": "updated_at < $edge",
    "preferences": "updated_at < $edge",
}


@cached
def old_keys(table: str, key: str) -> Statement:
    return both(f"SELECT {key} FROM {table} WHERE namespace = $namespace AND {OLD_BY[table]}")


@cached
def made_from(table: str, key: str) -> Statement:
    return both(f"""
SELECT t.{key} FROM {table} AS t
 WHERE t.namespace = $namespace AND EXISTS (
       SELECT 1 FROM {{unfold}}(t.source_event_ids) AS e
        WHERE e.value IN {{texts[ids]}})
""")


RECORDS_NAMED = both("""
SELECT record_id FROM memory_records
 WHERE namespace = $namespace AND record_id IN {texts[ids]}
""")
EVENTS_NAMED = both("""
SELECT event_id FROM events WHERE namespace = $namespace AND event_id IN {texts[ids]}
""")
SOURCES_OF = both("""
SELECT DISTINCT e.value FROM memory_records AS r, {unfold}(r.source_event_ids) AS e
 WHERE r.namespace = $namespace AND r.record_id IN {texts[ids]}
""")
EVENTS_UNDER = both("""
SELECT event_id FROM events
 WHERE namespace = $namespace
   AND (project_path = $path OR substr(project_path, 1, length($path) + 1) = $path || '/')
""")
SESSIONS_OF = both("""
SELECT DISTINCT session_id FROM events
 WHERE namespace = $namespace AND event_id IN {texts[ids]}
""")
EMPTIED_SESSIONS = both("""
SELECT s.session_id FROM sessions AS s
 WHERE s.namespace = $namespace AND NOT EXISTS (
       SELECT 1 FROM events AS e
        WHERE e.namespace = $namespace AND e.session_id = s.session_id
          AND e.event_id NOT IN {texts[ids]})
   AND EXISTS (SELECT 1 FROM events AS e
                WHERE e.namespace = $namespace AND e.session_id = s.session_id)
""")
BARE_ENTITIES = both("""
SELECT n.entity_id FROM entities AS n
 WHERE n.namespace = $namespace
   AND (EXISTS (SELECT 1 FROM facts AS f WHERE f.namespace = $namespace
                   AND f.entity_id = n.entity_id
                   AND f.fact_id IN {texts[ids]})
        OR EXISTS (SELECT 1 FROM relationships AS r WHERE r.namespace = $namespace
                      AND n.entity_id IN (r.source_id, r.target_id)
                      AND r.relationship_id IN {texts[ids]}))
   AND NOT EXISTS (SELECT 1 FROM facts AS f WHERE f.namespace = $namespace
                      AND f.entity_id = n.entity_id
                      AND f.fact_id NOT IN {texts[ids]})
   AND NOT EXISTS (SELECT 1 FROM relationships AS r WHERE r.namespace = $namespace
                      AND n.entity_id IN (r.source_id, r.target_id)
                      AND r.relationship_id NOT IN {texts[ids]})
""")
ABOUT_ENTITIES = both("""
SELECT 'fact', fact_id FROM facts
 WHERE namespace = $namespace AND entity_id IN {texts[ids]}
UNION ALL
SELECT 'relationship', relationship_id FROM relationships
 WHERE namespace = $namespace AND (source_id IN {texts[ids]}
                                   OR target_id IN {texts[ids]})
""")
TITLES_OF = both("""
SELECT title FROM memory_records
 WHERE namespace = $namespace AND record_id IN {texts[ids]}
 ORDER BY valid_from DESC, record_id LIMIT $limit
""")

_TITLES = 8
_SHORTEST = 3  # a shorter name would mean nearly everything
_EVENT_ID = re.compile(r'"([0-7][0-9A-Z]{25})"')
_ULID = re.compile(r"(?:mr_)?[0-7][0-9A-HJKMNP-TV-Z]{25}")
_RECORD_ID = re.compile(r"mr_[0-9A-Z]{26}")
# Kept, with what they say taken out: who decided something, when, and about which ids.
BLANKED = "operations"


class Choice:
    """Keys by table, growing until it is closed."""

    def __init__(self, db: Connection, namespace: str, what: Selection) -> None:
        self._db = db
        self.namespace = namespace
        self.tables = tables(db)
        self.keys: dict[str, set[Any]] = {name: set() for name in self.tables}
        self._archived: set[str] = set()  # meant by id, and no more than an earlier version
        if what.everything:
            self._all()
            return
        self._direct(what)
        if what.before is None:
            self._made_from_events()
        self._bare_entities()
        self._traces()

    def chosen(self) -> Chosen:
        records = sorted(self.keys["memory_records"])
        values = {"namespace": self.namespace, "ids": ids_json(records), "limit": _TITLES}
        return Chosen(
            namespace=self.namespace,
            counts={self.tables[name].kind: len(keys) for name, keys in self.keys.items() if keys},
            record_ids=tuple(records),
            titles=tuple(title for (title,) in self._db.run(TITLES_OF, values)),
        )

    def things(self) -> list[str]:
        """Ids of everything that can have a vector."""
        return [
            key
            for name in ("memory_records", "entities", "facts", "procedures")
            for key in sorted(self.keys[name])
        ]

    # --- what is meant ---

    def _all(self) -> None:
        for table in self.tables.values():
            self.keys[table.name].update(self._column(select_keys(table.name, table.key)))

    def _direct(self, what: Selection) -> None:
        if what.record_ids:
            self.keys["memory_records"].update(
                self._column(RECORDS_NAMED, ids=ids_json(what.record_ids))
            )
            ids = ids_json(sorted(self.keys["memory_records"]))
            values = {"namespace": self.namespace, "ids": ids}
            sources = {event for (event,) in self._db.run(SOURCES_OF, values)}
            for key, source, payload in self._rows("archive", "source_id", "payload"):
                if source in what.record_ids:
                    self._archived.add(source)
                    self.keys["archive"].add(key)
                    sources.update(_EVENT_ID.findall(payload))
            self.keys["events"].update(self._column(EVENTS_NAMED, ids=ids_json(sorted(sources))))
        if what.session_id is not None:
            for name in ("events", "memory_records", "receipts", "checkpoints", "sessions"):
                statement = keys_of_session(name, self.tables[name].key)
                self.keys[name].update(self._column(statement, session=what.session_id))
        if what.path is not None:
            values = {"namespace": self.namespace, "path": what.path.rstrip("/")}
            self.keys["events"].update(event for (event,) in self._db.run(EVENTS_UNDER, values))
        if what.before is not None:
            self._older(to_micros(what.before))
        if what.words:
            words = self._also_called(what.words) if what.whole else what.words
            self._mentions(words, whole=what.whole)

    def _also_called(self, words: tuple[str, ...]) -> tuple[str, ...]:
        """All names that are known here of whom these name: a backup may know more than the store
        does by now."""
        wanted = {word.casefold() for word in words}
        found = dict.fromkeys(words)
        for _, name, aliases in self._rows("entities", "name", "aliases"):
            names = [name, *_strings(aliases)]
            if wanted.intersection(one.casefold() for one in names):
                found |= dict.fromkeys(one for one in names if len(one) >= _SHORTEST)
        return tuple(found)

    def _older(self, edge: int) -> None:
        for name in OLD_BY:
            statement = old_keys(name, self.tables[name].key)
            self.keys[name].update(self._column(statement, edge=edge))

    def _mentions(self, words: Iterable[str], *, whole: bool) -> None:
        """Rows that hold one of these texts, in any column."""
        pattern = _pattern(words, whole=whole)
        for table in self.tables.values():
            statement = scan_rows(table.name, table.key, table.columns)
            for key, *cells in self._db.run(statement, {"namespace": self.namespace}):
                if any(isinstance(cell, str) and pattern.search(cell) for cell in cells):
                    self.keys[table.name].add(key)
        ids = ids_json(sorted(self.keys["entities"]))
        for kind, key in self._db.run(ABOUT_ENTITIES, {"namespace": self.namespace, "ids": ids}):
            self.keys["facts" if kind == "fact" else "relationships"].add(key)

    # --- what follows from it ---

    def _made_from_events(self) -> None:
        values = {"namespace": self.namespace, "ids": ids_json(sorted(self.keys["events"]))}
        for table in self.tables.values():
            if table.has_sources:
                statement = made_from(table.name, table.key)
                self.keys[table.name].update(key for (key,) in self._db.run(statement, values))

    def _bare_entities(self) -> None:
        """Entities of which nothing else is known go too, with what ties them to others."""
        known = sorted(self.keys["facts"] | self.keys["relationships"])
        bare = {"namespace": self.namespace, "ids": ids_json(known)}
        self.keys["entities"].update(key for (key,) in self._db.run(BARE_ENTITIES, bare))
        ids = ids_json(sorted(self.keys["entities"]))
        for kind, key in self._db.run(ABOUT_ENTITIES, {"namespace": self.namespace, "ids": ids}):
            if kind == "relationship":
                self.keys["relationships"].add(key)

    def _traces(self) -> None:
        """Rows that tell of what is chosen: versions, operations, receipts, checkpoints."""
        events = {"namespace": self.namespace, "ids": ids_json(sorted(self.keys["events"]))}
        self.keys["sessions"].update(key for (key,) in self._db.run(EMPTIED_SESSIONS, events))
        gone = {
            key
            for name in (
                "memory_records",
                "entities",
                "facts",
                "procedures",
                "preferences",
                "relationships",
            )
            for key in self.keys[name]
        } | self._archived
        chosen = gone | self.keys["events"]
        for key, source, payload in self._rows("archive", "source_id", "payload"):
            if source in gone or chosen.intersection(_EVENT_ID.findall(payload)):
                self.keys["archive"].add(key)
                gone.add(source)
        for key, targets, created, detail in self._rows(
            "operations", "targets", "created", "detail"
        ):
            spoken_of = [*_strings(targets), *_strings(created), *_RECORD_ID.findall(detail)]
            if gone.intersection(spoken_of):
                self.keys["operations"].add(key)
        for key, event_id, injected, detail in self._rows(
            "receipts", "event_id", "injected", "detail"
        ):
            if event_id in chosen or gone.intersection(_RECORD_ID.findall(injected + detail)):
                self.keys["receipts"].add(key)
        for table in self.tables.values():
            if table.kind == table.name:  # of a kind that nobody here knows: by ids that it names
                for key, *cells in self._rows(table.name, *table.columns):
                    told = " ".join(cell for cell in cells if isinstance(cell, str))
                    if chosen.intersection(_ULID.findall(told)):
                        self.keys[table.name].add(key)
        # Where a session stood is told in words that may be anybody's of it.
        sessions = {key for (key,) in self._db.run(SESSIONS_OF, events)}
        for key, session, snapshot in self._rows("checkpoints", "session_id", "snapshot"):
            if session in sessions or gone.intersection(_RECORD_ID.findall(snapshot)):
                self.keys["checkpoints"].add(key)

    # --- reading ---

    def _column(self, statement: Statement, **values: Any) -> list[Any]:
        bound = {"namespace": self.namespace, **values}
        return [key for (key,) in self._db.run(statement, bound)]

    def _rows(self, name: str, *columns: str) -> list[tuple[Any, ...]]:
        statement = scan_rows(name, self.tables[name].key, columns)
        return list(self._db.run(statement, {"namespace": self.namespace}))


def _pattern(words: Iterable[str], *, whole: bool) -> re.Pattern[str]:
    """These texts, as they are or as they stand inside JSON, or inside JSON inside JSON."""
    forms: dict[str, None] = {}
    for word in words:
        once = encode(word).decode()[1:-1]
        for form in (word, once, encode(once).decode()[1:-1]):
            forms[form] = None
    if whole:
        return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, forms))})(?!\w)", re.IGNORECASE)
    return re.compile("|".join(map(re.escape, forms)), re.IGNORECASE)


def _strings(raw: str) -> list[str]:
    return re.findall(r'"([^"\\]+)"', raw)
