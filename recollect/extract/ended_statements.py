"""Takes what no longer holds out of texts that are told as what holds.

In: memories, checkpoints and lines of a brief. Out: the same without sentences that state a belief
which ended or lost a dispute; nothing when nothing is left. A belief ends in one row; the line in a
summary, the state a session was left in and the excerpt of a turn are recognised here when they are
read, so undoing the end brings all of them back.

A sentence states an ended belief when it holds most of the belief's words, or says nothing else.
What was said after the end stays, unless it comes from the belief's own events; so do the words of
the belief that replaced it.
"""

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

import msgspec

from recollect.core.tuning import ENDINGS
from recollect.core.values import Checkpoint, Record
from recollect.extract.statement_match import Words, statements, without_statements, word_hashes
from recollect.store.interface import RecordFilter, Store

MOST = 1000  # ended beliefs of a namespace that are compared, the newest
_KEPT = 4000


@dataclass(frozen=True)
class _Ended:
    belief: Record
    words: Words
    until: datetime
    instead: Words = frozenset()

    def stated_in(self, sentence: Words) -> bool:
        shared = len(self.words & sentence)
        if self.instead and len(self.instead & sentence) > shared:
            return False
        says_little_else = shared == len(sentence) and shared > ENDINGS.repeat_words
        return shared >= ENDINGS.repeats * len(self.words) or says_little_else

    def may_be_in(self, events: Iterable[str], session: str | None, at: datetime) -> bool:
        own = self.belief
        if at <= self.until or not set(events).isdisjoint(own.source_event_ids):
            return True
        return session is not None and session == own.session_id


class EndedStatements:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._known: dict[str, tuple[_Ended, ...]] = {}
        self._cut: dict[tuple[str, int], Record | None] = {}

    def drop_all(self) -> None:
        """A belief was written, ended or brought back: they are read again when needed."""
        with self._lock:
            self._known, self._cut = {}, {}

    def current_record(self, record: Record, namespaces: Sequence[str]) -> Record | None:
        """A memory without sentences that state what ended. A belief is judged by its state."""
        if record.traits.is_belief:
            return record
        ended = [
            one
            for one in self.of(namespaces)
            if one.may_be_in(record.source_event_ids, record.session_id, record.valid_from)
        ]
        if not ended:
            return record
        key = record.record_id, hash((record.title, record.summary, record.facts))
        with self._lock:
            kept = self._cut
            if key in kept:
                return kept[key] and msgspec.structs.replace(
                    record, **{name: getattr(kept[key], name) for name in _TEXTS}
                )
        cut = _cut(record, ended)
        with self._lock:
            if len(kept) >= _KEPT:
                kept.clear()
            kept[key] = cut
        return cut

    def current_checkpoint(self, one: Checkpoint, namespaces: Sequence[str]) -> Checkpoint | None:
        """A checkpoint without sentences that state what ended; None when no task is left."""
        at = one.created_at
        ended = [
            known
            for known in self.of(namespaces)
            if at is None or known.may_be_in((), one.session_id, at)
        ]
        if not ended:
            return one

        def current(texts: Sequence[str]) -> tuple[str, ...]:
            return tuple(text for text in (_without(text, ended) for text in texts) if text)

        task = _without(one.task, ended)
        steps, questions = current(one.next_steps), current(one.questions)
        if not (task or steps or questions):
            return None
        progress = _without(one.progress, ended)
        return msgspec.structs.replace(
            one, task=task, progress=progress, next_steps=steps, questions=questions
        )

    def states_ended(
        self, text: str, namespaces: Sequence[str], events: Sequence[str] = ()
    ) -> bool:
        """Whether a short text is what ended; with `events`, whether it was made of the same."""
        return any(
            one.stated_in(word_hashes(text))
            for one in self.of(namespaces)
            if not events or not set(events).isdisjoint(one.belief.source_event_ids)
        )

    def of(self, namespaces: Sequence[str]) -> list[_Ended]:
        """The beliefs of these namespaces that ended."""
        kept = self._known  # if it is dropped meanwhile, this answer goes with it
        for namespace in namespaces:
            if namespace not in kept:
                kept[namespace] = tuple(self._read(namespace))
        return [one for name in dict.fromkeys(namespaces) for one in kept[name]]

    def _read(self, namespace: str) -> Iterable[_Ended]:
        found = [
            one
            for state in ("ended", "disputed")
            for one in self._store.records.page(
                namespace, RecordFilter(kind="knowledge", state=state), limit=MOST
            ).items
            if not one.stands
        ]
        by_id = {one.record_id for one in found}
        newer = {one.ended_by for one in found} - by_id
        ids = [one for one in newer if one.startswith("mr_")]
        instead = {one.record_id: one for one in self._store.records.get(namespace, ids)}
        for one in found:
            words = word_hashes(one.title)
            if len(words) >= ENDINGS.repeat_words:
                after = instead.get(one.ended_by)
                until = one.valid_until or (after.valid_from if after else one.valid_from)
                said = word_hashes(after.title) if after else frozenset()
                yield _Ended(one, words, until, said)


_TEXTS = ("title", "summary", "detail", "facts")


def _cut(record: Record, ended: Sequence[_Ended]) -> Record | None:
    title = _without(record.title, ended)
    summary = _without(record.summary, ended)
    detail = _without(record.detail, ended)
    facts = tuple(one for one in record.facts if _without(one, ended))
    if (
        record.traits.is_turn
        and title != record.title
        and len(word_hashes(title)) <= ENDINGS.repeat_words
    ):
        return None  # its question is what ended; the rest of it or the answer alone says nothing
    if not title:
        title = next((line for line in (*summary.splitlines(), *facts) if line.strip()), "")[:200]
    if not title or not any(statements(title)):
        return None
    return msgspec.structs.replace(record, title=title, summary=summary, detail=detail, facts=facts)


def _without(text: str, ended: Sequence[_Ended]) -> str:
    return without_statements(
        text, lambda words: bool(words) and any(one.stated_in(words) for one in ended)
    )
