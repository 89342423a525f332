"""Search by words in the FTS5 index, with a literal search to fall back on.

In: any text. Out: hits, best first. No text is an operator and none raises: what the index refuses
is looked for as a substring, newest first. Only a raw expression that is neither valid nor found
so is refused, with the reason.
"""

from collections.abc import Sequence

import apsw

from recollect.core.values import Entity, Fact, Procedure
from recollect.store.interface import Hit
from recollect.store.sql import rows
from recollect.store.sql.engine import BadValue
from recollect.store.sql.search import (
    MAX_TERMS,
    best_first,
    clean,
    literally,
    no_expression,
    terms,
)
from recollect.store.sqlite import statements as own
from recollect.store.sqlite.connect import SqliteConnection

_TOKENIZER = ("unicode61", "remove_diacritics", "2")


def records(
    db: SqliteConnection,
    namespaces: Sequence[str],
    query: str,
    limit: int,
    *,
    raw: bool,
    most_terms: int,
) -> list[Hit]:
    """The best hits over several namespaces, each looked at for itself."""
    text = clean(query)
    expression = text if raw else any_of(rarest(db, terms(text), most_terms))
    if not text.strip() or not expression:
        return []
    hits: list[Hit] = []
    refused = ""
    for namespace in dict.fromkeys(namespaces):
        try:
            hits += _in_namespace(db, namespace, expression, limit)
        except BadValue as error:
            refused = error.reason
            hits += literally(db, namespace, text, limit)
    if raw and refused and not hits:
        raise no_expression(text, refused)
    hits.sort(key=best_first)
    return hits[:limit]


def graph(
    db: SqliteConnection, namespace: str, query: str, limit: int
) -> list[Entity | Fact | Procedure]:
    """By words, best first within each kind."""
    expression = any_of(rarest(db, terms(clean(query))))
    match = within(db, namespace, expression) if expression else None
    if match is None:
        return []
    values = {"namespace": namespace, "match": match, "limit": limit}
    found: list[Entity | Fact | Procedure] = []
    try:
        found += map(rows.ENTITY.decode, db.run(own.SEARCH_ENTITIES, values))
        found += map(rows.FACT.decode, db.run(own.SEARCH_FACTS, values))
        found += map(rows.PROCEDURE.decode, db.run(own.SEARCH_PROCEDURES, values))
    except BadValue:
        return []
    return found


def rarest(db: SqliteConnection, words: Sequence[str], most: int = MAX_TERMS) -> list[str]:
    """At most so many words: those that fewest memories contain, kept in order of appearance."""
    if len(words) <= most:
        return list(words)
    tokenizer = db.fts5_tokenizer("porter", list(_TOKENIZER))
    counts: dict[str, int] = {}
    for word in words:
        tokens = tokenizer(word.encode(), apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False)
        found = [_documents(db, str(token)) for group in tokens for token in group]
        counts[word] = min(found) if found else -1
    # A word of no memory cannot match, so it may not crowd out one that can.
    known = [word for word in words if counts[word] > 0]
    chosen = set(sorted(known, key=lambda word: counts[word])[:most])
    return [word for word in words if word in chosen]


def any_of(words: Sequence[str]) -> str:
    """An FTS5 expression that matches any of the words, each a phrase without operators."""
    return " OR ".join(quoted(word) for word in words)


def quoted(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'


def within(db: SqliteConnection, namespace: str, expression: str) -> str | None:
    """The expression narrowed to a namespace inside the index; None when it holds nothing."""
    number = db.run(own.NAMESPACE_ID, {"namespace": namespace}).get
    return None if number is None else f'ns : "{number}" AND ({expression})'


def _in_namespace(db: SqliteConnection, namespace: str, expression: str, limit: int) -> list[Hit]:
    match = within(db, namespace, expression)
    if match is None:
        return []
    values = {"namespace": namespace, "match": match, "limit": limit}
    found = list(db.run(own.SEARCH_WORDS, values))
    return [Hit(rows.RECORD.decode(row[:-1]), row[-1], "words") for row in found]


def _documents(db: SqliteConnection, token: str) -> int:
    return db.run(own.TERM_DOCUMENTS, {"term": token}).get or 0
