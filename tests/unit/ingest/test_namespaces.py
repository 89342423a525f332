"""A disk that hangs holds no hook for long, and nothing ends up in another project."""

import os
import pathlib
import threading

from recollect.core.projects import ProjectPlace, locate
from recollect.ingest.origins import THREADS, FileEnds, Namespaces
from recollect.store.sqlite import SqliteStore

PATIENCE_S = 0.05


class Disk:
    """A file system of which some directories do not answer until they are released."""

    def __init__(self) -> None:
        self.hangs: set[str] = set()
        self.release = threading.Event()
        self.asked: list[str] = []

    def look(self, directory: str) -> ProjectPlace:
        self.asked.append(directory)
        if directory in self.hangs:
            self.release.wait(60)
        return ProjectPlace(root=f"/found{directory}")


def test_a_directory_is_what_it_was_while_its_disk_hangs(store: SqliteStore) -> None:
    disk = Disk()
    places = Namespaces(store, "ada", disk.look, PATIENCE_S)
    assert places.place("/mount/a")[0] == ProjectPlace(root="/found/mount/a")
    disk.hangs = {"/mount/a", "/mount/b"}
    assert places.place("/mount/a")[0] == ProjectPlace(root="/found/mount/a")
    assert places.place("/mount/b")[0] == ProjectPlace(root="/mount/b"), "a project of its own"
    disk.release.set()
    while places.place("/mount/b")[0] != ProjectPlace(root="/found/mount/b"):
        continue  # until its thread is back


def test_a_directory_that_hangs_is_asked_once_and_takes_one_thread(store: SqliteStore) -> None:
    disk = Disk()
    disk.hangs = {"/mount/a"}
    places = Namespaces(store, "ada", disk.look, PATIENCE_S)
    for _ in range(3 * THREADS):
        assert places.place("/mount/a")[0] == ProjectPlace(root="/mount/a")
    assert places.place("/work")[0] == ProjectPlace(root="/found/work")
    assert disk.asked.count("/mount/a") < THREADS
    disk.release.set()


def test_the_home_and_the_root_are_no_projects_even_unseen(store: SqliteStore) -> None:
    disk = Disk()
    home = os.path.expanduser("~")
    disk.hangs = {home, "/", "/../.."}
    places = Namespaces(store, "ada", disk.look, PATIENCE_S)
    assert all(places.place(one)[0].is_global for one in disk.hangs)
    disk.release.set()


def test_the_end_of_a_transcript_is_bounded_and_never_waited_for(tmp_path: pathlib.Path) -> None:
    files = FileEnds()
    path = str(tmp_path / "transcript.jsonl")
    assert files.end_of(path, 4) == b"", "it may still come"
    pathlib.Path(path).write_bytes(b"0123456789")
    assert files.end_of(path, 4) == b"6789"
    os.unlink(path)
    os.mkfifo(path)
    assert files.end_of(path, 4) is None
    assert files.end_of(str(tmp_path / "no" / "such"), 4) is None
    assert files.end_of("/dev/zero", 4) is None


def test_a_pipe_named_like_gits_files_is_no_repository(
    store: SqliteStore, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    os.mkfifo(tmp_path / ".git")
    here = ProjectPlace(root=str(tmp_path.resolve()))
    assert locate(str(tmp_path)) == here
    os.unlink(tmp_path / ".git")
    for name in ("HEAD", "commondir", "config"):
        git = tmp_path / ".git"
        git.mkdir(exist_ok=True)
        (git / "HEAD").write_text("ref: refs/heads/main\n")
        (git / name).unlink(missing_ok=True)
        os.mkfifo(git / name)
        assert Namespaces(store, "ada").place(str(tmp_path))[0].root == here.root
        (git / name).unlink()
    for pointer in (b"gitdir: \0", b"gitdir: " + b"a/" * 30_000, b"gitdir: .git\n", b"\xff" * 100):
        (tmp_path / "w").mkdir(exist_ok=True)
        (tmp_path / "w" / ".git").write_bytes(pointer)
        assert locate(str(tmp_path / "w")).root
