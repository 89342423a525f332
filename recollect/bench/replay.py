"""Replays an agent's own transcripts through the product, in the order of time.

In: transcripts of one project. Out: what would have been put before the agent at each prompt, by a
memory that holds only the sessions which had ended by then. Store, clock and home are temporary;
nothing leaves the machine and nothing is kept.
"""

import gzip
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from recollect.core import projects
from recollect.core.clock import ManualClock
from recollect.core.settings import Settings
from recollect.core.values import IMPORTED, Event, EventSource
from recollect.daemon.runtime import Runtime
from recollect.extract.watcher import RunFollowUp
from recollect.hosts import registry
from recollect.hosts.hooks import CONTEXT_CHARS
from recollect.hosts.transcript import Transcript, TranscriptEvent
from recollect.ingest.pipeline import RecallQuestion
from recollect.portable.transcript_import import derived_id
from recollect.store.interface import Selection
from recollect.work.turn_work import person_of

ACTOR = "replay"
PROJECT = "replayed"
WAIT_S = 600.0
_WORK_TREE = re.compile(r"/(?:\.worktrees|\.claude/worktrees|worktrees)/.*")


@dataclass
class ReplayedSession:
    """One transcript, with its events by turn."""

    name: str  # of its file
    events: list[Event]
    turns: list[list[Event]] = field(default_factory=list)

    @property
    def started(self) -> datetime:
        return self.events[0].valid_time

    @property
    def ended(self) -> datetime:
        return max(one.valid_time for one in self.events)


@dataclass(frozen=True)
class Answer:
    """What was said at one prompt; at the first, what the session started with stands before it."""

    session: str
    turn: int
    prompt: str
    text: str


class Replay:
    def __init__(self, *, embedding: bool = True, models: str = "") -> None:
        self._home = tempfile.mkdtemp(prefix="recollect-trial-")
        self._clock = ManualClock()
        self._settings = Settings(
            home=self._home, actor=ACTOR, reserve_mb=0, embedding=embedding, model_dir=models
        )
        self._runtime = Runtime(self._settings, self._clock)
        self._runtime.turn_writer.start()
        self._recall = self._runtime.load_recall()
        self._learning = self._runtime.load_learning()
        self.namespace = projects.namespace(ACTOR, PROJECT)

    def close(self) -> None:
        self._runtime.close()
        shutil.rmtree(self._home, ignore_errors=True)

    def run(
        self,
        sessions: Sequence[ReplayedSession],
        prompts: int = 3,
        scored: Callable[[ReplayedSession], bool] = lambda one: True,
    ) -> Iterator[Answer]:
        """What is said at the first prompts of each session."""
        ending = sorted(sessions, key=lambda one: one.ended)
        known: set[str] = set()
        starting = sorted(sessions, key=lambda one: one.started)
        for number, session in enumerate(starting):
            while ending and ending[0].ended < session.started:
                self._remember(ending.pop(0), known)
            if not scored(session):
                continue
            yield from self._ask(session, prompts)
            following = starting[number + 1 :]
            if following and following[0].started <= session.ended:
                self._take_back(session)  # it has not ended yet for those that come
            else:
                known.add(session.name)
                self._put([one for turn in session.turns[prompts:] for one in turn])

    def _ask(self, session: ReplayedSession, prompts: int) -> Iterator[Answer]:
        for number, turn in enumerate(session.turns[:prompts]):
            prompt = turn[0]
            self._set_clock(prompt.valid_time)
            said = [self._said(prompt, "session-start", "startup")] if number == 0 else []
            said.append(self._said(prompt, "prompt"))
            text = _text(prompt)
            yield Answer(session.name, number, text, "\n".join(filter(None, said)))
            self._put(turn)

    def _said(self, prompt: Event, trigger: str, reason: str = "") -> str:
        self._runtime.work.fill([self.namespace])
        question = RecallQuestion(
            trigger=trigger,
            text=_text(prompt) if trigger == "prompt" else "",
            namespaces=(self.namespace, projects.namespace(ACTOR)),
            session_id=prompt.session_id,
            event_id=None,
            limit_chars=CONTEXT_CHARS,
            reason=reason,
            branch=prompt.source.branch,
            person=person_of(prompt),
        )
        return self._recall.recall_now(question).context

    def _remember(self, session: ReplayedSession, known: set[str]) -> None:
        if session.name not in known:
            known.add(session.name)
            self._put(session.events)
        self._extract()

    def _put(self, events: Sequence[Event]) -> None:
        if events:
            self._set_clock(events[-1].valid_time)
            self._runtime.pipeline.events([(one, one.event_id) for one in events])
            self._runtime.turn_writer.wait(WAIT_S)

    def _take_back(self, session: ReplayedSession) -> None:
        store = self._runtime.store
        chosen = store.bulk.erase(
            self.namespace, Selection(session_id=session.events[0].session_id), ACTOR
        )
        self._runtime.memories.changed(self.namespace, chosen.record_ids)
        self._runtime.work.drop(self.namespace)
        self._runtime.pipeline.forget_seen()

    def _extract(self) -> None:
        after = RunFollowUp(again=True)
        while after.again and not after.wait_s:
            after = self._learning.worker.run(self.namespace)
        self._recall.embed_now()
        self._recall.index_cache.fill([self.namespace])

    def _set_clock(self, moment: datetime) -> None:
        step = (moment - self._clock.now()).total_seconds()
        if step > 0:
            self._clock.advance(seconds=step)


def read_sessions(paths: Iterable[str]) -> list[ReplayedSession]:
    """Transcripts as sessions of one project. A message that an earlier transcript holds, because
    its session was resumed, is left out of the later one."""
    found = [(path, one) for path in paths if (one := _describe(path)) is not None]
    namespace = projects.namespace(ACTOR, PROJECT)
    roots = _roots(one.cwd for _, one in found)
    read = [(path, one, list(one.events())) for path, one in found]
    read = [item for item in read if item[2]]
    read.sort(key=lambda item: max(event.at for event in item[2]))
    seen: set[str] = set()
    sessions = []
    for path, transcript, told in read:
        new = [event for event in told if event.key not in seen]
        seen.update(event.key for event in new)
        session_id = os.path.basename(path).split(".")[0]
        events = [_event(transcript, one, namespace, session_id, roots) for one in new]
        turns: list[list[Event]] = []
        for event, given in zip(events, new, strict=True):
            if event.kind == "prompt" and given.starts_turn:
                turns.append([])
            if turns:
                turns[-1].append(event)
        if turns:
            kept = [event for turn in turns for event in turn]
            sessions.append(ReplayedSession(os.path.basename(path), kept, turns))
    return sessions


def _describe(path: str) -> Transcript | None:
    for reader in registry.readers().values():
        found = reader.describe(path) if reader.describe is not None else None
        if found is not None:
            return found
    return None


def unpacked(folder: str, into: str) -> list[str]:
    """The transcripts of a folder; compressed ones are unpacked into another."""
    found = []
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if name.endswith(".jsonl"):
            found.append(path)
        elif name.endswith(".jsonl.gz"):
            plain = os.path.join(into, name.removesuffix(".gz"))
            with gzip.open(path) as packed, open(plain, "wb") as file:
                shutil.copyfileobj(packed, file)
            found.append(plain)
    return found


def _roots(directories: Iterable[str]) -> list[str]:
    """Where the repository lay for each person: work trees cut off, folders inside it too."""
    found = sorted({_WORK_TREE.sub("", one) for one in directories if one}, key=len)
    kept: list[str] = []
    for one in found:
        if not any(one.startswith(root + "/") for root in kept):
            kept.append(one)
    return kept


def _event(
    transcript: Transcript,
    one: TranscriptEvent,
    namespace: str,
    session_id: str,
    roots: Sequence[str],
) -> Event:
    cwd = transcript.cwd
    return Event(
        event_id=derived_id(one.at, transcript.host, f"{session_id} {one.key}"),
        session_id=session_id,
        actor_id=ACTOR,
        namespace=namespace,
        kind=one.draft.kind,
        body=one.draft.body,
        valid_time=one.at,
        source=EventSource(
            surface=transcript.host,
            client_id=IMPORTED,
            project_path=cwd or None,
            branch=one.branch[: projects.BRANCH_CHARS],
            root=next((root for root in roots if cwd == root or cwd.startswith(root + "/")), cwd),
        ),
    )


def _text(prompt: Event) -> str:
    return getattr(prompt.body, "content", "")
