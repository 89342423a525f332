"""`python -m tests.bench.walk [-v] [--vectors]`: the functions and files that one prompt visits.

In: a Runtime, with a few memories and recall ready, and the frames of a session's start and of a
prompt that it knows something about. Out: how many functions and files of the package the prompt
enters until the answer is sent, by room; with -v all of them. What follows the answer (receipt,
turn, embedding) is not counted, nor are lambdas and comprehensions. With `--vectors` the memories
have theirs first, so that the search by meaning is walked too.
"""

import json
import os
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import recollect
from recollect.capture import frames
from recollect.core import ids, projects
from recollect.core.settings import Settings
from recollect.core.values import Record
from recollect.daemon.runtime import Runtime
from tests import make

PACKAGE = str(Path(recollect.__file__).parent) + os.sep
# The threads that work for the answer: the one that asks, the writer's, recall's.
THREADS = ("MainThread", "recollect-writer", "recollect-recall")
PROMPT = "why did the retry storm take the billing api down?"
BEFORE = "what do retries in the billing api need?"  # answers are kept, so it is another question
PATIENCE_S = 60.0
MODEL = os.environ.get("RECOLLECT_MODEL_DIR", "")


class Walk:
    """Which code was entered while it is `on`, in the threads that work for an answer."""

    def __init__(self) -> None:
        self.visited: set[CodeType] = set()
        self.on = False

    def begin(self) -> None:
        self.visited.clear()
        self.on = True

    def end(self) -> None:
        self.on = False

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        ours = self.on and event == "call" and frame.f_code.co_filename.startswith(PACKAGE)
        if ours and threading.current_thread().name.startswith(THREADS):
            self.visited.add(frame.f_code)

    def by_file(self) -> dict[str, list[str]]:
        found: dict[str, set[str]] = defaultdict(set)
        for code in self.visited:
            if not code.co_name.startswith("<"):
                found[code.co_filename.removeprefix(PACKAGE)].add(code.co_qualname)
        return {path: sorted(names) for path, names in sorted(found.items())}


def memories(namespace: str) -> Iterator[Record]:
    for kind, title, summary in (
        ("knowledge", "Retries in the billing api need jitter", "A retry storm took it down."),
        ("observation", "Fixed the retry storm of the billing api", "Backoff with jitter."),
        ("summary", "The billing api was down: a retry storm", "Found and fixed."),
        ("observation", "The lamp in the hall is blue", "It was bought in March."),
        ("knowledge", "Tests of the parser run in two processes", "They share no files."),
    ):
        yield make.record(title, namespace=namespace, kind=kind, summary=summary)


@contextmanager
def running(home: str, project: str) -> Iterator[Runtime]:
    """A Runtime that holds a few memories of a project."""
    runtime = Runtime(Settings(home=home, actor="ada", reserve_mb=0, model_dir=MODEL))
    try:
        place = runtime.store.projects.resolve(projects.locate(project))
        namespace = projects.namespace("ada", place)
        runtime.store.records.put(list(memories(namespace)))
        runtime.load_recall().index_cache.fill([namespace, projects.namespace("ada")])
        yield runtime
    finally:
        runtime.close()


def framed(event: str, project: str, **said: str) -> tuple[frames.Frame, bytes]:
    """A hook's frame of Claude Code."""
    frame = frames.Frame(
        ulid=ids.new_ulid(),
        boot_id="",
        mono_ns=time.monotonic_ns(),
        wall_ns=time.time_ns(),
        argv=(b"claude-code", event.encode()),
        cwd=os.fsencode(project),
        stdin=json.dumps({**said, "hook_event_name": event, "cwd": project}).encode(),
    )
    return frame, frames.digest(frames.encode_payload(frame))


def answered(runtime: Runtime, project: str, walk: Walk | None = None) -> None:
    """One prompt of a session that has begun, again when recall was not ready or not in time."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        session = ids.new_ulid()
        begins = framed("SessionStart", project, session_id=session, source="startup")
        runtime.pipeline.frame(*begins, lambda _: None)
        text = PROMPT if walk else BEFORE
        frame, digest = framed("UserPromptSubmit", project, session_id=session, prompt=text)
        if walk is not None:
            walk.begin()
        reply = runtime.pipeline.frame(
            frame, digest, lambda _: walk.end() if walk is not None else None
        )
        if b"jitter" in reply.stdout:
            return
        assert time.monotonic() < deadline, "recall never answered"
        time.sleep(0.2)


def measure(*, vectors: bool) -> Walk:
    walk = Walk()
    with tempfile.TemporaryDirectory() as scratch:
        project = os.path.join(scratch, "billing-api")
        os.mkdir(project)
        threading.setprofile(walk)
        try:
            with running(os.path.join(scratch, "home"), project) as runtime:
                if vectors:
                    runtime.load_recall().embed_now()
                answered(runtime, project)  # what is cached by then is not counted
                assert runtime.loaded_recall is not None
                runtime.loaded_recall.receipts.flush()  # what follows the first answer, neither
                sys.setprofile(walk)
                answered(runtime, project, walk)
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
    return walk


def main(arguments: list[str]) -> int:
    files = measure(vectors="--vectors" in arguments).by_file()
    rooms: dict[str, list[str]] = defaultdict(list)
    for path in files:
        rooms[path.split(os.sep)[0]].append(path)
    for room, paths in rooms.items():
        number = sum(len(files[path]) for path in paths)
        print(f"{room:12}{number:5} functions in {len(paths):3} files")
        for path in paths if "-v" in arguments else ():
            print(f"    {path}: {', '.join(files[path])}")
    number = sum(len(names) for names in files.values())
    print(f"{'one prompt':12}{number:5} functions in {len(files):3} files")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
