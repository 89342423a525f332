"""Guards over the SQL and over who may know it."""

import importlib
import pathlib
import pkgutil
import re
from types import ModuleType

import pytest

import recollect
from recollect.store import copying, sql
from recollect.store.sql import bulk_rows, selection, tables
from recollect.store.sql.engine import Filtered, Statement, both, filtered
from recollect.store.sqlite import statements as own

PACKAGE = pathlib.Path(recollect.__file__).parent
NAMESPACED = (
    "events|unextracted|sessions|memory_records|memory_records_fts|embeddings|entities|"
    "relationships|facts|procedures|preferences|checkpoints|receipts|operations|archive|compacted|"
    "extraction_runs|llm_usage|record_counts"
)


# One of each function that makes a statement for a table of the schema.
MADE = {
    "dump_events": bulk_rows.dump_events(("event_id", "kind")),
    "dump_rows": tables.dump_rows("facts", ("fact_id",), "fact_id"),
    "load_row": tables.load_row("facts", ("fact_id", "namespace")),
    "load_session": bulk_rows.load_session(("session_id", "namespace")),
    "scan_rows": tables.scan_rows("facts", "fact_id", ("subject",)),
    "select_keys": tables.select_keys("facts", "fact_id"),
    "keys_of_session": selection.keys_of_session("events", "event_id"),
    "old_keys": selection.old_keys("facts", "fact_id"),
    "made_from": selection.made_from("facts", "fact_id"),
    "erase_rows": tables.erase_rows("archive", "row_id"),
    "get_rows": tables.get_rows("facts", "fact_id", ("subject",)),
    "rewrite_row": tables.rewrite_row("facts", "fact_id", ("subject",)),
    "move_row": tables.move_row("events", "event_id"),
    "move_rows": tables.move_rows("facts", "fact_id"),
    "copy_out": copying.copy_out("facts", ("subject",), ("fact_id",), True),
    "copy_in": copying.copy_in("facts", ("fact_id", "namespace")),
    "copy_session": copying.copy_session(("session_id", "namespace")),
}
# Numbers of rows are the store's own, and no content.
NUMBERED = {"seq_taken"}
# Every module with statements that both engines have.
MODULES = [
    copying,
    *(
        importlib.import_module(f"{sql.__name__}.{one.name}")
        for one in pkgutil.iter_modules(sql.__path__)
    ),
]


def named(module: ModuleType) -> dict[str, Statement]:
    found: dict[str, Statement] = {}
    for name, value in vars(module).items():
        if isinstance(value, Statement):
            found[name] = value
        elif isinstance(value, dict) and name.isupper():
            found |= {f"{name}.{k}": v for k, v in value.items() if isinstance(v, Statement)}
    return found


def shared() -> dict[str, Statement]:
    found = dict(MADE)
    for module in MODULES:
        for name, one in named(module).items():
            assert found.setdefault(name, one) is one, f"two statements are called {name}"
    return found


def texts(found: dict[str, Statement], engine: str) -> dict[str, str]:
    """What a driver is given, by name, as if no filter was given; empty for the other engine's."""
    return {
        name: text if isinstance(text, str) else text.given({})
        for name, one in found.items()
        if (text := getattr(one, engine))
    }


def unbound(text: str, namespace: str) -> str | None:
    """The namespaced table that a statement touches without binding the namespace, if any."""
    touches = re.search(rf"\b(FROM|INTO|UPDATE|JOIN)\s+({NAMESPACED})\b", text)
    return None if touches is None or namespace in text else touches[2]


ALL = {**shared(), **named(own)}
SQLITE = texts(ALL, "sqlite")
# Asked over all namespaces, or of one when it is given.
FILTERED = {
    name
    for name, one in shared().items()
    if isinstance(one.sqlite, Filtered) and "namespace" in one.sqlite.filters
}


@pytest.mark.parametrize("name", sorted(SQLITE))
def test_every_statement_on_a_namespaced_table_binds_the_namespace(name: str) -> None:
    text = SQLITE[name]
    if ALL[name].across:
        assert "$namespace" not in text, f"{name} binds it, so it needs no exception"
    elif name not in FILTERED:
        assert unbound(text, "$namespace") is None, text
    assert not re.search(r"namespace\s+(LIKE|GLOB|>|<)", text), (
        "namespaces are compared by equality"
    )


def test_every_function_that_makes_a_statement_is_among_those_looked_at() -> None:
    makers = {
        name
        for module in MODULES
        for name, value in vars(module).items()
        if hasattr(value, "cache_info")
    }
    about_projects = {"dump_project", "dump_identities"}
    assert makers == set(MADE) | NUMBERED | about_projects


def test_exceptions_to_the_rule_give_a_reason() -> None:
    reasons = [one.across for one in ALL.values() if one.across]
    assert len(reasons) > 10
    assert all(len(reason) > 20 for reason in reasons)


def test_what_stands_in_the_shared_list_is_written_for_both_engines() -> None:
    for name, one in shared().items():
        if isinstance(one.sqlite, str) and isinstance(one.postgres, str):
            assert one.sqlite and one.postgres, f"{name} is only one engine's"


def test_a_word_that_no_dialect_has_is_refused_when_a_statement_is_made() -> None:
    with pytest.raises(KeyError):
        both("SELECT {nothing} FROM facts")
    with pytest.raises(ValueError):
        both("SELECT 1 FROM facts WHERE fact_id = $ 1")


def test_a_filter_counts_only_when_its_value_is_given() -> None:
    made = filtered("SELECT 1 FROM facts WHERE TRUE", {"a": "a = $a", "b": "b = $b"}, "LIMIT 1")
    assert isinstance(made.sqlite, Filtered) and isinstance(made.postgres, Filtered)
    assert made.sqlite.given({"a": None, "b": 0}) == (
        "SELECT 1 FROM facts WHERE TRUE AND b = $b\nLIMIT 1"
    )
    assert made.postgres.given({"a": 1}) == (
        "SELECT 1 FROM facts WHERE TRUE AND a = %(a)s\nLIMIT 1"
    )


def test_sql_stands_nowhere_else() -> None:
    speaks_sql = re.compile(
        r"""["'](\s*)(SELECT\s.+\sFROM|INSERT INTO|DELETE FROM|UPDATE \w+ SET|CREATE TABLE)""", re.S
    )
    allowed = {"statements.py", "migrations.py", "upkeep.py", "connect.py"}
    for path in PACKAGE.rglob("*.py"):
        if path.parent == PACKAGE / "store" / "sql" or path == PACKAGE / "store" / "copying.py":
            continue
        schema = re.fullmatch(r"schema_(?:\d{4}|changes)\.py", path.name)
        if path.parent.parent.name == "store" and (schema or path.name in allowed):
            continue
        if path.relative_to(PACKAGE).parts == ("core", "foreign_database.py"):
            continue  # reads other programs' databases, whatever tables they have
        if path.relative_to(PACKAGE).parts[0] == "bench":
            continue  # measures plain FTS5 beside the product
        assert not speaks_sql.search(path.read_text()), f"SQL in {path}"


def test_only_the_wiring_knows_the_backend() -> None:
    for path in PACKAGE.rglob("*.py"):
        if path.relative_to(PACKAGE).parts[0] in ("store", "bench", "daemon"):
            continue  # the bench wires a store of its own to measure
        text = path.read_text()
        assert "store.sqlite" not in text, f"{path} imports the SQLite backend"
        assert "store.postgres" not in text, f"{path} imports the PostgreSQL backend"


def test_the_engines_do_not_know_each_other() -> None:
    for here, there in (
        ("sql", "sqlite"),
        ("sql", "postgres"),
        ("sqlite", "postgres"),
        ("postgres", "sqlite"),
    ):
        for path in (PACKAGE / "store" / here).glob("*.py"):
            assert f"recollect.store.{there}" not in path.read_text(), path


def test_the_store_knows_nothing_of_private_tags() -> None:
    for path in (PACKAGE / "store").rglob("*.py"):
        text = path.read_text().lower()
        assert "<private" not in text and "privacy" not in text, path
