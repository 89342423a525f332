"""A small disk that really fills up: a tmpfs where we may mount one, else a limit on file sizes.

In: a directory. Out: `fill` and `free`. Both kinds are tested where both are possible.
"""

import contextlib
import errno
import os
import resource
import subprocess
from collections.abc import Iterator
from typing import Protocol

TMPFS_MB = 24


class SmallDisk(Protocol):
    home: str

    def fill(self) -> None: ...
    def free(self) -> None: ...


class Tmpfs:
    def __init__(self, directory: str) -> None:
        self.home = os.path.join(directory, "home")
        self._ballast = os.path.join(directory, "ballast")

    def fill(self) -> None:
        """Somebody else takes all that is left."""
        block = bytes(1 << 16)
        with open(self._ballast, "ab", buffering=0) as file:
            try:
                while True:
                    file.write(block)
            except OSError as error:
                assert error.errno == errno.ENOSPC

    def free(self) -> None:
        os.unlink(self._ballast)


class SizeLimit:
    """No file may grow beyond what the largest has now, and a megabyte. Such a limit does not care
    for the reserve: what would free space may not be written either."""

    def __init__(self, directory: str) -> None:
        self.home = os.path.join(directory, "home")
        self._before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill(self) -> None:
        largest = max(
            entry.stat().st_size for entry in os.scandir(self.home) if entry.name != "reserve"
        )
        self._limit(largest + (1 << 20))

    def free(self) -> None:
        self._limit(self._before[0])

    def _limit(self, size: int) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, self._before[1]))


@contextlib.contextmanager
def tmpfs(directory: str) -> Iterator[SmallDisk]:
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={TMPFS_MB}m", "tmpfs", directory],
        check=True,
        capture_output=True,
    )
    try:
        yield Tmpfs(directory)
    finally:
        # Lazily: a test that failed may have left its store open, and the mount must still go.
        subprocess.run(["umount", "--lazy", directory], check=True)


@contextlib.contextmanager
def size_limit(directory: str) -> Iterator[SmallDisk]:
    disk = SizeLimit(directory)
    try:
        yield disk
    finally:
        disk.free()


def may_mount() -> bool:
    return os.geteuid() == 0 and os.path.exists("/proc/self/mounts") and _can_mount()


def _can_mount() -> bool:
    """Root in a container may still not be allowed to."""
    with open("/proc/self/status", encoding="ascii") as file:
        effective = next(line for line in file if line.startswith("CapEff:"))
    return bool(int(effective.split()[1], 16) >> 21 & 1)  # CAP_SYS_ADMIN


KINDS = (tmpfs, size_limit) if may_mount() else (size_limit,)
