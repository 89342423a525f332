"""Writing one event into the spool: scrubbed, durable, and within a cap.

In: a payload that the daemon did not take. Out: one file in `<data directory>/spool/`, and the
oldest ones gone, counted in `spool/dropped`, when all together are too large. OSError when the
disk is full or may not be written to: then there is nothing more a hook can do.
"""

import fcntl
import os

from recollect.capture import frames

CAP_BYTES = 256 << 20
# How many bytes are spooled between two looks at the cap: a look costs a stat per file.
LOOK_BYTES = 1 << 20


def write(directory: str, frame: frames.Frame, original: bytes, cap: int = CAP_BYTES) -> str:
    """Keep a scrubbed frame and the digest of what it was before; the path of its file."""
    data = frames.encode_spooled(frame, original)
    folder = os.path.join(directory, "spool")
    _ensure(directory, folder)
    wall_ms = frame.wall_ns // 1_000_000
    path = os.path.join(folder, f"{wall_ms:013d}-{frame.mono_ns:020d}-{frame.ulid}.frame")
    replace(path, data)
    # Each megabyte pays for one look, so small events seldom do.
    if len(data) * 65536 >= LOOK_BYTES * int.from_bytes(os.urandom(2), "big"):
        keep_within(folder, cap)
    return path


def scrubbed(frame: frames.Frame) -> frames.Frame:
    """The frame without secrets; without its payload when that cannot be had."""
    try:
        argv = tuple(_scrub(item) for item in frame.argv)
        env = tuple(_scrub_value(item) for item in frame.env)
        stdin, flags = _scrub(frame.stdin), frame.flags
    except Exception:  # noqa: BLE001  whatever it is: raw data never reaches the disk
        argv, env, stdin, flags = frame.argv[:2], (), b"", frame.flags | frames.DROPPED
    return frames.Frame(
        ulid=frame.ulid,
        boot_id=frame.boot_id,
        mono_ns=frame.mono_ns,
        wall_ns=frame.wall_ns,
        argv=argv,
        cwd=frame.cwd,
        env=env,
        stdin=stdin,
        flags=flags,
    )


def _scrub_value(variable: bytes) -> bytes:
    """The value alone: a name with SESSION in it must not make its id look like a secret."""
    name, equals, value = variable.partition(b"=")
    return name + equals + _scrub(value)


def _scrub(data: bytes) -> bytes:
    from recollect.privacy import scrub_raw  # needs `re`: 8 ms, only when something is spooled

    return scrub_raw(data).data


def replace(path: str, data: bytes) -> None:
    """A file that is there whole, on disk, or not at all."""
    temporary = f"{path}.{os.getpid()}.tmp"
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(fd, view) :]
            os.fsync(fd)
        finally:
            os.close(fd)
        os.rename(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise
    sync_directory(os.path.dirname(path))


def sync_directory(folder: str) -> None:
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def keep_within(folder: str, cap: int) -> int:
    """Remove the oldest files until all fit the cap; how many went is added to `dropped`."""
    lock = os.open(os.path.join(folder, "lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        gone = _remove_oldest(folder, cap)
        if gone:
            replace(os.path.join(folder, "dropped"), b"%d\n" % (dropped(folder) + gone))
        return gone
    except BlockingIOError:
        return 0  # another hook is at it
    finally:
        os.close(lock)


def dropped(folder: str) -> int:
    """How many events the cap has cost so far."""
    try:
        with open(os.path.join(folder, "dropped"), "rb") as file:
            return int(file.read(32))
    except (OSError, ValueError):
        return 0


def _remove_oldest(folder: str, cap: int) -> int:
    with os.scandir(folder) as entries:
        names = sorted(entry.name for entry in entries if entry.name.endswith(".frame"))
    sizes = {}
    for name in names:
        try:
            sizes[name] = os.stat(os.path.join(folder, name)).st_size
        except FileNotFoundError:
            continue  # the daemon took it
    excess = sum(sizes.values()) - cap
    gone = 0
    for name, size in sizes.items():
        if excess <= 0:
            break
        try:
            os.unlink(os.path.join(folder, name))
        except FileNotFoundError:
            continue
        excess -= size
        gone += 1
    return gone


def _ensure(*folders: str) -> None:
    for folder in folders:
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            continue
