"""A renamed file keeps its history."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from recollect.core.values import IMPORTED, Action, Event, EventSource, JsonBody, TurnWork
from recollect.hosts.adapter import tool_draft
from recollect.work import bm25, renames
from recollect.work.index import ProjectWork
from recollect.work.likely_files import Ask, rank
from recollect.work.terms import Postings
from recollect.work.turn_work import person_of, work_of
from tests.make import NAMESPACE, event

ROOT = "/home/ada/shop"
START = datetime(2026, 5, 1, tzinfo=UTC)


def call(
    tool: str, given: Any, output: Any = None, *, failed: bool = False, **source: str
) -> Event:
    body = tool_draft(tool, given, output, call="x", failed=failed).body
    assert isinstance(body, JsonBody)
    where = {"project_path": ROOT, **source}
    return event(kind="tool_use", body=body, source=EventSource(surface="claude-code", **where))


def turn(number: int, *actions: Action, **more: Any) -> TurnWork:
    return TurnWork(
        turn_id=f"{number:026d}", namespace=NAMESPACE, session_id=f"s{number}",
        at=START + timedelta(hours=number), actions=actions, **more,
    )  # fmt: skip


def edit(path: str, was: str = "") -> Action:
    return Action(how="edit", path=path, was=was)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("git mv src/a.py src/b.py", [("src/a.py", "src/b.py")]),
        ("cd src && git mv -f a.py b.py && make test", [("a.py", "b.py")]),
        ("mv 'a.py' lib", [("a.py", "lib/a.py")]),
        ("mv a.py b.py lib/", [("a.py", "lib/a.py"), ("b.py", "lib/b.py")]),
        ("git mv src/old src/new", [("src/old/", "src/new/")]),
        ("mv *.py lib/", []),
        ("mv a.py", []),
        ("grep mv a.py b.py", []),
    ],
)
def test_what_mv_was_told(line: str, found: list[tuple[str, str]]) -> None:
    assert list(renames.by_command(line)) == found


def test_what_git_prints_of_a_commit() -> None:
    output = {"stdout": "[main 1a2b] Move it\n 2 files changed\n"
              " rename src/{old => new}/a.py (97%)\n rename a.md => docs/b.md (100%)\n"
              " rename src/{ => deep}/c.py (100%)\n"}  # fmt: skip
    assert list(renames.printed_by_git(output)) == [
        ("src/old/a.py", "src/new/a.py"), ("a.md", "docs/b.md"), ("src/c.py", "src/deep/c.py"),
    ]  # fmt: skip


def test_what_a_tool_moves() -> None:
    patch = "*** Begin Patch\n*** Update File: src/a.py\n*** Move to: src/b.py\n@@\n*** End Patch"
    for tool, given in (
        ("apply_patch", {"input": patch}),
        ("mcp__files__move_file", {"source": f"{ROOT}/src/a.py", "destination": "src/b.py"}),
        ("Bash", {"command": "git mv src/a.py src/b.py"}),
    ):
        made = work_of([call(tool, given)])
        assert made is not None
        assert edit("src/b.py", was="src/a.py") in made.actions, tool
    failed = work_of([call("Bash", {"command": "git mv src/a.py src/b.py"}, failed=True)])
    assert failed is not None and not any(one.was for one in failed.actions)
    outside = work_of([call("Bash", {"command": "mv src/a.py /tmp/a.py"})])
    assert outside is not None and not any(one.was for one in outside.actions)


def project(*turns: TurnWork) -> ProjectWork:
    work = ProjectWork()
    for one in turns:
        work.add(one)
    return work


def sessions(work: ProjectWork) -> dict[str, int]:
    """How many touched each file."""
    return {path: work.often[number] for path, number in work.number.items()}


def found_by(postings: Postings, work: ProjectWork, *wanted: str) -> list[str]:
    return [work.path[number] for number, _ in bm25.best(bm25.search(postings, wanted), 5)]


def touched(work: ProjectWork, number: int) -> list[str]:
    """The files of what was one turn's session."""
    (made,) = work.of_session[f"s{number}"].turns.values()
    return [work.path[file] for file in work.touched(made)]


def test_the_new_name_inherits_what_is_known_of_the_old_one() -> None:
    first = turn(
        1, edit("src/retry.py"), person="ada", branch="fix", defines=(("Cap", "src/retry.py"),)
    )
    renaming = turn(2, edit("src/attempts.py", was="src/retry.py"), person="bob")
    work = project(first, renaming, renaming)  # it grew
    assert sessions(work) == {"src/attempts.py": 2}
    (number,) = work.number.values()
    assert work.by_person["ada"][number] == work.by_person["bob"][number] == 1
    assert list(work.by_branch["fix"].files) == [number] and work.symbols["Cap"] == (number,)
    assert found_by(work.path_words, work, "attempt") == ["src/attempts.py"]
    assert found_by(work.path_words, work, "retri") == []
    assert touched(work, 1) == ["src/attempts.py"]


def test_a_file_that_takes_the_place_of_another_inherits_from_both() -> None:
    work = project(
        turn(
            1, edit("a.py"), person="ada", branch="fix", defines=(("Cap", "a.py"), ("All", "a.py"))
        ),
        turn(2, edit("b.py"), person="ada", branch="fix", defines=(("Cap", "b.py"),)),
        turn(3, edit("a.py"), edit("b.py"), person="bob"),
        turn(4, edit("c.py"), person="eve"),
        turn(5, edit("b.py", was="a.py"), person="eve"),
    )
    number = work.number["b.py"]
    assert sessions(work) == {"b.py": 4, "c.py": 1}
    assert [work.by_person[one][number] for one in ("ada", "bob", "eve")] == [2, 1, 1]
    assert work.by_branch["fix"].files == {number: (START + timedelta(hours=2)).timestamp()}
    assert work.symbols == {"Cap": (number,), "All": (number,)}
    assert found_by(work.defined_words, work, "cap") == ["b.py"]
    assert touched(work, 1) == touched(work, 3) == ["b.py"]
    likely = rank(work, Ask("All Cap a", (START + timedelta(1)).timestamp(), "new", "ada", "fix"))
    assert [one.path for one in likely] == ["b.py", "c.py"]
    work.add(turn(6, edit("c.py", was="b.py")))
    assert sessions(work) == {"c.py": 6} and touched(work, 1) == ["c.py"]
    work.add(turn(7, Action(how="read", path="a.py")))
    assert sessions(work) == {"c.py": 7}


def test_names_that_come_back_are_files_again() -> None:
    work = project(
        turn(1, edit("a.py")), turn(2, edit("b.py", was="a.py")), turn(3, edit("c.py", was="b.py"))
    )
    assert sessions(work) == {"c.py": 3} and touched(work, 1) == ["c.py"]
    work.add(turn(4, edit("a.py", was="c.py")))
    assert sessions(work) == {"a.py": 4}
    work.add(turn(5, edit("b.py")))
    assert sessions(work) == {"a.py": 4, "b.py": 1}
    assert touched(work, 2) == ["a.py"] and touched(work, 5) == ["b.py"]


def test_a_renamed_folder_takes_its_files_along() -> None:
    work = project(
        turn(1, edit("src/old/a.py"), edit("src/older/b.py")),
        turn(2, edit("src/new/", was="src/old/")),
    )
    assert set(work.path) == {"src/new/a.py", "src/older/b.py"}


def test_a_file_that_was_touched_and_renamed_in_one_turn_is_one_file() -> None:
    work = ProjectWork()
    work.add(turn(1, edit("src/old.py"), edit("lib/a.py"), edit("src/new.py", was="src/old.py"),
                  edit("pkg/", was="lib/")))  # fmt: skip
    assert sorted(path for path in work.path if path) == ["pkg/a.py", "src/new.py"]


def test_work_on_a_branch_counts_on_the_main_line_too() -> None:
    """There is nothing to hand over when it is merged: a branch only adds weight on itself."""
    work = project(turn(1, edit("src/a.py"), branch="fix"))
    assert sessions(work) == {"src/a.py": 1} and work.last[0] > 0
    assert found_by(work.path_words, work, "src") == ["src/a.py"]


@pytest.mark.parametrize(
    ("where", "person"),
    [
        ("/home/grace/shop", "grace"),
        ("/Users/grace/src/shop", "grace"),
        ("C:\\Users\\grace\\shop", "grace"),
        ("/mnt/c/Users/grace/shop", "grace"),
        ("/srv/home/shop", "ada"),
        ("/work/shop", "ada"),
        ("", "ada"),
    ],
)
def test_of_what_was_imported_the_home_tells_who_worked(where: str, person: str) -> None:
    source = EventSource(surface="claude-code", client_id=IMPORTED, project_path=where or None)
    assert person_of(event(source=source)) == person
    live = EventSource(surface="claude-code", project_path=where or None)
    assert person_of(event(source=live)) == "ada"
