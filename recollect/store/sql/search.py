"""What both engines' searches by words share: the words of a query, and the literal search.

In: any text. Out: its words; hits of a search for the text as it stands. No text is an operator.
"""

import re

from recollect.core.errors import BadInput
from recollect.core.values import Record
from recollect.store.interface import Hit
from recollect.store.sql import rows
from recollect.store.sql.engine import Connection, both, column_list

_RECORD = column_list(rows.RECORD.columns)
SEARCH_LITERAL = both(rf"""
SELECT {_RECORD} FROM memory_records
 WHERE namespace = $namespace
   AND (title {{like}} $pattern ESCAPE '\' OR summary {{like}} $pattern ESCAPE '\'
        OR detail {{like}} $pattern ESCAPE '\'
        OR EXISTS (SELECT 1 FROM {{unfold}}(facts) WHERE value {{like}} $pattern ESCAPE '\')
        OR EXISTS (SELECT 1 FROM {{unfold}}(concepts) WHERE value {{like}} $pattern ESCAPE '\')
        OR EXISTS (SELECT 1 FROM {{unfold}}(files) WHERE value {{like}} $pattern ESCAPE '\'))
 ORDER BY created_at DESC, record_id LIMIT $limit
""")

MAX_TERMS = 32


def no_expression(text: str, why: str = "") -> BadInput:
    reason = f" ({why})" if why else ""
    return BadInput(
        f"{text!r} is no valid FTS5 expression{reason}, and is found nowhere literally",
        field="query",
        hint='Such as: deploy AND (friday OR "feature flag"); or leave raw out.',
    )


def clean(text: str) -> str:
    """Text that SQLite can take: no NUL, no lone surrogates."""
    return text.replace("\x00", " ").encode("utf-8", "replace").decode()


def terms(text: str) -> list[str]:
    """Words split at white space, each once, in order of appearance."""
    return list(dict.fromkeys(text.split()))


def like_pattern(text: str) -> str:
    return "%" + re.sub(r"([\\%_])", r"\\\1", text) + "%"


def literally(db: Connection, namespace: str, text: str, limit: int) -> list[Hit]:
    values = {"namespace": namespace, "pattern": like_pattern(text.strip()), "limit": limit}
    found = db.run(SEARCH_LITERAL, values)
    return [Hit(rows.RECORD.decode(row), 0.0, "substring") for row in found]


def best_first(hit: Hit) -> tuple[float, float, str]:
    record: Record = hit.record
    assert record.created_at is not None
    return -hit.score, -record.created_at.timestamp(), record.record_id
