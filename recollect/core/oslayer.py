"""What depends on the operating system, in one place.

In: paths and sockets. Out: locks, private files, durable directories. Linux and macOS; Windows
would be added here. Errors are the system's own OSError; callers translate them.
"""

import contextlib
import ctypes
import fcntl
import os
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
        """Take the lock if it is free. Tries for a moment, because `held` looks by touching it."""
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
        """The process id that the present holder wrote down, or nothing."""
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
    """Make a directory that only its owner can enter, whatever the umask says. Its name, if it is
    new, is durable: what is kept inside would be lost with it."""
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


def replace_file(path: str, content: bytes) -> None:
    """Write a whole private file so that a crash leaves the old one or the new one."""
    temporary = f"{path}.tmp-{os.getpid()}"
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, FILE_MODE)
    try:
        with open(fd, "wb") as file:
            os.fchmod(file.fileno(), FILE_MODE)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    sync_directory(os.path.dirname(path) or ".")


def free_bytes(path: str) -> int:
    """How much an ordinary user can still write on the file system of a path."""
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
    """Let the kernel kill this process when the one that started it ends, however it ends. Where
    there is no such thing (macOS), whoever is left alone must see it by the end of its pipe."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before we could say so
        os._exit(1)


_M_MMAP_THRESHOLD = -3  # from malloc.h
_LARGE = 1 << 20


def keep_large_blocks_apart() -> None:
    """Blocks of a megabyte and more go back to the system when they are freed. Left alone, glibc
    learns to keep them in its heap, where arrays that grow leave holes of their own size."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _LARGE)


def give_memory_back() -> None:
    """Free memory that malloc keeps goes back to the system, where malloc can do that (glibc)."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
