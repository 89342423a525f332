"""What depends on the operating system.

In: paths, sockets, processes. Out: locks, private files, durable directories, limits. What only
Windows has is in `oslayer_windows.py`; no other module imports what only one system has. Errors
are the system's OSError; callers translate them. Hooks load this module when they spool, so what
is slow to import (socket, ctypes, secrets) is imported where it is used.
"""

import contextlib
import os
import signal
import sys
import time

if sys.platform == "win32":
    from recollect.core import oslayer_windows as windows
else:
    import fcntl
    import resource

TYPE_CHECKING = False  # spares the import of `typing`; type checkers take the name for true
if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator
    from multiprocessing.connection import Connection
    from typing import Any

DIRECTORY_MODE = 0o700
FILE_MODE = 0o600
# Flags of os.open that Windows does not have.
NONBLOCK = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)
_ATTEMPTS = 5


def try_lock(fd: int) -> bool:
    """Lock an open file for this process alone, if it is free; closing the file unlocks it."""
    if sys.platform == "win32":
        return windows.try_lock(fd)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


class FileLock:
    """An exclusive lock that the kernel drops when its holder dies, however it dies."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._fd: int | None = None

    def acquire(self) -> bool:
        """Take the lock if it is free. Tries briefly, because `held` takes it for an instant."""
        fd = os.open(self.path, os.O_RDWR | os.O_CREAT, FILE_MODE)
        for attempt in range(_ATTEMPTS):
            if try_lock(fd):
                break
            if attempt == _ATTEMPTS - 1:
                os.close(fd)
                return False
            time.sleep(0.01)
        set_mode(fd, FILE_MODE)
        os.ftruncate(fd, 0)
        os.write(fd, f"{os.getpid()}\n".encode())  # for people; the lock itself is the kernel's
        self._fd = fd
        return True

    def held(self) -> bool:
        """Whether some process holds the lock now."""
        try:
            fd = os.open(self.path, os.O_RDONLY)
        except FileNotFoundError:
            return False
        try:
            return not _try_shared_lock(fd)
        finally:
            os.close(fd)

    def holder(self) -> str:
        """The process id that the holder wrote, or nothing."""
        try:
            with open(self.path, encoding="ascii", errors="replace") as file:
                return file.read(32).strip()
        except OSError:
            return ""

    def release(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def _try_shared_lock(fd: int) -> bool:
    """Two that only look do not take each other for the holder."""
    if sys.platform == "win32":
        return windows.try_lock(fd)
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def user_id() -> int:
    """Who runs this process, as `st_uid` of a file has it: on Windows all are 0."""
    if sys.platform == "win32":
        return 0
    return os.getuid()


def set_mode(fd: int, mode: int) -> None:
    """On Windows a file has no mode; it inherits its access list from the user's own folder."""
    if sys.platform != "win32":
        os.fchmod(fd, mode)


def private_directory(path: str) -> None:
    """Make a directory that only its owner can enter, whatever the umask. A new name is made
    durable, so that its content is not lost with it."""
    missing = []
    ancestor = os.path.abspath(path)
    while not os.path.exists(ancestor):
        missing.append(ancestor)
        ancestor = os.path.dirname(ancestor)
    os.makedirs(path, mode=DIRECTORY_MODE, exist_ok=True)
    for made in reversed(missing):
        sync_directory(os.path.dirname(made))
    if os.stat(path).st_mode & 0o777 != DIRECTORY_MODE:
        os.chmod(path, DIRECTORY_MODE)


def private_file(path: str) -> None:
    """Make sure a file exists and only its owner can read it, whatever the umask says."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT, FILE_MODE)
    try:
        if os.fstat(fd).st_mode & 0o777 != FILE_MODE:
            set_mode(fd, FILE_MODE)
    finally:
        os.close(fd)


def sync_directory(path: str) -> None:
    """Make names created, renamed or removed in a directory durable. Windows has no call for it."""
    if sys.platform == "win32":
        return
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def replace_file(path: str, content: bytes, mode: int = FILE_MODE) -> None:
    """Write a whole file of ours so that a crash leaves the old one or the new one."""
    temporary = f"{path}.tmp-{os.getpid()}"
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    try:
        with open(fd, "wb") as file:
            set_mode(file.fileno(), mode)
            file.write(content)
        put_in_place(temporary, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def put_in_place(temporary: str, path: str) -> None:
    """Give a finished file its final name, replacing any file of that name; its content is made
    durable first."""
    # Windows makes only files durable that are open for writing.
    fd = os.open(temporary, os.O_RDWR if sys.platform == "win32" else os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
    rename(temporary, path)


def rename(path: str, new: str) -> None:
    """Rename durably. Every rename of the product uses this, except the hook's own
    (`capture/spool_writer.py`), which has no time to import it."""
    os.replace(path, new)
    for folder in dict.fromkeys((os.path.dirname(new), os.path.dirname(path))):
        sync_directory(folder or ".")


def free_bytes(path: str) -> int:
    """How much an ordinary user can still write on a path's file system."""
    if sys.platform == "win32":
        return windows.free_bytes(path)
    status = os.statvfs(path)
    return status.f_bavail * status.f_frsize


def allocate(fd: int, size: int) -> None:
    """Make a file really take up `size` bytes."""
    if sys.platform == "linux":
        os.posix_fallocate(fd, 0, size)
    else:
        block = bytes(1 << 20)
        for start in range(0, size, len(block)):
            write_at(fd, block[: size - start], start)


def write_at(fd: int, data: bytes, place: int) -> None:
    """Write at a place of a file that no other thread writes to meanwhile."""
    if sys.platform == "win32":
        os.lseek(fd, place, os.SEEK_SET)
        os.write(fd, data)
    else:
        os.pwrite(fd, data, place)


def exists(pid: int) -> bool:
    """Whether a process exists; a zombie does not count."""
    if sys.platform == "win32":
        return windows.exists(pid)
    if (state := _proc_stat(pid)) is not None:
        return state[0] != "Z"
    if os.path.isdir("/proc/self"):
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def cpu_ticks(pid: int) -> int:
    """The CPU time of a process in ticks; 0 where that is not known."""
    if sys.platform == "win32":
        return windows.cpu_ticks(pid)
    state = _proc_stat(pid)
    return int(state[11]) + int(state[12]) if state is not None else 0


def _proc_stat(pid: int) -> list[str] | None:
    """The fields after the program's name, which can hold anything."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()
    except OSError:
        return None


def files_under(path: str) -> "Iterator[str]":
    for directory, _, names in os.walk(path):
        for name in names:
            yield os.path.join(directory, name)


def peer_uid(connection: "socket.socket") -> int:
    """The user at the other end of a unix socket, as the kernel knows it."""
    import socket
    import struct

    if sys.platform == "darwin":
        # LOCAL_PEERCRED at level 0 gives struct xucred {version, uid, …}
        raw = connection.getsockopt(0, 1, 76)
        return int(struct.unpack("II", raw[:8])[1])
    if sys.platform == "win32":
        raise OSError("a connection on Windows does not tell its user")
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return int(struct.unpack("3i", raw)[1])


# Descriptors for everything but connections and readers: the database, logs, sockets, imports.
_OWN_DESCRIPTORS = 40
_WANTED_DESCRIPTORS = 4096


def descriptor_limit() -> int:
    """How many descriptors this process may have, after asking for more: the limit that shells and
    services start with is low for compatibility's sake only, and select() is not used here (except
    on Windows, where it knows 512 sockets)."""
    if sys.platform == "win32":
        return 512
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = (
        _WANTED_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _WANTED_DESCRIPTORS)
    )
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return soft if soft != resource.RLIM_INFINITY else _WANTED_DESCRIPTORS
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    except (OSError, ValueError):  # a container that forbids it
        return soft
    return wanted


def share_of(limit: int, most: int, least: int = 2) -> int:
    """How many connections (or workers with their readers) one door may hold, so that all doors
    together stay below the limit of descriptors."""
    return max(least, min(most, (limit - _OWN_DESCRIPTORS) // 8))


# Windows has no unix sockets in Python. There, and where this is set, a local socket is a port of
# 127.0.0.1, and the file in its place holds the daemon's process id, the port and a token.
LOOPBACK = sys.platform == "win32" or os.environ.get("RECOLLECT_LOOPBACK") == "1"
TOKEN_BYTES = 64
_tokens: dict[int, bytes] = {}  # by port, of the listeners of this process


def listen_local(path: str) -> "socket.socket":
    """A listener that only its owner can connect to. A stale file is replaced; the caller holds
    the data directory's lock, so nobody else can be listening."""
    import socket

    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    if sys.platform == "win32" or LOOPBACK:
        return _listen_loopback(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        # The mode is right from the first instant, whatever the umask: bind under a strict one.
        before = os.umask(0o177)
        try:
            listener.bind(path)
        finally:
            os.umask(before)
        os.chmod(path, FILE_MODE)
        listener.listen(1024)
    except OSError:
        listener.close()
        raise
    return listener


def connect_local(path: str, timeout: float) -> "socket.socket":
    """A connection to such a listener. FileNotFoundError or ConnectionRefusedError when nobody
    listens."""
    import socket

    if sys.platform == "win32" or LOOPBACK:
        return _connect_loopback(path, timeout)
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(timeout)
    try:
        connection.connect(path)
    except OSError:
        connection.close()
        raise
    return connection


def _connect_loopback(path: str, timeout: float) -> "socket.socket":
    import socket

    with open(path, "rb") as file:
        pid, port, token = file.read(200).split()
    # A daemon that was killed leaves its file, and its port may have become anybody's.
    lock = FileLock(os.path.join(os.path.dirname(path), "lock"))
    if not lock.held() or lock.holder() != pid.decode():
        raise ConnectionRefusedError(f"the process that wrote {path} has ended")
    connection = socket.create_connection(("127.0.0.1", int(port)), timeout)
    connection.sendall(token)
    return connection


def is_owner(connection: "socket.socket") -> bool:
    """Whether the other end is of our user, as the kernel knows it; over loopback the token, which
    is read next, decides."""
    if LOOPBACK:
        return True
    try:
        return peer_uid(connection) == user_id()
    except OSError:  # already closed
        return False


def expected_token(connection: "socket.socket") -> bytes:
    """What a client has to send first; nothing unless it came to a local socket by loopback."""
    import socket

    if connection.family != socket.AF_INET or not _tokens:
        return b""
    return _tokens.get(connection.getsockname()[1], b"")


def _listen_loopback(path: str) -> "socket.socket":
    import secrets

    listener = listen_tcp(0)
    port = listener.getsockname()[1]
    token = _tokens[port] = secrets.token_hex(TOKEN_BYTES // 2).encode()
    try:
        replace_file(path, b"%d %d %s\n" % (os.getpid(), port, token))
    except OSError:
        listener.close()
        raise
    return listener


def listen_tcp(port: int) -> "socket.socket":
    """A listener on 127.0.0.1 whose port no other process can listen on at the same time."""
    import socket

    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if sys.platform == "win32":  # there SO_REUSEADDR lets others share the port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen(1024)  # two that have only bound a port could both have it
    except OSError:
        listener.close()
        raise
    return listener


_PR_SET_PDEATHSIG = 1  # from sys/prctl.h


def die_with(parent: int) -> None:
    """Let the kernel kill this process when its parent exits. Where there is no such call (macOS),
    the child must notice the end of its pipe."""
    import ctypes

    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before we could say so
        os._exit(1)


def signal_group(pid: int, number: int) -> bool:
    """Signal a process and those it started, when it leads a session of its own. False when none
    is left. On Windows there is only one signal, the end."""
    if sys.platform == "win32":
        return windows.exists(pid) if number == 0 else windows.end_tree(pid)
    try:
        os.killpg(pid, number)
    except (ProcessLookupError, PermissionError):  # macOS says so when only a zombie is left
        return False
    return True


def ask_to_stop(pid: int) -> None:
    """Let a daemon end in order. ProcessLookupError when there is no such process."""
    if sys.platform == "win32":
        windows.ask_to_stop(pid)
    else:
        os.kill(pid, signal.SIGTERM)


def start_detached(command: list[str], environment: dict[str, str]) -> None:
    """Start a process that outlives this one and has nothing of it open. Only for Windows: others
    fork, see `capture/starter.py`."""
    if sys.platform == "win32":
        windows.start_detached(command, environment)


def on_stop(stop: "Callable[[], None]") -> None:
    """Call `stop` when this process is asked to stop, by `ask_to_stop` or by Ctrl-C."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: stop())
    if sys.platform == "win32":
        windows.on_stop(stop)


def inherited(numbers: list[int]) -> "dict[str, Any]":
    """Arguments of Popen by which a child gets these ends of `multiprocessing.Pipe`."""
    if sys.platform == "win32":
        return windows.inherited(numbers)
    return {"pass_fds": numbers}


def inherited_pipe(number: str) -> "Connection":
    """In the child: such an end."""
    from multiprocessing import connection

    if sys.platform == "win32":
        return connection.PipeConnection(int(number))
    return connection.Connection(int(number))


def limit_cpu(seconds: int) -> None:
    """Limit the CPU time of this process from now on. During one long regex match no Python code
    runs that could look at a clock; the kernel can. Windows cannot: its parent has a clock too."""
    if sys.platform != "win32":
        used = resource.getrusage(resource.RUSAGE_SELF)
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        soft = int(used.ru_utime + used.ru_stime) + 1 + seconds
        resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def used_up_cpu(returncode: int) -> bool:
    """Whether a process ended because of `limit_cpu`."""
    return sys.platform != "win32" and returncode == -signal.SIGXCPU


def limit_memory(pid: int, most: int) -> None:
    """Limit the memory of another process, where that is possible (Linux)."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            resource.prlimit(pid, resource.RLIMIT_AS, (most, most))


def be_background(nice: int) -> None:
    """Let other processes go first, and leave no core dump, which would hold private text."""
    if sys.platform != "win32":
        os.nice(nice)
        _, hard = resource.getrlimit(resource.RLIMIT_CORE)
        resource.setrlimit(resource.RLIMIT_CORE, (0, hard))


def resident_mb(pid: int) -> int:
    """The resident memory of a process; 0 where the system does not tell."""
    if sys.platform == "win32":
        return 0
    try:
        with open(f"/proc/{pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") >> 20
    except (OSError, IndexError, ValueError):
        return 0


_M_MMAP_THRESHOLD = -3  # from malloc.h
_LARGE = 1 << 20


def keep_large_blocks_apart() -> None:
    """Let freed blocks of a megabyte and more return to the system. By default glibc learns to keep
    them in its heap, where growing arrays leave holes of their own size."""
    import ctypes

    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _LARGE)


def give_memory_back() -> None:
    """Return free memory that malloc keeps to the system, where that is possible (glibc)."""
    import ctypes

    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)


def out_of_resources(error: Exception) -> bool:
    """Whether there was no memory or no thread to be had."""
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and "new thread" in str(error)
    )
