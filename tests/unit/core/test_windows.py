"""What is for Windows and can be shown on any system: no module needs a POSIX-only one, a local
socket by loopback asks for its token, and the task that starts the daemon is well formed."""

import ast
import os
import pathlib
import socket
import subprocess
import sys
from collections.abc import Iterator
from xml.etree import ElementTree

import pytest

from recollect.cli import service
from recollect.core import oslayer

PACKAGE = pathlib.Path(__file__).resolve().parents[3] / "recollect"
POSIX_ONLY = {
    "fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty",
}  # fmt: skip
# Attributes that Windows' Python lacks; where they stand, the line is only reached elsewhere.
MISSING = {
    "os": {"environb", "fchmod", "fchown", "fork", "geteuid", "getuid", "killpg", "nice", "pread",
           "pwrite", "setsid", "statvfs", "sysconf", "O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK"},
    "signal": {"SIGALRM", "SIGHUP", "SIGKILL", "SIGXCPU", "setitimer"},
    "socket": {"AF_UNIX", "SO_PEERCRED"},
    "time": {"clock_gettime", "clock_gettime_ns", "CLOCK_MONOTONIC"},
}  # fmt: skip
KNOWN = {
    "capture/fallback.py": "the hook of POSIX; Windows' is windows_hook.py",
    "capture/paths.py": "after a look at the platform",
    "capture/starter.py": "after a look at the platform",
    "core/clock.py": "after a look at the platform",
    "core/oslayer.py": "the place for it",
    "hosts/apply.py": "after a look at the platform",
}


def posix_imports(path: pathlib.Path) -> list[str]:
    """Modules that are imported when the file is, unless the platform is looked at first."""
    return [
        name
        for node in ast.parse(path.read_text()).body
        for name in (
            [one.name for one in node.names] if isinstance(node, ast.Import)
            else [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        )
        if name.partition(".")[0] in POSIX_ONLY
    ]  # fmt: skip


def missing_attributes(path: pathlib.Path) -> list[str]:
    return [
        f"{node.value.id}.{node.attr}"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.attr in MISSING.get(node.value.id, ())
    ]


def test_no_module_needs_what_only_posix_has() -> None:
    files = {str(path.relative_to(PACKAGE)): path for path in PACKAGE.rglob("*.py")}
    assert {name: found for name, path in files.items() if (found := posix_imports(path))} == {}
    using = {name for name, path in files.items() if missing_attributes(path)}
    assert using == set(KNOWN), "ask core/oslayer, which knows all systems"


@pytest.fixture
def loopback(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> Iterator[str]:
    """The path of a local socket, by loopback, of a daemon that holds its lock."""
    monkeypatch.setattr(oslayer, "LOOPBACK", True)
    lock = oslayer.FileLock(str(tmp_path / "lock"))
    assert lock.acquire()
    yield str(tmp_path / "hook.sock")
    lock.release()


def test_a_connection_by_loopback_brings_the_token_of_its_private_file(loopback: str) -> None:
    with oslayer.listen_local(loopback) as listener:
        assert os.stat(loopback).st_mode & 0o777 == 0o600
        with oslayer.connect_local(loopback, 5) as connection, listener.accept()[0] as peer:
            expected = oslayer.expected_token(peer)
            assert len(expected) == oslayer.TOKEN_BYTES
            assert peer.recv(200) == expected
            assert oslayer.expected_token(connection) == b""


def test_a_port_that_a_dead_daemon_left_is_not_asked(loopback: str) -> None:
    """Anybody may have it by then."""
    with oslayer.listen_local(loopback) as listener:
        pathlib.Path(loopback).write_text(f"1 {listener.getsockname()[1]} {'0' * 64}\n")
        with pytest.raises(ConnectionRefusedError):
            oslayer.connect_local(loopback, 5)
        listener.setblocking(False)
        with pytest.raises(BlockingIOError):
            listener.accept()


def test_an_ordinary_port_asks_for_no_token(loopback: str) -> None:
    with (
        oslayer.listen_local(loopback),
        oslayer.listen_tcp(0) as other,
        socket.create_connection(other.getsockname()),
        other.accept()[0] as peer,
    ):
        assert oslayer.expected_token(peer) == b""


def test_the_windows_task_starts_the_daemon_at_logon(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = str(tmp_path / "O'Neil & sons")
    monkeypatch.setenv("USERDOMAIN", "DESK<1>")
    raw = service.windows_task(place)
    assert raw.startswith(b"\xff\xfe")  # what schtasks takes
    task = ElementTree.fromstring(raw.decode("utf-16").partition("?>")[2])
    space = {"t": "http://schemas.microsoft.com/windows/2004/02/mit/task"}

    def text(path: str) -> str:
        return task.findtext(path, "", space)

    assert text("t:Triggers/t:LogonTrigger/t:UserId").startswith("DESK<1>\\")
    assert text("t:Principals/t:Principal/t:RunLevel") == "LeastPrivilege"
    assert text("t:Settings/t:ExecutionTimeLimit") == "PT0S"
    assert text("t:Actions/t:Exec/t:Command").endswith("pythonw.exe")
    flag, program = text("t:Actions/t:Exec/t:Arguments").split(" ", 1)
    # What Python is told, with a harmless end: it finds the directory of the task.
    told = program.strip('"').replace('\\"', '"').partition("runpy.run_module(")[0]
    shown = f"{told}print(os.environ['RECOLLECT_HOME'], sys.argv)"
    done = subprocess.run([sys.executable, flag, shown], capture_output=True, text=True)
    assert done.stdout == f"{place} ['recollect', 'up', '--foreground']\n", done.stderr
