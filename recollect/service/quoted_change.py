"""Whether what an agent quotes carries what it wants to store or to change.

In: the quoted sentences of a prompt, and a text to be kept, or a belief to be ended. Out: `Doubt`,
which says in a clause why they do not carry it and what the agent can do; None when they do. An end
or a replacement needs a sentence that by its form withdraws or changes something, and that is about
this belief: the same readings as those by which the extraction ends beliefs (`belief_plan.py`).
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from recollect.core.projects import everywhere
from recollect.core.tuning import ENDINGS
from recollect.core.values import BeliefScope, Record
from recollect.extract.rules.patterns import FILLER, REQUEST
from recollect.extract.rules.statements import ChangeReading, OwnSentence, read_change
from recollect.extract.statement_match import Words, word_hashes
from recollect.reconcile.ending_pairs import (
    change,
    may_be_about,
    read,
    same_slot,
    says_another_value,
    score,
    shares,
)
from recollect.reconcile.related_beliefs import cosine, cosines, standing, words_of
from recollect.reconcile.same_sense import denied, sense_lost
from recollect.service.quotes import CUT, UserPrompt
from recollect.service.runtime import ServiceRuntime

_ORDERS_TO_FORGET = word_hashes(
    "forget drop delete remove end correct rule rules note notes convention about said please"
)


class Doubt(NamedTuple):
    why: str  # "..., because WHY."
    advice: str


NO_QUOTE = Doubt(
    "no words of the user's are quoted, or no prompt of this session has them",
    "If the user said so, call again with those words as quote.",
)
_ASK = "Ask the user, or leave it to the review."
_WHOLE = "Quote the whole sentence, and keep the user's wording."


def not_said(
    text: str, prompt: UserPrompt | None, scope: BeliefScope = "project", known: str = ""
) -> Doubt | None:
    """Why a text is not what the user said. `known`: an older text that it takes up again."""
    if (doubt := _unusable(prompt, scope)) is not None or prompt is None:
        return doubt
    new = word_hashes(text) - word_hashes(known) if known else word_hashes(text)
    if not known and any(one.unsure and _weighs(one, text) for one in prompt.said):
        return Doubt("the user was not sure in the words that you quote", _ASK)
    if new and not _covered(new, prompt.words):
        return Doubt("the sentence that you quote does not say this", _WHOLE)
    if lost := sense_lost(text, prompt.text, known):
        return Doubt(f"the text is not what the quoted words say: {lost}", _WHOLE)
    return None


def not_changed(
    runtime: ServiceRuntime, record: Record, text: str | None, prompt: UserPrompt | None
) -> Doubt | None:
    """Why the user's words neither end a memory of the user's nor, with a text, replace it."""
    scope = record.scope if record.traits.is_belief else "project"
    if (doubt := _unusable(prompt, scope)) is not None or prompt is None:
        return doubt
    readings = [(one, _reading(prompt, one)) for one in prompt.said]
    adds = text is not None and _keeps(text, record, prompt)
    reasons = [_no_change(runtime, record, one, how, adds=adds) for one, how in readings]
    if all(reasons):
        return next(one for one in reasons if one is not None)
    if text is None:
        return None
    about = f"{record.title} {record.subject} {record.value}"
    new = word_hashes(text) - word_hashes(about)
    if new and not _covered(new, prompt.words):
        return Doubt("the sentence that you quote does not say what holds instead", _WHOLE)
    if lost := sense_lost(text, prompt.text, about):
        return Doubt(f"the text is not what the quoted words say: {lost}", _WHOLE)
    return None


def _unusable(prompt: UserPrompt | None, scope: BeliefScope) -> Doubt | None:
    """Why quoted words are no statement of the user's about what holds so far."""
    if prompt is None:
        return NO_QUOTE
    if prompt.objection == CUT:
        return Doubt(f"the quoted words are {CUT}", _WHOLE)
    if prompt.objection:
        return Doubt(f"the quoted words are {prompt.objection}, not what the user stated", _ASK)
    bound = next((one.bound for one in prompt.said if one.bound), "")
    if bound and bound != scope:
        held = "this once" if bound == "turn" else f"this {bound}"
        advice = _ASK if bound == "turn" else f"Store it with scope {bound} instead."
        return Doubt(f"the user said it only for {held}", advice)
    return None


def _weighs(one: OwnSentence, text: str) -> bool:
    """Whether a sentence is what a text rests on."""
    return bool(word_hashes(one.text) & word_hashes(text))


def _covered(words: Words, said: Words) -> bool:
    return bool(words) and len(words & said) >= ENDINGS.quoted * len(words)


# --- does it change this belief? -----------------------------------------------------------------


def _reading(prompt: UserPrompt, one: OwnSentence) -> ChangeReading:
    if prompt.commands:  # "/recollect forget ..." can be read as nothing else
        return ChangeReading("current", is_end=True, releases=True, names_rule=True)
    return read_change(one.text)


def _keeps(text: str, record: Record, prompt: UserPrompt) -> bool:
    """Whether a new text says all that the old one says, and more."""
    held = word_hashes(record.title)
    return held < word_hashes(text) and not sense_lost(text, record.title, prompt.text)


def _no_change(
    runtime: ServiceRuntime,
    record: Record,
    said: OwnSentence,
    how: ChangeReading,
    *,
    adds: bool = False,
) -> Doubt | None:
    vector = _vector(runtime, said.text)
    told = change(said.text, vector)
    names_it = bool(how.old) and word_hashes(how.old) <= words_of(record)
    task = REQUEST.match(FILLER.sub("", said.text))
    withdraws = how.is_end or how.says_so or names_it
    if how.state == "current":
        withdraws = withdraws or told >= ENDINGS.tells
        withdraws = withdraws or (how.since_when and same_slot(said.text, record.title))
        withdraws = withdraws or says_another_value(said.text, record.title)
    elif how.state == "proposed" or names_it:  # it may be a task, or not be a statement at all
        withdraws = told >= ENDINGS.tells and not task
    else:
        withdraws = False
    if how.is_end and task and not how.names_rule:
        withdraws = False  # "remove the file, it is no longer needed"
    if said.unsure and not how.is_end:
        withdraws = False
    if not withdraws:
        return Doubt("the sentence that you quote withdraws or changes nothing", _ASK)
    if not how.releases and _says_the_same(said.text, record):
        return Doubt("the sentence that you quote agrees with it", _ASK)
    told = max(told, ENDINGS.read_as_end)
    bar = ENDINGS.quoted_end if how.is_end or how.says_so or adds else ENDINGS.clear
    if not _is_about(runtime, record, said.text, how, vector, told, bar):
        return Doubt("the sentence that you quote is not clearly about this memory", _ASK)
    return None


def _says_the_same(said: str, record: Record) -> bool:
    """ "We no longer log bodies" withdraws nothing of "Never log bodies"."""
    mine, theirs = denied(record.title), denied(said)
    return bool(mine) and len(mine & theirs) >= ENDINGS.same_words * len(mine)


def _is_about(
    runtime: ServiceRuntime,
    record: Record,
    said: str,
    how: ChangeReading,
    vector: bytes | None,
    told: float,
    bar: float,
) -> bool:
    if not may_be_about(said, record.title):
        return False
    words, mine = word_hashes(said) - _ORDERS_TO_FORGET, words_of(record)
    if how.old:
        old = word_hashes(how.old)
        if old <= mine:
            return True
        rest = re.sub(re.escape(how.old), " ", said, flags=re.IGNORECASE)
        if mine & (words - old) and not says_another_value(rest, record.title):
            return False  # it has what took the place of something else
    shared = len(words & mine)
    by_words = shared and shared >= ENDINGS.same_words * min(len(words), len(mine))
    if how.is_end and (by_words or _tools(said) & _tools(record.title)):
        return True
    if _other_number(said, record.title) and not _by_frame(said, record.title):
        return False  # "the admin tool is on port 3100" says nothing of the API's port
    if vector is None:
        return bool(by_words) or (says_another_value(said, record.title) and how.says_so)
    others = _others(runtime, record)
    near = _cosines(runtime, [record, *others], vector)
    new = read(said)
    scores = {
        one.record_id: score(new, read(one.title), near.get(one.record_id, 0.0), told)
        for one in (record, *others)
    }
    mine_score = scores.pop(record.record_id)
    return shares([mine_score])[0] >= bar and all(
        one - mine_score <= ENDINGS.quoted_margin for one in scores.values()
    )


def _other_number(new: str, old: str) -> bool:
    """Whether both have a value of one type, and another one."""
    said, was = read(new).values, read(old).values
    return any(said[name] and was[name] and said[name] != was[name] for name in was)


def _by_frame(new: str, old: str) -> bool:
    """Whether a statement has more than half of the words of an older one besides its values."""
    frame = {one for one in read(old).words if not any(map(str.isdigit, one))}
    return 2 * len(frame & read(new).words) > len(frame)


def _tools(text: str) -> frozenset[str]:
    return frozenset[str]().union(*read(text).kinds.values())


def _others(runtime: ServiceRuntime, record: Record) -> list[Record]:
    places = (record.namespace, everywhere(record.namespace))
    found = standing(runtime.visible_store, places)
    return [one for one in found if one.record_id != record.record_id and one.author == "user"]


def _vector(runtime: ServiceRuntime, text: str) -> bytes | None:
    found = runtime.recall().engine.vector(text)
    return None if found is None else found.astype("<f4").tobytes()


def _cosines(runtime: ServiceRuntime, records: Sequence[Record], vector: bytes) -> dict[str, float]:
    """How near memories are in meaning, also those that have no vector yet."""
    from recollect.embedding.embedder import model_of, text_of

    found = cosines(runtime.store, records, vector, model_of(runtime.recall().embedder))
    wanted = records[0]
    if wanted.record_id not in found and (own := _vector(runtime, text_of(wanted))) is not None:
        found[wanted.record_id] = cosine(vector, own)
    return found
