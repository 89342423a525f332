"""Commits as evidence."""

import pathlib
import shutil
import subprocess

import pytest

from recollect.core.errors import BadInput
from recollect.portable import git_history
from tests.unit.portable.conftest import Desk


@pytest.fixture
def repository(desk: Desk) -> pathlib.Path:
    path = desk.home / "work" / "engine"
    path.mkdir(parents=True)
    run(path, "init", "-q", "-b", "main")
    for number in range(3):
        (path / f"part{number}.py").write_text(f"{number}")
        run(path, "add", ".")
        day = f"2026-02-0{number + 1}T10:00:00+01:00"
        message = f"Add part {number}\n\nBecause of reason {number}."
        run(path, "commit", "-q", "-m", message, date=day)
    return path


def run(path: pathlib.Path, *arguments: str, date: str = "2026-02-09T10:00:00+01:00") -> None:
    env = {
        "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date, "GIT_AUTHOR_NAME": "Ada",
        "GIT_COMMITTER_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org",
        "GIT_COMMITTER_EMAIL": "ada@example.org", "PATH": "/usr/bin:/bin:/usr/local/bin",
        "HOME": str(path), "GIT_CONFIG_NOSYSTEM": "1",
    }  # fmt: skip
    subprocess.run(["git", *arguments], cwd=path, env=env, check=True, capture_output=True)


def test_commits_become_memories_with_their_files_reasons_and_times(
    desk: Desk, repository: pathlib.Path
) -> None:
    done = desk.take(f"git:{repository}")["git"]
    assert done.stored == 3
    here = desk.namespace(str(repository))
    by_title = {one.title: one for one in desk.store.records.page(here).items}
    one = by_title["Add part 1"]
    assert one.files == ("part1.py",) and "reason 1" in one.detail and one.kind == "observation"
    assert one.valid_from.isoformat() == "2026-02-02T09:00:00+00:00"
    assert one.strategy == "import" and one.category == "commit"
    assert one.citations[0].path == "part1.py" and len(one.citations[0].commit) == 40
    assert desk.take(f"git:{repository}")["git"].stored == 0


def test_the_newest_come_first_and_only_as_many_as_asked_for(
    desk: Desk, repository: pathlib.Path
) -> None:
    desk.take(f"git:{repository}", most_commits=1)
    (one,) = desk.store.records.page(desk.namespace(str(repository))).items
    assert one.title == "Add part 2"
    assert git_history.count(str(repository)) == 3 and git_history.count("/") == 0


def test_two_copies_that_are_two_projects_are_both_imported(
    desk: Desk, repository: pathlib.Path
) -> None:
    copy = repository.parent / "copy"
    shutil.copytree(repository, copy)
    assert desk.take(f"git:{repository}")["git"].stored == 3
    assert desk.take(f"git:{copy}")["git"].stored == 3
    assert desk.take(f"git:{copy}")["git"].stored == 0


def test_a_repository_cannot_make_us_run_its_programs(desk: Desk, repository: pathlib.Path) -> None:
    trap = repository / "trap"
    trap.write_text("#!/bin/sh\ntouch sprung\n")
    trap.chmod(0o755)
    for name in ("core.fsmonitor", "diff.external", "core.pager", "pager.log"):
        run(repository, "config", name, str(trap))
    desk.take(f"git:{repository}")
    assert not (repository / "sprung").exists()


def test_a_place_without_a_repository_is_named(desk: Desk) -> None:
    with pytest.raises(BadInput, match="no git repository"):
        desk.take("git", directory=str(desk.home))
