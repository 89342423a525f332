"""Memories: putting, reading, editing, deleting; what is displaced goes to the archive.

In: records. Out: records, pages, operations. A collision of ids raises RecordExists; a value that
a CHECK refuses raises BadInput.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

from recollect.core.clock import Clock, from_micros, to_micros
from recollect.core.errors import BadInput, NotFound, RecordExists
from recollect.core.kinds import KnowledgeType
from recollect.core.values import (
    ArchivedVersion,
    BeliefState,
    Citation,
    Freshness,
    Operation,
    Record,
    Vector,
    encode,
)
from recollect.store.interface import (
    BeliefTime,
    Cursor,
    FilesNamed,
    Hit,
    Page,
    RecordCount,
    RecordFilter,
)
from recollect.store.sql import rows
from recollect.store.sql.engine import (
    END,
    AlreadyThere,
    Connection,
    ConstraintFailed,
    Engine,
    both,
    ids_json,
    insert_into,
    micros,
)
from recollect.store.sql.operations import ARCHIVE
from recollect.store.sql.record_lists import (
    BELIEFS_BY,
    COUNT_BY,
    COUNTED,
    KEPT_COUNTS,
    LAST_IN_SESSION,
    LATER_HAPPENING,
    LIST_BY_HAPPENING,
    LIST_FEW_BY_HAPPENING,
    LIST_FEW_RECORDS,
    LIST_RECORDS,
    NEWER,
    RECORD,
    Key,
    fits,
    happened_at,
    page_of,
    position_of,
    stored_at,
    values_of,
)
from recollect.store.sql.search import MAX_TERMS, like_pattern
from recollect.store.sql.vectors import DELETE_VECTORS, put_vector, vectors_of

PUT_RECORD = both(insert_into("memory_records", (*rows.RECORD.columns, "since", "op_id", "hash")))
GET_RECORDS = both(f"""
SELECT {RECORD} FROM memory_records
 WHERE {{by_key}}namespace = $namespace AND record_id IN {{texts[record_ids]}}
""")
IDS_ENDING = both(r"""
SELECT record_id FROM memory_records
 WHERE namespace = $namespace AND record_id {like} $ending ESCAPE '\'
UNION
SELECT source_id FROM archive
 WHERE namespace = $namespace AND source_kind = 'record' AND source_id {like} $ending ESCAPE '\'
 LIMIT 5
""")
RECORD_STATE = both("""
SELECT record_id, since, op_id FROM memory_records
 WHERE {by_key}namespace = $namespace AND record_id IN {texts[record_ids]}
""")


RECORDS_OF_EVENTS = both("""
SELECT e.event_id, r.record_id
  FROM record_events AS e JOIN memory_records AS r USING ({key[row_id]})
 WHERE r.namespace = $namespace AND e.event_id IN {texts[event_ids]}
 ORDER BY e.event_id, r.record_id
""")
COUNT_BY_FILE = both("""
SELECT f.value, count(*)
  FROM memory_records AS r, {unfold}(r.files) AS f
 WHERE r.namespace = $namespace AND r.files <> '[]'
 GROUP BY 1
""")
STALE_CITATIONS = both("""
SELECT c.value, count(*)
  FROM memory_records AS r, {unfold}(r.citations) AS c
 WHERE r.namespace = $namespace AND r.freshness IN ('drifted', 'orphaned') AND r.citations <> '[]'
 GROUP BY 1
""")
DELETE_RECORD = both("""
DELETE FROM memory_records WHERE namespace = $namespace AND record_id = $record_id
""")
TOUCH_RECORDS = both("""
UPDATE memory_records SET access_count = access_count + 1, last_accessed = $at
 WHERE {by_key}namespace = $namespace AND record_id IN {texts[record_ids]}
""")
VERSIONS = both("""
SELECT payload FROM archive
 WHERE namespace = $namespace AND source_kind = 'record' AND source_id = $source_id
 ORDER BY until DESC, row_id DESC
""")
ARCHIVED_AT = both("""
SELECT payload FROM archive
 WHERE namespace = $namespace AND source_kind = 'record'
   AND until > $as_of AND since <= $as_of
""")
UNMARK = both("DELETE FROM compacted WHERE namespace = $namespace AND source_id = $source_id")
SET_FRESHNESS = both("""
UPDATE memory_records SET freshness = $freshness
 WHERE namespace = $namespace AND record_id = $record_id AND freshness <> $freshness
""")
EARLIEST = -(1 << 62)
# The texts that vectors are made of.
_EMBEDDED = ("title", "summary", "facts", "concepts", "detail")


class SqlRecords:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def put(
        self, records: Sequence[Record], vectors: Sequence[Vector] = (), *, over: bool = False
    ) -> list[Record]:
        clock = self._engine.clock

        def work(db: Connection) -> list[Record]:
            stored = [put(db, record, clock, over=over) for record in records]
            for vector in vectors:
                put_vector(db, vector)
            return stored

        return self._engine.write(work)

    def get(self, namespace: str, record_ids: Sequence[str]) -> list[Record]:
        with self._engine.reader() as db:
            return read(db, namespace, record_ids)

    def ending(self, namespace: str, ending: str) -> list[str]:
        with self._engine.reader() as db:
            values = {"namespace": namespace, "ending": like_pattern(ending)[:-1]}
            found = db.run(IDS_ENDING, values)
            return [str(row[0]) for row in found]

    def page(
        self,
        namespace: str,
        where: RecordFilter | None = None,
        *,
        before: Cursor | None = None,
        after: Cursor | None = None,
        limit: int = 50,
        as_of: datetime | None = None,
        by_position: bool = False,
        by_happening: bool = False,
    ) -> Page[Record]:
        key = happened_at if by_happening else stored_at
        where = where or RecordFilter()
        values = {"namespace": namespace, **values_of(where), "limit": limit + 1}
        if by_position:
            values["limit"] = limit
            return Page(tuple(map(rows.RECORD.decode, self._engine.rows(LAST_IN_SESSION, values))))
        if after is not None:
            values |= {"after_number": after.number, "after_id": after.id}
            later = self._engine.rows(LATER_HAPPENING if by_happening else NEWER, values)
            return page_of(list(map(rows.RECORD.decode, later)), limit, key)
        values |= {"as_of": micros(as_of), **(END if before is None else position_of(before))}
        few = where.session_id is not None or where.content_hash is not None
        if by_happening:
            listing = LIST_FEW_BY_HAPPENING if few else LIST_BY_HAPPENING
        else:
            listing = LIST_FEW_RECORDS if few else LIST_RECORDS
        with self._engine.reader() as db:
            listed = db.run(listing, values)
            found = [rows.RECORD.decode(row) for row in listed]
            if as_of is not None:
                found += _archived(db, namespace, as_of, where, before, key)
        found.sort(key=key, reverse=True)
        return page_of(found, limit, key)

    def counts(self, namespace: str, where: RecordFilter | None = None) -> list[RecordCount]:
        narrowed = values_of(where or RecordFilter())
        given = {name for name, value in narrowed.items() if value is not None}
        kept = given.issubset(COUNTED.split(", "))
        values = {"namespace": namespace, **narrowed}
        return [
            RecordCount(kind, type_, state, freshness, bool(used), count)
            for kind, type_, state, freshness, used, count in self._engine.rows(
                KEPT_COUNTS if kept else COUNT_BY, values
            )
        ]

    def beliefs(
        self,
        namespace: str,
        *,
        by: BeliefTime = "valid_from",
        since: datetime | None = None,
        state: BeliefState | None = None,
        used: bool | None = None,
        type: KnowledgeType | None = None,
        category: str | None = None,
        limit: int,
    ) -> list[Record]:
        values = {
            "namespace": namespace,
            "since": EARLIEST if since is None else to_micros(since),
            "state": state,
            "used": None if used is None else int(used),
            "type": type,
            "category": category,
            "limit": limit,
        }
        return list(map(rows.RECORD.decode, self._engine.rows(BELIEFS_BY[by], values)))

    def files(self, namespace: str) -> FilesNamed:
        with self._engine.reader() as db:
            named = db.run(COUNT_BY_FILE, {"namespace": namespace}).fetchall()
            cited = db.run(STALE_CITATIONS, {"namespace": namespace}).fetchall()
        decoded = [(msgspec.json.decode(one, type=Citation), count) for one, count in cited]
        return FilesNamed([(path, count) for path, count in named], decoded)

    def search(
        self,
        namespaces: Sequence[str],
        query: str,
        limit: int,
        *,
        raw: bool = False,
        most_terms: int = MAX_TERMS,
    ) -> list[Hit]:
        with self._engine.reader() as db:
            return self._engine.full_text.records(
                db, namespaces, query, limit, raw=raw, most_terms=most_terms
            )

    def touch(
        self,
        namespace: str,
        used: Sequence[str],
        at: datetime,
        freshness: Mapping[str, Freshness] | None = None,
    ) -> int:
        values = {"namespace": namespace, "record_ids": ids_json(used), "at": to_micros(at)}

        def work(db: Connection) -> int:
            if used:
                db.run(TOUCH_RECORDS, values)
            changed = 0
            for record_id, state in (freshness or {}).items():
                one = {"namespace": namespace, "record_id": record_id, "freshness": state}
                db.run(SET_FRESHNESS, one)
                changed += db.changes()
            return changed

        return self._engine.write(work)

    def of_events(self, namespace: str, event_ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        values = {"namespace": namespace, "event_ids": ids_json(event_ids)}
        found: dict[str, tuple[str, ...]] = {}
        for event_id, record_id in self._engine.rows(RECORDS_OF_EVENTS, values):
            found[event_id] = (*found.get(event_id, ()), record_id)
        return found


def put(
    db: Connection, record: Record, clock: Clock, *, over: bool = False, op_id: str | None = None
) -> Record:
    """Put a memory, or `over` what stands under its id."""
    if over and (before := read(db, record.namespace, [record.record_id])):
        _remove(db, record.namespace, record.record_id)
        # It says something else now: what was made of it before does not stand for it.
        db.run(UNMARK, {"namespace": record.namespace, "source_id": record.record_id})
        record = msgspec.structs.replace(record, created_at=before[0].created_at)
    stamped = stamp(record, clock)
    insert(db, stamped, since=stamped.updated_at, op_id=op_id)
    return stamped


def change(db: Connection, changed: Sequence[Record], operation: Operation) -> list[Record]:
    """Put new versions of memories that exist; the old ones go to the archive. A memory whose text
    stays keeps its vectors."""
    stored = []
    for record in changed:
        found = read(db, record.namespace, [record.record_id])
        if not found:
            raise NotFound(f"there is no memory {record.record_id}")
        before = found[0]
        vectors = vectors_of(db, record.namespace, "record", record.record_id)
        displace(db, record.namespace, [record.record_id], operation)
        version = _next_version(db, before)
        now = msgspec.structs.replace(
            record, created_at=before.created_at, updated_at=operation.at, version=version
        )
        insert(db, now, since=operation.at, op_id=operation.op_id)
        if all(getattr(now, name) == getattr(before, name) for name in _EMBEDDED):
            for vector in vectors:
                put_vector(db, vector)
        stored.append(now)
    return stored


def stamp(record: Record, clock: Clock) -> Record:
    """A record with the times that the store gives it."""
    now = clock.now()
    return msgspec.structs.replace(
        record, created_at=record.created_at or now, updated_at=record.updated_at or now
    )


def insert(
    db: Connection, record: Record, *, since: datetime | None, op_id: str | None = None
) -> None:
    assert since is not None and record.created_at is not None
    row = rows.RECORD.encode(record)
    row["since"] = to_micros(since)
    row["op_id"] = op_id
    row["hash"] = rows.row_hash(row, rows.RECORD_HASHED)
    try:
        db.run(PUT_RECORD, row)
    except AlreadyThere as error:
        raise RecordExists(f"there is already a memory {record.record_id}") from error
    except ConstraintFailed as error:
        raise BadInput(f"memory {record.record_id} is not valid: {error.reason}") from error


def read(db: Connection, namespace: str, record_ids: Sequence[str]) -> list[Record]:
    """The records that exist, in the order asked for, each once."""
    values = {"namespace": namespace, "record_ids": ids_json(record_ids)}
    found = {row[0]: rows.RECORD.decode(row) for row in db.run(GET_RECORDS, values)}
    return [found[record_id] for record_id in dict.fromkeys(record_ids) if record_id in found]


def _next_version(db: Connection, record: Record) -> int:
    """A number that the memory never had: an undo brings an old number back, and whoever read the
    version that was undone must not take the next one for it."""
    values = {"namespace": record.namespace, "source_id": record.record_id}
    archived = (
        msgspec.json.decode(payload, type=ArchivedVersion).record.version
        for (payload,) in db.run(VERSIONS, values)
    )
    return 1 + max(record.version, *archived, 0)


def displace(
    db: Connection, namespace: str, record_ids: Sequence[str], operation: Operation
) -> list[str]:
    """Move live records with their vectors to the archive, on behalf of an operation."""
    values = {"namespace": namespace, "record_ids": ids_json(record_ids)}
    states = {
        record_id: (since, made_by) for record_id, since, made_by in db.run(RECORD_STATE, values)
    }
    until = to_micros(operation.at)
    moved = []
    for record in read(db, namespace, record_ids):
        since, made_by = states[record.record_id]
        version = ArchivedVersion(
            op_id=operation.op_id,
            namespace=namespace,
            source_kind="record",
            source_id=record.record_id,
            record=record,
            vectors=tuple(vectors_of(db, namespace, "record", record.record_id)),
            since=from_micros(since),
            until=from_micros(max(until, since)),
        )
        archived = {
            "op_id": operation.op_id,
            "namespace": namespace,
            "source_kind": "record",
            "source_id": record.record_id,
            "since": since,
            "until": max(until, since),
            "made_by": made_by,
            "payload": encode(version).decode(),
        }
        db.run(ARCHIVE, archived)
        _remove(db, namespace, record.record_id)
        moved.append(record.record_id)
    return moved


def _remove(db: Connection, namespace: str, record_id: str) -> None:
    """Child state before parent: the vectors, then the row (and with it its index entry)."""
    owner = {"namespace": namespace, "source_kind": "record", "source_id": record_id}
    db.run(DELETE_VECTORS, owner)
    db.run(DELETE_RECORD, {"namespace": namespace, "record_id": record_id})


def _archived(
    db: Connection,
    namespace: str,
    as_of: datetime,
    where: RecordFilter,
    before: Cursor | None,
    key: Key,
) -> list[Record]:
    """Versions that were live at a moment and are not any more."""
    values = {"namespace": namespace, "as_of": to_micros(as_of)}
    found = [
        msgspec.json.decode(payload, type=ArchivedVersion).record
        for (payload,) in db.run(ARCHIVED_AT, values)
    ]
    edge = (before.number, before.id) if before else None
    return [
        record for record in found if fits(record, where) and (edge is None or key(record) < edge)
    ]
