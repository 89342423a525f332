"""First stage: what might be told, found in search, graph, work and the last session.

In: a question. Out: a `Draft` with lines, best first, none of them judged yet. Search runs at every
prompt: whether a prompt is worth an answer is decided by what was found, not by its words.
"""

import heapq
from collections.abc import Collection, Container, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from recollect.core import vector_bytes as layout
from recollect.core.clock import to_micros
from recollect.core.ids import RECORD
from recollect.core.text_words import STOP_WORDS, count_tokens, stem
from recollect.core.text_words import words as words_in
from recollect.core.tuning import NOTES, PRIORS, SPEAKING, WORK_FILES
from recollect.core.values import Entity, Fact, Procedure
from recollect.embedding.embedder import MODEL, text_of
from recollect.extract.rules.patterns import contradicts
from recollect.extract.standing import form_words
from recollect.ingest.messages import RecallQuestion
from recollect.inject import render
from recollect.inject.actions import NAMED
from recollect.inject.draft import BriefLine, Draft, Section, Sources, memory_line, preference_line
from recollect.inject.speaking import (
    ABOUT_PAST,
    chance_of_file,
    idleness,
    names_nothing,
    weight_of_prompt,
)
from recollect.inject.start import names_file, start, start_lines
from recollect.retrieve.engine import find
from recollect.retrieve.graph import GraphWalk, content_stems, preferences
from recollect.retrieve.query import intent, parse
from recollect.work.index import BranchWork, ProjectWork
from recollect.work.likely_files import Ask, Likely, LikeTurns, likely_names, rank
from recollect.work.paths import shortest_unique

CANDIDATES = 30
DEEP_CANDIDATES = 90  # for a question about the past
EARLY_TERMS = 8  # SQLite scores every row that holds any of them, so only the rarest
CORRECTION_CHARS = 120
NAMES_CHARS = 1000  # of a prompt are read for names
HEAD = 4000  # characters of a prompt, where its kind and its subject stand
MOST_STEPS = 4  # of beliefs that took each other's place
_MINUTE_US = 60_000_000


def gather(sources: Sources, draft: Draft, told: frozenset[str]) -> None:
    """Fill a draft."""
    question = draft.question
    graphs = {one: sources.graphs.of(one) for one in question.namespaces}
    draft.graphs = {one: graph for one, graph in graphs.items() if not graph.is_empty}
    if question.trigger == "tool":
        draft.lines = rules_for_command(sources, question)
        draft.notes["rules"] = {line.id: line.why for line in draft.lines}
        return
    if question.trigger == "session-start":
        if sources.settings.start_tokens:
            start(sources, draft)
    elif question.text.strip() and sources.settings.prompt_tokens:
        draft.about_past = ABOUT_PAST.search(question.text[:HEAD]) is not None
        if draft.about_past:
            draft.notes["explicit"] = True
        if draft.about_past and names_nothing(question.text):
            # "Where were we?" is answered by what a session starts with.
            start(sources, draft)
        else:
            _prompt(sources, draft)
            if draft.brings_start:
                _add_start(sources, draft)
    else:
        return
    at = sources.clock.now().timestamp()
    lines_about = partial(_work_lines, question, told, at, draft.idle)
    draft.lines = sources.work.ask(question.namespaces[0], lines_about) + draft.lines


def _add_start(sources: Sources, draft: Draft) -> None:
    """Preferences, rules and the last state come once in a session: with this prompt, because no
    start brought them."""
    first = list(start_lines(sources, draft))
    for line in first:
        line.at_start = True
    known = {line.id for line in first}
    draft.lines = first + [line for line in draft.lines if line.id not in known]


def _prompt(sources: Sources, draft: Draft) -> None:
    question = draft.question
    text, namespaces = question.text, question.namespaces
    draft.notes["intent"] = intent(text)
    if sources.rules is not None:
        rules = sources.rules.about(namespaces, text, command=False)
        draft.lines += [
            one
            for one in rules
            if one.why.startswith(NAMED) or not names_file(sources, question, one)
        ]
    limit = DEEP_CANDIDATES if draft.about_past else CANDIDATES
    if not (sources.index_cache.ready(namespaces) or sources.index_cache.soon_ready(namespaces)):
        if draft.graphs:
            walks, _ = sources.graphs.walk(text, namespaces)
            _from_graph(sources, draft, walks, parse(text).content)
        _early(sources, draft)
        return
    now = sources.clock.now()
    graphs = tuple(sources.store.graph.changes(one).version for one in namespaces)
    # A verdict changes no row, and yet what the graph shows.
    state = (sources.index_cache.epoch, sources.feedback.tombstones.epoch, graphs)
    found = sources.results.get(
        (text, namespaces, state, limit, to_micros(now) // _MINUTE_US),
        lambda: find(
            sources.engine,
            sources.graphs,
            text,
            namespaces,
            at=now,
            limit=limit,
            fusion=sources.settings.fusion,
            store=sources.store if sources.has_full_text else None,
        ),
    )
    ranked = found.ranked
    if draft.graphs:
        _from_graph(sources, draft, found.walks, ranked.content)
    draft.stages = {name: round(took * 1e6) for name, took in ranked.stages.items()}
    draft.notes["left_out"] = ranked.left_out
    draft.notes["semantic"] = ranked.semantic
    draft.confidence, draft.semantic = ranked.confidence, ranked.semantic
    draft.by_chance, draft.known = ranked.by_chance, ranked.known
    # What is fitted to vectors of one model reads no others.
    draft.vector = ranked.vector if sources.index_cache.model == MODEL else None
    draft.idle = idleness(text, draft.vector)
    results = {one.id: one for one in ranked.results}
    have = {line.id for line in draft.lines}
    for record in sources.records(namespaces, list(results)):
        one = results[record.record_id]
        if one.id not in have:
            draft.lines.append(memory_line(record, one.score, one.parts))
    # Without the default model nothing tells a name from a word.
    known: Container[str] | None = getattr(sources.engine.embedder, "words", None)
    if known is not None:
        _mark_names(draft, known)
    if not all(line.record is None or line.record.stands for line in draft.lines):
        _add_successors(sources, draft)
    _add_corrections(sources, draft)


def _mark_names(draft: Draft, known: Container[str]) -> None:
    """Mark memories that hold a name of the prompt, which is no word that the model has whole, if
    few do: then it is known which is meant."""
    common = form_words()
    names = {
        stem(word)
        for word in words_in(draft.question.text[:NAMES_CHARS])
        if len(word) >= NOTES.name_chars and word.isalpha() and word not in common
        if not any(form in known for form in (word, stem(word), stem(word) + "e"))
    }
    made = [
        (line, text_of(line.record).lower())
        for line in draft.lines
        if names and line.record is not None
        if not (line.record.traits.is_turn or line.record.traits.is_summary)
    ]
    for name in names:
        held = [line for line, text in made if name in text and name in map(stem, words_in(text))]
        for line in held if len(held) <= NOTES.few else ():
            line.parts = {**line.parts, "names": 1.0}


def _add_successors(sources: Sources, draft: Draft) -> None:
    """What took the place of a belief answers the questions that the belief answers, whether or not
    it shares their words."""
    lines = {line.id: line for line in draft.lines}
    for line in list(draft.lines):
        one = line.record
        for _ in range(MOST_STEPS):
            if one is None or one.stands or not one.ended_by.startswith(RECORD):
                break
            found = sources.records(draft.question.namespaces, [one.ended_by])
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
    if not follows:
        return
    ids = sorted({one for some in follows.values() for one in some})
    said = {
        one.record_id: one.title
        for one in sources.records(draft.question.namespaces, ids)
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
    return sources.rules.about(question.namespaces, question.text, command=True)


def _from_graph(
    sources: Sources, draft: Draft, walks: Sequence[GraphWalk], asked: frozenset[str]
) -> None:
    """Preferences that a prompt is about, and what the graph knows of what it names or says;
    `asked` are the stems of its words that carry meaning."""
    graphs, text = draft.graphs.values(), draft.question.text
    named = [words for walk in walks for words in walk.named.values()]
    if named:
        draft.notes["named"] = named
    draft.rivals = [rival for walk in walks for rival in walk.rivals]
    have = {line.id for line in draft.lines}
    lines = []
    for one in preferences(graphs):
        line = preference_line(one)
        if not draft.as_sections:  # else no hook told them at the session's start: all of them
            # A rule comes by what it is about or by the action (`inject/actions.py`); by two words
            # in common only to those who ask on purpose.
            about = content_stems(one.key.replace("_", " "))
            if not about or not about <= asked:
                whole = f"{one.category} {one.key} {one.value}".replace("_", " ").replace(".", " ")
                if not draft.about_past or len(asked & content_stems(whole)) < 2:
                    continue
            line.why = "the prompt is about it"
        lines.append(line)
    if walks:
        lines += facts(walks)
    steps = 1 if draft.notes["intent"] == "procedure" else 2
    asked = asked if len(text) <= HEAD else content_stems(text[:HEAD])
    # No fact has half of the words of a long prompt: it is not looked for.
    least = max(2, BY_WORDS * len(asked)) if len(asked) <= LONG else float("inf")
    for thing, shared in sources.graphs.sharing(graphs, asked, least, steps, SEARCHED):
        lines.append(_by_words(thing, f"shares {shared} words with the prompt"))
    # A fact may be reached from several things that the prompt names.
    once: dict[str, BriefLine] = {}
    for line in lines:
        once.setdefault(line.id, line)
    draft.lines += [line for line in once.values() if line.id not in have]


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
        blob, model = layout.encode(vector), sources.index_cache.model
        near: dict[str, float] = {}
        for namespace in question.namespaces:
            for owner, cosine in store.vectors.nearest(namespace, model, blob, CANDIDATES):
                near[owner] = max(cosine, near.get(owner, 0.0))
        have = {line.id for line in draft.lines}
        wanted = [one for one, cosine in near.items() if cosine >= NOTES.near and one not in have]
        for record in sources.records(question.namespaces, wanted):
            draft.lines.append(memory_line(record, near[record.record_id]))
    # Only now: whoever fills would slow this very search down.
    sources.index_cache.prepare(question.namespaces)


def _covering(hits: Sequence[Any], text: str) -> list[Any]:
    """Hits that hold at least half of the prompt's longer words; "what did we decide last time"
    names nothing to look for."""
    named = ABOUT_PAST.sub(" ", text[:4000]).split()
    words = {word.lower().strip(".,:;!?()\"'`") for word in named if len(word) > 3}
    words -= STOP_WORDS
    kept = []
    for hit in hits:
        record = hit.record
        held = " ".join((record.title, record.summary, record.detail, *record.facts)).lower()
        if words and sum(word in held for word in words) >= max(2, len(words) / 2):
            kept.append(hit)
    return kept


SEARCHED = 10  # facts, things and procedures that words alone may find, each
UNASKED = 3  # facts of a named thing that share no word with the prompt
FURTHER = 8  # facts beyond the named things
FURTHER_OVERLAP = 0.34
LONG = 30  # telling words
BY_WORDS = 0.5  # share of the prompt's telling words that a fact found by words must have


def facts(walks: Sequence[GraphWalk]) -> list[BriefLine]:
    """Things that the prompt names, with what is known of them and around them."""
    items: list[BriefLine] = []
    for walk in walks:
        unasked: dict[str, int] = {}
        further = 0
        for entity_id, words in walk.named.items():
            entity = walk.entities[entity_id][0]
            if entity.description:
                items.append(_entity(entity, f"named as {words!r}"))
        for reached in walk.facts:
            if reached.depth == 0:
                start = reached.path[0]
                if reached.overlap == 0:
                    unasked[start] = unasked.get(start, 0) + 1
                    if unasked[start] > UNASKED:
                        continue
                items.append(
                    _fact(reached.fact, "known", reached.worth, f"of {start}", reached.overlap)
                )
            elif reached.overlap >= FURTHER_OVERLAP and further < FURTHER:
                further += 1
                way = " > ".join(reached.path)
                items.append(_fact(reached.fact, "related", reached.worth, f"by way of {way}"))
    return items


def _by_words(thing: Fact | Entity | Procedure, why: str) -> BriefLine:
    """What words alone find."""
    match thing:
        case Fact():
            return _fact(thing, "known", thing.confidence, why)
        case Entity():
            return _entity(thing, why)
        case Procedure():
            return BriefLine(thing.procedure_id, "procedures", thing.confidence, why, thing=thing)


def _entity(entity: Entity, why: str) -> BriefLine:
    return BriefLine(entity.entity_id, "known", 1.0, why, thing=entity)


def _fact(fact: Fact, section: Section, score: float, why: str, overlap: float = 1.0) -> BriefLine:
    line = BriefLine(fact.fact_id, section, round(score, 4), why, thing=fact)
    line.sensitive, line.parts = fact.sensitive, {"overlap": overlap}
    return line


FILES = 8  # at the first prompt of a session
FILES_LATER = 6


def _work_lines(
    question: RecallQuestion, told: Collection[str], at: float, idle: float, work: ProjectWork
) -> list[BriefLine]:
    """`idle`: how likely the prompt only carries the conversation on."""
    if question.trigger == "session-start" or not work.turn:
        return []  # the first prompt decides what is likely; it brings these lines
    ask = Ask(question.text, at, question.session_id, question.person, question.branch)
    later = bool(work.of_session.get(ask.session))
    found = [likely_line(work, ask, told, later=later, idle=idle)]
    if not later:
        found += [branch_line(work, ask, told), runs_line(work, ask, told)]
    return [line for line in found if line is not None]


def likely_line(
    work: ProjectWork, ask: Ask, told: Collection[str], *, later: bool, idle: float
) -> BriefLine | None:
    like = LikeTurns(work, ask)
    likely = [
        one
        for one in rank(work, ask, like=like)
        if f"file {one.path}" not in told and not work.is_ignored(one.path)
    ]
    # Where there are few files, which ones are likely tells nothing.
    few = int(WORK_FILES.most_share * len(work.path))
    likely = likely[: min(few, FILES_LATER if later else FILES)]
    prompt = weight_of_prompt(ask.text, later=later, idle=idle)
    chances = [chance_of_file(one.score, prompt) for one in likely]
    kept = [one for one, chance in zip(likely, chances, strict=True) if chance >= SPEAKING.least]
    line = files_line(work, ask, kept, told, like)
    if line is not None:
        line.chance = max(chances)
        line.score = round(line.chance, 3)
    return line


def _line(text: str, keys: tuple[str, ...], section: Section = "place") -> BriefLine:
    return BriefLine(keys[0], section, 1.0, "earlier work", line=text, keys=keys)


MOST_RUNS = 3
FILES_TOKENS = 140
MOST_COMMITS = 2


def files_line(
    work: ProjectWork,
    ask: Ask,
    likely: Sequence[Likely],
    told: Collection[str],
    like: LikeTurns | None = None,
) -> BriefLine | None:
    """Files that are likely to be needed, some with names that they define; without what the
    session was told of."""
    new = [one for one in likely if f"file {one.path}" not in told]
    if not new:
        return None
    names = likely_names(work, ask, new, told, like)
    for size in range(len(new), 0, -1):
        line = _files_line(work, [one.path for one in new[:size]], names)
        if count_tokens(line.line) <= FILES_TOKENS:
            return line
    return None


def _files_line(work: ProjectWork, paths: list[str], names: Mapping[str, list[str]]) -> BriefLine:
    texts = [
        f"{short} ({', '.join(names[path])})" if path in names else short
        for path, short in zip(paths, shortest_unique(paths, work.by_name), strict=True)
    ]
    keys = [f"file {path}" for path in paths]
    keys += [f"name {name}" for path in paths for name in names.get(path, ())]
    return _line(f"Likely files: {', '.join(texts)}", tuple(keys), "files")


def runs_line(work: ProjectWork, ask: Ask, told: Collection[str]) -> BriefLine | None:
    """The commands by which this project is built and tested, with how they ended last."""
    scores = ((-runs.weight(ask.at), form) for form, runs in work.usual.items())
    best = [form for _, form in heapq.nsmallest(MOST_RUNS, scores)]
    new = [form for form in best if f"run {form}" not in told]
    if not new:
        return None
    text = "; ".join(_with_state(work, one) for one in new)
    return _line(f"Runs: {text}", tuple(f"run {one}" for one in new))


def _with_state(work: ProjectWork, form: str) -> str:
    last = work.runs[form].last
    if not last.failed:
        return form
    return f"{form} (failed last: {last.error})" if last.error else f"{form} (failed last)"


def branch_line(work: ProjectWork, ask: Ask, told: Collection[str]) -> BriefLine | None:
    """What earlier sessions did on this branch."""
    key = f"branch {ask.branch}"
    branch = work.by_branch.get(ask.branch)
    if branch is None or key in told:
        return None
    sessions = [at for session, at in branch.sessions.items() if session != ask.session]
    if not sessions:
        return None
    last = datetime.fromtimestamp(max(sessions), UTC).strftime("%Y-%m-%d")
    commits = _commits(branch, ask.session)
    count = f"{len(sessions)} session{'s' if len(sessions) > 1 else ''}"
    text = f"Branch {ask.branch} ({count}, last {last})"
    return _line(f"{text}: {'; '.join(commits)}" if commits else text, (key,))


def _commits(branch: BranchWork, without: str) -> list[str]:
    made = [(at, some) for at, session, some in branch.commits.values() if session != without]
    made.sort(key=lambda one: one[0])
    newest_first = (subject for _, some in reversed(made) for subject in reversed(some))
    return list(dict.fromkeys(newest_first))[:MOST_COMMITS]
