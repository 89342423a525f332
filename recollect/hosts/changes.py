"""A change to one of a host's files, and reading such a file.

In: a path. Out: its bytes, or None; a change is only a plan until `apply.py` makes it. A file that
cannot be read raises CannotWrite.
"""

import hashlib
from dataclasses import dataclass

from recollect.core import safe_files
from recollect.core.errors import CannotWrite

MOST_BYTES = 64 << 20  # of a host's own file; Claude Code's ~/.claude.json grows to megabytes


@dataclass(frozen=True)
class FileChange:
    """One file before and after; None means that there is no file."""

    path: str
    before: bytes | None
    after: bytes | None
    why: str
    mode: int | None = None  # for a new file; an existing one keeps its own


def read(path: str) -> bytes | None:
    """A file's bytes; None when there is none."""
    try:
        return safe_files.read_whole(path, MOST_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CannotWrite(f"{path} cannot be read: {error.strerror}") from error


def digest(raw: bytes | None) -> str | None:
    return None if raw is None else hashlib.sha256(raw).hexdigest()
