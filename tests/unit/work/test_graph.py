"""The graph of what was done: which entities there are, what connects them, and its bounds."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from recollect.core.ids import new_ulid
from recollect.core.values import Action, TurnWork
from recollect.work import graph as module
from recollect.work.graph import WorkGraph, is_from_work
from tests.make import NAMESPACE

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


def edit(path: str) -> Action:
    return Action(how="edit", path=path)


def read(path: str) -> Action:
    return Action(how="read", path=path)


def run(command: str, error: str | None = None) -> Action:
    return Action(how="run", command=command, failed=error is not None, error=error or "")


def turn(*actions: Action, minutes: int = 0, session: str = "s", **more: Any) -> TurnWork:
    fields = {"person": "ada", "branch": "main", **more}
    return TurnWork(
        turn_id=new_ulid(),
        namespace=NAMESPACE,
        session_id=session,
        at=NOW + timedelta(minutes=minutes),
        actions=actions,
        **fields,
    )


def edges(graph: WorkGraph, kind: str) -> set[tuple[str, str]]:
    names = {one.entity_id: one.name for one in graph.entities()}
    return {
        (names[one.source_id], names[one.target_id])
        for entity in graph.entities()
        for one in graph.relationships(entity.entity_id)
        if one.type == kind
    }


def names(graph: WorkGraph, kind: str) -> list[str]:
    return sorted(one.name for one in graph.entities() if one.type == kind)


def build(*turns: TurnWork) -> WorkGraph:
    return WorkGraph(NAMESPACE, turns)


def test_files_that_were_edited_together_twice_belong_together() -> None:
    graph = build(
        turn(edit("a.py"), edit("b.py"), edit("c.py")), turn(edit("a.py"), edit("b.py"), minutes=1)
    )
    assert edges(graph, "edited_with") == {("a.py", "b.py")}
    files = {one.name: one for one in graph.entities()}
    assert files["a.py"].description == "edited 2 times, last 2026-11-16"
    for end in ("a.py", "b.py"):
        (tie,) = (
            one for one in graph.relationships(files[end].entity_id) if one.type == "edited_with"
        )
        assert len(tie.source_event_ids) == 2


def test_a_sweep_over_many_files_does_not_join_them() -> None:
    many = [edit(f"src/m{number}.py") for number in range(module.SWEEP + 1)]
    assert not edges(build(turn(*many), turn(*many, minutes=1)), "edited_with")


def test_a_test_is_joined_to_the_nearest_file_of_its_name() -> None:
    graph = build(
        turn(read("api/users.go"), read("web/users.go"), read("api/users_test.go")),
        turn(read("recollect/work/lines.py"), read("tests/unit/work/test_lines.py")),
        turn(read("recollect/cli/lines.py"), read("tests/unit/test_alone.py")),
    )
    assert edges(graph, "tests") == {
        ("api/users_test.go", "api/users.go"),
        ("tests/unit/work/test_lines.py", "recollect/work/lines.py"),
    }


def test_a_command_that_failed_was_fixed_by_what_was_edited_before_it_passed() -> None:
    graph = build(
        turn(edit("early.py"), run("make test", "E: boom"), edit("tried.py")),
        turn(run("make test", "E: boom"), edit("cure.py"), minutes=1),
        turn(run("make test"), edit("late.py"), minutes=2),
    )
    assert edges(graph, "fixed_by") == {("make test", "cure.py")}
    (command,) = (one for one in graph.entities() if one.type == "command")
    assert command.description == "run 3 times, last 2026-11-16; failed 2 times"


@pytest.mark.parametrize(
    "turns",
    [
        [turn(run("make", "E"), session="one"), turn(edit("a.py"), run("make"), session="two")],
        [
            turn(run("make", "E")),
            *(turn(edit("a.py"), minutes=number) for number in range(1, 4)),
            turn(run("make"), minutes=9),
        ],
        [turn(run("make", "E"), run("make"))],
        [turn(run("make", "E"), *(edit(f"{n}.py") for n in range(module.REPAIR + 1)), run("make"))],
    ],
    ids=["another session", "much later", "nothing edited", "too many files to tell"],
)
def test_what_is_not_known_to_have_fixed_a_command_is_not_said_to(turns: list[TurnWork]) -> None:
    assert not edges(build(*turns), "fixed_by")


def test_commands_know_who_ran_them_and_which_files_they_ran() -> None:
    script = (Action(how="run", path="tools/seed.py"), run("python tools/seed.py"))
    graph = build(
        turn(edit("tools/seed.py"), *script),
        turn(*script, minutes=1, person="bob"),
        turn(run("echo once"), minutes=2),
    )
    assert names(graph, "command") == ["python tools/seed.py"]
    assert edges(graph, "run_by") == {
        ("tools/seed.py", "python tools/seed.py"),
        ("python tools/seed.py", "ada"),
        ("python tools/seed.py", "bob"),
    }
    assert edges(graph, "edited_by") == {("tools/seed.py", "ada")}


def test_packages_and_services_come_with_the_commands_that_name_them() -> None:
    graph = build(turn(run("uv add httpx"), run("docker compose up -d db"), run("npm i x", "E404")))
    assert (names(graph, "package"), names(graph, "service")) == (["httpx"], ["db"])
    assert edges(graph, "added_by") == {("httpx", "uv add httpx")}
    assert ("db", "docker compose up -d db") in edges(graph, "run_by")


def test_branches_know_their_files_and_commits_and_main_is_none() -> None:
    graph = build(
        turn(edit("a.py"), branch="fix/retry", commits=("Cap retries", "Test it")),
        turn(edit("b.py"), minutes=1),
    )
    (branch,) = (one for one in graph.entities() if one.type == "branch")
    assert branch.name == "fix/retry"
    assert branch.description == "1 session, last 2026-11-16: Test it; Cap retries"
    assert edges(graph, "edited_on") == {("a.py", "fix/retry")}


def test_symbols_are_names_that_few_files_define() -> None:
    everywhere = [("setUp", f"t{number}.py") for number in range(module.SAME_NAME + 1)]
    defines = (("RetryPolicy", "src/a.py"), ("RetryPolicy", "docs/a.md"), *everywhere)
    graph = build(turn(read("src/a.py"), defines=defines))
    assert names(graph, "symbol") == ["RetryPolicy"]
    assert edges(graph, "defines") == {("src/a.py", "RetryPolicy")}


def test_a_file_is_also_named_by_the_end_of_its_path_that_no_other_has() -> None:
    graph = build(turn(read("src/api/state.py"), read("src/web/state.py"), read("src/web/app.py")))
    found = {one.name: one.aliases for one in graph.entities() if one.type == "file"}
    assert found == {
        "src/api/state.py": ("api/state.py",),
        "src/web/state.py": ("web/state.py",),
        "src/web/app.py": ("app.py",),
    }


def moved(old: str, new: str) -> Action:
    return Action(how="edit", path=new, was=old)


def test_a_renamed_file_is_one_file_under_its_new_name() -> None:
    graph = build(
        turn(edit("a.py"), edit("b.py"), defines=(("Client", "a.py"),)),
        turn(moved("a.py", "c.py"), minutes=1),
        turn(moved("c.py", "d.py"), edit("b.py"), minutes=2),
    )
    assert names(graph, "file") == ["b.py", "d.py"]
    assert edges(graph, "edited_with") == {("b.py", "d.py")}
    assert edges(graph, "defines") == {("d.py", "Client")}


def test_files_of_a_renamed_folder_follow_it_and_the_folder_is_no_file() -> None:
    graph = build(
        turn(edit("old/a.py")),
        turn(moved("old/", "new/"), minutes=1),
        turn(edit("new/b.py"), minutes=2),
    )
    assert names(graph, "file") == ["new/a.py", "new/b.py"]


def test_a_new_file_of_an_old_name_is_another_file() -> None:
    graph = build(
        turn(edit("a.py"), defines=(("Old", "a.py"),)),
        turn(moved("a.py", "b.py"), minutes=1),
        turn(edit("a.py"), minutes=2, defines=(("New", "a.py"),)),
    )
    assert edges(graph, "defines") == {("b.py", "Old"), ("a.py", "New")}


def test_ids_last_and_belong_to_their_namespace() -> None:
    work = turn(edit("a.py"))
    one, again = (WorkGraph(NAMESPACE, [work]) for _ in range(2))
    other = WorkGraph("/actor/ada/project/other/", [work])
    assert _ids(one) == _ids(again)
    assert not _ids(one) & _ids(other)
    assert all(is_from_work(found, NAMESPACE) for found in _ids(one))
    assert not any(is_from_work(found, NAMESPACE) for found in _ids(other))


def _ids(graph: WorkGraph) -> set[str]:
    return {one.entity_id for one in graph.entities()}


def test_however_much_was_done_the_graph_stays_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", dict.fromkeys(module.MOST, 10))
    graph = build(*_busy(200))
    assert {kind: len(names(graph, kind)) for kind in ("file", "symbol", "person")} == {
        "file": 10, "symbol": 10, "person": 1,
    }  # fmt: skip
    most = 2 * len(module.RELATIONSHIPS) * module.MOST_RELATIONSHIPS
    assert all(len(graph.relationships(one.entity_id)) <= most for one in graph.entities())
    (person,) = (one for one in graph.entities() if one.type == "person")
    edited = [one for one in graph.relationships(person.entity_id) if one.type == "edited_by"]
    assert len(edited) == module.MOST_RELATIONSHIPS


def _busy(turns: int) -> Iterable[TurnWork]:
    for number in range(turns):
        paths = [f"src/m{(number * step) % 90}.py" for step in (1, 7, 11)]
        yield turn(
            *map(edit, paths),
            minutes=number,
            defines=tuple((f"name_{path[5:-3]}", path) for path in paths),
        )


def test_a_file_that_the_repository_ignores_is_not_in_the_graph() -> None:
    defines = (("makeOut", "gen/out.py"), ("makeIn", "src/in.py"))
    made = turn(edit("gen/out.py"), edit("src/in.py"), defines=defines)
    graph = WorkGraph(NAMESPACE, [made], lambda path: path.startswith("gen/"))
    assert names(graph, "file") == ["src/in.py"] and "makeOut" not in names(graph, "symbol")
