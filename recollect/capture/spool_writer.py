"""Writing one event into the spool: scrubbed, durable, and within a cap.

In: a payload that the daemon did not take. Out: one file in `<data directory>/spool/`, and the
oldest ones gone, counted in `spool/dropped`, when all together are too large. OSError when the
disk is full or may not be written to: then there is nothing more a hook can do.
"""

import _signal  # type: ignore[import-not-found]  # `signal` without its enums
import _thread
import os
import sys

from recollect.capture import frames

TYPE_CHECKING = False  # spares the import of `typing`; type checkers take the name for true
if TYPE_CHECKING:
    from collections.abc import Callable

SCRUB_CPU_SECONDS = 20
BRANCH_SECONDS = 0.3
CAP_BYTES = 256 << 20
# How many bytes are spooled between two looks at the cap: a look costs a stat per file.
LOOK_BYTES = 1 << 20
SEALED = b"RCLE"  # how a sealed frame begins; its boot and the sealed text follow


def write(directory: str, frame: frames.Frame, original: bytes, cap: int = CAP_BYTES) -> str:
    """Keep a scrubbed frame and the digest of what it was before; the path of its file. When the
    store is encrypted, so that only the daemon can read it."""
    data = frames.encode_spooled(frame, original)
    folder = os.path.join(directory, "spool")
    _ensure(directory, folder)
    if is_encrypted(directory):
        sealed = seal(directory, data)
        if sealed is None:  # rather lost than readable
            _count_dropped(folder, 1)
            return ""
        data = sealed
    wall_ms = frame.wall_ns // 1_000_000
    path = os.path.join(folder, f"{wall_ms:013d}-{frame.mono_ns:020d}-{frame.ulid}.frame")
    replace(path, data)
    # Each megabyte pays for one look, so small events seldom do.
    if len(data) * 65536 >= LOOK_BYTES * int.from_bytes(os.urandom(2), "big"):
        keep_within(folder, cap)
    return path


def is_encrypted(directory: str) -> bool:
    """Whether the store is encrypted, by the first bytes of its file."""
    try:
        with open(os.path.join(directory, "recollect.db"), "rb") as file:
            return file.read(4) == b"RCE1"
    except OSError:
        return False


def seal(directory: str, data: bytes) -> bytes | None:
    """A spooled frame that only the holder of the store's key can read; None when the public key
    is not there. The boot stays readable: the order of the events depends on it."""
    from recollect.core import sealing, store_key

    found = store_key.read_public_key(directory)
    if found is None:
        return None
    header, public = found
    boot = data[frames.SPOOL_BOOT : frames.SPOOL_BOOT + frames.BOOT_BYTES]
    return SEALED + boot + b"".join(sealing.seal(public, header, [data], boot))


def with_branch(frame: frames.Frame) -> frames.Frame:
    """The frame, which from now on says which branch is checked out: when it is read, it may be
    another one. A disk that hangs must not keep the event from being spooled: it is not waited
    for."""
    found: list[str] = []
    done = _thread.allocate_lock()
    done.acquire()

    def look() -> None:
        try:
            from recollect.core.projects import branch_of

            found.append(branch_of(os.fsdecode(frame.cwd)))
        except Exception:  # noqa: BLE001  whatever it is, the branch is just not known
            pass
        finally:
            done.release()

    try:
        _thread.start_new_thread(look, ())
        done.acquire(timeout=BRANCH_SECONDS)
    except RuntimeError:
        pass  # there is no thread to be had
    if found and found[0]:
        frame.env = (*frame.env, frames.BRANCH + os.fsencode(found[0]))
    return frame


def scrubbed(frame: frames.Frame, cpu_seconds: float = SCRUB_CPU_SECONDS) -> frames.Frame:
    """The frame without secrets, every field of it; an item is left out when that cannot be had, or
    takes too long, as it may on purposely odd input: after `cpu_seconds` each further item gets one
    second. Only for the main thread of a process that scrubs nothing else meanwhile."""
    kept = frames.Frame(
        ulid=frame.ulid,
        boot_id=frame.boot_id,
        mono_ns=frame.mono_ns,
        wall_ns=frame.wall_ns,
        flags=frame.flags,
    )

    def keep(clean: "Callable[[bytes], bytes]", data: bytes) -> bytes:
        try:
            return clean(data)
        except Exception:  # noqa: BLE001  whatever it is: raw data never reaches the disk
            kept.flags |= frames.DROPPED
            return b""

    _limit_cpu(cpu_seconds)
    try:
        names = tuple(keep(_scrub, name) or _plain_word(name) for name in frame.argv[:2])
        kept.argv = (*names, *(keep(_scrub, item) for item in frame.argv[2:]))
        kept.cwd = keep(_scrub, frame.cwd)
        kept.env = tuple(keep(_scrub_value, item) for item in frame.env)
        kept.stdin = keep(_scrub, frame.stdin)
        _limit_cpu(0)
    except TimeoutError:  # it rang between two items; the next ring is a second away
        _limit_cpu(0)
        kept.flags |= frames.DROPPED
    return kept


def _limit_cpu(seconds: float) -> None:
    """Ring after so much CPU time, then every second; 0 for never. Windows has no such timer."""
    if sys.platform != "win32":
        _signal.signal(_signal.SIGVTALRM, _give_up)
        _signal.setitimer(_signal.ITIMER_VIRTUAL, seconds, 1)


def _give_up(*_: object) -> None:
    raise TimeoutError


def _plain_word(name: bytes) -> bytes:
    """The name of a host or an event, where not even that could be scrubbed; no secret is such."""
    return name if len(name) <= 24 and name.translate(None, b"-_.").isalpha() else b""


def _scrub_value(variable: bytes) -> bytes:
    """The value alone: a name with SESSION in it must not make its id look like a secret."""
    name, equals, value = variable.partition(b"=")
    return name + equals + _scrub(value)


def _scrub(data: bytes) -> bytes:
    from recollect.privacy import scrub_raw  # needs `re`: 8 ms, only when something is spooled

    return scrub_raw(data)


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
        os.replace(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise
    sync_directory(os.path.dirname(path))


def sync_directory(folder: str) -> None:
    if sys.platform == "win32":
        return
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def keep_within(folder: str, cap: int) -> int:
    """Remove the oldest files until all fit the cap; how many went is added to `dropped`."""
    from recollect.core import oslayer

    lock = os.open(os.path.join(folder, "lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if not oslayer.try_lock(lock):
            return 0  # another hook is at it
        gone = _remove_oldest(folder, cap)
        if gone:
            _count_dropped(folder, gone)
        return gone
    finally:
        os.close(lock)


def _count_dropped(folder: str, count: int) -> None:
    replace(os.path.join(folder, "dropped"), b"%d\n" % (dropped(folder) + count))


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
    """Folders that are there, by names that a power cut does not take with what lies in them."""
    for folder in folders:
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            continue
        sync_directory(os.path.dirname(folder))
