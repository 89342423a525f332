"""Other memories' databases, in the shapes that their public pages tell."""

import contextlib
import json
import pathlib
import sqlite3

import pytest

from recollect.core.foreign_database import opened
from recollect.extract.tombstones import Tombstones
from recollect.portable import foreign
from tests.fakes import transcripts as made
from tests.fakes.transcripts import PROMPTS, START
from tests.make import record
from tests.unit.portable.conftest import Desk

EPOCH = int(START.timestamp() * 1000)
ISO = START.isoformat()


def database(path: pathlib.Path, script: str) -> pathlib.Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    db = sqlite3.connect(path)
    db.executescript(script)
    db.commit()
    db.close()
    return path


def kiro_learn(home: pathlib.Path, project: str) -> pathlib.Path:
    body = json.dumps({"type": "text", "content": "how do I migrate?"})
    source = json.dumps({"surface": "kiro-cli", "version": "1", "project_path": project})
    return database(home / ".kiro-learn" / "kiro-learn.db", f"""
        CREATE TABLE _migrations (version INTEGER, name TEXT);
        CREATE TABLE events (event_id TEXT PRIMARY KEY, session_id TEXT, actor_id TEXT,
            namespace TEXT, kind TEXT, body_json TEXT, valid_time TEXT, transaction_time TEXT,
            source_json TEXT, parent_event_id TEXT) STRICT;
        CREATE TABLE memory_records (record_id TEXT PRIMARY KEY, namespace TEXT, title TEXT,
            summary TEXT, facts_json TEXT, concepts_json TEXT, files_touched_json TEXT,
            observation_type TEXT, source_event_ids_json TEXT, created_at TEXT,
            embedding BLOB DEFAULT NULL) STRICT;
        INSERT INTO events VALUES ('01KJQZ00000000000000000001', 's1', 'ada',
            '/actor/ada/project/abc/', 'prompt', '{body}', '{ISO}', '{ISO}', '{source}', NULL);
        INSERT INTO events VALUES ('not-an-id', 's1', 'ada', '/x/', 'prompt', 'x', 'x', 'x', 'x',
            NULL);
        INSERT INTO memory_records VALUES ('mr_01KJQZ00000000000000000002',
            '/actor/ada/project/abc/', 'Migrations run at start', 'They are code.',
            '["forward only"]', '["migrations"]', '["db.py"]', 'decision', '[]', '{ISO}', NULL);
    """)  # fmt: skip


def kiro_memory(home: pathlib.Path, folder: str = ".kiro-memory/kiro-memory.db") -> pathlib.Path:
    return database(home / folder, f"""
        CREATE TABLE observations (id INTEGER PRIMARY KEY, type TEXT, title TEXT, content TEXT,
            project TEXT, session_id TEXT, concepts TEXT, files TEXT, embedding BLOB,
            stale INTEGER, access_count INTEGER, last_accessed TEXT, created_at TEXT);
        CREATE TABLE summaries (id INTEGER PRIMARY KEY, project TEXT, session_id TEXT,
            request TEXT, learned TEXT, completed TEXT, next_steps TEXT, created_at TEXT);
        CREATE TABLE sessions (id INTEGER PRIMARY KEY, content_id TEXT, project TEXT, status TEXT,
            created_at TEXT, completed_at TEXT);
        CREATE TABLE checkpoints (id INTEGER PRIMARY KEY, session_id TEXT, project TEXT, task TEXT,
            progress TEXT, next_steps TEXT, questions TEXT, files TEXT, created_at TEXT);
        CREATE TABLE user_prompts (id INTEGER PRIMARY KEY, session_id TEXT, prompt_number INTEGER,
            text TEXT, created_at TEXT);
        INSERT INTO sessions VALUES (1, 'host-session', 'shop', 'completed', '2026-03-02 09:00:00',
            NULL);
        INSERT INTO observations VALUES (1, 'decision', 'Use PostgreSQL', 'Row locks matter.',
            'shop', '1', 'database, locks', '["a.sql"]', NULL, 0, 3, NULL, '2026-03-02 09:00:00');
        INSERT INTO observations VALUES (2, 'bugfix', 'Till rejects cards', 'Clock was off.',
            'shop', 'host-session', NULL, NULL, NULL, 0, 0, NULL, '{ISO}');
        INSERT INTO observations VALUES (3, 'note', '', 'no title', 'shop', '1', '', '', NULL, 0, 0,
            NULL, '{ISO}');
        INSERT INTO summaries VALUES (1, 'shop', 'host-session', 'Fix the till', 'Clocks drift',
            'Done', 'Watch it', '{ISO}');
        INSERT INTO checkpoints VALUES (1, 'host-session', 'shop', 'Till', 'half', 'rest', '', '',
            '{ISO}');
        INSERT INTO user_prompts VALUES (1, 'host-session', 1, '{PROMPTS[0]}', '{ISO}');
    """)  # fmt: skip


def claude_mem(home: pathlib.Path, session: str = "c0ffee00-claude") -> pathlib.Path:
    return database(home / ".claude-mem" / "claude-mem.db", f"""
        CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, content_session_id TEXT,
            memory_session_id TEXT, project TEXT, created_at TEXT, created_at_epoch INTEGER);
        CREATE TABLE observations (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT,
            type TEXT, title TEXT, subtitle TEXT, narrative TEXT, facts TEXT, concepts TEXT,
            files_read TEXT, files_modified TEXT, prompt_number INTEGER, created_at TEXT,
            created_at_epoch INTEGER);
        CREATE TABLE session_summaries (id INTEGER PRIMARY KEY, memory_session_id TEXT,
            project TEXT, request TEXT, investigated TEXT, learned TEXT, completed TEXT,
            next_steps TEXT, created_at TEXT, created_at_epoch INTEGER);
        CREATE TABLE user_prompts (id INTEGER PRIMARY KEY, content_session_id TEXT,
            prompt_number INTEGER, prompt_text TEXT, created_at TEXT, created_at_epoch INTEGER);
        INSERT INTO sdk_sessions VALUES (1, '{session}', 'mem-1', 'shop', '{ISO}', {EPOCH});
        INSERT INTO observations VALUES (1, 'mem-1', 'shop', 'discovery', 'Terminal clock drifts',
            'An hour a year', 'The terminal has no battery.', '["no battery"]', '["gotcha"]',
            '["till.log"]', '["clock.py"]', 1, '{ISO}', {EPOCH});
        INSERT INTO session_summaries VALUES (1, 'mem-1', 'shop', 'Why cards fail', 'the log',
            'clock drift', 'fix', '', '{ISO}', {EPOCH});
        INSERT INTO user_prompts VALUES (1, '{session}', 1, '{PROMPTS[0]}', '{ISO}', {EPOCH});
        INSERT INTO user_prompts VALUES (2, '{session}', 2, 'And only here', '{ISO}', {EPOCH});
    """)  # fmt: skip


def titles(desk: Desk) -> set[str]:
    return {
        one.title
        for namespace in desk.store.projects.namespaces()
        for one in desk.store.records.page(namespace).items
        if one.strategy == "import"
    }


def test_kiro_learns_events_and_memories(desk: Desk, project: str) -> None:
    kiro_learn(desk.home, project)
    done = desk.take("kiro-learn")["kiro-learn"]
    assert (done.stored, done.refused) == (2, 0)
    assert titles(desk) == {"Migrations run at start"}
    (event,) = desk.events()
    assert event.event.namespace == desk.namespace(project) and event.event.valid_time == START
    (memory,) = [one for one in desk.store.records.page(desk.namespace(project)).items
                 if one.strategy == "import"]  # fmt: skip
    assert memory.facts == ("forward only",) and memory.files == ("db.py",)
    assert memory.observation_type == "decision" and memory.valid_from == START
    again = desk.take("kiro-learn")["kiro-learn"]
    assert (again.stored, again.known) == (0, 2)


@pytest.mark.parametrize(
    "place", [".kiro-memory/kiro-memory.db", ".contextkit/contextkit.db", ".total-recall/store.db"]
)
def test_kiro_memorys_observations_summaries_and_prompts(desk: Desk, place: str) -> None:
    kiro_memory(desk.home, place)
    done = desk.take("kiro-memory")["kiro-memory"]
    assert done.stored == 5
    assert titles(desk) == {"Use PostgreSQL", "Till rejects cards", "Fix the till", "Till"}
    (known,) = desk.store.projects.all()
    assert known.name == "shop" and known.identities == (("alias", "kiro-memory:shop"),)
    (event,) = desk.events()
    assert event.event.session_id == "host-session"
    assert desk.take("kiro-memory")["kiro-memory"].stored == 0


def test_claude_mems_rows_join_the_project_and_session_that_are_known(
    desk: Desk, project: str
) -> None:
    made.claude_code(desk.home, project)
    claude_mem(desk.home)
    done = desk.take()
    assert done["claude-mem"].captured == 1  # the prompt that the transcript tells too
    here = desk.namespace(project)
    assert {one.event.namespace for one in desk.events()} == {here}
    memories = [one for one in desk.store.records.page(here).items if one.strategy == "import"]
    assert {one.title for one in memories} == {"Terminal clock drifts", "Why cards fail"}
    assert {one.session_id for one in memories} == {"c0ffee00-claude"}
    prompts = [one for one in desk.events() if one.event.kind == "prompt"]
    assert len(prompts) == 3
    assert sum(one.stored for one in desk.take().values()) == 0


def test_the_same_memory_in_two_programs_is_taken_once(desk: Desk) -> None:
    kiro_memory(desk.home)
    kiro_memory(desk.home, ".contextkit/contextkit.db")
    done = desk.take("kiro-memory")["kiro-memory"]
    assert len(titles(desk)) == 4 and done.stored == 5


def test_secrets_in_foreign_rows_do_not_come_in(desk: Desk) -> None:
    path = kiro_memory(desk.home)
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    db = sqlite3.connect(path)
    db.execute("UPDATE observations SET content = ?", (f"token {secret}",))
    db.commit()
    db.close()
    desk.take("kiro-memory")
    (namespace,) = desk.store.projects.namespaces()
    assert secret not in str(list(desk.store.bulk.dump(namespace)))


def test_a_foreign_database_is_read_and_nothing_is_written_beside_it(desk: Desk) -> None:
    path = claude_mem(desk.home)
    before = {one.name: one.read_bytes() for one in path.parent.iterdir()}
    desk.take("claude-mem")
    assert {one.name: one.read_bytes() for one in path.parent.iterdir()} == before


def test_a_log_that_a_crash_left_behind_is_read_from_a_copy(
    tmp_path: pathlib.Path,
) -> None:
    live = tmp_path / "live.db"
    db = sqlite3.connect(live, isolation_level=None)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("CREATE TABLE t (x)")
    db.execute("INSERT INTO t VALUES ('in the log')")
    crashed = tmp_path / "crashed.db"
    crashed.write_bytes(live.read_bytes())
    (tmp_path / "crashed.db-wal").write_bytes((tmp_path / "live.db-wal").read_bytes())
    db.close()
    with opened(str(crashed)) as database:
        assert database is not None and [row["x"] for row in database.rows("t")] == ["in the log"]
    assert not (tmp_path / "crashed.db-shm").exists()


def test_files_that_are_no_such_database_are_none(tmp_path: pathlib.Path) -> None:
    (tmp_path / "text.db").write_text("hello")
    database(tmp_path / "other.db", "CREATE TABLE recipes (name TEXT);")
    for name in ("text.db", "other.db", "missing.db"):
        assert foreign.recognise(str(tmp_path / name)) is None


# P02
def test_what_was_refused_for_good_is_not_brought_back(desk: Desk, project: str) -> None:
    kiro_learn(desk.home, project)
    here = desk.namespace(project)
    Tombstones(desk.store).refuse(record("Migrations run at START!", namespace=here), "ada")
    desk.take("kiro-learn")
    assert titles(desk) == set()


def test_a_database_whose_names_are_no_text_is_none_that_we_know(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "damaged.db"
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE observations (id INTEGER PRIMARY KEY, title TEXT)")
    path.write_bytes(path.read_bytes().replace(b"observations", b"observ\xa8tions"))
    assert foreign.recognise(str(path)) is None
