"""The tables can be sharded by namespace, as Citus does it: what it asks of a schema holds here.

Citus itself is not run: these are its rules (keys hold the distribution column, foreign keys lead
to rows beside it, FOR UPDATE and joins stay within it), asked of a real catalogue.
"""

import pathlib
import re

import pytest

from tests.fakes.postgres import Server
from tests.unit.store.test_postgres_statements import POSTGRES
from tests.unit.store.test_statements import MADE, NAMESPACED

GUIDE = (pathlib.Path(__file__).parents[3] / "docs" / "howto" / "scale.md").read_text()
LOCAL = {"_migrations"}  # stays on the coordinator
SHARDED_BY = {"namespace", "actor"}


def test_every_unique_key_begins_with_what_the_tables_are_sharded_by(
    postgres_server: Server, database: str
) -> None:
    keys = postgres_server.admin(
        "SELECT t.relname::text, a.attname::text FROM pg_index AS i"
        " JOIN pg_class AS t ON t.oid = i.indrelid"
        " JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attnum = i.indkey[0]"
        " WHERE t.relnamespace = 'recollect'::regnamespace AND i.indisunique",
        database,
    )
    assert len(keys) > 20
    wrong = {(table, column) for table, column in keys if column not in SHARDED_BY}
    assert wrong == {("scopes", "role"), ("_migrations", "version")}  # copied whole, and local


def test_every_foreign_key_stays_within_a_shard_and_the_guide_replaces_what_citus_refuses(
    postgres_server: Server, database: str
) -> None:
    keys = postgres_server.admin(
        "SELECT c.conname::text, a.attname::text, b.attname::text, c.confupdtype::text,"
        " c.confdeltype::text FROM pg_constraint AS c"
        " JOIN pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]"
        " JOIN pg_attribute AS b ON b.attrelid = c.confrelid AND b.attnum = c.confkey[1]"
        " WHERE c.connamespace = 'recollect'::regnamespace AND c.contype = 'f'",
        database,
    )
    assert len(keys) >= 6
    for name, here, there, _, _ in keys:
        assert here == there and here in SHARDED_BY, name
    refused = {str(name) for name, _, _, update, delete in keys if update == "c" or delete == "n"}
    assert refused == set(re.findall(r"DROP CONSTRAINT (\w+)", GUIDE))


def test_the_guide_places_every_table(postgres_server: Server, database: str) -> None:
    found = postgres_server.admin(
        "SELECT relname::text FROM pg_class"
        " WHERE relnamespace = 'recollect'::regnamespace AND relkind = 'r'",
        database,
    )
    steps = GUIDE[GUIDE.index("create_distributed_table") :]
    named = set(re.findall(r"'(?:recollect\.)?(\w+)'", steps[: steps.index("```")]))
    assert {str(name) for (name,) in found} - LOCAL <= named


SPOKEN = {name: " ".join(text.split()) for name, text in POSTGRES.items() if name not in MADE}
TABLE = rf"\b(?:FROM|JOIN|UPDATE|INTO)\s+(?:{NAMESPACED})\b"
BOUND = r"namespace = (?:%\(namespace\)s|\w+\.namespace)|USING \(namespace|SELECT %\(namespace\)s"
# One table, asked and changed over all of an actor's namespaces.
ALONE = {"PURGE_ARCHIVE"}


@pytest.mark.parametrize("name", sorted(SPOKEN))
def test_no_statement_joins_across_namespaces(name: str) -> None:
    text = SPOKEN[name]
    tables = len(re.findall(TABLE, text))
    if tables > 1 and name not in ALONE:
        assert len(re.findall(BOUND, text)) >= tables - 1, text
    if "FOR UPDATE" in text:  # works within one shard only
        assert "namespace = %(namespace)s" in text
