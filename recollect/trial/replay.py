"""Replays sessions through the product, in the order of time.

In: sessions of one or more projects. Out: what would have been put before the agent at each
prompt, by a memory that holds only the sessions of the project that had ended when the session
began, and the session itself so far. Store, clock and home are temporary.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from recollect.core import projects
from recollect.core.clock import ManualClock
from recollect.core.errors import ModelUnavailable
from recollect.core.settings import Settings
from recollect.core.values import Event, Preference, Procedure, Record
from recollect.daemon.runtime import Runtime
from recollect.extract.watcher import RunFollowUp
from recollect.hosts.hooks import CONTEXT_CHARS
from recollect.ingest.messages import RecallQuestion
from recollect.store.interface import Selection
from recollect.trial.transcripts import ACTOR, PastSession, prompt_text
from recollect.work.turn_work import person_of

WAIT_S = 600.0
PAGE = 500
MOST_TITLES = 3


@dataclass(frozen=True)
class Answer:
    """What was said at one prompt; at the first, what the session started with stands before it."""

    session: str
    turn: int
    text: str


@dataclass(frozen=True)
class LearnedMemories:
    """How many memories of each kind there were in the end, and titles of the weightiest."""

    counts: dict[str, int]
    titles: tuple[str, ...]


class Replay:
    def __init__(self, settings: Settings, home: str, starts: datetime) -> None:
        """The user's settings, in another home, and without anything that leaves the machine."""
        self._clock = ManualClock(starts)
        self._runtime = Runtime(
            replace(
                settings,
                home=home,
                store="",
                encryption_key="",  # the transcripts can be read, too; and no key is left behind
                actor=ACTOR,
                provider="none",
                model_dir=settings.models,
                reserve_mb=0,
                backup_days=0,
                shadow=0.0,
            ),
            self._clock,
        )
        self._runtime.turn_writer.start()
        self._recall = self._runtime.load_recall()
        self._learning = self._runtime.load_learning()
        # What is told may not depend on how busy this machine is now.
        self._recall.recall_now.limit_ms = int(WAIT_S * 1000)
        self.embeds = self._load_embedder()

    def _load_embedder(self) -> bool:
        """Whether there is a model to embed with."""
        if self._recall.embedder is None:
            return False
        self._recall.embedder.timeout = WAIT_S
        try:
            self._recall.embedder.load()
        except ModelUnavailable:
            return False
        return True

    def close(self) -> None:
        self._runtime.close()

    def run(
        self,
        sessions: Sequence[PastSession],
        prompts: int | None = None,
        reached: Callable[[PastSession], None] = lambda session: None,
    ) -> Iterator[Answer]:
        """What is said at the prompts of each session, or at its first ones. `reached` is called
        with each session when its turn comes."""
        ending = sorted(sessions, key=lambda one: one.ended)
        starting = sorted(sessions, key=lambda one: one.started)
        stored: set[str] = set()
        for number, session in enumerate(starting):
            while ending and ending[0].ended < session.started:
                self._remember(ending.pop(0), stored)
            reached(session)
            if session.history_only:
                continue
            yield from self._ask(session, prompts)
            if _overlapped(session, starting[number + 1 :]):
                self._take_back(session)  # it has not ended yet for those that come
            else:
                stored.add(session.name)
                if prompts is not None:
                    self._put([one for turn in session.turns[prompts:] for one in turn])
        for session in ending:  # what would be learned of the last ones
            self._remember(session, stored)

    def learned(self, namespaces: Iterable[str]) -> LearnedMemories:
        """What there is to show for it in the end; turns are not counted."""
        counts: Counter[str] = Counter()
        found: list[Record] = []
        for namespace in namespaces:
            found += [one for one in self._records(namespace) if not one.traits.is_turn]
            procedures = len(self._runtime.store.graph.all(namespace, Procedure))
            preferences = len(self._runtime.store.graph.all(namespace, Preference))
            counts += Counter(procedure=procedures, preference=preferences)
        counts.update(one.traits.label for one in found)
        found.sort(
            key=lambda one: (one.traits.is_belief, one.importance, one.confidence, one.valid_from),
            reverse=True,
        )
        titles = dict.fromkeys(" ".join(one.title.split()) for one in found)
        return LearnedMemories(dict(counts.most_common()), tuple(titles)[:MOST_TITLES])

    def _records(self, namespace: str) -> Iterator[Record]:
        page = self._runtime.store.records.page(namespace, limit=PAGE)
        yield from page.items
        while page.next is not None:
            page = self._runtime.store.records.page(namespace, before=page.next, limit=PAGE)
            yield from page.items

    def _ask(self, session: PastSession, prompts: int | None) -> Iterator[Answer]:
        for number, turn in enumerate(session.turns[:prompts]):
            self._set_clock(turn[0].valid_time)
            texts = [self._brief(turn, "session-start", "startup")] if number == 0 else []
            texts.append(self._brief(turn, "prompt"))
            yield Answer(session.name, number, "\n".join(filter(None, texts)))
            self._put(turn)

    def _brief(self, turn: Sequence[Event], trigger: str, reason: str = "") -> str:
        prompt = turn[0]
        question = RecallQuestion(
            trigger=trigger,
            text=prompt_text(turn) if trigger == "prompt" else "",
            namespaces=(prompt.namespace, projects.namespace(ACTOR)),
            session_id=prompt.session_id,
            event_id=None,
            limit_chars=CONTEXT_CHARS,
            reason=reason,
            branch=prompt.source.branch,
            person=person_of(prompt),
        )
        self._runtime.work.fill(question.namespaces)
        return self._recall.recall_now(question).context

    def _remember(self, session: PastSession, stored: set[str]) -> None:
        """The session has ended: all of it is stored, and learned from."""
        if session.name not in stored:
            stored.add(session.name)
            self._put(session.events)
        namespace = session.project.namespace
        after = RunFollowUp(again=True)
        while after.again and not after.wait_s:
            after = self._learning.worker.run(namespace)
        self._embed()
        self._recall.index_cache.fill([namespace])

    def _put(self, events: Sequence[Event]) -> None:
        if events:
            self._set_clock(events[-1].valid_time)
            self._runtime.pipeline.events([(one, one.event_id) for one in events])
            self._runtime.turn_writer.wait(WAIT_S)
            self._embed()

    def _embed(self) -> None:
        if self.embeds:
            self._recall.embed_now()

    def _take_back(self, session: PastSession) -> None:
        namespace = session.project.namespace
        chosen = self._runtime.store.bulk.erase(
            namespace, Selection(session_id=session.session_id), ACTOR
        )
        self._runtime.memories.changed(namespace, chosen.record_ids)
        self._runtime.work.drop(namespace)
        self._runtime.pipeline.forget_seen()

    def _set_clock(self, moment: datetime) -> None:
        step = (moment - self._clock.now()).total_seconds()
        if step > 0:
            self._clock.advance(seconds=step)


def _overlapped(session: PastSession, later: Sequence[PastSession]) -> bool:
    """Whether another session of the project began before this one ended."""
    following = next((one for one in later if one.project.key == session.project.key), None)
    return following is not None and following.started <= session.ended
