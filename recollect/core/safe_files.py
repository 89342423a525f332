"""Reads files that somebody else placed: in a user's tree, named by a payload, given to import.

In: a path. Out: a bounded part of a plain file. A pipe, a device, a socket or a directory is
refused as OSError before anything is read. A disk that does not answer can still block the reader;
where a hook waits, `bounded_wait.BoundedThreads` limits the time.
"""

import errno
import os
import stat
from collections.abc import Iterator
from typing import BinaryIO

from recollect.core import oslayer

# No file of git's, no marker and no host's answer is larger; what is, is none.
SMALL = 1 << 20
PATH_BYTES = 4096


class NotPlain(OSError):
    """A pipe, a device, a socket, a directory, or a link where none is allowed."""


def open_plain(path: str, *, follow: bool = True) -> BinaryIO:
    """Open a plain file for reading. Without `follow`, a link is refused too."""
    flags = os.O_RDONLY | oslayer.NONBLOCK
    try:
        # First without opening it: opening a device may already do something.
        _refuse_special(os.stat(path, follow_symlinks=follow), path)
        descriptor = os.open(path, flags if follow else flags | oslayer.NOFOLLOW)
    except ValueError as error:  # a NUL in the path
        raise NotPlain(errno.EINVAL, str(error), path) from error
    try:
        _refuse_special(os.fstat(descriptor), path)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_start(path: str, most: int = SMALL, *, follow: bool = True) -> bytes:
    """The first bytes of a plain file."""
    with open_plain(path, follow=follow) as file:
        return file.read(most) or b""  # None from a file of /proc that has nothing to say now


def read_whole(path: str, most: int, *, follow: bool = True) -> bytes:
    """A plain file; OSError (EFBIG) when it has more than `most` bytes."""
    content = read_start(path, most + 1, follow=follow)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"it has more than {most} bytes", path)
    return content


def read_end(path: str, most: int) -> bytes:
    """The last bytes of a plain file."""
    with open_plain(path) as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - most))
        return file.read(most) or b""


def text_or_nothing(path: str, most: int = SMALL) -> str:
    """The beginning of a text file; empty when it cannot be read or is not text."""
    try:
        start = read_start(path, most)
    except OSError:
        return ""
    return "" if b"\0" in start else start.decode("utf-8", "replace")


def path_or_nothing(path: str) -> str:
    """The path that a file holds; empty when it holds more than that. Longer ones would take long
    to resolve, and no system has them."""
    text = text_or_nothing(path, PATH_BYTES + 1)
    return text.strip() if len(text) <= PATH_BYTES else ""


def lines(file: BinaryIO, most: int, *, all_needed: bool = False) -> Iterator[bytes]:
    """The lines of a file. A line of more than `most` bytes is given as an empty one, so that line
    numbers stay correct; where all are needed it is an OSError (EFBIG)."""
    while line := file.readline(most + 1):
        if len(line) <= most:
            yield line
            continue
        if all_needed:
            raise OSError(errno.EFBIG, f"it has a line of more than {most} bytes")
        while line and not line.endswith(b"\n"):
            line = file.readline(most)
        yield b"\n"


def _refuse_special(status: os.stat_result, path: str) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise NotPlain(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if not stat.S_ISREG(status.st_mode):
        raise NotPlain(errno.EINVAL, "it is no plain file", path)
