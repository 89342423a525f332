"""Third stage: the decision to speak.

In: a draft whose lines were judged. Out: each line with the probability that it will be of use and,
where that is too small, the reason why it is not told. This is the only place that decides it. The
numbers stand in `core/tuning.py`; where they come from: docs/decisions/brief.md.
"""

import math

from recollect.core.tuning import MATCHING, NOTES, SPEAKING, Speaking
from recollect.core.values import Fact
from recollect.ingest.turns import UNANSWERED
from recollect.inject.draft import BriefLine, Draft
from recollect.inject.prompt_kind import only_publishes
from recollect.work.terms import terms

MOST_NOTES = 2
MOST_ABOUT_PAST = 8


def decide(draft: Draft) -> None:
    if draft.question.trigger != "prompt" or draft.is_start:
        return  # a session's start and a command bring only what holds
    least = NOTES.past if draft.asked_on_purpose else NOTES.speak
    for line in draft.kept:
        if line.section in ("files", "place"):
            _compare(line, SPEAKING.speak)
        elif line.record is not None and not line.parts:
            continue  # found while the index is filled: near enough, or it would not be here
        elif line.section == "procedures" and not line.by_action and not draft.asked_on_purpose:
            line.why_not = "its action is not asked for"
        elif line.section == "rules" and draft.as_sections:
            continue  # what is wanted comes along with every answer
        elif _is_of_commands(line) and not draft.asked_on_purpose:
            line.why_not = "read off commands: the line about runs has it"
        elif not line.by_action:
            line.chance = chance_of(line, draft)
            _compare(line, least)
    # Likely first: the search ranks by words more than this does.
    draft.lines.sort(key=lambda line: -line.chance)
    _choose_memories(draft)


def _is_of_commands(line: BriefLine) -> bool:
    """Whether it is a fact of the kind that is read off the commands of a project."""
    fact = line.thing
    if not isinstance(fact, Fact) or fact.source_type != "observed":
        return False
    return fact.predicate in ("uses", "tested_by", "built_by", "configured_by", "depends_on")


def _compare(line: BriefLine, least: float) -> None:
    if line.chance < least:
        line.why_not = f"too unlikely to be of use: {line.chance:.2f} of {least:.2f}"


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
    in_full = {record.session_id for _, record in memories if record.is_whole_turn}
    for line, record in memories:
        if not record.traits.is_turn:
            continue
        if record.is_short_turn and record.session_id in in_full:
            line.why_not = "its session is here in full"
            continue
        if record.category == UNANSWERED and record.title.rstrip().endswith("?"):
            line.why_not = "a question that got no answer"
        elif draft.asked_on_purpose or not line.parts:
            continue
        elif distilled:
            line.why_not = "a turn, and a note or a belief answers"
        elif draft.idle > NOTES.is_idle:
            line.why_not = "the prompt only carries the conversation on"
        else:
            _compare(line, NOTES.turn if draft.semantic else NOTES.turn_by_words)
    if draft.as_sections:
        return  # its budget is the bound
    most = MOST_ABOUT_PAST if draft.about_past else MOST_NOTES
    for line in [line for line, _ in memories if not line.why_not][most:]:
        line.why_not = "enough was found that is more likely to be of use"


def chance_of(line: BriefLine, draft: Draft) -> float:
    """How likely it is that a memory, or what the graph knows, is of use."""
    record = line.record
    if record is None:
        unasked = NOTES.unasked if line.parts.get("overlap", 1.0) == 0 else 0.0
        return _probability(NOTES.thing + unasked + NOTES.idle_thing * draft.idle)
    near = line.parts.get("cosine", MATCHING.unknown_cosine)
    if near == MATCHING.unknown_cosine:  # it has no vector yet, or there is no model
        near = NOTES.unseen_cosine
    else:
        near -= max(0.0, draft.by_chance - NOTES.by_chance)
    words = line.parts.get("grams", 0.0) * (1 - draft.idle)  # shared small talk proves nothing
    return _probability(
        NOTES.base
        + NOTES.cosine * max(0.0, near)
        + NOTES.words * words
        + NOTES.many_words * max(0.0, words - NOTES.many)
        + NOTES.graph * line.parts.get("graph", 0.0)
        + NOTES.idle * draft.idle
        + (NOTES.by_rules if record.strategy == "rules" and not record.traits.is_belief else 0.0)
    )


def chance_of_file(score: float, prompt: float, by: Speaking = SPEAKING) -> float:
    """How likely it is that the session will use a file: from its score in `work/likely_files` and
    from what `weight_of_prompt` says."""
    return _probability(by.base + by.score * score + prompt)


def weight_of_prompt(text: str, *, later: bool, idle: float, by: Speaking = SPEAKING) -> float:
    """How much likelier or less likely a prompt makes it that files will be used after it."""
    weight = by.publishes if only_publishes(text) else 0.0
    if later:
        weight += by.later + by.idle * idle
        weight += by.names_nothing if len(set(terms(text))) <= 1 else 0.0
    return weight


def _probability(logit: float) -> float:
    return 1 / (1 + math.exp(-logit))
