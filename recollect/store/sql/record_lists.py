"""Which memories a list, a page or a count holds: the statements, and what a filter means.

In: a RecordFilter, a cursor. Out: statements and their values; whether a memory fits, and a page.
"""

from collections.abc import Callable
from typing import Any

from recollect.core.clock import to_micros
from recollect.core.kinds import BELIEF
from recollect.core.values import Record
from recollect.store.interface import BeliefTime, Cursor, Page, RecordFilter
from recollect.store.sql import rows
from recollect.store.sql.engine import Statement, both, column_list, filtered, ids_json, micros

Key = Callable[[Record], tuple[int, str]]

RECORD = column_list(rows.RECORD.columns)


def _conditions(hint: str = "") -> dict[str, str]:
    """The conditions of a RecordFilter, with a hint for the planner before some columns."""
    return {
        "kind": f"{hint}kind = $kind",
        "type": "$type IN (knowledge_type, observation_type)",
        "sessions": f"{hint}session_id IN {{texts[sessions]}}",
        "since": f"{hint}valid_from >= $since",
        "until": f"{hint}valid_from < $until",
        "stored_since": f"{hint}created_at >= $stored_since",
        "concept": "EXISTS (SELECT 1 FROM {unfold}(r.concepts) WHERE value = $concept)",
        "file": """EXISTS (SELECT 1 FROM {unfold}(r.files) WHERE value = $file
                 OR substr(value, length(value) - length($file)) = '/' || $file)""",
        "cites_files": "citations <> '[]'",
        "state": "state = $state",
        "freshness": "freshness = $freshness",
        "used": "CASE WHEN access_count > 0 THEN 1 ELSE 0 END = $used",
    }


def _listed(time: str) -> Statement:
    return filtered(
        f"""
SELECT {RECORD} FROM memory_records AS r
 WHERE namespace = $namespace AND ({time}, record_id) < ($before_number, $before_id)
""",
        {**_conditions(), "as_of": "r.since <= $as_of"},
        f"ORDER BY {time} DESC, record_id DESC LIMIT $limit",
    )


def _few_listed(time: str) -> Statement:
    """A session has few memories, and so has a content: they are looked up by it and sorted."""
    return filtered(
        f"""
SELECT {RECORD} FROM memory_records AS r
 WHERE namespace = $namespace
   AND ({{by_key}}{time}, record_id) < ($before_number, $before_id)
""",
        {
            "session_id": "session_id = $session_id",
            "content_hash": "content_hash = $content_hash",
            **_conditions("{by_key}"),
            "as_of": "r.since <= $as_of",
        },
        f"ORDER BY {{by_key}}{time} DESC, record_id DESC LIMIT $limit",
    )


def _newer(time: str) -> Statement:
    return filtered(
        f"""
SELECT {RECORD} FROM memory_records AS r
 WHERE namespace = $namespace AND ({time}, record_id) > ($after_number, $after_id)
""",
        {
            **_conditions(),
            "session_id": "session_id = $session_id",
            "content_hash": "content_hash = $content_hash",
        },
        f"ORDER BY {time}, record_id LIMIT $limit",
    )


# By when they were stored, and by when what they tell of happened.
LIST_RECORDS = _listed("created_at")
LIST_BY_HAPPENING = _listed("valid_from")
LIST_FEW_RECORDS = _few_listed("created_at")
LIST_FEW_BY_HAPPENING = _few_listed("valid_from")
NEWER = _newer("created_at")
LATER_HAPPENING = _newer("valid_from")
LAST_IN_SESSION = filtered(
    f"""
SELECT {RECORD} FROM memory_records AS r
 WHERE namespace = $namespace AND session_id = $session_id
""",
    _conditions("{by_key}"),
    "ORDER BY position DESC, valid_from DESC, record_id DESC LIMIT $limit",
)
# How many memories there are of what is kept with each write; what narrows them further is counted.
COUNTED = "kind, type, state, freshness, used"
KEPT_COUNTS = filtered(
    f"SELECT {COUNTED}, count FROM record_counts WHERE namespace = $namespace",
    {name: f"{name} = ${name}" for name in COUNTED.split(", ")},
)
_COUNT_GROUPS = """
       kind, coalesce(knowledge_type, observation_type, ''), state, freshness,
       CASE WHEN access_count > 0 THEN 1 ELSE 0 END
"""
COUNT_BY = filtered(
    f"""
SELECT {_COUNT_GROUPS}, count(*)
  FROM memory_records AS r
 WHERE namespace = $namespace
""",
    {**_conditions(), "session_id": "session_id = $session_id"},
    "GROUP BY 1, 2, 3, 4, 5",
)
RECOUNT = (
    both("DELETE FROM record_counts", across="counts are made anew for everybody"),
    both(
        f"""
INSERT INTO record_counts (namespace, {COUNTED}, count)
SELECT namespace, {_COUNT_GROUPS}, count(*) FROM memory_records GROUP BY 1, 2, 3, 4, 5, 6
""",
        across="counts are made anew for everybody",
    ),
)


def _beliefs(time: str) -> Statement:
    """By an index of beliefs alone, which is why their kind is no value."""
    return filtered(
        f"""
SELECT {RECORD} FROM memory_records AS r
 WHERE namespace = $namespace AND kind = '{BELIEF.name}' AND {time} >= $since
""",
        {
            **{name: text for name, text in _conditions().items() if name in ("state", "used")},
            "type": "knowledge_type = $type",
            "category": "category = $category",
        },
        f"ORDER BY {time} DESC, record_id DESC LIMIT $limit",
    )


BELIEFS_BY: dict[BeliefTime, Statement] = {
    "valid_from": _beliefs("valid_from"),
    "valid_until": _beliefs("valid_until"),
    "last_accessed": _beliefs("last_accessed"),
}


def fits(record: Record, where: RecordFilter) -> bool:
    return (
        where.kind in (None, record.kind)
        and where.session_id in (None, record.session_id)
        and (where.sessions is None or record.session_id in where.sessions)
        and where.type in (None, record.observation_type, record.knowledge_type)
        and (where.concept is None or where.concept in record.concepts)
        and (where.file is None or any(_is_named(one, where.file) for one in record.files))
        and (where.since is None or record.valid_from >= where.since)
        and (where.until is None or record.valid_from < where.until)
        and (where.stored_since is None or stored_at(record)[0] >= to_micros(where.stored_since))
        and where.content_hash in (None, record.content_hash)
        and (not where.cites_files or bool(record.citations))
        and where.state in (None, record.state)
        and where.freshness in (None, record.freshness)
        and where.used in (None, record.access_count > 0)
    )


def _is_named(path: str, name: str) -> bool:
    return f"/{path}".endswith(f"/{name}")


def stored_at(record: Record) -> tuple[int, str]:
    assert record.created_at is not None
    return to_micros(record.created_at), record.record_id


def happened_at(record: Record) -> tuple[int, str]:
    return to_micros(record.valid_from), record.record_id


def values_of(where: RecordFilter) -> dict[str, Any]:
    return {
        "kind": where.kind,
        "session_id": where.session_id,
        "sessions": None if where.sessions is None else ids_json(where.sessions),
        "type": where.type,
        "concept": where.concept,
        "file": where.file,
        "since": micros(where.since),
        "until": micros(where.until),
        "stored_since": micros(where.stored_since),
        "content_hash": where.content_hash,
        "cites_files": where.cites_files or None,
        "state": where.state,
        "freshness": where.freshness,
        "used": None if where.used is None else int(where.used),
    }


def position_of(cursor: Cursor) -> dict[str, Any]:
    return {"before_number": cursor.number, "before_id": cursor.id}


def page_of(found: list[Record], limit: int, key: Key) -> Page[Record]:
    items = found[:limit]
    more = len(found) > limit and items
    return Page(tuple(items), Cursor(*key(items[-1])) if more else None)
