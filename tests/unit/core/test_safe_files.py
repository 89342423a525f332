"""Whatever stands at a path, reading it gives a bounded piece of a plain file or an OSError."""

import ast
import errno
import os
import pathlib
import socket
import threading
from collections.abc import Callable

import pytest

from recollect.core import safe_files
from tests.conftest import REPOSITORY
from tests.fakes.waiting import PATIENCE_S

# Modules that open files by themselves, and why they may: everything they open is our own, lies in
# the data directory or the package, or is a device that is named in the code.
OWN_FILES = {
    "capture/fallback.py": "/dev/null and the boot id",
    "capture/hook_keepout.py": "the settings, which the hook cannot load otherwise",
    "capture/launcher.py": "our launcher and hook",
    "capture/launcher_file.py": "the launcher",
    "capture/spool.py": "spooled frames; not through links and without waiting",
    "capture/spool_writer.py": "spooled frames",
    "capture/starter.py": "start.lock",
    "cli/doctor.py": "the installed hook",
    "cli/export.py": "writes the export that was asked for",
    "cli/logs.py": "the log",
    "cli/process.py": "/dev/null, /proc of our own daemon, the log",
    "cli/run.py": "/dev/null",
    "cli/service.py": "the unit file that we wrote",
    "cli/trial.py": "writes the log that was asked for",
    "core/clock.py": "the boot id",
    "core/keepout_rules.py": "project files: without waiting, and plain files only, by itself",
    "core/private_sessions.py": "the list of private sessions, which the hook reads too",
    "core/oslayer.py": "locks and private files of the data directory",
    "core/safe_files.py": "this is it",
    "core/safe_git.py": "the temporary git directory that it made",
    "core/daemon_stage.py": "daemon.json",
    "embedding/weights.py": "a wheel in a temporary directory of its own",
    "hosts/apply.py": "writes the plan's files",
    "hosts/ledger.py": "our own notes about hosts' files",
    "portable/erasure.py": "our own logs",
    "core/foreign_database.py": "copies what was looked at just before",
    "server/dashboard_files.py": "files of the package",
    "store/sqlite/connect.py": "the database",
    "store/sqlite/ledger.py": "our own ledger, and the database",
    "store/sqlite/upkeep.py": "backups",
    "store/sqlite/engine.py": "the reserve file",
    "trial/transcripts.py": "unpacked copies in its temporary home",
}  # fmt: skip
OPENING_OF = {"os": {"open", "fdopen"}, "io": {"open"}, "shutil": {"copyfile", "copy", "copy2"}}


def opens(source: str) -> list[int]:
    """The lines that open a file."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        match node.func:
            case ast.Name(id="open"):
                found.append(node.lineno)
            case ast.Attribute(value=ast.Name(id=module), attr=name) if name in OPENING_OF.get(
                module, ()
            ):
                found.append(node.lineno)
            case ast.Attribute(attr="read_text" | "read_bytes"):
                found.append(node.lineno)
    return found


def test_no_module_opens_a_path_of_somebody_elses_by_itself() -> None:
    root = pathlib.Path(REPOSITORY) / "recollect"
    bare = {
        str(path.relative_to(root)): found
        for path in sorted(root.rglob("*.py"))
        if "bench" not in path.parts and (found := opens(path.read_text()))
    }
    strangers = {name: at for name, at in bare.items() if name not in OWN_FILES}
    assert not strangers, (
        f"read with core/safe_files, or say here whose files these are: {strangers}"
    )
    assert set(OWN_FILES) == set(bare), "one that opens nothing any more needs no reason"


def test_the_search_finds_every_way_to_open() -> None:
    ways = [
        "open(p)", "os.open(p, 0)", "io.open(p)", "os.fdopen(3)", "Path(p).read_text()",
        "p.read_bytes()", "shutil.copyfile(a, b)",
    ]  # fmt: skip
    assert [len(opens(way)) for way in ways] == [1] * len(ways)
    assert opens("breaker.open(key); webbrowser.open(url); safe_files.open_plain(p)") == []


@pytest.fixture
def special(tmp_path: pathlib.Path) -> dict[str, str]:
    """Everything that can stand where a file is expected."""
    place = {name: str(tmp_path / name) for name in ("fifo", "socket", "folder", "loop", "gone")}
    os.mkfifo(place["fifo"])
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(place["socket"])
    os.mkdir(place["folder"])
    os.symlink(place["loop"], place["loop"])
    os.symlink(place["fifo"], tmp_path / "link to fifo")
    return {
        **place,
        "link": str(tmp_path / "link to fifo"),
        "device": "/dev/zero",
        "terminal": "/dev/tty",
        "nul": f"{tmp_path}/a\0b",
        "long": f"{tmp_path}/" + "x/" * 4000,
        "below a file": f"{__file__}/x",
    }


READERS: dict[str, Callable[[str], object]] = {
    "start": safe_files.read_start,
    "whole": lambda path: safe_files.read_whole(path, 100),
    "end": lambda path: safe_files.read_end(path, 100),
    "open": safe_files.open_plain,
}


@pytest.mark.parametrize("reader", READERS)
def test_what_is_no_plain_file_is_refused_at_once(special: dict[str, str], reader: str) -> None:
    for what, path in special.items():
        done: list[object] = []

        def read(path: str = path, done: list[object] = done) -> None:
            try:
                done.append(READERS[reader](path))
            except OSError as error:
                done.append(error)

        thread = threading.Thread(target=read, daemon=True)
        thread.start()
        thread.join(PATIENCE_S)
        assert len(done) == 1, f"{what} was waited for"
        assert isinstance(done[0], OSError), what
        assert safe_files.text_or_nothing(path) == ""


def test_a_pipe_that_takes_a_files_place_meanwhile_is_refused(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between looking and opening."""
    pipe = str(tmp_path / "pipe")
    os.mkfifo(pipe)
    plain = os.stat(__file__)
    monkeypatch.setattr(os, "stat", lambda path, **more: plain)
    with pytest.raises(safe_files.NotPlain):
        safe_files.open_plain(pipe)


def test_links_are_followed_only_where_they_may_be(tmp_path: pathlib.Path) -> None:
    (tmp_path / "file").write_bytes(b"content")
    link = str(tmp_path / "link")
    os.symlink(tmp_path / "file", link)
    assert safe_files.read_start(link) == b"content"
    with pytest.raises(OSError, match="no plain file"):
        safe_files.read_start(link, follow=False)


def test_files_are_read_only_as_far_as_they_may_be_long(tmp_path: pathlib.Path) -> None:
    path = str(tmp_path / "huge")
    with open(path, "wb") as file:
        file.write(b"start")
        file.truncate(1 << 40)
    assert safe_files.read_start(path, 7) == b"start\0\0"
    assert safe_files.read_end(path, 5) == bytes(5)
    with pytest.raises(OSError, match="more than 100 bytes") as refused:
        safe_files.read_whole(path, 100)
    assert refused.value.errno == errno.EFBIG
    assert safe_files.text_or_nothing(path) == "", "a text has no NUL"


def test_files_of_the_kernel_give_what_they_have() -> None:
    assert safe_files.read_start("/proc/self/status")
    for path in ("/proc/kmsg", "/proc/self/mem"):
        try:
            assert isinstance(safe_files.read_start(path, 10), bytes)
        except OSError:
            continue


def test_a_pointer_longer_than_any_path_is_none(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "pointer"
    path.write_text("../there\n")
    assert safe_files.path_or_nothing(str(path)) == "../there"
    path.write_text("a/" * 40_000)
    assert safe_files.path_or_nothing(str(path)) == ""


def test_lines_keep_their_numbers_and_no_line_is_endless(tmp_path: pathlib.Path) -> None:
    path = str(tmp_path / "lines")
    pathlib.Path(path).write_bytes(b"one\n" + b"x" * 1000 + b"\nthree\n" + b"y" * 30)
    with safe_files.open_plain(path) as file:
        assert list(safe_files.lines(file, 10)) == [b"one\n", b"\n", b"three\n", b"\n"]
    with safe_files.open_plain(path) as file, pytest.raises(OSError, match="more than 10 bytes"):
        list(safe_files.lines(file, 10, all_needed=True))
