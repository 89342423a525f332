"""What was written down about some work: messages of commits, pull requests, plans.

In: a turn. Out: their subjects and sentences.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from recollect.core.tuning import NOTE_MAKING
from recollect.extract.normalised_text import content_words
from recollect.extract.rules.commands import amends, commit_message, pull_request
from recollect.extract.rules.prose import (
    Sentence,
    placed_sentences,
    plain,
    shortened,
    with_short_paths,
)
from recollect.extract.rules.sentence_ranker import BEFORE, RankedSentence
from recollect.extract.rules.titles import is_talk, leads_in
from recollect.extract.rules.turns import Turn

# Headings of a plan under which it says why.
_REASONS = re.compile(
    r"(?:the )?(?:context|problem|background|motivation|why|root cause)\b",
    re.I,
)
# Where a plan that is to be carried out names itself.
_PLAN = re.compile(
    r"\s*(implement the following plan:?\s+)?#{1,3} +((?:[\w-]+ )?plan\s*[:—–-] *)?(\S[^\n]*)", re.I
)
# Headings of a pull request under which it says how it was checked.
_CHECKED = re.compile(r"(?:test|testing|checklist|verification|how to test)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Message:
    """What was written down of some work: the message of a commit, the text of a pull request."""

    subject: str
    sentences: tuple[Sentence, ...]
    amends: bool = False  # stands for the message of the commit before it


def messages_of(turn: Turn) -> list[Message]:
    """The messages of the commits that a turn made, then the pull request that it opened."""
    calls = turn.commands()
    found = [(*commit_message(call), amends(call)) for call in calls]
    found += [(*pull_request(call), False) for call in calls]
    return [
        Message(
            subject,
            tuple(one for one in placed_sentences(body) if not _CHECKED.match(one.heading)),
            amended,
        )
        for subject, body, amended in found
        if subject
    ]


def written_down(messages: Sequence[Message], subject: str) -> list[RankedSentence]:
    """What the messages say besides the subject that is the title."""
    found: dict[str, Sentence] = {}
    for message in messages:
        if message.subject != subject:
            found.setdefault(message.subject, Sentence(message.subject, "", False, False, True))
        for one in message.sentences:
            if not one.is_heading and not leads_in(one.text) and not is_talk(one.text):
                found.setdefault(one.text, one)
    return [RankedSentence(one, NOTE_MAKING.written, 0.0) for one in found.values()]


def plan_heading(turn: Turn) -> str:
    """The heading of a plan that the turn was to carry out."""
    found = _PLAN.match(turn.asked[:1_000])
    if found is None or not (found[1] or found[2]) or not turn.written():
        return ""
    heading = shortened(plain(found[3]), NOTE_MAKING.title_chars)
    return heading if len(content_words(heading)) >= 2 else ""


def plan_reasons(turn: Turn) -> list[str]:
    """Why a plan that the turn carried out was made, in its own words: how it was before."""
    if not plan_heading(turn):
        return []
    found = [
        BEFORE + with_short_paths(one.text, turn.project)
        for one in placed_sentences(turn.asked[:6_000])
        if _REASONS.match(one.heading) and not (one.listed or one.is_heading)
        if len(content_words(one.text)) >= 5 and not one.text.endswith(":")
    ]
    return found[: NOTE_MAKING.reasons]
