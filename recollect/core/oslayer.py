"""What depends on the operating system.

In: paths and sockets. Out: locks, private files, durable directories. Linux and macOS; Windows
would be added here. Errors are the system's OSError; callers translate them.
"""

import contextlib
import ctypes
import fcntl
import os
import resource
import signal
import socket
import struct
import sys
import time
from collections.abc import Iterator

DIRECTORY_MODE = 0o700
FILE_MODE = 0o600
_ATTEMPTS = 5


class FileLock:
    """An exclusive lock that the kernel drops when its holder dies, however it dies."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._fd: int | None = None

    def acquire(self) -> bool:
        """Take the lock if it is free. Tries briefly, because `held` takes it for an instant."""
        fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
        for attempt in range(_ATTEMPTS):
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if attempt == _ATTEMPTS - 1:
                    os.close(fd)
                    return False
                time.sleep(0.01)
        os.fchmod(fd, FILE_MODE)
        os.ftruncate(fd, 0)
        os.write(fd, f"{os.getpid()}\n".encode())  # for people; the lock itself is the kernel's
        self._fd = fd
        return True

    def held(self) -> bool:
        """Whether some process holds the lock now."""
        try:
            fd = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(fd)
        return False

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
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
    try:
        if os.fstat(fd).st_mode & 0o777 != FILE_MODE:
            os.fchmod(fd, FILE_MODE)
    finally:
        os.close(fd)


def sync_directory(path: str) -> None:
    """Make names created, renamed or removed in a directory durable."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def replace_file(path: str, content: bytes, mode: int = FILE_MODE) -> None:
    """Write a whole file of ours so that a crash leaves the old one or the new one."""
    temporary = f"{path}.tmp-{os.getpid()}"
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, mode)
    try:
        with open(fd, "wb") as file:
            os.fchmod(file.fileno(), mode)
            file.write(content)
        put_in_place(temporary, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def put_in_place(temporary: str, path: str) -> None:
    """Give a finished file its final name, replacing any file of that name; its content is made
    durable first."""
    fd = os.open(temporary, os.O_RDONLY | os.O_CLOEXEC)
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
    status = os.statvfs(path)
    return status.f_bavail * status.f_frsize


def allocate(fd: int, size: int) -> None:
    """Make a file really take up `size` bytes."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(fd, 0, size)
        return
    block = bytes(1 << 20)
    for start in range(0, size, len(block)):
        os.pwrite(fd, block[: size - start], start)


def exists(pid: int) -> bool:
    """Whether a process exists; a zombie does not count."""
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
    state = _proc_stat(pid)
    return int(state[11]) + int(state[12]) if state is not None else 0


def _proc_stat(pid: int) -> list[str] | None:
    """The fields after the program's name, which can hold anything."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()
    except OSError:
        return None


def files_under(path: str) -> Iterator[str]:
    for directory, _, names in os.walk(path):
        for name in names:
            yield os.path.join(directory, name)


def peer_uid(connection: socket.socket) -> int:
    """The user at the other end of a unix socket, as the kernel knows it."""
    if sys.platform == "darwin":
        # LOCAL_PEERCRED at level 0 gives struct xucred {version, uid, …}
        raw = connection.getsockopt(0, 1, 76)
        return int(struct.unpack("II", raw[:8])[1])
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return int(struct.unpack("3i", raw)[1])


# Descriptors for everything but connections and readers: the database, logs, sockets, imports.
_OWN_DESCRIPTORS = 40
_WANTED_DESCRIPTORS = 4096


def descriptor_limit() -> int:
    """How many descriptors this process may have, after asking for more: the limit that shells and
    services start with is low for compatibility's sake only, and select() is not used here."""
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


def listen_unix(path: str) -> socket.socket:
    """A listening unix socket that only its owner can connect to. A stale file is replaced; the
    caller holds the data directory's lock, so nobody else can be listening."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
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


_PR_SET_PDEATHSIG = 1  # from sys/prctl.h


def die_with(parent: int) -> None:
    """Let the kernel kill this process when its parent exits. Where there is no such call (macOS),
    the child must notice the end of its pipe."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before we could say so
        os._exit(1)


_M_MMAP_THRESHOLD = -3  # from malloc.h
_LARGE = 1 << 20


def keep_large_blocks_apart() -> None:
    """Let freed blocks of a megabyte and more return to the system. By default glibc learns to keep
    them in its heap, where growing arrays leave holes of their own size."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _LARGE)


def give_memory_back() -> None:
    """Return free memory that malloc keeps to the system, where that is possible (glibc)."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def out_of_resources(error: Exception) -> bool:
    """Whether there was no memory or no thread to be had."""
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and "new thread" in str(error)
    )
