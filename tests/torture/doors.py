"""Attacks on the doors: connections that say nothing, files that never end, strangers, bad tokens.

In: chance, tries, a scratch directory. Out: hooks that were not answered while it lasted
("frozen"), events that are not there afterwards ("lost"), and doors that let somebody in
("leaked"). Real daemons, real sockets.
"""

import contextlib
import http.client
import json
import os
import pathlib
import random
import resource
import select
import socket
import stat
import time
from collections.abc import Callable, Iterator

from recollect.capture import frames, paths
from tests.crash.postgres import frame
from tests.fakes.daemons import RealDaemon, real_daemon
from tests.fakes.waiting import PATIENCE_S
from tests.torture.case import Case, Report

# Far more than any of this takes on a busy machine, and far less than what hung took before.
ANSWER_S = PATIENCE_S
IDLE = 1200
SLOW = 500
HALF_OPEN = 600
NOBODY = 65534


# --- asking -------------------------------------------------------------------------------------


def answer(daemon: RealDaemon, one: frames.Frame) -> int | None:
    """The status that the hooks' door answers; None when it does not in time."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(ANSWER_S)
        got = b""
        try:
            connection.connect(paths.socket_path(str(daemon.home)))
            connection.sendall(frames.encode(one))
            while len(got) < frames.HEADER_BYTES:
                part = connection.recv(1 << 16)
                if not part:
                    return None
                got += part
        except OSError:
            return None
    return frames.answer_header(got[: frames.HEADER_BYTES])[0]


def ask(daemon: RealDaemon, report: Report, tries: int, during: str) -> None:
    """Send events and ask for health at every door; note what was not answered."""
    for number in range(tries):
        report.tries += 1
        if answer(daemon, frame(f"{during} {number}", "torture")) != frames.STORED:
            report.failed("frozen", f"{during}: hook {number} was not answered")
    try:
        if daemon.client.get("/healthz")["status"] == "failed":
            report.failed("wrong", f"{during}: the daemon failed")
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the finding
        report.failed("frozen", f"{during}: the HTTP socket: {error!r}")
    try:
        status = daemon.http("GET", "/healthz")[0]
        if status not in (200, 429):
            report.failed("wrong", f"{during}: TCP answered {status}")
    except (OSError, http.client.HTTPException) as error:
        report.failed("frozen", f"{during}: TCP: {error!r}")


def check_stored(daemon: RealDaemon, report: Report, during: str, expected: int) -> None:
    found = json.dumps([event["body"] for event in daemon.events("/", expected=expected)])
    for number in range(expected):
        if f'"{during} {number}"' not in found:
            report.failed("lost", f"{during} {number}")


# --- connections --------------------------------------------------------------------------------


@contextlib.contextmanager
def connections(count: int, connect: Callable[[], socket.socket]) -> Iterator[list[socket.socket]]:
    """So many at once; this process must be allowed them."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < count + 200:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, count + 200), hard))
    opened = []
    try:
        for _ in range(count):
            opened.append(connect())
        yield opened
    finally:
        for one in opened:
            one.close()


def tcp(daemon: RealDaemon) -> Callable[[], socket.socket]:
    port = daemon.port
    return lambda: socket.create_connection(("127.0.0.1", port), timeout=ANSWER_S)


def unix(path: str) -> Callable[[], socket.socket]:
    def connect() -> socket.socket:
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(ANSWER_S)
        connection.connect(path)
        return connection

    return connect


def idle_tcp(chance: random.Random, tries: int, place: pathlib.Path) -> Report:
    """Connections that any local user can make, and that ask for nothing, against a daemon with as
    few descriptors as a service has by default."""
    report = Report()
    daemon = RealDaemon(place / "home")
    daemon.descriptors = 1024
    with started(daemon):
        with connections(IDLE, tcp(daemon)):
            ask(daemon, report, tries, "idle")
        ask(daemon, report, 1, "after idle")
        check_stored(daemon, report, "idle", tries)
    return report


def slow_tcp(chance: random.Random, tries: int, place: pathlib.Path) -> Report:
    """Clients that send a request a few bytes at a time."""
    report = Report()
    with real_daemon(place / "home") as daemon:
        head = f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{daemon.port}\r\nX-Slow: {'x' * 4000}"
        with connections(SLOW, tcp(daemon)) as slow:
            at = [0] * len(slow)
            for number in range(tries):
                for index in chance.sample(range(len(slow)), min(100, len(slow))):
                    size = chance.randrange(1, 9)
                    with contextlib.suppress(OSError):  # the door may have closed it
                        slow[index].send(head[at[index] : at[index] + size].encode())
                        at[index] += size
                report.tries += 1
                if answer(daemon, frame(f"slow {number}", "torture")) != frames.STORED:
                    report.failed("frozen", f"slow: hook {number} was not answered")
            ask(daemon, report, 1, "slow")
        check_stored(daemon, report, "slow", tries)
    return report


def half_open_hooks(chance: random.Random, tries: int, place: pathlib.Path) -> Report:
    """Connections to the hooks' door that never finish their frame, and some that never take their
    answer; closed ones come again at once."""
    report = Report()
    with real_daemon(place / "home") as daemon:
        whole = frames.encode(frame("never whole", "torture"))
        connect = unix(paths.socket_path(str(daemon.home)))

        def half() -> socket.socket:
            connection = connect()
            connection.sendall(whole[: chance.randrange(len(whole))])
            return connection

        with connections(HALF_OPEN, half) as opened:
            for number in range(tries):
                report.tries += 1
                if answer(daemon, frame(f"half {number}", "torture")) != frames.STORED:
                    report.failed("frozen", f"half open: hook {number} was not answered")
                gone = select.poll()
                for one in opened:
                    gone.register(one, select.POLLIN)
                closed = {number for number, _ in gone.poll(0)}
                for index, one in enumerate(opened):
                    if one.fileno() in closed:
                        one.close()
                        opened[index] = half()
        check_stored(daemon, report, "half", tries)
    return report


def few_descriptors(chance: random.Random, tries: int, place: pathlib.Path) -> Report:
    """`ulimit -n 64`, and more connections at every door than there are descriptors."""
    report = Report()
    daemon = RealDaemon(place / "home")
    daemon.descriptors = 64
    with started(daemon):
        ask(daemon, report, tries, "few")
        socket_path = paths.socket_path(str(daemon.home), "recollect.sock")
        with connections(80, tcp(daemon)), connections(40, unix(socket_path)):
            ask(daemon, report, tries, "few")
        check_stored(daemon, report, "few", tries)
    return report


@contextlib.contextmanager
def started(daemon: RealDaemon) -> Iterator[RealDaemon]:
    daemon.start()
    try:
        yield daemon
    finally:
        daemon.stop()


# --- files --------------------------------------------------------------------------------------


def trap(chance: random.Random, path: pathlib.Path) -> str:
    """Something at a path that a reader would wait for, or never be done with."""
    kind = chance.choice(["fifo", "device", "socket", "loop", "huge", "folder", "unreadable"])
    match kind:
        case "fifo":
            os.mkfifo(path)
        case "device":
            path.symlink_to(chance.choice(["/dev/zero", "/dev/full", "/dev/tty", "/proc/kmsg"]))
        case "socket":
            # Bound by its short name, whatever the length of the path.
            before = os.open(".", os.O_RDONLY)
            os.chdir(path.parent)
            try:
                with socket.socket(socket.AF_UNIX) as listener:
                    listener.bind(path.name)
            finally:
                os.fchdir(before)
                os.close(before)
        case "loop":
            path.symlink_to(path)
        case "huge":
            path.write_bytes(b"gitdir: ")
            os.truncate(path, 1 << 40)
        case "folder":
            path.mkdir()
        case "unreadable":
            path.write_text("gitdir: /\n")
            path.chmod(0)
    return kind


def trapped_tree(chance: random.Random, tree: pathlib.Path) -> str:
    """A directory in which one of the files that are looked for is a trap."""
    tree.mkdir(parents=True)
    name = chance.choice([".git", ".git/HEAD", ".git/config", ".git/commondir", "package.json"])
    path = tree / name
    if path.parent != tree:
        path.parent.mkdir()
        if path.name != "HEAD":
            (path.parent / "HEAD").write_text("ref: refs/heads/main\n")
    return f"{name}: {trap(chance, path)}"


def special_files(chance: random.Random, tries: int, place: pathlib.Path) -> Report:
    """Hooks out of directories full of traps, and stops that name a trap as their transcript: all
    are answered, the spool is empty, and SIGTERM ends the daemon."""
    report = Report()
    daemon = RealDaemon(place / "home").start()
    try:
        for number in range(tries):
            report.tries += 1
            tree = place / f"tree-{number}"
            what = trapped_tree(chance, tree)
            transcript = tree / "transcript.jsonl"
            what += f", transcript: {trap(chance, transcript)}"
            prompt = {"session_id": f"s{number}", "cwd": str(tree), "prompt": f"in {number}"}
            stop = {
                "session_id": f"s{number}", "cwd": str(tree), "transcript_path": str(transcript),
            }  # fmt: skip
            for event, payload in (("UserPromptSubmit", prompt), ("Stop", stop)):
                done = daemon.run_hook("claude-code", event, payload, cwd=str(tree))
                if done.returncode or done.stderr:
                    report.failed("wrong", f"{what}: {done}")
            if answer(daemon, frame(f"trap {number}", "torture")) != frames.STORED:
                report.failed("frozen", what)
        if not drained(daemon):
            report.failed("frozen", f"the spool keeps {daemon.client.get('/healthz')['spool']}")
        check_stored(daemon, report, "trap", tries)
        for number in range(tries):
            found = daemon.events(str(place / f"tree-{number}"), expected=1)
            if f"in {number}" not in {one["body"].get("content") for one in found}:
                report.failed("lost", f"the prompt in tree {number}")
        if daemon.stop() != 0:
            report.failed("frozen", "SIGTERM did not end it")
    finally:
        if daemon.process is not None:
            daemon.kill()
    return report


def drained(daemon: RealDaemon) -> bool:
    deadline = time.monotonic() + 2 * ANSWER_S
    while daemon.client.get("/healthz")["spool"]["events"]:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


# --- strangers and tokens -----------------------------------------------------------------------


def as_another_user(work: Callable[[], bytes]) -> bytes:
    """What a process of another user gets; only root can be one."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            os.write(into, work()[:4096])
        finally:
            os._exit(0)
    os.close(into)
    with open(out, "rb") as file:
        got = file.read()
    os.waitpid(child, 0)
    return got


def strangers(chance: random.Random, tries: int, place: pathlib.Path) -> Report:
    """Another user at the unix sockets, with every mode opened wide: the kernel's word counts, not
    the file's. Without root there is no other user, and the modes themselves are looked at."""
    report = Report()
    with real_daemon(place / "home") as daemon:
        doors = {
            paths.socket_path(str(daemon.home)): frames.encode(frame("strange", "torture")),
            paths.socket_path(str(daemon.home), "recollect.sock"): (
                b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            ),
        }
        for path in doors:
            report.tries += 1
            if stat.S_IMODE(os.stat(path).st_mode) != 0o600:
                report.failed("leaked", f"{path} has mode {oct(os.stat(path).st_mode)}")
        if stat.S_IMODE(os.stat(daemon.home).st_mode) != 0o700:
            report.failed("leaked", "the data directory is open to others")
        if os.getuid() == 0:
            ask_as_stranger(daemon, doors, tries, report)
        ask(daemon, report, 1, "strangers")
        if any("strange" in str(event["body"]) for event in daemon.events("/")[:-1]):
            report.failed("leaked", "a stranger's event was stored")
    return report


def ask_as_stranger(
    daemon: RealDaemon, doors: dict[str, bytes], tries: int, report: Report
) -> None:
    way = pathlib.Path(daemon.home)
    for folder in (way, *way.parents):
        if folder != pathlib.Path("/"):
            folder.chmod(folder.stat().st_mode | 0o711)
    for path, request in doors.items():
        os.chmod(path, 0o777)
        for _ in range(tries):
            report.tries += 1

            def work(path: str = path, request: bytes = request) -> bytes:
                with socket.socket(socket.AF_UNIX) as connection:
                    connection.settimeout(ANSWER_S)
                    connection.connect(path)  # the modes let it; only the daemon refuses
                    said = b"connected "
                    with contextlib.suppress(OSError):
                        connection.sendall(request)
                        said += connection.recv(4096)
                    return said

            got = as_another_user(work)
            if got != b"connected ":
                report.failed("leaked" if b"connected" in got else "wrong", f"{path}: {got!r}")


def damage_token(chance: random.Random, path: pathlib.Path, place: pathlib.Path) -> str:
    """A token file as crashes, editors, restores and attackers leave it."""
    token = path.read_bytes() if path.is_file() else b""
    kind = chance.choice(
        ["empty", "short", "spaces", "gone", "link", "long", "upper", "NUL", "modes", "fifo", "dir"]
    )
    if kind == "modes":
        path.chmod(chance.choice([0o644, 0o640, 0o604, 0o666]))
        return kind
    if path.is_dir():
        path.rmdir()
    path.unlink(missing_ok=True)
    match kind:
        case "link":
            elsewhere = place / f"elsewhere-{chance.random()}"
            elsewhere.write_text("0" * 64 + "\n")
            elsewhere.chmod(0o600)
            path.symlink_to(elsewhere)
        case "fifo":
            os.mkfifo(path)
        case "dir":
            path.mkdir()
        case "gone":
            pass
        case _:
            path.write_bytes(
                {
                    "empty": b"",
                    "short": token[: chance.randrange(len(token) or 1)].rstrip(b"\n"),
                    "spaces": b" \n\t\n",
                    "long": token + token,
                    "upper": token.upper() if token.upper() != token else token + b"A",
                    "NUL": bytes(65),
                }[kind]
            )
            path.chmod(0o600)
    return kind


def bad_tokens(chance: random.Random, tries: int, place: pathlib.Path) -> Report:
    """Whatever becomes of the token file, nobody gets in with nothing or with what it holds, and a
    good one is there again at once."""
    report = Report()
    with real_daemon(place / "home") as daemon:
        path = daemon.home / "token"
        for _ in range(tries):
            report.tries += 1
            before = daemon.token if path.is_file() else ""
            kind = damage_token(chance, path, place)
            held = path.read_text(errors="replace").strip("\n") if path.is_file() else ""
            for given in dict.fromkeys(["", " ", held, "0" * 64, before]):
                if not given.isprintable():
                    continue
                headers = {"Authorization": f"Bearer {given}" if given else "Bearer"}
                status, _, body = daemon.http("GET", "/api/projects", headers=headers, token=False)
                if status not in (401, 429):
                    report.failed("leaked", f"{kind}: {given[:6]!r} was answered with {status}")
                if b"Traceback" in body or status >= 500:
                    report.failed("wrong", f"{kind}: {status} {body[:200]!r}")
            if kind == "dir":  # nothing can be put in its place; nobody gets in
                path.rmdir()
                daemon.http(
                    "GET", "/api/projects", headers={"Authorization": "Bearer"}, token=False
                )
            status = daemon.http("GET", "/healthz")[0]
            if status not in (200, 429):
                report.failed("wrong", f"{kind}: the new token is answered with {status}")
            if stat.S_IMODE(path.lstat().st_mode) != 0o600 or not stat.S_ISREG(
                path.lstat().st_mode
            ):
                report.failed("leaked", f"{kind}: the new token file is {path.lstat()}")
        if not daemon.client.get("/healthz")["token_renewed"]:
            report.failed("wrong", "it was not told that the token was made anew")
    return report


CASES = [
    Case("1,200 idle TCP connections while hooks are answered", idle_tcp, 50),
    Case("500 slow TCP clients while hooks are answered", slow_tcp, 200),
    Case("half-open connections at the hooks' door", half_open_hooks, 200),
    Case("ulimit -n 64", few_descriptors, 100),
    Case("pipes, devices and huge files in a project", special_files, 60),
    Case("another user at the sockets", strangers, 20),
    Case("damaged token files", bad_tokens, 30),
]
