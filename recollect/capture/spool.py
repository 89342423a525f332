"""The daemon's side of the spool: what hooks could not deliver, in the order in which it happened.

In: the data directory. Out: frames with the digest of their originals, oldest first, and counts.
A damaged file is set aside in `spool/damaged/` and counted, never deleted; StoreError when the
spool itself cannot be read.
"""

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass

from recollect.capture import frames
from recollect.capture.spool_writer import SEALED, dropped, is_encrypted, seal, sync_directory
from recollect.core import oslayer, sealing, store_key
from recollect.core.errors import StoreError

SUFFIX = ".frame"
TEMPORARY_SECONDS = 3600
SEALING_BYTES = 1 << 16  # more than sealing adds
MAX_FILE = frames.SPOOL_HEADER_BYTES + frames.HEADER_BYTES + frames.MAX_PAYLOAD + SEALING_BYTES

# What shares a commit: enough that its sync costs little, so few that hooks, which wait for their
# own commit, and whoever stops the daemon hardly notice.
BATCH_EVENTS = 64
BATCH_BYTES = 1 << 20

Waiting = tuple[str, frames.Frame, bytes]  # path, frame, digest of the frame before scrubbing

_PEEK = frames.SPOOL_BOOT + frames.BOOT_BYTES


@dataclass(frozen=True)
class Statistics:
    """What lies in the spool, what the cap cost, and what could not be read."""

    count: int
    bytes: int
    dropped: int
    damaged: int


def drain(directory: str) -> Iterator[Waiting]:
    """Every spooled event that is there now, in order: boots by their earliest wall time, then by
    the monotonic clock. Nothing is removed: `remove` does that once the event is stored. A file
    that cannot be read now stays for the next time."""
    folder = os.path.join(directory, "spool")
    names = _names(folder)
    _remove_stale(folder, names)
    for name in _ordered(folder, [name for name in names if name.endswith(SUFFIX)]):
        path = os.path.join(folder, name)
        try:
            data = _read(path, MAX_FILE + 1)
        except OSError:
            continue
        try:
            frame, original = frames.decode_spooled(unsealed(data))
        except frames.FrameError:
            set_aside(path)
            continue
        except StoreError:
            continue  # sealed for a key that is not here now
        yield path, frame, original


def unsealed(data: bytes) -> bytes:
    """A spooled frame, opened if it was sealed. FrameError when it is damaged; StoreLocked or
    WrongKey when its key is not there."""
    if not data.startswith(SEALED):
        return data
    end = len(SEALED) + frames.BOOT_BYTES
    boot, text = data[len(SEALED) : end], data[end:]
    label = sealing.label_of(text)
    if label is None:
        raise frames.FrameError("not a sealed frame")
    key = store_key.find(label, "a spooled event")
    try:
        return sealing.unseal(key.sealing, text, boot)
    except sealing.NotSealed as error:
        raise frames.FrameError(str(error)) from error


def is_sealed(path: str) -> bool:
    try:
        return _read(path, len(SEALED)) == SEALED
    except OSError:
        return False


def recode(directory: str) -> int:
    """Seal what waits in the spool if the store is encrypted now, open it if it is not; how many
    could not be read and stay as they are."""
    folder = os.path.join(directory, "spool")
    sealing_now, left = is_encrypted(directory), 0
    for name in _names(folder):
        path = os.path.join(folder, name)
        if not name.endswith(SUFFIX):
            continue
        try:
            data = _read(path, MAX_FILE + 1)
            plain = unsealed(data)
            wanted = seal(directory, plain) if sealing_now else plain
        except (OSError, frames.FrameError, StoreError):
            left += 1
            continue
        if wanted is not None and data.startswith(SEALED) != sealing_now:
            oslayer.replace_file(path, wanted)
    return left


def in_batches(waiting: Iterator[Waiting]) -> Iterator[list[Waiting]]:
    """Some at a time: as many as share a commit well, and no more than memory should hold."""
    batch: list[Waiting] = []
    size = 0
    for one in waiting:
        batch.append(one)
        size += len(one[1].stdin)
        if len(batch) == BATCH_EVENTS or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def remove(*paths: str) -> None:
    """Forget spooled events: they are stored, or refused for good. Not to come back after a power
    cut either: what was erased meanwhile, or was fired twice, would be taken for new."""
    for path in paths:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
    for folder in {os.path.dirname(path) for path in paths}:
        sync_directory(folder)


def set_aside(path: str) -> None:
    """Keep a file that cannot be taken, where it is in nobody's way."""
    folder, name = os.path.split(path)
    aside = os.path.join(folder, "damaged")
    try:
        os.makedirs(aside, mode=0o700, exist_ok=True)
        oslayer.rename(path, os.path.join(aside, name))
    except OSError:
        return  # it stays where it is, is counted there, and is tried again


def statistics(directory: str) -> Statistics:
    folder = os.path.join(directory, "spool")
    count = size = 0
    for name in _names(folder):
        if name.endswith(SUFFIX):
            try:
                size += os.stat(os.path.join(folder, name)).st_size
            except FileNotFoundError:
                continue
            count += 1
    return Statistics(
        count=count,
        bytes=size,
        dropped=dropped(folder),
        damaged=len(_names(os.path.join(folder, "damaged"))),
    )


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StoreError(
            f"{folder} cannot be read: {error.strerror}", hint="recollect doctor"
        ) from error


def _ordered(folder: str, names: list[str]) -> list[str]:
    """By boot, then monotonic time. Only the boot id is read from the files: the rest is in their
    names, so that fifty thousand waiting events need no memory of their own."""
    calls = []
    first: dict[bytes, tuple[int, bytes]] = {}
    for name in names:
        wall_ms, mono_ns = _times(name)
        boot = _boot(os.path.join(folder, name))
        calls.append((boot, mono_ns, wall_ms, name))
        first[boot] = min(first.get(boot, (wall_ms, boot)), (wall_ms, boot))
    calls.sort(key=lambda call: (first[call[0]], *call[1:]))
    return [name for *_, name in calls]


def _times(name: str) -> tuple[int, int]:
    """Wall ms and monotonic ns of a file name; zeros for a name that is not ours."""
    wall, _, rest = name.partition("-")
    mono = rest.partition("-")[0]
    if wall.isascii() and wall.isdigit() and mono.isascii() and mono.isdigit():
        return int(wall[:20]), int(mono[:20])
    return 0, 0


def _boot(path: str) -> bytes:
    try:
        start = _read(path, _PEEK)
    except OSError:
        return b""
    if start.startswith(SEALED):
        return start[len(SEALED) : len(SEALED) + frames.BOOT_BYTES]
    return start[frames.SPOOL_BOOT :]


def _read(path: str, limit: int) -> bytes:
    # Neither through a link nor waiting for the writer of a pipe.
    fd = os.open(path, os.O_RDONLY | oslayer.NOFOLLOW | oslayer.NONBLOCK)
    with open(fd, "rb") as file:
        return file.read(limit)


def _remove_stale(folder: str, names: list[str]) -> None:
    """What a hook left that was killed while it wrote."""
    for name in names:
        path = os.path.join(folder, name)
        try:
            if name.endswith(".tmp") and time.time() - os.stat(path).st_mtime > TEMPORARY_SECONDS:
                os.unlink(path)
        except OSError:
            continue
