"""What a session starts with: who the person is, the rules that hold, where the last one stopped.

In: a question of a session's start, or one about the past that names nothing. Out: lines of a
draft.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from recollect.core.kinds import PROFILE, SUMMARY
from recollect.core.text_words import words as words_in
from recollect.core.values import Preference, Record
from recollect.ingest.messages import RecallQuestion
from recollect.ingest.turns import UNANSWERED
from recollect.inject import render
from recollect.inject.draft import (
    BriefLine,
    Draft,
    Sources,
    memory_line,
    plain,
    preference_line,
    profile_lines,
    standing_rules,
)
from recollect.reconcile.ending_pairs import is_tool
from recollect.retrieve.graph import preferences
from recollect.retrieve.start_ranking import rank_for_start
from recollect.store.interface import RecordFilter
from recollect.work.index import MAIN, last_summary
from recollect.work.paths import base, is_source, looks_like_file

SUMMARIES = 200  # the newest, of which one may be of this branch or person
RECENT = 200  # memories, for those who ask on purpose
MOST_RULES = 8
DIGESTS = ("daily", "weekly")


def start(sources: Sources, draft: Draft) -> None:
    """No question yet: the rules that hold, and where the last session stopped."""
    draft.is_start = True
    draft.lines += start_lines(sources, draft)


def start_lines(sources: Sources, draft: Draft) -> Iterator[BriefLine]:
    """What a session is told once, whatever it asks: its start brings it, or its first prompt."""
    question = draft.question
    held = [preference_line(one) for one in preferences(draft.graphs.values())]
    namespaces = tuple(dict.fromkeys(question.namespaces))
    said = [one for name in namespaces for one in profile_lines(sources.store, name)]
    yield from _profile(said)
    for line in held:
        if isinstance(line.thing, Preference) and line.thing.category == PROFILE:
            line.section = "profile"
    # Only what instructs; decisions and the rest wait for a question that they answer.
    rules = [
        one
        for name in namespaces
        for one in standing_rules(sources.store, name)
        if one.category != PROFILE
        and not one.is_unsure
        and one.holds_in(question.session_id, question.branch)
    ]
    if draft.as_sections:
        yield from held
        yield from _in_sections(sources, question, rules)
        yield from _last_state(sources, draft, ())
        return
    near = _likeness(sources, question, rules)
    ranked = [
        memory_line(one.record, one.score, one.parts)
        for one in rank_for_start(rules, sources.clock.now(), near)
    ]
    for line in ranked:
        line.section = "rules"
    # What is about a file comes when that is named. But nobody may name it before it is edited, and
    # no host asks then: of rules that are held it comes last.
    about_file = partial(names_file, sources, question)
    yield from (line for line in held if not about_file(line))
    yield from sorted(ranked, key=about_file)[:MOST_RULES]
    summaries = [
        one
        for name in namespaces
        for one in _newest(sources, name, RecordFilter(kind=SUMMARY.name), SUMMARIES)
        if one.category not in DIGESTS
    ]
    yield from _last_state(sources, draft, summaries)


def _in_sections(
    sources: Sources, question: RecallQuestion, rules: Sequence[Record]
) -> Iterator[BriefLine]:
    """For those who ask on purpose: the rules, then recent memories by their four signals."""
    recent = [
        one
        for name in dict.fromkeys(question.namespaces)
        for one in _newest(sources, name, None, RECENT)
        if one.category not in (UNANSWERED, PROFILE) and not one.traits.is_turn
    ]
    first = {one.record_id for one in rules}
    pool = [*rules, *(one for one in recent if one.record_id not in first)]
    near = _likeness(sources, question, pool)
    ranked = rank_for_start(pool, sources.clock.now(), near)
    ranked.sort(key=lambda one: one.record.record_id not in first)
    return (memory_line(one.record, one.score, one.parts) for one in ranked)


def _newest(
    sources: Sources, namespace: str, where: RecordFilter | None, limit: int
) -> Sequence[Record]:
    return sources.store.records.page(namespace, where, limit=limit).items


def _likeness(
    sources: Sources, question: RecallQuestion, pool: Sequence[Record]
) -> dict[str, float]:
    """How near each memory is to what is being worked on: the branch, and the last task."""
    if not sources.index_cache.ready(question.namespaces):
        return {}
    last = sources.store.sessions.last_checkpoint(question.namespaces[0])
    branch = "" if question.branch in MAIN else " ".join(words_in(question.branch))
    text = " ".join(filter(None, (branch, last.task if last else "")))
    if not text:
        return {}
    return sources.engine.likeness(text, question.namespaces, (one.record_id for one in pool))


def _profile(found: Iterable[Record]) -> Iterator[BriefLine]:
    """Who the person is, in the order in which it was said."""
    for one in sorted(found, key=lambda one: one.record_id):
        line = memory_line(one, 1.0)
        line.section = "profile"
        yield line


def names_file(sources: Sources, question: RecallQuestion, line: BriefLine) -> bool:
    """Whether a rule is about a file: one that the project has, or a name like those of sources
    that is no tool's, as Node.js is."""
    text = render.forms(line, as_sections=False)[0]
    words = {word.strip(".,;:!?()'\"`") for word in text.split()}
    named = {word for word in words if looks_like_file(word)}
    if not named:
        return False
    names = {base(word) for word in named}
    return any(is_source(word) and not is_tool(word) for word in named) or sources.work.ask(
        question.namespaces[0], lambda work: any(work.by_name.get(one) for one in names)
    )


def _last_state(sources: Sources, draft: Draft, summaries: Sequence[Record]) -> Iterator[BriefLine]:
    """How the last session on this branch or of this person ended, and what it left open."""
    question = draft.question
    here, branch, person = question.namespaces[0], question.branch, question.person
    others = [one for one in summaries if one.session_id != question.session_id]
    summary = sources.work.ask(
        here, lambda work: last_summary(others, work, branch, person)
    ) or next((one for one in others if one.session_id is None), None)
    if summary is not None:
        line = memory_line(summary, 1.0)
        line.section = "state"
        yield line
    checkpoint = sources.store.sessions.last_checkpoint(here)
    if checkpoint is not None:
        checkpoint = sources.feedback.tombstones.visible_checkpoint(checkpoint)
    if checkpoint is not None and sources.ended is not None:
        checkpoint = sources.ended.current_checkpoint(checkpoint, question.namespaces)
    if checkpoint is None or checkpoint.session_id == question.session_id:
        return
    left = checkpoint.session_id
    if not sources.work.ask(here, lambda work: work.goes_on(left, branch, person)):
        return
    told = summary is not None and (
        summary.session_id == checkpoint.session_id
        or plain(summary.title) == plain(checkpoint.task)
    )
    text = render.checkpoint_line(checkpoint, only_open=told)
    if text:
        key = f"checkpoint {checkpoint.session_id}"
        yield BriefLine(key, "state", 1.0, "last session", line=text)
