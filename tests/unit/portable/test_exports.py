"""Exports: what they hold, what is left out, and how they come back elsewhere."""

import functools
import json
import pathlib
from collections.abc import Iterator

import msgspec
import pytest

from recollect.core import ids, projects
from recollect.core.clock import ManualClock
from recollect.core.errors import BadInput
from recollect.core.projects import ProjectPlace
from recollect.core.settings import Settings
from recollect.core.values import Preference
from recollect.extract.content_hash import hash_of_memory
from recollect.extract.tombstone_entry import tombstone_of
from recollect.extract.tombstones import Tombstones
from recollect.inject.judge import Feedback, Verdict
from recollect.portable import exports
from recollect.portable.exports import ExportReader, ExportSelection
from recollect.portable.transcript_import import Period
from recollect.store.sqlite import SqliteStore
from tests.fakes import transcripts as made
from tests.fakes.stored import delete_records, put_graph
from tests.fakes.transcripts import ANSWERS
from tests.make import record
from tests.unit.portable.conftest import NOW, Desk


@pytest.fixture
def elsewhere(tmp_path: pathlib.Path) -> Iterator[SqliteStore]:
    """Another machine, another user."""
    store = SqliteStore(
        Settings(home=str(tmp_path / "elsewhere"), actor="grace", reserve_mb=0), ManualClock()
    )
    yield store
    store.close()


def written(desk: Desk, path: pathlib.Path, wanted: ExportSelection | None = None) -> pathlib.Path:
    path.write_bytes(b"".join(exports.jsonl(desk.store, "ada", wanted or ExportSelection(), NOW)))
    return path


def filled(desk: Desk, project: str) -> None:
    made.claude_code(desk.home, project)
    made.codex(desk.home, "/nowhere/else")
    desk.take()


def take(store: SqliteStore, path: pathlib.Path, actor: str = "grace") -> int:
    counted: list[int] = []
    ExportReader(store, actor).read(str(path), lambda size, read, new: counted.extend(new.values()))
    return sum(counted)


def test_the_first_line_says_what_it_is(desk: Desk, project: str, tmp_path: pathlib.Path) -> None:
    filled(desk, project)
    lines = written(desk, tmp_path / "out.jsonl").read_text().splitlines()
    header = json.loads(lines[0])
    assert header["format"] == "recollect export" and header["actor"] == "ada"
    assert len(header["namespaces"]) == 2 and header["whole"] is True
    kinds = {json.loads(line)["is"] for line in lines[1:]}
    assert kinds == {"project", "event", "session", "memory"}


def test_filters_narrow_it_and_the_part_comes_back_too(
    desk: Desk, project: str, elsewhere: SqliteStore, tmp_path: pathlib.Path
) -> None:
    filled(desk, project)
    here = desk.namespace(project)
    wanted = ExportSelection(
        namespaces=(here,),
        kinds=frozenset({"memory"}),
        memory_kinds=frozenset({"episode"}),
        period=Period(since=made.START),
    )
    path = written(desk, tmp_path / "part.jsonl", wanted)
    assert take(elsewhere, path) == 3  # the project and two episodes
    late = ExportSelection(period=Period(since=NOW))
    assert len(written(desk, tmp_path / "none.jsonl", late).read_text().splitlines()) == 3


def test_on_another_machine_it_belongs_to_who_takes_it(
    desk: Desk, project: str, elsewhere: SqliteStore, tmp_path: pathlib.Path
) -> None:
    filled(desk, project)
    path = written(desk, tmp_path / "out.jsonl")
    take(elsewhere, path)
    namespaces = elsewhere.projects.namespaces()
    assert len(namespaces) == 2 and all(one.startswith("/actor/grace/") for one in namespaces)
    project_id = elsewhere.projects.resolve(ProjectPlace(root=project))
    page = elsewhere.events.page(f"/actor/grace/project/{project_id}/", limit=50)
    assert len(page.items) == 7 and {one.event.actor_id for one in page.items} == {"grace"}


def test_a_project_that_is_known_there_is_met_again(
    desk: Desk, project: str, elsewhere: SqliteStore, tmp_path: pathlib.Path
) -> None:
    filled(desk, project)
    known = elsewhere.projects.resolve(ProjectPlace(root=project))
    take(elsewhere, written(desk, tmp_path / "out.jsonl"))
    assert f"/actor/grace/project/{known}/" in elsewhere.projects.namespaces()
    assert len(elsewhere.projects.all()) == 2


def test_secrets_in_an_export_do_not_come_in(
    desk: Desk, project: str, elsewhere: SqliteStore, tmp_path: pathlib.Path
) -> None:
    filled(desk, project)
    path = written(desk, tmp_path / "out.jsonl")
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    path.write_text(path.read_text().replace(ANSWERS[0], f"It is {secret}"))
    take(elsewhere, path)
    stored = str([list(elsewhere.bulk.dump(one)) for one in elsewhere.projects.namespaces()])
    assert secret not in stored and ANSWERS[1] in stored


def test_an_export_is_imported_like_any_source(
    desk: Desk, project: str, tmp_path: pathlib.Path
) -> None:
    filled(desk, project)
    path = written(desk, tmp_path / "out.jsonl")
    done = desk.take(str(path))["export"]
    assert done.stored == 0 and done.known == done.read > 14


def test_a_dry_run_counts_what_taking_it_would_bring(
    desk: Desk, project: str, elsewhere: SqliteStore, tmp_path: pathlib.Path
) -> None:
    filled(desk, project)
    namespace = desk.namespace(project)
    deleted = record("a memory that is deleted: an operation and a version", namespace=namespace)
    desk.memories.add([deleted])
    desk.memories.delete(namespace, [deleted.record_id], "ada")
    path = written(desk, tmp_path / "out.jsonl")

    def counted(*, dry_run: bool) -> tuple[int, int]:
        """Rows read, and rows that are new."""
        steps: list[tuple[int, int]] = []

        def step(size: int, read: int, new: dict[str, int]) -> None:
            steps.append((read, sum(new.values())))

        ExportReader(elsewhere, "grace").read(str(path), step, dry_run=dry_run)
        return sum(read for read, _ in steps), sum(new for _, new in steps)

    before = counted(dry_run=True)
    assert elsewhere.projects.namespaces() == []
    assert before[0] == before[1] > 14, "into an empty store, all of it"
    assert counted(dry_run=False) == before
    assert counted(dry_run=True) == (before[0], 0) == counted(dry_run=False)


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda lines: lines[1:], "header"),
        (lambda lines: [lines[0].replace('"version":1', '"version":99'), *lines[1:]], "format 99"),
        (lambda lines: [*lines[:2], "{broken", *lines[2:]], "line 3 is not JSON"),
        (lambda lines: [*lines, '{"is": "spaceship"}'], "spaceship"),
        (lambda lines: [*lines, '{"no": "kind"}'], "does not name its kind"),
        (lambda lines: [*lines, "[1]"], "not an object"),
    ],
)
def test_a_spoiled_export_is_refused_in_words(
    desk: Desk, project: str, elsewhere: SqliteStore, tmp_path: pathlib.Path, spoil: object,
    told: str,
) -> None:  # fmt: skip
    filled(desk, project)
    path = written(desk, tmp_path / "out.jsonl")
    lines = spoil(path.read_text().splitlines())  # type: ignore[operator]
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(BadInput, match=told):
        take(elsewhere, path)


def test_markdown_is_for_reading_and_headings_stay_inside(desk: Desk, project: str) -> None:
    here = desk.namespace(project)
    desk.store.records.put(
        [record("# Loud", namespace=here, summary="first\n# not a heading\n<b>", facts=("a fact",))]
    )
    text = b"".join(exports.markdown(desk.store, "ada", ExportSelection(), NOW)).decode()
    assert "## shop" in text and "- a fact" in text
    assert "\n# not a heading" not in text and "<b>" not in text


# P02
def test_what_was_refused_for_good_does_not_come_in(
    desk: Desk, project: str, tmp_path: pathlib.Path
) -> None:
    filled(desk, project)
    here = desk.namespace(project)
    known = desk.store.records.put([record("Use yarn for packages/ui", namespace=here)])[0]
    path = written(desk, tmp_path / "out.jsonl")
    Tombstones(desk.store).refuse(known, "ada")
    delete_records(desk.store, here, [known.record_id], "ada")
    take(desk.store, path, "ada")
    assert desk.store.records.get(here, [known.record_id]) == []


def everything(store: SqliteStore) -> dict[str, set[str]]:
    """What is stored, by namespace without its owner; operations and sessions included."""
    return {
        namespace.partition("/project/")[2]: {
            str((kind, row.get("title") or row.get("value") or row.get("subject") or kind))
            for kind, row in store.bulk.dump(namespace)
        }
        for namespace in store.projects.namespaces()
    }


@pytest.mark.parametrize("form", [exports.jsonl, exports.document])
def test_whole_means_whole_and_comes_back_in_every_namespace(
    desk: Desk, project: str, elsewhere: SqliteStore, tmp_path: pathlib.Path, form: object
) -> None:
    """What holds everywhere may be nothing but a wish: its namespace was left out."""
    filled(desk, project)
    wish = Preference(
        preference_id=ids.new_id(ids.PREFERENCE),
        namespace=projects.namespace("ada"),
        category="style",
        key="indent",
        value="tabs",
    )
    put_graph(desk.store, wish)
    path = tmp_path / "whole.out"
    path.write_bytes(b"".join(form(desk.store, "ada", ExportSelection(), NOW)))  # type: ignore[operator]
    text = path.read_text()
    assert '"whole":true' in text and '"/actor/ada/"' in text.split("\n")[0]
    take(elsewhere, path)
    assert everything(elsewhere) == everything(desk.store)
    (there,) = elsewhere.graph.all(projects.namespace("grace"), Preference)
    assert there.value == "tabs"


# P02
@pytest.mark.parametrize("verdict", ["never", "wrong"])
def test_an_import_deletes_nothing_that_is_there(
    desk: Desk, project: str, tmp_path: pathlib.Path, verdict: Verdict
) -> None:
    """A memory that is not to be told is there all the same; reading its own export again said
    "0 new" and deleted it."""
    filled(desk, project)
    here = desk.namespace(project)
    known = desk.store.records.put([record("Use yarn for packages/ui", namespace=here)])[0]
    path = written(desk, tmp_path / "out.jsonl")
    Feedback(desk.store).give(here, known.record_id, verdict, "ada")
    before = everything(desk.store)
    assert take(desk.store, path, "ada") == 0
    assert desk.store.records.get(here, [known.record_id]) and everything(desk.store) == before


def test_what_was_forgotten_here_is_not_brought_back_by_an_older_export(
    desk: Desk, project: str, tmp_path: pathlib.Path
) -> None:
    filled(desk, project)
    here = desk.namespace(project)
    known = desk.store.records.put([record("Use yarn for packages/ui", namespace=here)])[0]
    path = written(desk, tmp_path / "out.jsonl")
    stone = functools.partial(tombstone_of, cause="delete", again=True)
    gone = desk.memories.delete(here, [known.record_id], "ada", stone=stone)
    assert gone is not None and take(desk.store, path, "ada") == 0
    desk.memories.undo(here, gone.op_id, "ada")
    assert desk.store.records.get(here, [known.record_id])


def test_the_same_words_under_another_id_are_known(
    desk: Desk, project: str, elsewhere: SqliteStore, tmp_path: pathlib.Path
) -> None:
    """E17, for exports of one's own too; what one store holds twice stays two."""
    namespace = projects.namespace("ada")
    note = record("The port is 7325", namespace=namespace, strategy="user", author="user")
    note = msgspec.structs.replace(note, content_hash=hash_of_memory(note))
    turn = record("go on", namespace=namespace, kind="episode", detail="go on")
    desk.store.records.put([note, turn])
    path = written(desk, tmp_path / "out.jsonl")
    renamed = tmp_path / "renamed.jsonl"
    text = path.read_text().replace(note.record_id, ids.new_id(ids.RECORD))
    renamed.write_text(text.replace(turn.record_id, ids.new_id(ids.RECORD)))
    assert take(desk.store, renamed, "ada") == 1, "the turn: people say the same twice"
    assert take(desk.store, renamed, "ada") == 0

    twice = tmp_path / "twice.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    twice.write_text(text + "".join(one for one in lines if "7325" in one))
    take(elsewhere, twice)
    there = elsewhere.records.page(projects.namespace("grace"), limit=10).items
    assert [one.title for one in there].count("The port is 7325") == 2


def test_a_hash_that_does_not_fit_the_text_is_not_taken_over(
    desk: Desk, project: str, elsewhere: SqliteStore, tmp_path: pathlib.Path
) -> None:
    namespace = projects.namespace("ada")
    note = record("The port is 7325", namespace=namespace, strategy="user", author="user")
    note = msgspec.structs.replace(note, content_hash=hash_of_memory(note))
    desk.store.records.put([note])
    path = written(desk, tmp_path / "out.jsonl")
    path.write_text(path.read_text().replace("7325", "9999"))
    take(elsewhere, path)
    (there,) = elsewhere.records.page(projects.namespace("grace"), limit=10).items
    assert there.title == "The port is 9999"
    assert there.content_hash == hash_of_memory(there) != note.content_hash
