"""Third stage: the decision to speak, and in which order.

In: a draft whose lines were judged. Out: each line with the probability that it will be of use and,
where that is too small, the reason why it is not told. Which lines are told is decided only here;
whether a hook is asked at all, its adapter says (`wants`). The numbers stand in `core/tuning.py`;
where they come from: docs/decisions/brief.md. What kind of prompt it is (about the past, or only
carrying the conversation on) is a feature of that decision. Then what only repeats another line is
left out, and the newer of two comes before the older.
"""

import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from recollect.core import safe_files
from recollect.core.text_words import STOP_WORDS
from recollect.core.text_words import words as words_in
from recollect.core.tuning import ENDINGS, FLOOR, MATCHING, NOTES, SPEAKING, Speaking
from recollect.core.values import Fact, Record
from recollect.ingest.turns import UNANSWERED
from recollect.inject import render
from recollect.inject.draft import BriefLine, Draft, plain
from recollect.reconcile import ending_pairs
from recollect.retrieve.query import parse
from recollect.retrieve.score import by_words
from recollect.work.terms import terms

_WEIGHTS = os.path.join(os.path.dirname(__file__), "idle_prompts.f32")
_WEIGHT_BYTES = 4 * 385
ABOUT_PAST = re.compile(
    r"\b(?:remember (?:when|how|what|that|the|our|why)|do you (?:remember|recall)"
    r"|recall (?:when|how|what|why)|(?:what|how|why|where|when|which \w{1,30}) did (?:we|i|you)"
    r"|remind me|where (?:we|i) (?:left|were|stopped)|where (?:were|was) (?:we|i)"
    r"|last time|the other (?:day|time)|(?:we|i) (?:already|previously)"
    r"|as we (?:did|decided|discussed)|earlier (?:we|you|today|this week)"
    r"|have we (?:ever|already)|did we (?:ever|already|decide|agree|settle|choose)|when did)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(r"\?\s*$")
_QUESTION_WORDS = frozenset(
    ("what", "which", "who", "whose", "when", "where", "why", "how", "is", "are", "was", "were",
     "do", "does", "did", "can", "could", "should", "would", "will", "has", "have")
)  # fmt: skip
_REQUESTS = re.compile(r"\b(?:can|could|would|will|please) you\b|\bplease\b", re.IGNORECASE)
_PUBLISHING = frozenset(
    ("commit", "push", "merge", "rebase", "tag", "pr", "pull", "request", "branch", "message",
     "open", "create", "changes", "please", "now", "ok", "yes")
)  # fmt: skip
# Words that a question about the past may hold and that name nothing to look for.
_ABOUT_TIME = frozenset(
    ("leave", "left", "off", "stop", "stopped", "work", "working", "worked", "do", "doing", "done",
     "yesterday", "today", "session", "last", "time", "again", "week", "morning", "please", "pick",
     "continue", "start", "back", "things", "stuff")
)  # fmt: skip


def is_question(text: str) -> bool:
    """Whether a prompt asks for an answer, not for work."""
    return _ASKS.search(text[-4000:]) is not None and _REQUESTS.search(text[:4000]) is None


def names_nothing(text: str) -> bool:
    """Whether a question about the past names nothing to look for ("where were we?")."""
    rest = ABOUT_PAST.sub(" ", text[:4000])
    return all(word in STOP_WORDS or word in _ABOUT_TIME for word in parse(rest).words)


def only_publishes(text: str) -> bool:
    """Whether a prompt asks to commit or publish what was done, and nothing else: then the work is
    over."""
    own = [word for word in parse(text[:1000]).words if word not in STOP_WORDS]
    return bool(own) and all(word in _PUBLISHING for word in own)


def idleness(text: str, vector: Any) -> float:
    """Between 0 and 1: how likely a prompt only carries the conversation on ("ok, go on"). By its
    meaning, with weights that `tests/bench/fit_idle_prompts.py` fits on labelled prompts; without
    a vector, by how many words mean something. Whoever asks about the past wants to know."""
    if vector is None and ABOUT_PAST.search(text[:4000]):
        return 0.0
    if vector is None:
        words = set(words_in(text[:1000]))
        own = [word for word in words if word not in STOP_WORDS and len(word) > 1]
        return {0: 1.0, 1: 0.8}.get(len(own), 0.0)
    weights = _weights()
    return 1 / (1 + math.exp(-(float(vector @ weights[:-1]) + float(weights[-1]))))


@cache
def _weights() -> Any:
    import numpy as np

    return np.frombuffer(safe_files.read_whole(_WEIGHTS, _WEIGHT_BYTES), dtype="<f4")


UNLIKELY = "too unlikely to be of use: {:.2f} of {:.2f}"


Likeness = Callable[[Record, Record], float]  # of two memories, in meaning


def decide(draft: Draft, likeness: Likeness) -> None:
    if draft.question.trigger != "prompt" or draft.is_start:
        return  # a session's start and a command bring only what holds
    first = [line for line in draft.lines if line.at_start]
    draft.lines = [line for line in draft.lines if not line.at_start]
    on_purpose = draft.asked_on_purpose
    for line in draft.kept:
        record, thing = line.record, line.thing
        least = NOTES.past if on_purpose else NOTES.speak
        if line.section in ("files", "place"):
            least = SPEAKING.speak
        elif line.by_action or (line.section == "rules" and draft.as_sections):
            continue  # the action asks for it, or: what is wanted comes along with every answer
        elif record is not None and not line.parts:
            continue  # found while the index is filled: near enough, or it would not be here
        elif line.section == "procedures" and not on_purpose:
            line.why_not = "its action is not asked for"
            continue
        elif isinstance(thing, Fact) and _read_off_commands(thing) and not on_purpose:
            line.why_not = "read off commands: the line about runs has it"
            continue
        elif record is not None:
            line.chance = chance_of_memory(
                record, line.parts, draft.by_chance, draft.known, draft.idle
            )
        else:
            unasked = NOTES.unasked if line.parts.get("overlap", 1.0) == 0 else 0.0
            logit = NOTES.thing + unasked + NOTES.idle_thing * draft.idle
            line.chance = 1 / (1 + math.exp(-logit))
        least = max(least, NOTES.unsure) if line.is_unsure else least
        if line.chance < least:
            line.why_not = UNLIKELY.format(line.chance, least)
    # Likely first: the search ranks by words more than this does. Of two that are likely enough,
    # what was decided comes before what was noted.
    draft.lines.sort(
        key=lambda line: (
            -min(line.chance, NOTES.sure),
            line.record is not None and not line.record.traits.is_belief,
            -line.chance,
        )
    )
    _drop_outdated(draft, likeness)
    _choose_memories(draft)
    draft.lines = first + draft.lines


def _drop_outdated(draft: Draft, likeness: Likeness) -> None:
    """What was noted before a belief that changed it. A belief ends when another one takes its
    place; a note is kept as what was so at its time."""
    if draft.asked_on_purpose:
        return
    beliefs = [
        line.record
        for line in draft.lines
        if line.record is not None and line.record.traits.is_belief and line.record.stands
    ]
    for line in draft.kept:
        note = line.record
        if note is not None and not note.traits.is_belief:
            later = (one for one in beliefs if one.valid_from > note.valid_from)
            if any(_changes(one, note, likeness) for one in later):
                line.why_not = "a later belief says otherwise"


def _changes(belief: Record, note: Record, likeness: Likeness) -> bool:
    new, old = ending_pairs.read(belief.title), ending_pairs.read(note.title)
    if new.words.isdisjoint(old.words) or not ending_pairs.may_be_about(belief.title, note.title):
        return False
    changes = ending_pairs.change(belief.title, None)
    score = ending_pairs.score(new, old, likeness(belief, note), changes)
    return ending_pairs.shares([score])[0] >= ENDINGS.outdates


def _read_off_commands(fact: Fact) -> bool:
    """Whether it is a fact of the kind that is read off the commands of a project."""
    return fact.source_type == "observed" and fact.predicate in (
        "uses", "tested_by", "built_by", "configured_by", "depends_on"
    )  # fmt: skip


def _choose_memories(draft: Draft) -> None:
    """Of memories only the best few; a turn only where nothing was made of it that answers."""
    memories = [(line, line.record) for line in draft.kept if line.record is not None]
    distilled = [line for line in draft.kept if line.thing is not None]
    distilled += [line for line, record in memories if not record.traits.is_turn]
    if not draft.asked_on_purpose:
        for line, record in memories:
            if record.traits.is_summary:
                line.why_not = "a summary, told at a session's start or when the past is asked for"
        memories = [pair for pair in memories if not pair[0].why_not]
    turns = [(line, record) for line, record in memories if record.traits.is_turn]
    in_full = {record.session_id for _, record in turns if record.is_whole_turn}
    for line, record in turns:
        if record.is_short_turn and record.session_id in in_full:
            line.why_not = "its session is here in full"
            continue
        least = NOTES.turn if draft.semantic else NOTES.turn_by_words
        if record.category == UNANSWERED and _states_nothing(record.title):
            line.why_not = "a question that got no answer"
        elif draft.asked_on_purpose or not line.parts:
            continue
        elif distilled:
            line.why_not = "a note or a belief already answers"
        elif draft.idle > NOTES.is_idle:
            line.why_not = "the prompt only carries the conversation on"
        elif line.chance < least:
            line.why_not = UNLIKELY.format(line.chance, least)
    if draft.as_sections:
        return  # its budget is the bound
    most = NOTES.most_past if draft.about_past else NOTES.most
    facts = sum(line.section in ("known", "related") for line in draft.kept)
    kept = [line for line, _ in memories if not line.why_not and not line.by_action]
    for line in kept[max(1, most - facts) :]:
        line.why_not = "enough was found that is more likely to be of use"


def _states_nothing(prompt: str) -> bool:
    """Whether a prompt is a question, with its mark or without, or a few words to look for."""
    words = words_in(prompt[:1000])
    short = len(words) < NOTES.stated_words
    return short or _ASKS.search(prompt[-1000:]) is not None or words[0] in _QUESTION_WORDS


def chance_of_memory(
    record: Record, parts: Mapping[str, float], by_chance: float, known: float, idle: float = 0.0
) -> float:
    """How likely it is that a memory is of use. `by_chance` and `known` are those of the search."""
    near = parts.get("cosine", MATCHING.unknown_cosine)
    if near == MATCHING.unknown_cosine:  # it has no vector yet, or there is no model: by its words
        near = NOTES.unseen_cosine if by_words(parts, known, FLOOR) >= FLOOR.lexical else 0.0
    else:
        near -= max(0.0, by_chance - NOTES.by_chance)
    words = parts.get("grams", 0.0) * (1 - idle)  # shared small talk proves nothing
    logit = (
        NOTES.base
        + NOTES.cosine * max(0.0, near)
        + NOTES.words * words
        + NOTES.many_words * max(0.0, words - NOTES.many)
        + NOTES.names * parts.get("names", 0.0)
        + NOTES.graph * parts.get("graph", 0.0)
        + NOTES.idle * max(0.0, idle - NOTES.is_idle) / (1 - NOTES.is_idle)
        + (NOTES.by_rules if record.strategy == "rules" and not record.traits.is_belief else 0.0)
    )
    return 1 / (1 + math.exp(-logit))


def chance_of_file(score: float, prompt: float, by: Speaking = SPEAKING) -> float:
    """How likely it is that the session will use a file: from its score in `work/likely_files` and
    from what `weight_of_prompt` says."""
    return 1 / (1 + math.exp(-(by.base + by.score * score + prompt)))


def weight_of_prompt(text: str, *, later: bool, idle: float, by: Speaking = SPEAKING) -> float:
    """How much likelier or less likely a prompt makes it that files will be used after it."""
    weight = by.publishes if only_publishes(text) else 0.0
    if later:
        weight += by.later + by.idle * idle
        weight += by.names_nothing if len(set(terms(text))) <= 1 else 0.0
    return weight


REPEATS = "says the same as another one"


def put_in_order(draft: Draft, told: Sequence[Record] = ()) -> None:
    """Mark what repeats something before it or something told, and move what is newer up."""
    whole = draft.question.trigger == "session-start"
    if any(line.record is None or line.section == "rules" for line in draft.lines):
        _drop_restated(draft)
    before = list(told)
    kept: list[tuple[BriefLine, Record]] = []
    for line in draft.kept:
        if line.record is None:
            continue
        # Of a summary only the title is told, so the note with cause and fix is still news.
        earlier = [one for one in before if not (one.traits.is_summary and line.record.tells_cause)]
        earlier += [record for _, record in kept]
        if any(_repeats(line.record, other, whole=whole) for other in earlier):
            line.why_not = REPEATS
        else:
            kept.append((line, line.record))
    if not whole:
        # What is newer comes before the older ones that say nearly the same; those of the same day
        # are marked, because their dates do not tell.
        for at in range(1, len(kept)):
            newer = kept[at][1]
            place = next((n for n in range(at) if _renews(newer, kept[n][1])), None)
            if place is not None:
                kept.insert(place, kept.pop(at))
        for at, (_, newer) in enumerate(kept):
            for line, older in kept[at + 1 :]:
                same_day = newer.valid_from.date() == older.valid_from.date()
                line.older = line.older or (same_day and _renews(newer, older))
    moved = (line for line, _ in kept)
    draft.lines = [
        next(moved) if line.record is not None and not line.why_not else line
        for line in draft.lines
    ]


def _drop_restated(draft: Draft) -> None:
    """What a turn or a session came to is no news when it is a rule that is told anyway; nor is a
    fact, or what a session left open, when a memory that is told says it."""
    spoken = [
        (line, set(words_in(render.forms(line, as_sections=line.record is not None)[0])))
        for line in draft.kept
    ]
    rules = {word for line, words in spoken if line.section == "rules" for word in words}
    for line, words in spoken:
        restated = False
        if isinstance(line.thing, Fact) or (line.section == "state" and line.record is None):
            memories = (told for other, told in spoken if other.record is not None)
            restated = any(words <= told for told in memories)
        if line.section == "state" or (line.record and not line.record.traits.is_belief):
            restated = restated or len(words & rules) >= NOTES.restated * len(words)
        if restated:
            line.why_not = REPEATS


def _renews(newer: Record, older: Record) -> bool:
    """Whether one says nearly the same as another, and later."""
    if newer.traits.is_summary or older.traits.is_summary:
        return False  # of a session: it says what its turns say
    if newer.valid_from <= older.valid_from:
        return False
    mine, theirs = plain(newer.title), plain(older.title)
    enough = min(len(mine.split()), len(theirs.split())) >= NOTES.alike_words
    return enough and _overlap(mine, theirs) >= NOTES.alike


def _repeats(record: Record, other: Record, *, whole: bool) -> bool:
    if record.record_id == other.record_id:
        return False
    mine, theirs = plain(record.title), plain(other.title)
    together = not set(record.source_event_ids).isdisjoint(other.source_event_ids)
    kinds = (record.traits, other.traits)
    if all(kind.is_turn for kind in kinds):
        texts = ((record.summary, other.summary), (record.detail, other.detail))
        return mine == theirs and all(a.lower().split() == b.lower().split() for a, b in texts)
    if any(kind.is_turn for kind in kinds):
        return together and (whole or not any(kind.is_summary for kind in kinds))
    if all(kind.is_summary for kind in kinds):
        return False
    return mine == theirs or (together and _overlap(mine, theirs) >= NOTES.alike)


def _overlap(one: str, other: str) -> float:
    """Of the shorter title's words, the share that the longer one has too."""
    mine, theirs = set(one.split()), set(other.split())
    return len(mine & theirs) / max(1, min(len(mine), len(theirs)))
