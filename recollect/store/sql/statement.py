"""A named SQL statement: the text that each engine is given, written side by side.

In: SQL with `$name` for values and `{word}` where the engines' words differ. Out: what the drivers
take. Where the engines agree there is one text (`both`); where they do not, there are two (`each`).
A word that no dialect has is an error at import. docs/decisions/statements.md says why.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from string import Template
from typing import Any


class _Word(dict[str, str]):
    """A word around a name: `{texts[ids]}`."""

    def __init__(self, form: str) -> None:
        self._form = form

    def __missing__(self, name: str) -> str:
        return self._form.replace("NAME", name)


Dialect = Mapping[str, str | _Word]

# In this order:
# unfold       a table function: the elements of a JSON array, one row each, in the column `value`
# texts        the elements of a bound JSON array of texts
# numbers      the elements of a bound JSON array of whole numbers
# by_key       before a column: no index may be used for it. SQLite would walk all of a namespace
#              instead of looking rows up by their keys, which it takes for the better plan
# like         LIKE whatever the case
# unlimited    after LIMIT: all rows
# limit        a bound limit of which -1 means all
# key          the columns of a key that ends with this one; the server's tables can be sharded
SQLITE: Dialect = {
    "unfold": "json_each",
    "texts": _Word("(SELECT value FROM json_each($NAME))"),
    "numbers": _Word("(SELECT value FROM json_each($NAME))"),
    "by_key": "+",
    "like": "LIKE",
    "unlimited": "-1",
    "limit": _Word("LIMIT $NAME"),
    "key": _Word("NAME"),
}
POSTGRES: Dialect = {
    "unfold": "unfold",
    "texts": _Word("(SELECT value FROM unfold($NAME))"),
    "numbers": _Word("(SELECT value::bigint FROM unfold($NAME))"),
    "by_key": "",
    "like": "ILIKE",
    "unlimited": "ALL",
    "limit": _Word("LIMIT nullif($NAME, -1)"),
    "key": _Word("namespace, NAME"),
}


@dataclass(frozen=True)
class Filtered:
    """A text with conditions that are left out when their value is None. They are not asked in SQL
    (`$kind IS NULL OR ...`): both engines plan before they see values, and could use no index."""

    head: str
    filters: Mapping[str, str]
    tail: str
    _made: dict[tuple[str, ...], str] = field(default_factory=dict)

    def given(self, values: Mapping[str, Any]) -> str:
        names = tuple([name for name in self.filters if values.get(name) is not None])
        text = self._made.get(names)
        if text is None:
            conditions = "".join(f" AND {self.filters[name]}" for name in names)
            text = self._made[names] = f"{self.head}{conditions}\n{self.tail}"
        return text


@dataclass(frozen=True)
class Statement:
    """What each driver is given; empty where an engine has no such statement. `across` is the
    reason why it may look across namespaces; on the server, row-level security narrows it to the
    actor all the same."""

    sqlite: str | Filtered
    postgres: str | Filtered
    across: str = ""


# For functions that make a statement for a table and its columns as the schema really has them.
cached = lru_cache(maxsize=512)


def both(text: str, *, across: str = "") -> Statement:
    """One text for both engines."""
    return each(sqlite=text, postgres=text, across=across)


def each(*, sqlite: str, postgres: str, across: str = "") -> Statement:
    """A text for each engine."""
    return Statement(for_sqlite(sqlite), for_postgres(postgres), across)


def filtered(head: str, filters: Mapping[str, str], tail: str = "") -> Statement:
    """One text for both engines, whose WHERE goes on with those filters whose value is given."""

    def made(driver: Callable[[str], str]) -> Filtered:
        conditions = {name: driver(text) for name, text in filters.items()}
        return Filtered(driver(head), conditions, driver(tail))

    return Statement(made(for_sqlite), made(for_postgres))


# The filter of a statement that is asked of one namespace or of all.
IF_NAMESPACE = {"namespace": "namespace = $namespace"}


def column_list(names: tuple[str, ...], prefix: str = "") -> str:
    return ", ".join(prefix + name for name in names)


def insert_into(table: str, names: tuple[str, ...]) -> str:
    return f"INSERT INTO {table} ({column_list(names)}) VALUES ({column_list(names, '$')})"


def insert_or_replace(table: str, key: str, names: tuple[str, ...]) -> Statement:
    """Insert, or overwrite the row of the same id, but only within its own namespace."""
    kept = {key, "namespace", "created_at"}
    changes = ", ".join(f"{name} = excluded.{name}" for name in names if name not in kept)
    return both(
        f"{insert_into(table, names)} ON CONFLICT ({{key[{key}]}}) DO UPDATE SET {changes} "
        f"WHERE {table}.namespace = $namespace"
    )


def for_sqlite(text: str) -> str:
    """SQLite takes `$name` as it stands."""
    return text.format_map(SQLITE)


def for_postgres(text: str) -> str:
    """The same text with psycopg's placeholders."""
    return Template(text.format_map(POSTGRES).replace("%", "%%")).substitute(_PLACEHOLDERS)


class _Placeholders(dict[str, str]):
    def __missing__(self, name: str) -> str:
        return f"%({name})s"


_PLACEHOLDERS = _Placeholders()
