"""Guards over the SQL and over who may know it."""

import pathlib
import re

import pytest

import recollect
from recollect.store.sql import statements

PACKAGE = pathlib.Path(recollect.__file__).parent
NAMESPACED = (
    "events|unextracted|sessions|memory_records|memory_records_fts|embeddings|entities|"
    "relationships|facts|procedures|preferences|checkpoints|receipts|operations|archive|compacted|"
    "extraction_runs|llm_usage"
)


def all_statements() -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in vars(statements).items():
        if not name.isupper() or name in ("WHOLE_STORE", "GRAPH_TABLES", "REBUILD", "OPTIMIZE"):
            continue
        if isinstance(value, str):
            found[name] = value
        elif isinstance(value, dict):
            found |= {f"{name}[{key}]": text for key, text in value.items()}
    return found


@pytest.mark.parametrize("name", sorted(all_statements()))
def test_every_statement_on_a_namespaced_table_binds_the_namespace(name: str) -> None:
    text = all_statements()[name]
    if "{table}" in text:
        return  # a template; what is made from it is checked under its own name
    touches = re.search(rf"\b(FROM|INTO|UPDATE|JOIN)\s+({NAMESPACED})\b", text)
    if touches is None:
        return
    if name in statements.WHOLE_STORE:
        assert ":namespace" not in text, f"{name} binds it, so it needs no exception"
        return
    assert ":namespace" in text, f"{name} touches {touches.group(2)} without :namespace"
    assert not re.search(r"namespace\s+(LIKE|GLOB|>|<)", text), (
        "namespaces are compared by equality"
    )


def test_exceptions_to_the_rule_exist_and_give_a_reason() -> None:
    assert set(statements.WHOLE_STORE) <= set(all_statements())
    assert all(len(reason) > 20 for reason in statements.WHOLE_STORE.values())


def test_sql_stands_nowhere_else() -> None:
    speaks_sql = re.compile(
        r"""["'](\s*)(SELECT\s.+\sFROM|INSERT INTO|DELETE FROM|UPDATE \w+ SET|CREATE TABLE)""", re.S
    )
    allowed = {"statements.py", "migrations.py", "upkeep.py", "connect.py"}
    for path in PACKAGE.rglob("*.py"):
        schema = re.fullmatch(r"schema_\d{4}\.py", path.name)
        if path.parent.parent.name == "store" and (schema or path.name in allowed):
            continue
        if path.parent.parent.name == "store" and path.name.startswith("schema_"):
            continue
        if path.relative_to(PACKAGE).parts == ("portable", "foreign", "database.py"):
            continue  # reads other programs' databases, whatever tables they have
        if path.relative_to(PACKAGE).parts[0] == "bench":
            continue  # measures plain FTS5 beside the product
        assert not speaks_sql.search(path.read_text()), f"SQL in {path}"


def test_only_the_wiring_knows_the_backend() -> None:
    allowed = {PACKAGE / "daemon.py", PACKAGE / "store" / "__init__.py"}
    for path in PACKAGE.rglob("*.py"):
        inside = path.relative_to(PACKAGE).parts
        if inside[0] in ("store", "bench") or path in allowed:
            continue  # backends share rooms; the bench wires a store of its own to measure
        text = path.read_text()
        assert "store.sqlite" not in text, f"{path} imports the SQLite backend"
        assert "store.postgres" not in text, f"{path} imports the PostgreSQL backend"


def test_the_store_knows_nothing_of_private_tags() -> None:
    for path in (PACKAGE / "store").rglob("*.py"):
        text = path.read_text().lower()
        assert "<private" not in text and "privacy" not in text, path
