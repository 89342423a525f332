"""The database itself keeps namespaces apart, whatever a login says in SQL (P15, G1, G2)."""

import contextlib
import hashlib
import queue
from collections.abc import Iterator

import psycopg
import pytest

from recollect.core import errors, projects
from recollect.core.projects import ProjectPlace
from recollect.store.interface import Change
from tests.fakes.postgres import Server
from tests.fakes.waiting import PATIENCE_S
from tests.make import arrival, record, vector
from tests.unit.store.conftest import Opener

ADA = "/actor/ada/project/engine/"
OTHER = "/actor/ada/project/engine2/"
BOB = "/actor/bob/project/engine/"
ROLES = ("iso_ada", "iso_ada_reads", "iso_ada_engine", "iso_bob", "iso_nobody")


@pytest.fixture
def server(postgres_server: Server, database: str, opened: Opener) -> Iterator[Server]:
    """Rows of three namespaces and a login for each scope."""
    for role in ROLES:
        postgres_server.admin(f"DROP ROLE IF EXISTS {role}")
        postgres_server.admin(f"CREATE ROLE {role} LOGIN")
    for call in (
        "'iso_ada', 'ada'",
        "'iso_ada_reads', 'ada', NULL, false",
        f"'iso_ada_engine', 'ada', '{ADA}'",
        "'iso_bob', 'bob'",
    ):
        postgres_server.admin(f"SELECT recollect.admit({call})", database)
    for actor, namespaces in (("ada", (ADA, OTHER)), ("bob", (BOB,))):
        store = opened(actor, user="postgres")
        for namespace in namespaces:
            store.events.put([arrival(f"event of {namespace}", namespace=namespace)])
            one = store.records.put([record(f"memory of {namespace}", namespace=namespace)])[0]
            store.vectors.put([vector(one)])
        store.projects.resolve(ProjectPlace(root=f"/src/{actor}"))
    yield postgres_server
    for role in ROLES:
        postgres_server.admin(f"DELETE FROM recollect.scopes WHERE role = '{role}'", database)
        postgres_server.admin(f"DROP OWNED BY {role}", database)
        postgres_server.admin(f"DROP ROLE {role}")


def login(
    server: Server, database: str, role: str, actor: str = ""
) -> "psycopg.Connection[tuple[object, ...]]":
    connection = psycopg.connect(server.url(database, role), autocommit=True)
    connection.execute("SET search_path = recollect, public")
    if actor:
        connection.execute("SELECT set_config('recollect.actor', %s, false)", [actor])
    return connection


SEEN = {
    ("iso_ada", "ada"): {ADA, OTHER},
    ("iso_ada_reads", "ada"): {ADA, OTHER},
    ("iso_ada_engine", "ada"): {ADA},
    ("iso_bob", "bob"): {BOB},
    # A login that says it is somebody else, or says nothing, sees nothing.
    ("iso_ada", "bob"): set(),
    ("iso_bob", "ada"): set(),
    ("iso_ada_engine", "bob"): set(),
    ("iso_ada", "*"): set(),
    ("iso_ada", ""): set(),
}
TABLES = ("events", "memory_records", "embeddings", "sessions", "unextracted", "namespaces")


def test_each_login_reads_only_its_scope(server: Server, database: str) -> None:
    for (role, actor), allowed in SEEN.items():
        with login(server, database, role, actor) as connection:
            for table in TABLES:
                found = connection.execute(f"SELECT DISTINCT namespace FROM {table}").fetchall()
                assert {namespace for (namespace,) in found} == allowed, (role, actor, table)
            owners = connection.execute("SELECT actor FROM projects").fetchall()
            assert {owner for (owner,) in owners} <= {actor}, (role, actor)
            assert bool(owners) == bool(allowed)


def test_the_servers_search_keeps_to_the_scope_too(server: Server, database: str) -> None:
    near = "[" + ",".join(["1"] * 384) + "]"
    for (role, actor), allowed in SEEN.items():
        with login(server, database, role, actor) as connection:
            for namespace in (ADA, OTHER, BOB):
                expected = 1 if namespace in allowed else 0
                for call in (
                    "find_records(%s, 'memori'::tsquery, ARRAY['memori'::tsquery], ARRAY[1.0], 9)",
                    "find_nearest(%s, 'test-model', '" + near + "'::halfvec, 9)",
                    "term_counts(%s, ARRAY['memory'], 9)",
                ):
                    found = connection.execute(f"SELECT * FROM {call}", [namespace]).fetchall()
                    assert len(found) == expected, (role, actor, namespace, call)


WRITES = (
    "INSERT INTO namespaces (namespace) VALUES ('/actor/bob/project/new/')",
    f"UPDATE memory_records SET title = 'mine' WHERE namespace = '{BOB}'",
    f"UPDATE memory_records SET namespace = '{BOB}' WHERE namespace = '{ADA}'",
    f"DELETE FROM events WHERE namespace = '{BOB}'",
    f"INSERT INTO sessions VALUES ('{BOB}', 's', 'x', 'active', 1, NULL, 1)",
    "INSERT INTO projects (actor, project_id, name, created_at, last_seen)"
    " VALUES ('bob', 'prj_x', 'x', 1, 1)",
)


@pytest.mark.parametrize("actor", ["ada", "bob"])
def test_no_login_writes_outside_its_scope(server: Server, database: str, actor: str) -> None:
    before = server.admin("SELECT namespace, title FROM recollect.memory_records", database)
    for statement in WRITES:
        # Row-level security either says no or shows nothing that could be written.
        with (
            login(server, database, "iso_ada", actor) as connection,
            contextlib.suppress(psycopg.errors.InsufficientPrivilege),
        ):
            assert connection.execute(statement).rowcount == 0, statement
    after = server.admin("SELECT namespace, title FROM recollect.memory_records", database)
    assert sorted(after) == sorted(before)
    assert server.admin("SELECT count(*) FROM recollect.projects", database) == [(2,)]


def test_a_project_login_cannot_leave_its_project(server: Server, database: str) -> None:
    with login(server, database, "iso_ada_engine", "ada") as connection:
        moved = f"UPDATE memory_records SET namespace = '{OTHER}' WHERE namespace = '{ADA}'"
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(moved)


def test_a_reader_cannot_write_and_the_store_says_so(
    server: Server, database: str, opened: Opener
) -> None:
    store = opened(user="iso_ada_reads")
    assert len(store.records.page(ADA).items) == 1
    with pytest.raises(errors.ReadOnlyStore):
        store.records.put([record(namespace=ADA)])


def test_nobody_may_touch_the_scopes_the_history_or_the_policies(
    server: Server, database: str
) -> None:
    for statement in (
        "SELECT * FROM scopes",
        "INSERT INTO scopes VALUES ('iso_ada', 'bob', NULL)",
        "SELECT admit('iso_ada', 'bob')",
        "UPDATE _migrations SET name = 'x'",
        "DELETE FROM _migrations",
        "ALTER TABLE events DISABLE ROW LEVEL SECURITY",
        "DROP POLICY scope ON events",
        "TRUNCATE events",
        "SET ROLE postgres",
        "SET SESSION AUTHORIZATION iso_bob",
        "ALTER FUNCTION my_actor() OWNER TO iso_ada",
        "CREATE FUNCTION recollect.my_actor(x int) RETURNS text LANGUAGE sql AS 'SELECT 1'",
    ):
        with (
            login(server, database, "iso_ada", "ada") as connection,
            pytest.raises(psycopg.errors.InsufficientPrivilege),
        ):
            connection.execute(statement)


def test_a_login_without_a_scope_gets_nothing(server: Server, database: str) -> None:
    with (
        login(server, database, "iso_nobody", "ada") as connection,
        pytest.raises(psycopg.errors.InsufficientPrivilege),
    ):
        connection.execute("SELECT * FROM recollect.events")


def test_the_store_of_one_actor_shows_nothing_of_another(server: Server, opened: Opener) -> None:
    store = opened(user="iso_ada")
    assert store.records.page(BOB).items == ()
    assert store.records.search([BOB], "memory", 5) == []
    assert store.projects.namespaces() == [ADA, OTHER]
    assert {info.name for info in store.projects.all()} == {"ada"}
    with pytest.raises(errors.ReadOnlyStore):
        store.records.put([record(namespace=BOB)])


def test_a_name_with_a_slash_is_an_actor_like_any_other(
    server: Server, database: str, opened: Opener
) -> None:
    name = "ops/ci 50%"
    with pytest.raises(errors.WrongStore) as refused:
        opened(name, user="iso_bob")
    admit = refused.value.hint.split(": ", 1)[1].split(";")[0]  # exactly what the hint says to do
    server.admin(admit, database)
    store = opened(name, user="iso_bob")
    mine = projects.namespace(name, "engine")
    store.records.put([record("memory of a robot", namespace=mine)])
    assert [one.title for one in store.records.page(mine).items] == ["memory of a robot"]
    assert store.records.page(BOB).items == ()  # who says that it is another sees the other's


def test_nobody_else_can_name_an_actors_channel(server: Server, database: str) -> None:
    with login(server, database, "iso_ada", "ada") as ada:
        (own,) = ada.execute("SELECT channel('ada')").fetchall()[0]
    assert own
    for actor in ("bob", "ada", ""):
        with login(server, database, "iso_bob", actor) as bob:
            assert bob.execute("SELECT channel('ada')").fetchall() == [(None,)]
            assert bob.execute("SELECT salt FROM channel_salt").fetchall() == []
    # Not by computing it as schema 1 did, either.
    assert own != "recollect_" + hashlib.md5(b"ada").hexdigest()


def test_what_another_login_sends_is_neither_heard_nor_harmful(
    server: Server, database: str, opened: Opener
) -> None:
    store = opened("ada", user="postgres")
    heard: queue.Queue[Change] = queue.Queue()
    store.changes.subscribe(heard.put)
    assert store.changes.listening.wait(PATIENCE_S)
    with login(server, database, "iso_bob", "bob") as bob:
        bob.execute("SELECT tell('records', %s, ARRAY['forged'])", [ADA])
        bob.execute("SELECT pg_notify('recollect_' || md5('ada'), E'x\\nall\\n\\n')")
    # Even on the right channel, what no daemon would say does not end the listening.
    channel = server.admin("SELECT recollect.channel('ada')", database)[0][0]
    for payload in ("", "x", "a\nb", "o\nnonsense\n/actor/ada/\nx", "\n" * 50, "x" * 7000):
        server.admin(f"SELECT pg_notify('{channel}', $${payload}$$)", database)
    server.admin(f"SELECT pg_notify('{channel}', E'other\\nrecords\\n{ADA}\\nmr_1')", database)
    assert heard.get(timeout=PATIENCE_S) == Change("records", ADA, ("mr_1",))
    assert heard.empty()
