"""Search by words on the server, for what no index of the daemon holds.

In: any text. Out: hits, best first. Rare words weigh more, as BM25 has it. `raw` takes the same
query language as SQLite's index does; what cannot be read as that is looked for literally.
"""

import math
import re
from collections.abc import Sequence

from recollect.core.values import Entity, Fact, Procedure
from recollect.store.interface import Hit
from recollect.store.postgres import statements as own
from recollect.store.postgres.connection import PostgresConnection
from recollect.store.sql import records as shared
from recollect.store.sql import rows
from recollect.store.sql import search as words

_COUNTED = 2000  # a word that more memories have is common; how much more does not matter
_TOKEN = re.compile(r'\s*(?:("(?:[^"]|"")*")|([()])|([^\s()"]+))')
_BARE = re.compile(r"[\w\u0080-\U0010ffff]+\*?", re.ASCII)


def records(
    db: PostgresConnection,
    namespaces: Sequence[str],
    query: str,
    limit: int,
    *,
    raw: bool,
    most_terms: int,
) -> list[Hit]:
    text = words.clean(query)
    if not text.strip():
        return []
    hits: list[Hit] = []
    for namespace in dict.fromkeys(namespaces):
        hits += _one(db, namespace, text, limit, raw, most_terms)
    if raw and not hits and expression(db, text) is None:
        raise words.no_expression(text)
    hits.sort(key=words.best_first)
    return hits[:limit]


def _one(
    db: PostgresConnection, namespace: str, text: str, limit: int, raw: bool, most_terms: int
) -> list[Hit]:
    if raw:
        wanted = expression(db, text)
        if wanted is None:
            return words.literally(db, namespace, text, limit)
        queries, idf = [wanted], [1.0]
    else:
        weighed = _weighed(db, namespace, words.terms(text), most_terms)
        if not weighed:
            return []
        queries, idf = [query for query, _ in weighed], [weight for _, weight in weighed]
        wanted = " | ".join(f"({query})" for query in queries)
    values = {
        "namespace": namespace,
        "wanted": wanted,
        "queries": queries,
        "idf": idf,
        "limit": limit,
    }
    scores = dict(db.run(own.FIND_RECORDS, values).fetchall())
    found = shared.read(db, namespace, list(scores))
    return [Hit(record, scores[record.record_id], "words") for record in found]


def _weighed(
    db: PostgresConnection, namespace: str, terms: Sequence[str], most: int
) -> list[tuple[str, float]]:
    """The rarest terms that any memory has, as queries, with how much each tells."""
    values = {"namespace": namespace, "terms": list(terms), "most": _COUNTED}
    counts = {term: count for term, count in db.run(own.TERM_COUNTS, values) if count}
    rarest = sorted(counts, key=lambda term: counts[term])[:most]
    if not rarest:
        return []
    total = db.run(own.COUNT_LIVE, {"namespace": namespace}).get
    queries = [query for (query,) in db.run(own.ANY_OF, {"terms": rarest})]
    return [
        (query, math.log(1 + (total - counts[term] + 0.5) / (counts[term] + 0.5)))
        for term, query in zip(rarest, queries, strict=True)
    ]


def graph(
    db: PostgresConnection, namespace: str, query: str, limit: int
) -> list[Entity | Fact | Procedure]:
    terms = words.terms(words.clean(query))
    queries = [text for (text,) in db.run(own.ANY_OF, {"terms": terms}) if text]
    if not queries:
        return []
    wanted = " | ".join(f"({text})" for text in queries[: words.MAX_TERMS])
    found = db.run(own.FIND_THINGS, {"namespace": namespace, "wanted": wanted, "limit": limit})
    by_kind: dict[str, list[str]] = {"entity": [], "fact": [], "procedure": []}
    for kind, identity in found:
        by_kind[kind].append(identity)
    codecs = {"entity": rows.ENTITY, "fact": rows.FACT, "procedure": rows.PROCEDURE}
    result: list[Entity | Fact | Procedure] = []
    for kind, ids in by_kind.items():
        values = {"namespace": namespace, "ids": ids}
        there = {row[0]: row for row in db.run(own.THINGS_BY_ID[kind], values)}
        result += [codecs[kind].decode(there[one]) for one in ids]  # type: ignore[attr-defined]
    return result


# --- the query language of SQLite's index, as far as it is about words --------------------------


class _Refused(Exception):
    """This is no expression."""


def expression(db: PostgresConnection, text: str) -> str | None:
    """A query in PostgreSQL's notation; None for what SQLite's index would refuse."""
    tokens: list[str] = []
    position = 0
    while position < len(text.rstrip()):
        match = _TOKEN.match(text, position)
        if match is None:
            return None
        tokens.append(match.group(0).strip())
        position = match.end()
    try:
        wanted, rest = _either(db, tokens)
    except _Refused:
        return None
    return wanted if not rest else None


def _either(db: PostgresConnection, tokens: list[str]) -> tuple[str, list[str]]:
    left, tokens = _both(db, tokens)
    while tokens and tokens[0] == "OR":
        right, tokens = _both(db, tokens[1:])
        left = f"({left}) | ({right})"
    return left, tokens


def _both(db: PostgresConnection, tokens: list[str]) -> tuple[str, list[str]]:
    left, tokens = _word(db, tokens)
    while tokens and tokens[0] not in ("OR", ")"):
        negated = tokens[0] == "NOT"
        if tokens[0] in ("AND", "NOT"):
            tokens = tokens[1:]
        right, tokens = _word(db, tokens)
        left = f"({left}) & {'!' if negated else ''}({right})"
    return left, tokens


def _word(db: PostgresConnection, tokens: list[str]) -> tuple[str, list[str]]:
    if not tokens or tokens[0] in ("AND", "OR", "NOT", ")"):
        raise _Refused
    first, rest = tokens[0], tokens[1:]
    if first == "(":
        inside, rest = _either(db, rest)
        if not rest or rest[0] != ")":
            raise _Refused
        return f"({inside})", rest[1:]
    quoted = first.startswith('"')
    if not quoted and not _BARE.fullmatch(first):
        raise _Refused
    if not quoted and first.endswith("*"):
        found = db.run(own.PREFIX, {"text": first[:-1]}).get
    else:
        bare = first[1:-1].replace('""', '"') if quoted else first
        found = db.run(own.ANY_OF, {"terms": [bare]}).get
    if not found:
        raise _Refused
    return found, rest
