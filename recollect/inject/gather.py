"""First stage: what might be told, found in search, graph, work and the last session.

In: a question. Out: a `Draft` with lines, best first, none of them judged yet. Search runs at every
prompt: whether a prompt is worth an answer is decided by what was found, not by its words.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from recollect.core import ids
from recollect.core import vector_bytes as layout
from recollect.core.clock import Clock, to_micros
from recollect.core.kinds import PROFILE, TYPES
from recollect.core.settings import Settings
from recollect.core.tuning import NOTES, PRIORS
from recollect.core.values import Record
from recollect.embedding.embedder import MODEL
from recollect.extract.ended_statements import EndedStatements
from recollect.extract.rules.patterns import contradicts
from recollect.ingest.pipeline import RecallQuestion
from recollect.ingest.turns import UNANSWERED
from recollect.inject import graph_lines, render
from recollect.inject.actions import NAMED
from recollect.inject.draft import BriefLine, Draft
from recollect.inject.feedback import Feedback
from recollect.inject.prompt_kind import asks_about_past, idleness, names_nothing
from recollect.inject.rule_cache import RuleCache
from recollect.inject.work_lines import work_lines
from recollect.retrieve.engine import SearchEngine
from recollect.retrieve.find import Found, ResultCache, find
from recollect.retrieve.graph import GraphCache, GraphWalk
from recollect.retrieve.index_cache import IndexCache
from recollect.retrieve.query import intent
from recollect.retrieve.start_ranking import rank_for_start
from recollect.store.interface import Store
from recollect.work.cache import WorkCache
from recollect.work.index import last_summary
from recollect.work.paths import looks_like_file

CANDIDATES = 30
DEEP_CANDIDATES = 90  # for a question about the past
START_POOL = 200
MOST_RULES = 8
DIGESTS = ("daily", "weekly")
EARLY_TERMS = 8  # SQLite scores every row that holds any of them, so only the rarest
CORRECTION_CHARS = 120
PROPOSED = 0.5  # the confidence of what was only proposed
MOST_STEPS = 4  # of beliefs that took each other's place
_MINUTE_US = 60_000_000


@dataclass(frozen=True)
class Sources:
    """Where lines come from."""

    store: Store
    engine: SearchEngine
    index_cache: IndexCache
    graphs: GraphCache
    work: WorkCache
    feedback: Feedback
    clock: Clock
    settings: Settings
    ended: EndedStatements | None = None  # without it nothing that ended is taken out of texts
    rules: RuleCache | None = None  # without it no rule comes by the action it is about
    results: ResultCache[Found] = field(default_factory=ResultCache)


def gather(sources: Sources, draft: Draft, told: frozenset[str]) -> None:
    """Fill a draft."""
    question = draft.question
    if question.trigger == "tool":
        draft.lines = rules_for_command(sources, question)
        draft.notes["rules"] = {line.id: line.why for line in draft.lines}
        return
    if question.trigger == "session-start":
        if sources.settings.start_tokens:
            _start(sources, draft)
    elif question.text.strip() and sources.settings.prompt_tokens:
        draft.about_past = asks_about_past(question.text)
        if draft.about_past:
            draft.notes["explicit"] = True
        if draft.about_past and names_nothing(question.text):
            # "Where were we?" is answered by what a session starts with.
            _start(sources, draft)
        else:
            _prompt(sources, draft)
    else:
        return
    at = sources.clock.now().timestamp()
    draft.lines = work_lines(sources.work, question, told, at, draft.idle) + draft.lines


def _prompt(sources: Sources, draft: Draft) -> None:
    question = draft.question
    text, namespaces = question.text, question.namespaces
    draft.notes["intent"] = intent(text)
    if sources.rules is not None:
        rules = sources.rules.for_prompt(namespaces, text)
        draft.lines += [one for one in rules if one.why.startswith(NAMED) or not _names_file(one)]
    limit = DEEP_CANDIDATES if draft.about_past else CANDIDATES
    if not sources.index_cache.ready(namespaces):
        _from_graph(sources, draft, sources.graphs.walk(text, namespaces)[0])
        _early(sources, draft)
        return
    found = _find(sources, text, namespaces, limit)
    _from_graph(sources, draft, found.walks)
    ranked = found.ranked
    draft.stages = {name: round(took * 1e6) for name, took in ranked.stages.items()}
    draft.notes["left_out"] = ranked.left_out
    draft.notes["semantic"] = ranked.semantic
    draft.confidence, draft.semantic = ranked.confidence, ranked.semantic
    draft.by_chance = ranked.by_chance
    draft.vector = ranked.vector
    draft.idle = idleness(text, ranked.vector)
    results = {one.id: one for one in ranked.results}
    have = {line.id for line in draft.lines}
    for record in records(sources.store, namespaces, list(results)):
        one = results[record.record_id]
        if one.id not in have:
            draft.lines.append(memory_line(record, one.score, one.parts))
    _add_successors(sources, draft)
    _add_corrections(sources, draft)


def _add_successors(sources: Sources, draft: Draft) -> None:
    """What took the place of a belief answers the questions that the belief answers, whether or not
    it shares their words."""
    lines = {line.id: line for line in draft.lines}
    for line in list(draft.lines):
        one = line.record
        for _ in range(MOST_STEPS):
            if one is None or one.stands or not one.ended_by.startswith(ids.RECORD):
                break
            found = records(sources.store, draft.question.namespaces, [one.ended_by])
            one = found[0] if found else None
        if one is None or one is line.record or not one.stands:
            continue
        # A belief that does not hold was found with less than its score.
        score = line.score / PRIORS.ended
        known = lines.get(one.record_id)
        if known is None:
            lines[one.record_id] = memory_line(one, score, line.parts)
            draft.lines.append(lines[one.record_id])
        elif known.parts and known.score < score:
            known.score, known.parts = score, line.parts


def _add_corrections(sources: Sources, draft: Draft) -> None:
    """What the user contradicted in the next turn is told with those words."""
    follows: dict[str, list[str]] = {}
    for line in draft.lines:
        one = line.record
        if one is None or one.traits.is_belief or not one.session_id or one.position is None:
            continue
        follows[line.id] = sources.engine.after(one.namespace, one.session_id, one.position)
    after = sorted({one for some in follows.values() for one in some})
    said = {
        one.record_id: one.title
        for one in records(sources.store, draft.question.namespaces, after)
        if one.traits.is_turn and contradicts(one.title)
    }
    for line in draft.lines:
        words = next((said[id_] for id_ in follows.get(line.id, ()) if id_ in said), "")
        if words:
            short = render.shortened(render.one_line(words), CORRECTION_CHARS)
            line.note += f' (then corrected: "{short}")'


def rules_for_command(sources: Sources, question: RecallQuestion) -> list[BriefLine]:
    """The rules and procedures about what a command does, and nothing else."""
    if sources.rules is None or not sources.settings.prompt_tokens:
        return []
    return sources.rules.for_command(question.namespaces, question.text)


def memory_line(record: Record, score: float, parts: dict[str, float] | None = None) -> BriefLine:
    return BriefLine(record.record_id, "history", score, "found", record=record, parts=parts or {})


def _find(sources: Sources, text: str, namespaces: tuple[str, ...], limit: int) -> Found:
    now = sources.clock.now()
    epochs = (sources.index_cache.epoch, sources.graphs.version(namespaces))
    key = (text, namespaces, epochs, limit, to_micros(now) // _MINUTE_US)
    return sources.results.get(
        key,
        lambda: find(sources.engine, sources.graphs, text, namespaces, at=now, limit=limit),
    )


def _from_graph(sources: Sources, draft: Draft, walks: Sequence[GraphWalk]) -> None:
    graphs, text, namespaces = sources.graphs, draft.question.text, draft.question.namespaces
    named = [words for walk in walks for words in walk.named.values()]
    if named:
        draft.notes["named"] = named
    draft.rivals = [rival for walk in walks for rival in walk.rivals]
    have = {line.id for line in draft.lines}
    lines = graph_lines.asked_preferences(
        graphs, namespaces, text, by_likeness=draft.asked_on_purpose
    )
    lines += graph_lines.facts(walks)
    lines += graph_lines.by_words(
        graphs, namespaces, text, intent(text), have | {line.id for line in lines}
    )
    # A fact may be reached from several things that the prompt names.
    found: dict[str, BriefLine] = {}
    for line in lines:
        found.setdefault(line.id, line)
    draft.lines += [line for line in found.values() if line.id not in have]


def _early(sources: Sources, draft: Draft) -> None:
    """While the index is filled: what the store itself finds by words and, if it can, by meaning.
    There is no floor to compare with, so only what is very near counts."""
    store, question = sources.store, draft.question
    draft.notes["left_out"] = {"index": "still being filled; searched by words in the store"}
    hits = store.records.search(
        question.namespaces, question.text, CANDIDATES, most_terms=EARLY_TERMS
    )
    draft.lines += [memory_line(hit.record, hit.score) for hit in _covering(hits, question.text)]
    vector = sources.engine.vector(question.text) if store.vectors.indexed else None
    if vector is not None:
        blob = layout.encode(vector)
        near: dict[str, float] = {}
        for namespace in question.namespaces:
            for owner, cosine in store.vectors.nearest(namespace, MODEL, blob, CANDIDATES):
                near[owner] = max(cosine, near.get(owner, 0.0))
        have = {line.id for line in draft.lines}
        wanted = [one for one, cosine in near.items() if cosine >= NOTES.near and one not in have]
        for record in records(store, question.namespaces, wanted):
            draft.lines.append(memory_line(record, near[record.record_id]))
    # Only now: whoever fills would slow this very search down.
    sources.index_cache.prepare(question.namespaces)


def _covering(hits: Sequence[Any], text: str) -> list[Any]:
    """Hits that hold at least half of the prompt's longer words."""
    words = {word.lower().strip(".,:;!?()\"'`") for word in text.split() if len(word) > 3}
    kept = []
    for hit in hits:
        record = hit.record
        held = " ".join((record.title, record.summary, record.detail, *record.facts)).lower()
        if words and sum(word in held for word in words) >= max(2, len(words) / 2):
            kept.append(hit)
    return kept


def _start(sources: Sources, draft: Draft) -> None:
    """No question yet: the rules that hold, and where the last session stopped."""
    draft.is_start = True
    question = draft.question
    preferences = graph_lines.preferences(sources.graphs, question.namespaces)
    pool = [
        record
        for namespace in dict.fromkeys(question.namespaces)
        for record in sources.store.records.page(namespace, limit=START_POOL).items
        if record.category != UNANSWERED
    ]
    draft.lines += _profile(pool)
    pool = [one for one in pool if one.category != PROFILE]
    if draft.as_sections:
        draft.lines += preferences
        ranked = rank_for_start(
            [one for one in pool if not one.traits.is_turn], sources.clock.now()
        )
        draft.lines += [memory_line(one.record, one.score, one.parts) for one in ranked]
        draft.lines += _last_state(sources, draft, ())
        return
    # Only what instructs; decisions and the rest wait for a question that they answer.
    rules = [
        one
        for one in pool
        if one.knowledge_type
        and TYPES[one.knowledge_type].is_rule
        and one.stands
        and not (one.state == "disputed" and one.confidence <= PROPOSED)  # nobody is sure of it
        and one.holds_in(question.session_id, question.branch)
    ]
    for one in rank_for_start(rules, sources.clock.now())[:MOST_RULES]:
        line = memory_line(one.record, one.score, one.parts)
        line.section = "rules"
        preferences.append(line)
    draft.lines += [line for line in preferences if not _names_file(line)]
    summaries = [one for one in pool if one.traits.is_summary and one.category not in DIGESTS]
    draft.lines += _last_state(sources, draft, summaries)


def _profile(pool: Sequence[Record]) -> Iterator[BriefLine]:
    """Who the person is, in the order in which it was said."""
    for one in sorted(pool, key=lambda one: one.record_id):
        if one.category == PROFILE:
            line = memory_line(one, 1.0)
            line.section = "profile"
            yield line


def _names_file(line: BriefLine) -> bool:
    """Whether a rule is about a file: it comes when that file is named, not at every start."""
    text = render.forms(line, as_sections=False)[0]
    return any(looks_like_file(word.strip(".,;:!?()'\"`")) for word in text.split())


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
    told = summary is not None and summary.session_id == checkpoint.session_id
    text = render.checkpoint_line(checkpoint, only_open=told)
    if text:
        key = f"checkpoint {checkpoint.session_id}"
        yield BriefLine(key, "state", 1.0, "last session", line=text)


def records(store: Store, namespaces: Sequence[str], record_ids: list[str]) -> list[Record]:
    found = {
        record.record_id: record
        for namespace in namespaces
        for record in store.records.get(namespace, record_ids)
    }
    return [found[record_id] for record_id in record_ids if record_id in found]
