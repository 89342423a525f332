"""A renamed file keeps its history."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from recollect.core.values import IMPORTED, Action, Event, EventSource, JsonBody, TurnWork
from recollect.hosts.adapter import tool_draft
from recollect.work import renames
from recollect.work.index import ProjectWork
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


def test_the_new_name_inherits_what_is_known_of_the_old_one() -> None:
    work = ProjectWork()
    work.add(
        turn(
            1, edit("src/retry.py"), person="ada", branch="fix", defines=(("Cap", "src/retry.py"),)
        )
    )
    work.add(turn(2, edit("src/attempts.py", was="src/retry.py"), person="bob"))
    work.add(turn(2, edit("src/attempts.py", was="src/retry.py"), person="bob"))  # it grew
    assert set(work.path) == {"src/attempts.py"} == set(work.sessions) == set(work.last)
    assert work.sessions["src/attempts.py"] == {"s1", "s2"}
    assert set(work.by_person["ada"]) == set(work.by_branch["fix"]) == {"src/attempts.py"}
    assert work.symbols["Cap"] == {"src/attempts.py"}
    assert list(work.named(["attempt"], 5)) == ["src/attempts.py"] and not work.named(["retri"], 5)
    assert list(work.touched(turn(1, edit("src/retry.py")))) == ["src/attempts.py"]


def test_names_that_come_back_are_files_again() -> None:
    work = ProjectWork()
    work.add(turn(1, edit("a.py")))
    work.add(turn(2, edit("b.py", was="a.py")))
    work.add(turn(3, edit("c.py", was="b.py")))
    assert set(work.path) == {"c.py"} and list(work.touched(turn(1, edit("a.py")))) == ["c.py"]
    work.add(turn(4, edit("a.py", was="c.py")))
    assert set(work.path) == {"a.py"} and work.sessions["a.py"] == {"s1", "s2", "s3", "s4"}
    work.add(turn(5, edit("b.py")))
    assert set(work.path) == {"a.py", "b.py"} and work.sessions["b.py"] == {"s5"}


def test_a_renamed_folder_takes_its_files_along() -> None:
    work = ProjectWork()
    work.add(turn(1, edit("src/old/a.py"), edit("src/older/b.py")))
    work.add(turn(2, edit("src/new/", was="src/old/")))
    assert set(work.path) == {"src/new/a.py", "src/older/b.py"}


def test_work_on_a_branch_counts_on_the_main_line_too() -> None:
    """There is nothing to hand over when it is merged: a branch only adds weight on itself."""
    work = ProjectWork()
    work.add(turn(1, edit("src/a.py"), branch="fix"))
    assert work.sessions["src/a.py"] == {"s1"} and work.last["src/a.py"] > 0
    assert list(work.named(["src"], 5)) == ["src/a.py"]


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
