"""Guards over PostgreSQL's own statements, and over what is made of SQLite's."""

import re

import pytest

from recollect.store.postgres import dialect, statements
from recollect.store.postgres.schema_0001 import SQL
from tests.unit.store.test_statements import NAMESPACED
from tests.unit.store.test_statements import all_statements as sqlite_statements


def all_statements() -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in vars(statements).items():
        if not name.isupper() or name in ("WHOLE_STORE", "REBUILD"):
            continue
        if isinstance(value, str):
            found[name] = value
        elif isinstance(value, dict):
            found |= {f"{name}.{key}": text for key, text in value.items()}
    return found


@pytest.mark.parametrize("name", sorted(all_statements()))
def test_every_statement_on_a_namespaced_table_binds_the_namespace(name: str) -> None:
    text = all_statements()[name]
    if not re.search(rf"\b(FROM|INTO|UPDATE|JOIN)\s+({NAMESPACED})\b", text):
        return
    if name in statements.WHOLE_STORE:
        assert "%(namespace)s" not in text, f"{name} binds it, so it needs no exception"
        return
    assert "%(namespace)s" in text, f"{name} does not bind the namespace"
    assert not re.search(r"namespace\s+(I?LIKE|~|>|<)", text)


def test_exceptions_exist_and_give_a_reason() -> None:
    assert set(statements.WHOLE_STORE) <= set(all_statements())
    assert all(len(reason) > 20 for reason in statements.WHOLE_STORE.values())


@pytest.mark.parametrize("name", sorted(sqlite_statements()))
def test_no_statement_keeps_what_only_sqlite_says(name: str) -> None:
    text = sqlite_statements()[name]
    if "{" in text or "fts" in text or "pragma" in text or name in ("TERM_DOCUMENTS",):
        return  # templates, and what PostgreSQL's own search and upkeep do in another way
    if name.startswith("SCRUB"):
        return
    spoken, _ = dialect.statement(text, {"vector": b"\0" * 1536})
    assert not re.search(r"json_each|json_group_array|GLOB|typeof|\browid\b|LIMIT -1", spoken), name
    assert not re.search(r"(?<!:):[a-z]", spoken), f"{name} has a parameter of SQLite's"


# What is written without waiting for the actor's one writer, so that two can meet at a row.
MET = "events|sessions|unextracted|runners"


def test_no_statement_that_can_meet_another_at_a_row_asks_a_table_with_a_policy() -> None:
    """PostgreSQL checks a condition once more when its row has just been changed by another. With
    a subquery on a table that has a policy, server processes died of that (seen on 16 and 18)."""
    policed = f"{NAMESPACED}|runners|projects|project_identities|forgotten"
    looked = 0
    for name, text in {**sqlite_statements(), **all_statements()}.items():
        plain = " ".join(text.split())
        changes = re.match(rf"(UPDATE|DELETE FROM) ({MET})\b", plain)
        if changes or "FOR UPDATE" in plain:
            looked += 1
            assert not re.search(rf"\( ?SELECT .* (FROM|JOIN) ({policed})\b", plain), name
    assert looked > 8


def test_every_namespaced_table_has_its_policy_and_keys_begin_with_the_namespace() -> None:
    tables = re.findall(r"CREATE TABLE (\w+) \((.*?)\n\);", SQL, re.S)
    assert len(tables) > 15
    for name, body in tables:
        if name == "scopes":
            continue
        assert f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY" in SQL, name
        for key in re.findall(r"(?:PRIMARY KEY|UNIQUE) \((\w+)", body):
            assert key in ("namespace", "actor"), f"{name} has a key that begins with {key}"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("a\0b", "a\u2400b"),
        (r'["a\u0000b"]', r'["a\u2400b"]'),
        (r'["a\\u0000b"]', r'["a\\u0000b"]'),
        (r'["a\\\u0000b"]', r'["a\\\u2400b"]'),
    ],
)
def test_nul_is_kept_as_its_sign(given: str, kept: str) -> None:
    assert dialect.without_nul({"text": given})["text"] == kept
