"""Paths as a project knows them."""

import pytest

from recollect.work.paths import inside, is_output, looks_like_file, shortest_unique, subject_of


@pytest.mark.parametrize(
    ("path", "where", "found"),
    [
        ("/w/repo/src/a.py", "/w/repo", "src/a.py"),
        ("a.py", "/w/repo/src", "src/a.py"),
        ("../b.py", "/w/repo/src", "b.py"),
        ("/w/repo/.worktrees/fix-1/src/a.py", "/w/repo", "src/a.py"),
        ("/w/repo/.claude/worktrees/x/a.py", "/w/repo", "a.py"),
        ("/w/other/a.py", "/w/repo", ""),
        ("../../etc/passwd", "/w/repo/src", ""),
        ("/tmp/scratch.py", "/w/repo", ""),
        ("node_modules/x/index.js", "/w/repo", ""),
        (".git/HEAD", "/w/repo", ""),
        ("https://example.org/a.py", "/w/repo", ""),
        ("tmp/try.py", "/w/repo", ""),
        ("src/a.pyc", "/w/repo", ""),
        ("server.log", "/w/repo", ""),
        ("web/app.min.js", "/w/repo", ""),
        ("", "/w/repo", ""),
    ],
)
def test_only_files_of_the_repository_count(path: str, where: str, found: str) -> None:
    assert inside(path, where, "/w/repo") == found


def test_what_a_build_made_is_told_from_sources_by_its_folder() -> None:
    assert all(map(is_output, ("dist/app.js", "a/target/debug/x.rs", "coverage/index.html")))
    assert not any(map(is_output, ("src/build.py", "distribution/a.py", "build.gradle")))


def test_words_that_are_files() -> None:
    assert all(map(looks_like_file, ("a.py", "src/x.test.ts", "Makefile", "./a.go")))
    assert not any(
        map(looks_like_file, ("a", "1.2.3", "--x", "main..HEAD", "a@b.org", "src/", ".x.y"))
    )


def test_the_shortest_end_that_names_no_other_file() -> None:
    known = {"hooks.go": {"cli/hooks.go", "agent/gemini/hooks.go"}, "a.go": {"cli/a.go"}}
    paths = ["cli/hooks.go", "agent/gemini/hooks.go", "cli/a.go"]
    assert shortest_unique(paths, known) == ["cli/hooks.go", "gemini/hooks.go", "a.go"]


@pytest.mark.parametrize(
    ("name", "subject"),
    [
        ("retry_test.go", "retry.go"),
        ("test_retry.py", "retry.py"),
        ("Button.spec.tsx", "Button.tsx"),
        ("RetryTest.java", "Retry.java"),
        ("RetryTests.cs", "Retry.cs"),
        ("retry_spec.rb", "retry.rb"),
        ("RetryTest.php", "Retry.php"),
        ("retry_test.exs", "retry.ex"),
        ("latest.py", ""),
        ("contest.go", ""),
    ],
)
def test_a_test_and_what_it_tests(name: str, subject: str) -> None:
    assert subject_of(name) == subject
