"""A repository is data: nothing that it names is run, and reading it has an end."""

import pathlib
import random
import re

import pytest

import recollect
from tests.torture import repositories


def test_no_program_that_a_repository_names_is_run(tmp_path: pathlib.Path) -> None:
    report = repositories.named_programs(random.Random(15), 3 * len(repositories.TRAPS), tmp_path)
    assert report.failures == [] and report.tries == 3 * len(repositories.TRAPS)


def test_reading_a_repository_has_an_end(tmp_path: pathlib.Path) -> None:
    report = repositories.endless(random.Random(15), len(repositories.ENDLESS), tmp_path)
    assert report.failures == []


def test_git_is_started_in_one_place_only() -> None:
    root = pathlib.Path(recollect.__file__).parent
    starts = re.compile(r"""(?:Popen|run|subprocess_exec|exec\w*)\(\s*\[?\s*["']git["']""")
    found = {str(path.relative_to(root)) for path in root.rglob("*.py")
             if starts.search(path.read_text())}  # fmt: skip
    assert found == {"core/safe_git.py"}


@pytest.mark.parametrize("filters", ["blob:none", "tree:0"])
def test_a_clone_that_left_things_out_is_read_without_them(
    tmp_path: pathlib.Path, filters: str
) -> None:
    from recollect.portable import git_history

    whole = repositories.repository(tmp_path / "whole")
    repositories.git(whole, "config", "uploadpack.allowFilter", "true")
    part = tmp_path / "part"
    repositories.git(
        tmp_path, "clone", "-q", "--no-checkout", f"--filter={filters}", f"file://{whole}", "part"
    )
    found = list(git_history.commits(str(part), "/actor/ada/"))
    assert git_history.count(str(part)) == len(found) == 3
    assert [bool(one.files) for one in found] == [filters == "blob:none"] * 3


def test_shallow_clones_detached_heads_and_sha256_are_read(tmp_path: pathlib.Path) -> None:
    from recollect.portable import git_history

    whole = repositories.repository(tmp_path / "whole")
    repositories.git(tmp_path, "clone", "-q", "--depth=2", f"file://{whole}", "shallow")
    assert git_history.count(str(tmp_path / "shallow")) == 2
    repositories.git(whole, "checkout", "-q", "--detach", "HEAD~1")
    assert git_history.count(str(whole)) == 2
    other = tmp_path / "other"
    other.mkdir()
    repositories.git(other, "init", "-q", "--object-format=sha256")
    repositories.git(other, "commit", "-q", "--allow-empty", "-m", "Only one")
    assert [one.title for one in git_history.commits(str(other), "/actor/ada/")] == ["Only one"]
    repositories.git(whole, "pack-refs", "--all")
    repositories.git(whole, "checkout", "-q", "main")
    assert git_history.count(str(whole)) == 3
