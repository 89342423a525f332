"""Whether files are still what they were when a memory was made."""

import os
import pathlib
import subprocess
from datetime import UTC, datetime

import pytest

from recollect.core.projects import locate, namespace
from recollect.lifecycle import file_freshness
from recollect.lifecycle.file_freshness import (
    MOST_BYTES,
    MOST_FILES,
    FreshnessChecker,
    cite,
    freshness_of,
)
from recollect.store.sqlite import SqliteStore
from tests.fakes.waiting import PATIENCE_S
from tests.make import record

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


@pytest.fixture
def tree(tmp_path: pathlib.Path) -> pathlib.Path:
    root = tmp_path.resolve() / "work"
    (root / "src").mkdir(parents=True)
    (root / "src" / "a.py").write_text("a = 1\n")
    (root / "src" / "b.py").write_text("b = 1\n")
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    return root


def commit(root: pathlib.Path) -> str:
    who = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    subprocess.run(["git", *who, "add", "-A"], cwd=root, check=True)
    subprocess.run(["git", *who, "commit", "-qm", "x"], cwd=root, check=True)
    told = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, check=True)
    return told.stdout.decode().strip()


def test_files_are_cited_with_their_digest_and_the_commit(tree: pathlib.Path) -> None:
    head = commit(tree)
    found = cite([str(tree / "src" / "a.py"), "src/b.py", "src/a.py"], str(tree))
    assert [one.path for one in found] == ["src/a.py", "src/b.py"]
    assert all(len(one.sha256) == 64 and one.commit == head for one in found)
    subprocess.run(["git", "pack-refs", "--all"], cwd=tree, check=True)
    assert cite(["a.py"], str(tree / "src"))[0].commit == head
    linked = tree.parent / "linked"
    subprocess.run(["git", "worktree", "add", "-q", str(linked)], cwd=tree, check=True)
    (one,) = cite(["src/a.py"], str(linked))
    assert (one.path, one.commit) == ("src/a.py", head)


def test_what_cannot_or_should_not_be_cited_is_left_out(tree: pathlib.Path) -> None:
    (tree / "big").write_bytes(b"x" * (MOST_BYTES + 1))
    os.mkfifo(tree / "pipe")
    (tree / "out").symlink_to("/etc/hostname")
    given = ["big", "pipe", "out", "gone", "../secret", "/etc/hostname", "src", "a\0b"]
    assert cite(given, str(tree)) == ()
    assert cite(["src/a.py"], None) == cite(["src/a.py"], "relative") == ()
    for number in range(20):
        (tree / f"f{number}").write_text("x")
    assert len(cite([f"f{n}" for n in range(20)], str(tree))) == MOST_FILES


def test_fresh_drifted_orphaned(tree: pathlib.Path) -> None:
    cited = cite(["src/a.py", "src/b.py"], str(tree))
    memory = record("m", citations=cited, valid_from=LONG_AGO)
    roots = [str(tree)]
    assert freshness_of(memory, roots).state == "fresh"
    (tree / "src" / "a.py").write_text("a = 2\n")
    assert freshness_of(memory, roots) == freshness_of(memory, roots)
    found = freshness_of(memory, roots)
    assert (found.state, found.path) == ("drifted", "src/a.py")
    (tree / "src" / "a.py").write_text("a = 1\n")
    assert freshness_of(memory, roots).state == "fresh"
    (tree / "src" / "a.py").unlink()
    assert freshness_of(memory, roots).state == "drifted"
    (tree / "src" / "b.py").unlink()
    assert freshness_of(memory, roots).state == "orphaned"
    assert freshness_of(memory, []).state == "unknown"
    assert freshness_of(record("plain"), roots).state == "unknown"


def test_a_file_that_nothing_touched_is_not_read(
    tree: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cited = cite(["src/a.py"], str(tree))
    later = record("m", citations=cited, valid_from=datetime(2100, 1, 1, tzinfo=UTC))
    monkeypatch.setattr(
        "recollect.lifecycle.file_freshness._content", lambda path: pytest.fail("read")
    )
    assert freshness_of(later, [str(tree)]).state == "fresh"


def test_a_disk_that_hangs_is_not_waited_for(
    store: SqliteStore, tree: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import threading

    project = store.projects.resolve(locate(str(tree)))
    memory = record(
        "m", namespace=namespace("ada", project), citations=cite(["src/a.py"], str(tree)),
        valid_from=LONG_AGO,
    )  # fmt: skip
    work = FreshnessChecker(store)
    assert work.freshness_of([memory], 5)[memory.record_id].state == "fresh"
    release = threading.Event()
    looked = file_freshness._look
    monkeypatch.setattr(
        file_freshness, "_look",
        lambda *asked: (release.wait(PATIENCE_S), looked(*asked))[1],
    )  # fmt: skip
    assert work.freshness_of([memory], 0.5) == {}
    assert work.freshness_of([memory], 60) == {}  # it does not queue up either
    release.set()


def test_git_files_that_hold_something_else_are_not_taken_for_a_commit(
    tree: pathlib.Path,
) -> None:
    """A repository must not have us note down what stands in another file."""
    secret = tree.parent / "secret"
    secret.write_text("the password of the bank\n")
    for head in (f"ref: {secret}", "ref: ../../secret", "not a commit", "\0" * 40):
        (tree / ".git" / "HEAD").write_text(head)
        assert [one.commit for one in cite(["src/a.py"], str(tree))] == [""]
    (tree / ".git" / "HEAD").unlink()
    os.mkfifo(tree / ".git" / "HEAD")
    assert [one.commit for one in cite(["src/a.py"], str(tree))] == [""]
