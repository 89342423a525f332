"""The hook in Python: the whole hook where no compiler was found, and the compiled one's way out.

In: `<host> <event> ...` with the host's stdin, or `--frame retry|spool <directory>` with a frame
on stdin. Out: the daemon's bytes on stdout, or a file in the spool, and for a session start a
daemon that was started. Nothing that fails is reported: the caller exits 0 and says nothing.

The path with the daemon up costs less than `python3 -c pass`: so `_socket` and `_signal` instead
of `socket` and `signal` (15 and 6 ms), and every other import inside the function that needs it.
"""

import _signal  # type: ignore[import-not-found]  # `signal` without its enums
import _socket
import os
import sys
from time import CLOCK_MONOTONIC, clock_gettime_ns, time_ns

from recollect.capture import frames
from recollect.capture.paths import data_directory, is_ours, socket_path

STDIN_SECONDS = 0.4
ANSWER_SECONDS = 0.65
START_ANSWER_SECONDS = 0.9
STOP_SECONDS = 0.95
START_STOP_SECONDS = 2.95
# The process that spools has nothing of the host's open, so it may finish after the hook is gone.
SPOOL_SECONDS = 60
SCRUB_CPU_SECONDS = 20
NOT_PRIVATE = ("", "0", "false", "no", "off")
STOP_SIGNALS = (_signal.SIGALRM, _signal.SIGTERM, _signal.SIGINT, _signal.SIGHUP)


class Stopped(BaseException):
    """The hard stop, or a host that ends its hook: wait for nothing more, and spool."""


class Unreached(Exception):
    """No daemon listens."""


class Unanswered(Exception):
    """A daemon listens, but gave no answer that we understand in time, or said: not now."""


def main() -> None:
    mono_ns = clock_gettime_ns(CLOCK_MONOTONIC)
    secure_descriptors()
    os.umask(0o077)
    if sys.argv[1:2] == ["--frame"]:
        take_over(sys.argv[2], sys.argv[3])
    elif sys.argv[1:2] == ["--private"]:  # from the compiled hook
        note_private(sys.argv[2], sys.argv[3:4], mono_ns)
    elif os.environ.get("RECOLLECT_PRIVATE", "").strip().lower() not in NOT_PRIVATE:
        note_private(data_directory(sys.argv[0]), sys.argv[1:2], mono_ns)
    elif not os.environ.get("RECOLLECT_INTERNAL"):  # one of Recollect's own LLM calls
        be_the_hook(mono_ns)


# --- two ways in --------------------------------------------------------------------------------


def be_the_hook(mono_ns: int) -> None:
    """All of it: read stdin, send, print; or spool from a child that may outlive this process."""
    deadline = Deadline(mono_ns)
    for number in STOP_SIGNALS:
        _signal.signal(number, _stop)
    _signal.setitimer(_signal.ITIMER_REAL, deadline.left(STOP_SECONDS))
    directory = data_directory(sys.argv[0])
    if sys.argv[1:] == ["--where"]:  # for `recollect doctor` and the tests
        write_all(1, os.fsencode(f"{directory}\n{socket_path(directory)}\n"))
        return
    argv, flags = _within(tuple(map(os.fsencode, sys.argv[1:])), frames.MAX_ARGV_BYTES)
    chunks: list[bytes] = []
    payload = b""
    try:
        flags |= read_stdin(chunks, deadline)
        payload, flags = describe(argv, b"".join(chunks), mono_ns, flags)
        write_all(1, deliver(directory, payload, flags, deadline))
        return
    except (Unreached, Unanswered):
        pass
    except Stopped:
        if not payload:
            payload, flags = describe(argv, b"".join(chunks), mono_ns, flags | frames.LATE)
    spool_in_a_child(directory, payload, flags)


def take_over(mode: str, directory: str) -> None:
    """Take a frame from the compiled hook, which relays what is printed here to the host."""
    data = read_all(0)
    flags, length = frames.request_header(data[: frames.HEADER_BYTES])
    payload = data[frames.HEADER_BYTES :]
    if length != len(payload):
        return  # the compiled hook was killed while it wrote
    frame = frames.decode_payload(payload, flags)
    try:
        if mode == "retry":
            write_all(1, deliver(directory, payload, flags, Deadline(frame.mono_ns)))
            return
    except (Unreached, Unanswered):
        pass
    spool(directory, payload, flags)


def note_private(directory: str, host: list[str], mono_ns: int) -> None:
    """A session that the environment makes private: nothing is sent, nothing is spooled. Only which
    session it is is noted, so that no import of its transcript brings it in."""
    deadline = Deadline(mono_ns)
    for number in STOP_SIGNALS:
        _signal.signal(number, _stop)
    _signal.setitimer(_signal.ITIMER_REAL, deadline.left(STOP_SECONDS))
    from contextlib import suppress

    from recollect.core import keepout

    chunks: list[bytes] = []
    with suppress(Stopped):  # what was read by then may name it
        read_stdin(chunks, deadline)
    try:
        cwd = os.getcwd()
    except OSError:
        cwd = ""
    keepout.keep_private(
        directory, (host or [""])[0], b"".join(chunks), cwd, time_ns() // 1_000_000
    )


def deliver(directory: str, payload: bytes, flags: int, deadline: "Deadline") -> bytes:
    """Send a frame, starting the daemon first if need be; what the daemon answers for stdout."""
    request = frames.request(payload, flags)
    start = frames.is_session_start(frames.argv_of(payload))
    try:
        seconds = START_ANSWER_SECONDS if start else ANSWER_SECONDS
        return exchange(directory, request, deadline, seconds)
    except Unreached:
        if not start:
            raise
    _signal.setitimer(_signal.ITIMER_REAL, deadline.left(START_STOP_SECONDS))
    from recollect.capture import starter

    try:
        if not starter.start(directory) or not starter.wait(directory, deadline):
            raise Unreached
    except OSError as error:
        raise Unreached from error
    return exchange(directory, request, deadline, START_STOP_SECONDS - 0.1)


# --- what was called ----------------------------------------------------------------------------


class Deadline:
    """Seconds since the hook started, by the clock that its frame carries."""

    def __init__(self, started_ns: int) -> None:
        self.started_ns = started_ns

    def left(self, seconds: float) -> float:
        """What is left of `seconds` after the start; never quite 0, which would mean forever."""
        spent = (clock_gettime_ns(CLOCK_MONOTONIC) - self.started_ns) / 1e9
        return max(seconds - spent, 0.001)

    def over(self, seconds: float) -> bool:
        return self.left(seconds) <= 0.001


def describe(argv: tuple[bytes, ...], stdin: bytes, mono_ns: int, flags: int) -> tuple[bytes, int]:
    """The payload of this call, and its flags."""
    wall_ns = max(time_ns(), 0)
    found = ((name, os.environb.get(name)) for name in frames.ENVIRONMENT)
    env, cut = _within(
        tuple(name + b"=" + value for name, value in found if value is not None),
        frames.MAX_ENV_BYTES,
    )
    try:
        cwd = os.getcwdb()
    except OSError:
        cwd = b""  # the directory was removed
    frame = frames.Frame(
        ulid=_new_ulid(wall_ns // 1_000_000),
        boot_id=boot_id(wall_ns, mono_ns),
        mono_ns=mono_ns,
        wall_ns=wall_ns,
        argv=argv,
        cwd=cwd[:4096],
        env=env,
        stdin=stdin,
    )
    return frames.encode_payload(frame), flags | cut


def read_stdin(chunks: list[bytes], deadline: Deadline) -> int:
    """Stdin until its end, the deadline, or what a frame takes, into `chunks`; the rest is read and
    thrown away, for a host that writes into a closed pipe may die of it. Gives flags."""
    from select import select

    flags = 0
    room = frames.MAX_STDIN
    while not deadline.over(STDIN_SECONDS):
        if not select((0,), (), (), deadline.left(STDIN_SECONDS))[0]:
            break
        try:
            chunk = os.read(0, 1 << 16)
        except BlockingIOError:
            continue
        except OSError:
            return flags  # a descriptor that cannot be read is an empty one
        if not chunk:
            return flags
        if len(chunk) > room:
            flags |= frames.TRUNCATED
        if room:
            chunks.append(chunk[:room])
        room -= min(room, len(chunk))
    return flags | frames.LATE


def _within(items: tuple[bytes, ...], budget: int) -> tuple[tuple[bytes, ...], int]:
    """Cut items so that they fit a frame, and take `budget` bytes together."""
    if len(items) <= frames.MAX_ITEMS and sum(map(len, items)) <= budget:
        return items, 0
    kept = []
    for item in items[: frames.MAX_ITEMS]:
        kept.append(item[:budget])
        budget -= len(kept[-1])
    return tuple(kept), frames.TRUNCATED


def _new_ulid(now_ms: int) -> str:
    """As core/ids.py makes them, which is too slow to import."""
    value = (now_ms & (1 << 48) - 1) << 80 | int.from_bytes(os.urandom(10), "big")
    return "".join(
        "0123456789ABCDEFGHJKMNPQRSTVWXYZ"[value >> shift & 31] for shift in range(125, -1, -5)
    )


def boot_id(wall_ns: int, mono_ns: int) -> str:
    """As core/clock.py names a boot."""
    try:
        fd = os.open("/proc/sys/kernel/random/boot_id", os.O_RDONLY)
    except OSError:
        return f"boot-{round((wall_ns - mono_ns) / 1e9 / 60)}"
    try:
        return os.read(fd, 64).decode("ascii").strip()
    finally:
        os.close(fd)


# --- the daemon ---------------------------------------------------------------------------------


def exchange(directory: str, request: bytes, deadline: Deadline, seconds: float) -> bytes:
    """Send a frame and give what the daemon answers for stdout: nothing when it was refused."""
    connection = connect(directory, deadline, seconds)
    try:
        connection.settimeout(deadline.left(seconds))
        connection.sendall(request)
    except OSError:
        pass  # it may have answered before it had read all
    try:
        status, length = frames.answer_header(
            _receive(connection, frames.HEADER_BYTES, deadline, seconds)
        )
        body = _receive(connection, length, deadline, seconds)
    except (OSError, frames.FrameError) as error:
        raise Unanswered from error
    if status == frames.NOT_NOW:
        raise Unanswered
    return body if status == frames.STORED else b""


def connect(directory: str, deadline: Deadline, seconds: float) -> _socket.socket:
    path = socket_path(directory)
    if not is_ours(path, directory):
        raise Unreached
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    while True:
        connection.settimeout(deadline.left(seconds))
        try:
            connection.connect(path)
        except BlockingIOError as error:  # its queue is full for the moment
            if deadline.over(seconds):
                raise Unanswered from error
            _pause(0.003)
        except TimeoutError as error:
            raise Unanswered from error
        except OSError as error:
            raise Unreached from error
        else:
            return connection


def _receive(connection: _socket.socket, length: int, deadline: Deadline, seconds: float) -> bytes:
    data = b""
    while len(data) < length:
        connection.settimeout(deadline.left(seconds))
        chunk = connection.recv(length - len(data))
        if not chunk:
            raise Unanswered
        data += chunk
    return data


# --- the spool ----------------------------------------------------------------------------------


def spool(directory: str, payload: bytes, flags: int) -> None:
    from recollect.capture import spool_writer

    # Scrubbing may take long on purposely odd input: then the event is kept without its payload.
    _signal.signal(_signal.SIGVTALRM, _give_up)
    _signal.setitimer(_signal.ITIMER_VIRTUAL, SCRUB_CPU_SECONDS)
    raw = frames.decode_payload(payload, flags)
    if not _may_spool(directory, raw):
        return
    frame = spool_writer.scrubbed(raw)
    _signal.setitimer(_signal.ITIMER_VIRTUAL, 0)
    spool_writer.write(directory, frame, frames.digest(payload))


def _may_spool(directory: str, frame: frames.Frame) -> bool:
    """Not what is kept out on purpose. When that cannot be told, the daemon tells it later."""
    from recollect.core import keepout

    env = dict(os.fsdecode(item).partition("=")[::2] for item in frame.env)
    try:
        return keepout.may_spool(
            directory, os.fsdecode(frame.host), frame.stdin, env, os.fsdecode(frame.cwd)
        )
    except Exception:  # noqa: BLE001  whatever it is: an event is not lost for it
        return True


def spool_in_a_child(directory: str, payload: bytes, flags: int) -> None:
    """Spool from a process that holds nothing of the host's, so that a slow disk or a loaded
    machine costs neither the host its second nor the user the event."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        _signal.signal(_signal.SIGALRM, _signal.SIG_DFL)
        _signal.setitimer(_signal.ITIMER_REAL, SPOOL_SECONDS)
        os.setsid()
        os.dup2(2, 0)
        os.dup2(2, 1)
        os.closerange(3, 256)
        spool(directory, payload, flags)
    finally:
        os._exit(0)


# --- pieces -------------------------------------------------------------------------------------


def secure_descriptors() -> None:
    """0, 1 and 2 are open afterwards, and 2 is nowhere."""
    fd = os.open("/dev/null", os.O_RDWR)
    while fd < 2:
        os.set_inheritable(fd, True)
        fd = os.open("/dev/null", os.O_RDWR)
    if fd > 2:
        os.dup2(fd, 2)
        os.close(fd)


def read_all(fd: int) -> bytes:
    chunks = []
    while chunk := os.read(fd, 1 << 20):
        chunks.append(chunk)
    return b"".join(chunks)


def write_all(fd: int, data: bytes) -> None:
    """Write, until the reader has gone away or the hard stop comes."""
    while data:
        try:
            data = data[os.write(fd, data) :]
        except BlockingIOError:
            _pause(0.005)
        except OSError:
            return


def _stop(*_: object) -> None:
    for number in STOP_SIGNALS:
        _signal.signal(number, _signal.SIG_IGN)  # a second one must not disturb the spooling
    _signal.signal(_signal.SIGALRM, lambda *_: os._exit(0))
    _signal.setitimer(_signal.ITIMER_REAL, 0.3)
    raise Stopped


def _give_up(*_: object) -> None:
    raise TimeoutError


def _pause(seconds: float) -> None:
    from time import sleep

    sleep(seconds)
