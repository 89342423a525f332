"""Attacks on what was captured: a store that hangs, a daemon that dies, arrivals in any order.

In: chance, a number of tries and a scratch directory. Out: what was lost, doubled or read in
another order than it happened. Real hooks, a real daemon, a real database.
"""

import contextlib
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw

from recollect.capture import frames
from recollect.capture.frames import Frame
from recollect.core import ids
from recollect.core.clock import SystemClock
from recollect.core.settings import Settings
from recollect.core.values import JsonBody, MessageBody, Record, StoredEvent, TextBody
from recollect.ingest.counters import Counters
from recollect.ingest.memories import Memories
from recollect.ingest.pipeline import Pipeline
from recollect.ingest.turn_writer import TurnWriter
from recollect.ingest.turns import turns_of
from recollect.store.interface import RecordFilter
from recollect.store.sqlite import SqliteStore
from tests.fakes.daemons import RealDaemon
from tests.fakes.waiting import PATIENCE_S
from tests.torture.case import Case, Report

SPOOLED = 400  # events, each try
HOOKS = 4  # that fire while the store hangs, each try


def hanging_store(dice: random.Random, tries: int, scratch: Path) -> Report:
    """The database is held by somebody else, as a slow disk would hold it: hooks lose patience and
    spool what the daemon is still trying to store. Then the daemon is killed."""
    report = Report()
    daemon = RealDaemon(scratch / "home")
    daemon.install_hook()
    sent: list[str] = []
    try:
        for number in range(tries):
            daemon.start()
            texts = [f"try {number}, hook {hook}" for hook in range(HOOKS)]
            with _held(daemon.home / "recollect.db"):
                _fire(daemon, texts)
                # The spool is drained every two seconds; what is in flight gives up after five.
                time.sleep(dice.uniform(2.0, 3.5))
                daemon.kill()
            sent += texts
            report.tries += 1
        daemon.start()
        waited_for(lambda: not daemon.client.get("/healthz")["spool"]["events"])
        # A hook that had to leave in time left the spooling to a process of its own.
        stored = [one["body"]["content"] for one in daemon.events("/", expected=len(sent))]
    finally:
        if daemon.process is not None:
            daemon.stop()
    for text in sent:
        if stored.count(text) != 1:
            report.failed("doubled" if text in stored else "lost", text)
    return report


def shuffled_arrival(dice: random.Random, tries: int, scratch: Path) -> Report:
    """A session's frames come in any order, some when episodes were made of the others, over a
    reboot. Whatever reads the session must find it as it happened, each turn once and whole."""
    report = Report()
    for number in range(tries):
        clock = SystemClock()
        store = SqliteStore(Settings(home=str(scratch / f"home {number}"), reserve_mb=0), clock)
        try:
            _shuffle(dice, store, f"try {number}", report)
        finally:
            store.close()
        report.tries += 1
    return report


def _shuffle(dice: random.Random, store: SqliteStore, name: str, report: Report) -> None:
    counters = Counters(SystemClock())
    pipeline = Pipeline(store, SystemClock(), "ada", counters)
    turn_writer = TurnWriter(store, Memories(store), counters)
    pipeline.listeners.append(turn_writer.on_event)
    turn_writer.start()
    told = _session(dice)
    arriving = list(told)
    _displace(dice, arriving)
    while arriving:
        batch, arriving = arriving[: (size := dice.randint(1, 8))], arriving[size:]
        if dice.random() < 0.5:
            pipeline.spooled([(frame, _digest(frame)) for _, frame in batch])
        else:
            for _, frame in batch:
                pipeline.frame(frame, _digest(frame))
        if dice.random() < 0.5:
            assert turn_writer.wait(PATIENCE_S)
    turn_writer.close()
    namespace = "/actor/ada/"
    wanted = [text for text, _ in told]
    events = store.events.session(namespace, "s")
    if [_said(one) for one in events] != wanted:
        report.failed("out of order", f"{name}: events")
    if [_said(one) for one in reversed(_paged(store, namespace, dice.randint(1, 9)))] != wanted:
        report.failed("out of order", f"{name}: pages")
    turns = [turn.episode() for turn in turns_of(events) if turn.has_content]
    page = store.records.page(
        namespace, RecordFilter(kind="episode", session_id="s"), limit=1000, by_position=True
    )
    episodes = list(page.items[::-1])
    for one in {*turns, *episodes}:
        if (got := _titles(episodes).count(one.title)) != _titles(turns).count(one.title):
            report.failed("doubled" if got else "lost", f"{name}: episode {one.title}")
    if [_whole(one) for one in episodes] != [_whole(one) for one in turns]:
        report.failed("out of order", f"{name}: episodes")


def _session(dice: random.Random) -> list[tuple[str, Frame]]:
    """What is said and done in a session, with the frames that tell of it, as it happened."""
    told: list[tuple[str, Frame]] = []
    wall = 1_700_000_000 * 10**9
    for boot in dice.sample(["0-first", "9-second", "5-third"], dice.randint(1, 3)):
        tick = dice.randrange(10**12)
        wall += 3600 * 10**9
        since = wall - tick
        for turn in range(dice.randint(1, 6)):
            payloads: list[tuple[str, dict[str, Any]]] = [
                ("UserPromptSubmit", {"prompt": f"{boot} turn {turn}"})
            ]
            payloads += [
                (
                    "PostToolUse",
                    {
                        "tool_name": "Bash",
                        "tool_use_id": f"{boot} {turn} {call}",
                        "tool_input": {"command": f"make {boot}-{turn}-{call}"},
                        "tool_response": "ok",
                    },
                )
                for call in range(dice.randint(0, 4))
            ]
            payloads += [("Stop", {"last_assistant_message": f"{boot} answer {turn}"})]
            for event, payload in payloads:
                tick += dice.randint(1, 10**9)
                jump = dice.choice((0, 0, 0, -1, 1)) * 600 * 10**9
                frame = Frame(
                    ulid=ids.new_ulid(),
                    boot_id=boot,
                    mono_ns=tick,
                    wall_ns=since + tick + (0 if event == "UserPromptSubmit" else jump),
                    argv=(b"claude-code", event.encode()),
                    cwd=b"/",
                    stdin=json.dumps({"session_id": "s", "cwd": "/", **payload}).encode(),
                )
                text = payload.get("prompt") or payload.get("last_assistant_message")
                told.append((text or payload["tool_input"]["command"], frame))
    return told


def _displace(dice: random.Random, arriving: list[tuple[str, Frame]]) -> None:
    """All at random, or some of them late, as a spool brings them."""
    if dice.random() < 0.3:
        dice.shuffle(arriving)
        return
    for _ in range(dice.randint(1, 6)):
        late = arriving.pop(dice.randrange(len(arriving)))
        arriving.insert(dice.randint(0, len(arriving)), late)


def _paged(store: SqliteStore, namespace: str, size: int) -> list[StoredEvent]:
    found: list[StoredEvent] = []
    place = None
    while True:
        page = store.events.page(namespace, session_id="s", before=place, limit=size)
        found += page.items
        place = page.next
        if place is None:
            return found


def _said(stored: StoredEvent) -> str:
    match stored.event.body:
        case TextBody(content=content):
            return content
        case MessageBody(turns=turns):
            return turns[-1].content
        case JsonBody(data=data):
            return str(data["command"])


def _titles(episodes: list[Record]) -> list[str]:
    return [one.title for one in episodes]


def _whole(episode: Record) -> tuple[str, ...]:
    return (episode.title, episode.summary, episode.detail, *episode.source_event_ids)


def _digest(frame: Frame) -> bytes:
    return frames.digest(frames.encode_payload(frame))


def killed_while_draining(dice: random.Random, tries: int, scratch: Path) -> Report:
    """A full spool, and a daemon that is killed again and again while it takes it in: all of it is
    stored, once, in order."""
    report = Report()
    daemon = RealDaemon(scratch / "home")
    daemon.install_hook()
    sent: list[str] = []
    try:
        for number in range(tries):
            sent += fill_spool(daemon.home, SPOOLED, f"try {number}")
            daemon.start()
            time.sleep(dice.uniform(0.0, 0.6))
            daemon.kill()
            report.tries += 1
        daemon.start()
        waited_for(lambda: not daemon.client.get("/healthz")["spool"]["events"])
        stored = [one["body"]["content"] for one in daemon.events("/")]
        listed = _listed(daemon)
    finally:
        if daemon.process is not None:
            daemon.stop()
    there = Counter(stored)
    for text in sent:
        if there[text] != 1:
            report.failed("doubled" if there[text] else "lost", text)
    if listed != sent:
        report.failed("out of order", "the session of the spool")
    return report


def fill_spool(home: Path, count: int, name: str) -> list[str]:
    """What so many prompts of one session leave when nobody answers their hooks."""
    texts = [f"{name}, prompt {number}" for number in range(count)]
    folder = home / "spool"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for text in texts:
        frame = Frame(
            ulid=ids.new_ulid(),
            boot_id=SystemClock().boot_id(),
            mono_ns=time.monotonic_ns(),
            wall_ns=time.time_ns(),
            argv=(b"claude-code", b"UserPromptSubmit"),
            cwd=b"/",
            stdin=json.dumps({"session_id": "s", "cwd": "/", "prompt": text}).encode(),
        )
        # As a hook writes it, without its syncs.
        path = folder / f"{frame.wall_ns // 10**6:013d}-{frame.mono_ns:020d}-{frame.ulid}.frame"
        path.write_bytes(frames.encode_spooled(frame, _digest(frame)))
    return texts


def _listed(daemon: RealDaemon) -> list[str]:
    """The session as anybody can read it, page by page."""
    found: list[str] = []
    before = ""
    while True:
        page = daemon.client.get(f"/v1/events?session_id=s&limit=200&project_path=/{before}")
        found += [row["event"]["body"]["content"] for row in page["items"]]
        if page["next"] is None:
            return found[::-1]
        before = f"&before={page['next']}"


def waited_for(condition: Callable[[], bool], seconds: float = PATIENCE_S) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "this should have come long ago"
        time.sleep(0.05)


@contextlib.contextmanager
def _held(path: Path) -> Iterator[None]:
    """Nobody else can write to this database meanwhile."""
    connection = apsw.Connection(str(path))
    connection.set_busy_timeout(5000)
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        connection.close()


def _fire(daemon: RealDaemon, texts: list[str]) -> None:
    """One hook a text, side by side, until all have ended."""

    def fire(text: str) -> None:
        payload = {"session_id": "s", "cwd": "/", "prompt": text}
        daemon.run_hook("claude-code", "UserPromptSubmit", payload)

    threads = [threading.Thread(target=fire, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


CASES = [
    Case("a store that hangs, then kill -9", hanging_store, tries=10),
    Case("kill -9 while the spool is drained", killed_while_draining, tries=10),
    Case("frames in any order", shuffled_arrival, tries=50),
]
