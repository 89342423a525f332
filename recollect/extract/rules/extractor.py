"""The extractor that works by rules: sessions are read, and their new turns become knowledge.

In: a batch of stored events, and somebody to ask what came before them. Out: an Extraction that
has passed the gate. Nothing is written. Ids follow from the events, so the same batch gives the
same memories; a turn that was extracted in part before stands over its earlier version.
"""

import hashlib
import threading
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import Any

import msgspec

from recollect.core import ids
from recollect.core.clock import Clock
from recollect.core.kinds import PROFILE
from recollect.core.values import Candidate, Checkpoint, Record, StoredEvent
from recollect.extract.interface import Claim, Extraction, PreferenceClaim
from recollect.extract.normalised_text import hash_of_words
from recollect.extract.quality_gate import filter_candidates, filter_claims
from recollect.extract.rules import claims, classify
from recollect.extract.rules.outcome import TurnOutcome
from recollect.extract.rules.procedures import CommandRun, procedures, runs_of
from recollect.extract.rules.session_notes import turn_results
from recollect.extract.rules.statements import BeliefStatement
from recollect.extract.rules.store_reads import StoreReads
from recollect.extract.rules.summary import Summary, TurnResult, summary
from recollect.extract.rules.turns import Turn, turns_of
from recollect.extract.statement_match import same_statement, word_hashes
from recollect.store.interface import Batch

SNAPSHOT = 10
MOST_EVIDENCE = 100
# The number of the project's latest tool calls in which procedures are searched.
LOOK_BACK = 400
CONTEXT = 800  # events of a session on either side of new ones; a summary tells of 50 turns
HEAD = 50  # events among which the first turn of a session begins
# Of a long session whose beginning was not read: turns that may have lost what came before them.
CUT_TURNS = 5
REMEMBERED = 500  # sessions whose runs are held in memory, of all projects


class RulesExtractor:
    def __init__(self, reads: StoreReads, clock: Clock) -> None:
        self._reads = reads
        self._clock = clock
        self._lock = threading.Lock()  # projects are read side by side
        # session: its newest tool call, and what it ran
        self._ran: dict[tuple[str, str], tuple[int, tuple[CommandRun, ...]]] = {}

    def extract(self, batch: Batch) -> Extraction:
        fresh = frozenset(stored.event.event_id for stored in batch.events)
        refused = partial(self._reads.refused, batch.namespace)
        found = _BatchResult(batch.namespace, self._clock.now())
        stops: list[tuple[StoredEvent, Summary]] = []
        sessions: dict[str, list[StoredEvent]] = {}
        for stored in batch.events:
            sessions.setdefault(stored.event.session_id, []).append(stored)
        for session_id, new in sessions.items():
            turns, first = self._session(batch.namespace, session_id, new)
            told = turn_results(turns, self._reads.meanings)
            for one in told:
                if not fresh.isdisjoint(one.turn.event_ids):
                    found.add_turn(one, fresh)
            settled = told if turns and first is turns[0].first else told[CUT_TURNS:]
            notes = self._reads.own_notes(batch.namespace, session_id)
            found.settle(settled, notes, fresh)
            whole = summary([_without_refused(one, refused) for one in told])
            if whole is not None and whole.title:
                found.add_summary(first, whole, told[-1].turn)
            stop = next((one for one in reversed(new) if _is_stop(one)), None)
            if whole is not None and stop is not None:
                stops.append((stop, whole))
        found.claims += self._procedures(batch, fresh)
        kept, dropped = filter_candidates(
            found.candidates,
            known=lambda digest: self._reads.by_hash(batch.namespace, digest),
            refused=refused,
        )
        claimed = self._with_belief(batch.namespace, found.claims, kept)
        kept_claims, dropped_claims = filter_claims(claimed, refused=refused)
        kept_ids = {one.record.record_id for one in kept}
        return Extraction(
            candidates=tuple(kept),
            claims=tuple(kept_claims),
            checkpoints=tuple(self._checkpoint(*stop, kept) for stop in stops),
            dropped=(*dropped, *dropped_claims),
            derived=frozenset(found.derived & kept_ids),
            reworded=frozenset(found.reworded & kept_ids),
            ended=tuple(found.ended),
            turns=found.turns,
            sifted=True,
        )

    def _with_belief(
        self, namespace: str, claimed: Iterable[Claim], kept: Sequence[Candidate]
    ) -> Iterable[Claim]:
        """Without preferences of which no belief was made: nothing could end them."""
        for claim in claimed:
            if not isinstance(claim, PreferenceClaim) or claim.category == PROFILE:
                yield claim
                continue
            words = word_hashes(claim.value)
            known = self._reads.by_hash(namespace, hash_of_words(claim.value))
            if (known is not None and known.stands) or any(
                one.record.traits.is_belief
                and not set(one.record.source_event_ids).isdisjoint(claim.event_ids)
                and same_statement(words, word_hashes(one.record.title))
                for one in kept
            ):
                yield claim

    def _session(
        self, namespace: str, session_id: str, new: Sequence[StoredEvent]
    ) -> tuple[list[Turn], StoredEvent]:
        """The turns of a session around the new events, in their true order, and the event with
        which the session begins. Of a long session not all is read for every batch: its cost would
        grow with the day. The batch alone if the store does not know it."""
        numbers = [one.seq for one in new]
        part = self._reads.around(namespace, session_id, numbers, CONTEXT, CONTEXT)
        turns = turns_of(part or new)
        if not turns:
            return [], new[0]
        head = self._reads.beginning(namespace, session_id, HEAD)
        if not part or not head or part[0].seq == head[0].seq:
            return turns, turns[0].first
        fresh = {one.event.event_id for one in new}
        if len(turns) > 1 and fresh.isdisjoint(turns[0].event_ids):
            del turns[0]  # it was cut in the middle
        return turns, turns_of(head)[0].first

    def _procedures(self, batch: Batch, fresh: frozenset[str]) -> list[Claim]:
        if not any(_data(stored).get("class") == "command" for stored in batch.events):
            return []
        calls = self._reads.calls(batch.namespace, LOOK_BACK)
        newest = {one.event.session_id: one.seq for one in reversed(calls)}
        runs = [
            run
            for session_id, seq in newest.items()
            for run in self._runs(batch.namespace, session_id, seq)
        ]
        return list(procedures(runs, fresh))

    def _runs(self, namespace: str, session_id: str, newest: int) -> tuple[CommandRun, ...]:
        """The command runs of a session; read again only when the session has new tool calls."""
        with self._lock:
            known = self._ran.pop((namespace, session_id), None)
        if known is None or known[0] != newest:
            part = self._reads.latest(namespace, session_id, LOOK_BACK)
            known = newest, runs_of(turns_of(part))
        with self._lock:
            self._ran[namespace, session_id] = known
            while len(self._ran) > REMEMBERED:
                del self._ran[next(iter(self._ran))]
        return known[1]

    def _checkpoint(
        self, stop: StoredEvent, whole: Summary, kept: Iterable[Candidate]
    ) -> Checkpoint:
        event = stop.event
        new = [
            one.record.record_id
            for one in kept
            if one.record.session_id == event.session_id
            and one.record.stands
            and not one.record.traits.is_summary
        ]
        before = self._reads.observed(event.namespace, event.session_id, SNAPSHOT)
        snapshot = dict.fromkeys([*(one.record_id for one in reversed(before)), *new])
        return Checkpoint(
            checkpoint_id=ids.CHECKPOINT + _derived(event.event_id, "checkpoint"),
            namespace=event.namespace,
            session_id=event.session_id,
            task=whole.task,
            progress=whole.progress,
            next_steps=whole.next_steps,
            questions=whole.open_ends,
            files=whole.files,
            snapshot=tuple(snapshot)[-SNAPSHOT:],
            # The time of the stop, not of the extraction: sessions may be extracted out of order.
            created_at=min(event.valid_time, self._clock.now()),
        )


class _BatchResult:
    """Collects what one batch gives."""

    def __init__(self, namespace: str, now: datetime) -> None:
        self._namespace = namespace
        self._now = now
        self.candidates: list[Candidate] = []
        self.claims: list[Claim] = []
        self.derived: set[str] = set()
        self.reworded: set[str] = set()
        self.ended: list[str] = []
        self.turns: dict[str, str] = {}

    def add_turn(self, told: TurnResult, fresh: frozenset[str]) -> None:
        turn = told.turn
        self.turns |= dict.fromkeys(turn.event_ids, turn.first.event.event_id)
        for statement in told.statements:
            if statement.event_id in fresh:
                self._add_statement(turn, statement)
        if told.outcome is not None:
            record = self._outcome(turn, told.outcome, told.found_in)
            self.candidates.append(Candidate(record=record))
            if not turn.closed or not fresh.issuperset(turn.event_ids):
                self.derived.add(record.record_id)
        self.claims += claims.facts(turn, fresh)

    def settle(
        self, told: Sequence[TurnResult], notes: Sequence[Record], fresh: frozenset[str]
    ) -> None:
        """Compare the stored notes of earlier turns with what is left of them now."""
        stored = {one.record_id: one for one in notes}
        for one in told:
            note = stored.get(_outcome_id(one.turn))
            if note is None:
                continue
            if one.outcome is None:
                self.ended.append(note.record_id)
                continue
            if not fresh.isdisjoint(one.turn.event_ids):
                continue  # it was just made
            made = self._outcome(one.turn, one.outcome, one.found_in)
            if (made.content_hash, made.detail) != (note.content_hash, note.detail):
                kept = msgspec.structs.replace(
                    made, citations=note.citations, access_count=note.access_count
                )
                self.candidates.append(Candidate(record=kept))
                self.reworded.add(note.record_id)

    def add_summary(self, first: StoredEvent, whole: Summary, last: Turn) -> None:
        text = whole.text
        record = Record(
            record_id=ids.RECORD + _derived(first.event.event_id, "summary"),
            namespace=self._namespace,
            kind="summary",
            title=whole.title,
            summary=text,
            detail=whole.detail,
            facts=whole.facts,
            concepts=classify.concepts(text, whole.files),
            files=whole.files,
            observation_type="session_summary",
            category=classify.category(text, whole.files),
            level="distilled",
            strategy="rules",
            author="assistant",
            session_id=first.event.session_id,
            importance=classify.importance("session_summary", "", files=len(whole.files)),
            confidence=0.8,
            valid_from=self._at(last),
            source_event_ids=whole.event_ids,
            # A note may say the same in the same words, and is another memory.
            content_hash=hash_of_words("summary", whole.title, text),
        )
        self.candidates.append(Candidate(record=record))
        self.derived.add(record.record_id)

    def _outcome(self, turn: Turn, came: TurnOutcome, found_in: Sequence[Turn]) -> Record:
        words = f"{came.title} {came.summary}"
        category = classify.category(words, came.files)
        commands = [call.command for call in turn.commands()]
        return Record(
            record_id=_outcome_id(turn),
            namespace=self._namespace,
            kind="observation",
            title=came.title,
            summary=came.summary,
            detail=came.detail,
            facts=came.facts,
            concepts=classify.concepts(words, came.files, commands),
            files=came.files,
            observation_type=came.type,
            tool_class=came.tool_class,
            category=category,
            strategy="rules",
            author=came.author,
            session_id=turn.first.event.session_id,
            position=turn.position,
            importance=classify.importance(
                came.type, category, files=len(came.files), verified=came.verified
            ),
            confidence=came.confidence,
            valid_from=self._at(turn),
            source_event_ids=_evidence(turn, found_in),
            content_hash=hash_of_words(came.title, came.summary),
        )

    def _add_statement(self, turn: Turn, statement: BeliefStatement) -> None:
        lasts = statement.scope in ("project", "everywhere")
        if statement.rule and statement.state == "current" and lasts:
            self.claims.append(claims.preference(statement, turn))
        if statement.ends:
            self.claims.append(claims.end(statement, turn))
        words = f"{statement.text} {statement.reason}"
        category = classify.category(words)
        record = Record(
            record_id=ids.RECORD + _derived(statement.event_id, statement.text),
            # What holds everywhere is the person's, not the project's.
            namespace=self._namespace.partition("project/")[0]
            if statement.scope == "everywhere"
            else self._namespace,
            kind="knowledge",
            title=statement.text,
            summary=statement.reason,
            concepts=classify.concepts(words, ()),
            knowledge_type=statement.type,
            observation_type="decision" if statement.type in ("decision", "rejected") else None,
            category=category,
            strategy="rules",
            author=statement.author,
            session_id=turn.first.event.session_id,
            position=turn.position,
            importance=classify.importance(statement.type, category),
            confidence=_confidence(statement),
            valid_from=self._at(turn),
            source_event_ids=(statement.event_id,),
            content_hash=hash_of_words(statement.text),
            state=statement.state,
            scope=statement.scope,
            scope_name=statement.scope_name,
            subject=statement.subject,
            value=statement.value,
            polarity=statement.polarity,
            source_type=statement.source_type,
        )
        self.candidates.append(Candidate(record=record))

    def _at(self, turn: Turn) -> datetime:
        """The time of a turn, at most now: a host's clock may run ahead."""
        return min(turn.at, self._now)


def _confidence(statement: BeliefStatement) -> float:
    if statement.vetoed:
        return 0.3
    if statement.source_type == "stated" and statement.state == "proposed":
        return 0.5
    return {"corrected": 0.95, "stated": 0.9}.get(statement.source_type, 0.6)


def _without_refused(told: TurnResult, refused: Callable[[str], bool]) -> TurnResult:
    """A turn without what has a tombstone: it must not come back inside a summary."""
    came = told.outcome
    return TurnResult(
        told.turn,
        None if came and refused(came.title) else came,
        tuple(one for one in told.statements if not refused(one.text)),
        told.said,
        refused,
        told.found_in,
    )


def _evidence(turn: Turn, found_in: Sequence[Turn] = ()) -> tuple[str, ...]:
    """The events that support an outcome: messages, writes and commands; and the messages of
    earlier turns that found something which it tells."""
    spoken = [event_id for one in (turn, *found_in) for event_id, _ in (*one.prompts, *one.answers)]
    calls = [call.event_id for call in turn.calls if call.tool_class != "file-read"]
    found = dict.fromkeys([*spoken, *calls]) or dict.fromkeys(turn.event_ids)
    return tuple(found)[:MOST_EVIDENCE]


def _is_stop(stored: StoredEvent) -> bool:
    stops = _data(stored).get("signal") in ("session-end", "compaction")
    return stored.event.kind == "session_summary" or (stored.event.kind == "note" and stops)


def _data(stored: StoredEvent) -> dict[str, Any]:
    data = getattr(stored.event.body, "data", None)
    return data if isinstance(data, dict) else {}


def _outcome_id(turn: Turn) -> str:
    return ids.RECORD + _derived(turn.first.event.event_id, "outcome")


def _derived(event_id: str, key: str) -> str:
    """An id derived from an event and a key, so that the same event gives the same id."""
    digest = hashlib.blake2b(key.encode(), digest_size=6).digest()
    return ids.derive_ulid(event_id, 1 + int.from_bytes(digest, "big"))
