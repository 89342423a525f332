"""Guards over what PostgreSQL is given: its own statements, and those that both engines have."""

import re

import pytest

from recollect.store.postgres import statements as own
from recollect.store.postgres import values
from recollect.store.postgres.schema_0001 import SQL
from tests.unit.store.test_statements import FILTERED, NAMESPACED, named, shared, texts, unbound

ALL = {**shared(), **named(own)}
POSTGRES = texts(ALL, "postgres")


@pytest.mark.parametrize("name", sorted(POSTGRES))
def test_every_statement_on_a_namespaced_table_binds_the_namespace(name: str) -> None:
    text = POSTGRES[name]
    if ALL[name].across:
        assert "%(namespace)s" not in text, f"{name} binds it, so it needs no exception"
    elif name not in FILTERED:
        assert unbound(text, "%(namespace)s") is None, text
    assert not re.search(r"namespace\s+(I?LIKE|~|>|<)", text)


def test_exceptions_give_a_reason() -> None:
    assert all(len(one.across) > 20 for one in ALL.values() if one.across)


@pytest.mark.parametrize("name", sorted(POSTGRES))
def test_no_statement_says_what_only_sqlite_understands(name: str) -> None:
    text = POSTGRES[name]
    assert not re.search(r"json_each|json_group_array|GLOB|typeof|\browid\b|LIMIT -1|pragma", text)
    assert not re.search(r"(?<!:):[a-z]|\$[a-z]", text), f"{name} has a parameter of SQLite's"


# What is written without waiting for the actor's one writer, so that two can meet at a row.
MET = "events|sessions|unextracted|runners"


def test_no_statement_that_can_meet_another_at_a_row_asks_a_table_with_a_policy() -> None:
    """PostgreSQL checks a condition once more when its row has just been changed by another. With
    a subquery on a table that has a policy, server processes died of that (seen on 16 and 18)."""
    policed = f"{NAMESPACED}|runners|projects|project_identities|forgotten"
    looked = 0
    for name, text in POSTGRES.items():
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
    assert values.without_nul({"text": given})["text"] == kept
