"""From a prompt to the text that is put before the agent, or to nothing, within its time.

In: a question of a hook or of a door. Out: fenced text, the memories it holds, a receipt. The
stages are modules: gather, judge, speaking, hints, summary_request, render, receipts. A hook's
question never raises: what is late or fails is answered with nothing, and the receipt says so. In
shadow mode some sessions are told nothing on purpose, to compare with.
"""

import hashlib
import logging
import re
import secrets
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as Late
from dataclasses import dataclass
from functools import partial
from typing import Any

from recollect.core import ids, oslayer, safe_files
from recollect.core.settings import Settings
from recollect.core.text_words import count_tokens
from recollect.core.values import Receipt, Record
from recollect.hosts.proof import SESSION_PREFIX
from recollect.ingest.counters import Counters
from recollect.ingest.messages import Notice, Recalled, RecallQuestion
from recollect.inject import render
from recollect.inject.draft import BriefLine, Draft, Section, Sources
from recollect.inject.gather import gather, rules_for_command
from recollect.inject.hints import Hints
from recollect.inject.judge import TOLD, Judge
from recollect.inject.later_words import add_later_words
from recollect.inject.receipts import (
    STARTED,
    TEXT_KEPT,
    OwnText,
    ReceiptWriter,
    ToldBefore,
    make_receipt,
)
from recollect.inject.render import allot, fit
from recollect.inject.speaking import decide, put_in_order
from recollect.inject.summary_request import ASKED, SummaryRequest
from recollect.lifecycle.conversation import MARGIN
from recollect.plugins.host import Plugins
from recollect.reconcile.related_beliefs import cosine

log = logging.getLogger(__name__)

LIMIT_MS = 500  # then the prompt goes on without memory: the hook's own limit is 1 s
PLACE_TOKENS = 100
PAST_TOKENS = 4  # a question about the past may take so many times the budget of a prompt
# What lines that are no memories tell, in words for the user.
_BESIDES: dict[Section, str] = {
    "profile": "your profile",
    "rules": "your preferences",
    "files": "likely files",
    "place": "earlier work here",
    "state": "where the last session stopped",
    "known": "known facts",
    "history": "known facts",
    "related": "known facts",
    "procedures": "known steps",
}


@dataclass(frozen=True)
class Preview:
    """What would be told, with the receipt that it would have."""

    context: str
    records: tuple[str, ...]
    receipt: Receipt


class Recall:
    def __init__(
        self,
        sources: Sources,
        receipts: ReceiptWriter,
        counters: Counters,
        plugins: Plugins | None = None,
        hints: Hints | None = None,
        summary_request: SummaryRequest | None = None,
    ) -> None:
        self._plugins = plugins
        self._sources = sources
        self._receipts = receipts
        self._counters = counters
        self._hints = hints
        self._summary_request = summary_request
        self._clock = sources.clock
        self._settings = sources.settings
        self.limit_ms = LIMIT_MS
        self._told = ToldBefore(sources.store)
        self._shadow = Shadow(sources.settings)
        self._judge = Judge(sources)
        self.own_text = OwnText()
        self._pool = ThreadPoolExecutor(4, thread_name_prefix="recollect-recall")

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def __call__(self, question: RecallQuestion) -> Recalled:
        if question.trigger == "tool" and not self._has_rules_for(question):
            return Recalled()
        began = self._clock.mono_ns()
        draft, text = Draft(question), ""
        injected: tuple[str, ...] = ()  # memories
        work: Future[tuple[Draft, str, tuple[str, ...]]]
        work = self._pool.submit(self._stages, Draft(question), None, from_hook=True)
        try:
            draft, text, injected = work.result(self.limit_ms / 1000)
        except Late:
            draft.notes["late"] = f"not done after {self.limit_ms} ms"
            self._counters.count("recall: late")
        except Exception as error:
            # Whatever it is, the agent's turn goes on; the log and the receipt keep the reason.
            log.exception("recall failed")
            draft.notes["failed"] = type(error).__name__
            self._counters.error(f"recall failed: {type(error).__name__}")
        if self._settings.shadow:
            text, injected = self._shadow.applied(question.session_id, draft.notes, text, injected)
            if draft.notes.get("shadow"):
                draft.notes.pop("hint", None)
                draft.notes.pop(ASKED, None)
        latency = (self._clock.mono_ns() - began) // 1000
        self._counters.recalled(latency / 1e6)
        if question.trigger == "tool" and not text and not draft.notes.get("shadow"):
            return Recalled(latency_us=latency)  # the same command may come a hundred times
        receipt_id, now = ids.new_id(ids.RECEIPT), self._clock.now()
        self._receipts.keep(
            lambda: (make_receipt(draft, text, injected, latency, now, receipt_id), draft)
        )
        if self._hints is not None and draft.hint and text:
            self._hints.given(draft)
            self._counters.count("recall: hinted")
        if self._summary_request is not None and draft.summary_request and text:
            self._summary_request.given(draft)
            self._counters.count("recall: asked for a summary")
        told = self._told.in_session(question.namespaces[0], question.session_id)
        if draft.notes.get(STARTED):
            told.start = count_tokens(text)
        if text:
            told.keys.update(key for line in draft.kept for key in line.identity.told_as)
            self.own_text.injected(question.session_id, text)
        self._counters.count("recall: injected" if text else "recall: nothing to say")
        besides = [_BESIDES[one.section] for one in draft.kept if one.record is None]
        if draft.summary_request and text:
            besides.append("a request for a summary")
        lines = [render.disarm(one.line) for one in draft.kept if one.section in ("files", "place")]
        return Recalled(
            text,
            injected,
            latency,
            receipt_id,
            tuple(dict.fromkeys(besides)),
            tuple(lines) if text else (),
        )

    def preview(self, question: RecallQuestion, tokens: int | None = None) -> Preview:
        """What would be told to this question now, and why: no receipt is written, no session
        hears of it, and nothing counts as told. It may take its time, and it raises. With `tokens`
        it is asked on purpose: the answer comes in sections and may take so many."""
        began = self._clock.mono_ns()
        draft = Draft(question, as_sections=tokens is not None)
        draft, text, injected = self._stages(draft, tokens)
        took = (self._clock.mono_ns() - began) // 1000
        receipt = make_receipt(draft, text, injected, took, self._clock.now())
        return Preview(text, injected, receipt)

    def on_event(self, notice: Notice) -> None:
        """A host compacted its context: what it was told is gone from it."""
        if notice.signal == "compaction":
            event = notice.stored.event
            self._told.forget(event.namespace, event.session_id)

    def _has_rules_for(self, question: RecallQuestion) -> bool:
        """Whether a command brings rules that its session was not told. Asked for every command:
        nothing is searched, and no receipt is written for a command that brings none."""
        try:
            found = rules_for_command(self._sources, question)
        except Exception as error:
            # As above: a command's result reaches the agent whatever fails here.
            log.exception("the rules about a command could not be found")
            self._counters.error(f"recall failed: {type(error).__name__}")
            return False
        if not found:
            return False
        told = self._told.in_session(question.namespaces[0], question.session_id).keys
        return any(line.id not in told for line in found)

    def _stages(
        self, draft: Draft, tokens: int | None, *, from_hook: bool = False
    ) -> tuple[Draft, str, tuple[str, ...]]:
        question = draft.question
        here = question.namespaces[0]
        if question.trigger == "session-start" and question.reason != "resume":
            self._told.forget(here, question.session_id)
        session = self._told.in_session(here, question.session_id)
        told = frozenset(session.keys)
        may_start = from_hook and self._settings.start_tokens > 0 and question.trigger != "tool"
        draft.brings_start = may_start and session.start is None
        gather(self._sources, draft, told)
        # Whoever asks on purpose about the past wants all of it.
        repeat = draft.about_past and draft.as_sections
        self._judge(draft, told, repeat=repeat)
        decide(draft, self._likeness)
        told_before = sorted(told) if not repeat else ()
        put_in_order(draft, self._sources.records(question.namespaces, told_before))
        if draft.about_past and not draft.is_start and not any(map(_answers, draft.kept)):
            self._tell_again(draft)
        add_later_words(self._sources, draft, partial(self._allowed, draft))
        if may_start and (draft.brings_start or draft.is_start):
            draft.notes[STARTED] = True
        kept = draft.kept
        if kept and self._plugins is not None and self._plugins.switched_on:
            unwanted = self._plugins.left_out(lambda: _brief(draft))
            for line in kept:
                if line.id in unwanted:
                    line.why_not = f"left out by the plugin {unwanted[line.id]}"
        if self._hints is not None and tokens is None:
            self._hints.add_to(draft)
        if self._summary_request is not None and tokens is None:
            self._summary_request.add_to(draft)
        draft.requests = "\n".join(filter(None, (draft.hint, draft.summary_request)))
        room = tokens
        if room is None and question.trigger == "session-start":
            room = self._settings.start_tokens
        elif room is None:
            room = self._settings.prompt_tokens * (PAST_TOKENS if draft.about_past else 1)
            # Lines of the session's start that its first prompt brings are paid from that budget.
            left = max(0, self._settings.start_tokens - (session.start or 0))
            place = any(line.section == "place" for line in draft.kept)
            late = sum(_cost(line) for line in draft.kept if line.at_start)
            room += min(left, late + PLACE_TOKENS * place)
        text, injected = self._fitted(draft, room, headed=not told)
        return draft, "\n".join(part for part in (text, draft.requests) if part), injected

    def _allowed(self, draft: Draft, lines: Sequence[BriefLine]) -> Sequence[BriefLine]:
        """Those of these lines that may be told."""
        asked = Draft(draft.question, lines=list(lines), graphs=draft.graphs)
        self._judge(asked, frozenset(), repeat=True)
        return asked.kept

    def _tell_again(self, draft: Draft) -> None:
        """A question about something in the past that only what was told before answers: it is
        asked because the agent does not know it any more; not every host says so when it shortens
        its context. "Where were we?" is no such question: its answer is the session's start."""
        for line in draft.lines:
            if line.why_not == TOLD and _answers(line):
                line.why_not = ""
        decide(draft, self._likeness)
        put_in_order(draft)

    def _likeness(self, one: Record, other: Record) -> float:
        """By their stored vectors; 0 without them."""
        model, found = self._sources.index_cache.model, []
        for record in (one, other):
            rows = self._sources.store.vectors.of(record.namespace, model, [record.record_id])
            found += [row.vector for row in rows if row.part == 0]
        return cosine(*found) if len(found) == 2 else 0.0

    def _fitted(self, draft: Draft, tokens: int, *, headed: bool) -> tuple[str, tuple[str, ...]]:
        """The text, cut to its budget, and the memories in it."""
        wanted: dict[Section, list[BriefLine]] = {}
        for line in draft.kept:
            wanted.setdefault(line.section, []).append(line)
        heads = render.headings(wanted) if draft.as_sections else render.RULES
        frame = render.wrap(heads)
        # Whoever names a budget gets no token more; a hook's budget is for what is told.
        room = int(tokens * (1 - MARGIN)) - count_tokens(frame if draft.as_sections else heads)
        room -= count_tokens(draft.requests)
        chars = draft.question.limit_chars - len(frame) - len(draft.requests)
        forms = {id(line): self._forms(line, draft) for line in draft.kept}
        longest = {name: [forms[id(line)][0] for line in some] for name, some in wanted.items()}
        may = allot(
            room, {name: sum(count_tokens(t) + 1 for t in some) for name, some in longest.items()}
        )
        may_chars = allot(
            chars,
            {name: sum(len(t) + 2 for t in some) for name, some in longest.items()},
            profile=render.PROFILE_CHARS,
        )
        texts: dict[Section, list[str]] = {}
        injected: list[str] = []
        for name, some in wanted.items():
            fitted = fit(some, lambda one: forms[id(one)], tokens=may[name], chars=may_chars[name])
            texts[name] = [text for _, text in fitted.chosen]
            injected += [one.id for one, _ in fitted.chosen if one.record is not None]
            for one, reason in fitted.left_out:
                one.why_not = reason
        if not any(texts.values()):
            return "", ()
        content = render.assemble(texts, as_sections=draft.as_sections)
        return render.wrap(content, headed=headed), tuple(injected)

    def _forms(self, line: BriefLine, draft: Draft) -> tuple[str, ...]:
        """A line as text, long and short. A memory that says what no longer holds says so, and one
        that speaks of what was found not to be so is told with what is."""
        forms = render.forms(line, as_sections=draft.as_sections, quoted=draft.asked_on_purpose)
        record = line.record
        if record is not None:
            graph = draft.graphs.get(record.namespace)
            later = graph.successors_of_facts(record.source_event_ids) if graph else []
            if later:
                forms = tuple(render.no_longer(form, later) for form in forms)
            elif draft.rivals:
                said = forms[0].casefold()
                facts = {
                    one.current.fact_id: one.current
                    for one in draft.rivals
                    if one.is_stated_in(said)
                }
                if facts:
                    forms = tuple(render.beside(form, list(facts.values())) for form in forms)
            if line.older and not later:
                forms = tuple(render.older(form) for form in forms)
            if line.note:
                forms = tuple(render.noted(form, line.note) for form in forms)
        return tuple(render.disarm(form) for form in forms)


def _cost(line: BriefLine) -> int:
    return count_tokens(render.forms(line, as_sections=False)[0]) + 1


def _answers(line: BriefLine) -> bool:
    """Whether a line may answer a question, and is not told to every first prompt."""
    return (line.record is not None or line.thing is not None) and not line.at_start


def _brief(draft: Draft) -> dict[str, Any]:
    """What plugins are shown of it."""
    question = draft.question
    return {
        "session_id": question.session_id,
        "namespace": question.namespaces[0],
        "trigger": question.trigger,
        "prompt": question.text,
        "lines": [
            {
                "id": line.id,
                "section": line.section,
                "text": render.forms(line, as_sections=draft.as_sections)[0],
            }
            for line in draft.kept
        ],
    }


# --- silence on purpose: sessions to compare with -----------------------------------------------

KEY_FILE = "shadow.key"
_KEY = re.compile(r"[0-9a-f]{64}\n?")
_KEY_BYTES = 65
_HASHES = 2**64


class Shadow:
    def __init__(self, settings: Settings) -> None:
        self._share = settings.shadow
        self._key = b""
        if self._share:
            path = settings.path(KEY_FILE)
            try:
                self._key = _read_or_make(path)
            except OSError as error:
                log.warning("shadow mode is off: %s cannot be used (%s)", path, error.strerror)
                self._share = 0.0

    def silences(self, session_id: str) -> bool:
        """Whether this session is in the shadow arm; the answer for an id never changes."""
        if not self._share or session_id.startswith(SESSION_PREFIX):
            return False
        digest = hashlib.blake2b(session_id.encode(), key=self._key, digest_size=8).digest()
        return int.from_bytes(digest) < self._share * _HASHES

    def applied(
        self, session_id: str, notes: dict[str, Any], text: str, injected: tuple[str, ...]
    ) -> tuple[str, tuple[str, ...]]:
        """The brief that the session gets. While shadow mode is on, `notes` of the receipt get the
        arm and the share, and in a silent session what it would have been told."""
        if not self._share or session_id.startswith(SESSION_PREFIX):
            return text, injected
        silent = self.silences(session_id)
        notes["shadow"] = silent
        notes["shadow_share"] = self._share
        if not silent:
            return text, injected
        notes["shadow_injected"] = list(injected)
        notes["shadow_tokens"] = count_tokens(text)
        notes["shadow_text"] = text[:TEXT_KEPT]
        return "", ()


def _read_or_make(path: str) -> bytes:
    """The key of this store. A file with anything else in it is replaced."""
    try:
        found = safe_files.read_whole(path, _KEY_BYTES).decode("ascii", "replace")
    except FileNotFoundError:
        found = ""
    if not _KEY.fullmatch(found):
        found = secrets.token_hex(32)
        oslayer.replace_file(path, f"{found}\n".encode())
    return bytes.fromhex(found.strip())
