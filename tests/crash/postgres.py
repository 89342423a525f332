"""Two daemons on one PostgreSQL server, under load, while the server is killed and comes back.

In: a rate, a duration and a seed. Out: what was sent, and what of it is missing or there twice.
Events go in as hooks send them: over the daemon's socket, and into the spool when it says "not now"
or says nothing within the hook's second.
"""

import json
import pathlib
import random
import socket
import threading
import time
from collections import Counter
from dataclasses import dataclass, field

from recollect.capture import frames, paths, spool, spool_writer
from recollect.core import ids
from tests.crash.oracle import Findings
from tests.fakes.daemons import RealDaemon
from tests.fakes.frame_server import decode_answer
from tests.fakes.postgres import Server

HOOK_S = 1.0
CLIENTS = 4  # for each daemon
PER_SESSION = 400


@dataclass
class Report:
    sent: int = 0
    stored: int = 0
    spooled: int = 0
    restarts: int = 0
    slowest_s: float = 0.0
    findings: Findings = field(default_factory=Findings)


def daemon(home: pathlib.Path, server: Server, database: str, **more: str) -> RealDaemon:
    one = RealDaemon(home, store=server.url(database, "ada"), embedding="false", **more)
    one.install_hook()
    return one


def frame(text: str, session: str) -> frames.Frame:
    payload = {
        "session_id": session, "cwd": "/", "hook_event_name": "PostToolUse", "tool_name": "Bash",
        "tool_input": {"command": text}, "tool_response": {"stdout": text},
        "tool_use_id": text,
    }  # fmt: skip
    return frames.Frame(
        ulid=ids.new_ulid(),
        boot_id="b0000000-0000-4000-8000-000000000000",
        mono_ns=time.monotonic_ns(),
        wall_ns=time.time_ns(),
        argv=(b"claude-code", b"PostToolUse"),
        cwd=b"/",
        stdin=json.dumps(payload).encode(),
    )


def hook(home: str, one: frames.Frame) -> bool:
    """What a hook does with an event; True when the daemon took it, False when it was spooled."""
    payload = frames.encode_payload(one)
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(HOOK_S)
    try:
        connection.connect(paths.socket_path(home))
        connection.sendall(frames.request(payload))
        status = decode_answer(connection.recv(1 << 16))[0]
    except (OSError, frames.FrameError):
        status = frames.NOT_NOW
    finally:
        connection.close()
    if status == frames.STORED:
        return True
    assert status == frames.NOT_NOW, status
    spool_writer.write(home, one, frames.digest(payload))
    return False


def load(
    homes: list[str], rate: float, seconds: float, report: Report, sent: list[str]
) -> list[threading.Thread]:
    """Clients that send at a rate, all together, for so long; they are started."""
    lock = threading.Lock()
    each = rate / (CLIENTS * len(homes))

    def client(home: str, number: int) -> None:
        began = time.monotonic()
        count = 0
        while (now := time.monotonic()) - began < seconds:
            due = began + count / each
            if due > now:
                time.sleep(due - now)
            text = f"client {number} says {count}"
            start = time.monotonic()
            taken = hook(home, frame(text, f"s{number}-{count // PER_SESSION}"))
            with lock:
                sent.append(text)
                report.spooled += not taken
                report.slowest_s = max(report.slowest_s, time.monotonic() - start)
            count += 1

    threads = [
        threading.Thread(target=client, args=(home, index * CLIENTS + number))
        for index, home in enumerate(homes)
        for number in range(CLIENTS)
    ]
    for thread in threads:
        thread.start()
    return threads


def stored(server: Server, database: str) -> Counter[str]:
    rows = server.admin("SELECT body FROM recollect.events", database)
    found: Counter[str] = Counter()
    for (body,) in rows:
        found[json.loads(str(body))["data"]["input"]["command"]] += 1
    return found


def wait_until_drained(daemons: list[RealDaemon], seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    for one in daemons:
        while spool.statistics(str(one.home)).count:
            assert time.monotonic() < deadline, f"the spool is not drained\n{one.log()[-4000:]}"
            time.sleep(0.1)


def run(
    scratch: pathlib.Path, server: Server, *, rate: float, seconds: float, restarts: int, seed: int
) -> Report:
    chance = random.Random(seed)
    database = server.database()
    daemons = [daemon(scratch / f"home-{number}", server, database) for number in (1, 2)]
    report = Report()
    sent: list[str] = []
    try:
        for one in daemons:
            one.start()
        threads = load([str(one.home) for one in daemons], rate, seconds, report, sent)
        for _ in range(restarts):
            time.sleep(seconds / (restarts + 1) * chance.uniform(0.7, 1.0))
            server.kill()
            time.sleep(chance.uniform(0.3, 1.5))
            server.start()
            report.restarts += 1
        for thread in threads:
            thread.join()
        wait_until_drained(daemons)
    finally:
        for one in daemons:
            if one.process is not None:
                one.stop()
    report.sent = len(sent)
    there = stored(server, database)
    report.stored = sum(there.values())
    report.findings.lost += sorted(set(sent) - set(there))
    report.findings.doubled += sorted(text for text, count in there.items() if count > 1)
    server.drop(database)
    return report
