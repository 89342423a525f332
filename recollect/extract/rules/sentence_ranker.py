"""Which sentences of an answer say what came of its turn.

In: a turn, and a way to ask what sentences mean, which answers nothing where no model is. Out: the
sentences with two probabilities each: that it is worth keeping, and that it can be a title. They
come from logistic regressions that `tests/bench/fit_sentences.py` fits on labelled sentences; a
second pair of them needs no model.
"""

import math
import os
import re
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from recollect.core import safe_files
from recollect.core.tuning import NOTE_MAKING
from recollect.extract.normalised_text import content_words, names, names_code
from recollect.extract.rules import patterns
from recollect.extract.rules.commands import commit_subject
from recollect.extract.rules.prose import Sentence, capitalised, placed_sentences, table_rows
from recollect.extract.rules.turns import Turn
from recollect.work.paths import base

# What a text adds to the odds: as a sentence worth keeping, as the heading above one; the same for
# titles.
Meaning = tuple[float, float, float, float]
Meanings = Callable[[Sequence[str]], Sequence[Meaning]]

BEFORE = "Found before the change: "
FEATURES = 57
_FULL = 5  # words
_WEIGHTS = os.path.join(os.path.dirname(__file__), "sentence_weights.f32")
_NARRATES = re.compile(
    r"(?:(?:ok(?:ay)?|good|great|perfect|first|next|then|so|now)[,.!]? )*"
    r"(?:let me|let's|lets|now i|(?:i'll|i will|i'm going to|i am going to|i need to|i should)\b)",
    re.IGNORECASE,
)
_POINTS_BACK = re.compile(r"(?:it|this|that|these|those|they|its|which|there)\b", re.IGNORECASE)
_SPEAKS = re.compile(r"(?:i|i've|i'm|we|we've)\b", re.IGNORECASE)
# Something that an earlier sentence names: "the change is ...", "both now ...".
_DEFINITE = re.compile(r"(?:the|both|all|each|its|their)\b", re.IGNORECASE)
_POINTS = re.compile(r"\b(?:this|that|these|those|it|they)\b", re.IGNORECASE)
_OF_US = re.compile(r"\b(?:I|we|We|my|My|our|Our|me|us)\b")
_MAY = re.compile(r"\b(?:would|could|might|should|may|can)\b", re.IGNORECASE)
_STANDS = re.compile(
    r"\b(?:pass(?:es|ed)?|green|clean|verified|confirmed|done|completed?|successfully)\b",
    re.IGNORECASE,
)
_IS_NOW = re.compile(r"\b(?:now|no longer|instead)\b", re.IGNORECASE)
_WAS = re.compile(r"\b(?:was|were|had)\b", re.IGNORECASE)
_DENIES = re.compile(r"n't\b|\b(?:not|never|no|only)\b", re.IGNORECASE)
_DID = re.compile(r"(?:(?:now|also|i|we|i've|we've) )*\w+ed\b", re.IGNORECASE)
_JOINS = re.compile(r"\b(?:because|since|so|but|not|no)\b", re.IGNORECASE)
_WAS_CAUSE = re.compile(r"\b(?:cause|reason|culprit|problem|issue|bug) was\b", re.IGNORECASE)
_GOES_WRONG = re.compile(
    r"\b(?:wait|still|interesting|actually|error|fail\w*|issue|bug|problem|why|debug|investigate|but)\b|"
    r"n't\b",
    re.IGNORECASE,
)
# What stands before a finding.
_SEES = re.compile(
    r"\A(?:(?:i see|i found|found)(?: it| the (?:issue|bug|problem|cause))?(?: more clearly)?"
    r"(?: now)?|you(?:'re| are) (?:absolutely )?right|so|ah|right|yes)\s*[,.!:—–-]+\s*|\Aso\s+",
    re.IGNORECASE,
)
# Thinking aloud, or what is to be done, not a finding.
_PLANS = re.compile(
    r"\b(?:let me|let's|i(?:'ll| need| should)|we (?:need|should)|the plan|for now|"
    r"(?:change|fix) needed)\b|"
    r"^(?:\w+ \d+: )?(?:first|then|add|change|update|remove|go to|make|use|move)\b",
    re.IGNORECASE,
)
_LOOKS = re.compile(
    r"(?:the (?:output|error|test output)|looking at|based on|but|however|and|wait|good|great|ok|"
    r"hmm|expected|interesting|now|need to|also)\b",
    re.IGNORECASE,
)
_TO_YOU = re.compile(r"\byour?\b", re.IGNORECASE)
# Asks the user what to do; what comes after it is what would be done.
_ASKS_USER = re.compile(
    r"(?=.*\?$)(?:(?:would|do|should|shall|want|may|can)\b.*?\b(?:you|me|i|we)\b|"
    r"(?:which|what|how) .{0,40}\b(?:would|do|should) (?:you|i|we)\b)",
    re.IGNORECASE,
)
_LEADS_TO_OFFERS = re.compile(
    r"\b(?:options?|alternatives?|approach(?:es)?|suggest\w*|recommend\w*|ideas?|could|should|would|"
    r"might|(?:can|to) either)\b|'d\b",
    re.IGNORECASE,
)
_OFFERS_HEADING = re.compile(
    r"(?:\w+ )?(?:options|alternatives|suggestions|recommendations|next steps)$", re.IGNORECASE
)
_OFFERED = re.compile(
    r"(?:option|approach|alternative|variant) \w\b|(?:fix )?suggestion\b|suggested\b|"
    r"recommend(?:ed|ation)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class RankedSentence:
    sentence: Sentence
    keep: float
    title: float
    aside: bool = False  # for the detail only

    @property
    def text(self) -> str:
        return self.sentence.text


def ranked(turn: Turn, meanings: Meanings = lambda texts: ()) -> list[RankedSentence]:
    """The sentences of a turn's answer in their order, without questions and narration; then what
    only the detail of a note tells: the rows of its tables, and what was found on the way."""
    main = _ranked(turn, _told_at_the_end(turn)[: NOTE_MAKING.sentences], meanings)
    rows = [one for one in table_rows(turn.answered) if len(content_words(one.text)) >= _FULL]
    aside = [one for one in rows if names(one.text)][: NOTE_MAKING.rows]
    # By form alone: there may be many, and what they mean costs most.
    aside += _best_on_the_way(_ranked(turn, _found_on_the_way(turn), lambda texts: ()))
    return [*main, *(RankedSentence(one, NOTE_MAKING.aside, 0.0, aside=True) for one in aside)]


def _ranked(turn: Turn, found: Sequence[Sentence], meanings: Meanings) -> list[RankedSentence]:
    weights = _weights()
    rows = features(turn, found)
    alone = [(_odds(weights[2], row), _odds(weights[3], row)) for row in rows]
    asked = [at for at, (keep, _) in enumerate(alone) if _chance(keep) >= NOTE_MAKING.hopeless]
    texts = [text for at in asked for text in (found[at].text, found[at].heading)]
    meant = meanings(texts) if texts else ()
    for number, at in enumerate(asked if meant else ()):
        own, heading = meant[2 * number], meant[2 * number + 1]
        alone[at] = (
            _odds(weights[0], rows[at]) + own[0] + heading[1],
            _odds(weights[1], rows[at]) + own[2] + heading[3],
        )
    stated = zip(found, alone, _offered(found), strict=True)
    return [
        RankedSentence(one, _chance(keep), _chance(title))
        for one, (keep, title), offered in stated
        if not offered and not one.text.endswith("?") and not narrates(one.text)
    ]


def _offered(found: Sequence[Sentence]) -> list[bool]:
    """Which sentences tell what could be done: those after a question to the user, the items of a
    list of options, and what is called one."""
    asked = listed = False
    offered = []
    for one in found:
        asked = asked or _ASKS_USER.match(one.text) is not None
        if not one.listed:
            listed = one.text.endswith(":") and _LEADS_TO_OFFERS.search(one.text) is not None
        named = _OFFERED.match(one.text) or _OFFERS_HEADING.match(one.heading)
        done = patterns.DONE_FIRST.match(one.text)
        offered.append(not done and (asked or listed or named is not None))
    return offered


def _told_at_the_end(turn: Turn) -> Sequence[Sentence]:
    """The sentences of the last answer. If it only says what is done next, or next to nothing, as
    that of a turn that was interrupted: those of the answers before it that name a cause or say
    what was done, where a transcript has them."""
    last = placed_sentences(turn.answered)
    if len(turn.answered) > NOTE_MAKING.last_answer and not all(narrates(one.text) for one in last):
        return last
    earlier = turn.answers[-NOTE_MAKING.answers_back : -1]
    before = [one for _, text in earlier for one in placed_sentences(text)]
    # "The cause is" may be a guess, and "Added" a plan.
    telling = [_WAS_CAUSE.search, *([patterns.DONE_FIRST.match] if turn.written() else [])]
    return [*(one for one in before if any(tells(one.text) for tells in telling)), *last]


def _found_on_the_way(turn: Turn) -> list[Sentence]:
    """What was said between the calls of a turn that edited, where a transcript has it: why it was
    done so. Not what the next two messages take back: after a guess that did not help comes the
    next one."""
    found: list[Sentence] = []
    texts = [text for _, text in turn.answers] if turn.written() else []
    for at, text in enumerate(texts[:-1]):
        after = [
            one.text for later in texts[at + 1 : at + 3] for one in placed_sentences(later)[:1]
        ]
        if not any(map(_GOES_WRONG.search, after)):
            found += placed_sentences(text)
    return found[-NOTE_MAKING.sentences :]


def _best_on_the_way(found: Sequence[RankedSentence]) -> list[Sentence]:
    """The surest of them, each marked, because it may tell how things were before the edit."""
    told = []
    for one in found:
        text = _SEES.sub("", one.text)
        leans = _SPEAKS.match(text) or patterns.LEANS.match(text) or patterns.UNSURE.search(text)
        leans = leans or _LOOKS.match(text) or _PLANS.search(text)
        if one.keep >= NOTE_MAKING.sure and names(text) and not leans and not text.endswith(":"):
            does = patterns.DONE_FIRST.match(text.rpartition("— ")[2])
            text = text if does else BEFORE + capitalised(text)
            marked = replace(one.sentence, text=text, heading="", lead="")
            told.append((one.keep, marked))
    least = sorted((keep for keep, _ in told), reverse=True)[: NOTE_MAKING.on_the_way]
    return [one for keep, one in told if keep >= least[-1]]


def features(turn: Turn, found: Sequence[Sentence]) -> list[list[float]]:
    """One row of numbers per sentence: where it stands, how it is built, what it shares with the
    prompt, the commit and the files of the turn."""
    subject = set(content_words(next(filter(None, map(commit_subject, turn.commands())), "")))
    asked = set(content_words(turn.asked[:1500]))
    written = turn.written()
    files = {base(path).lower() for path in written}
    works = bool(written)
    turn_row = [
        math.log1p(len(found)),
        bool(subject),
        works,
        math.log1p(len(written)),
        math.log1p(len(turn.calls)),
    ]
    rows = []
    before = 0  # sentences, without "Done." and its like
    for at, one in enumerate(found):
        text, low = one.text, one.text.lower()
        words = set(content_words(text))
        length = len(text.split())
        log_length = math.log1p(length)
        named = len(names(text))
        shared = len(words & asked)
        row = [
            at / len(found),
            before == 0,
            before < 3,
            math.log1p(before),
            at == len(found) - 1,
            one.listed,
            one.is_heading,
            one.opens,
            bool(one.heading),
            at > 0 and found[at - 1].text.endswith(":"),
            log_length,
            log_length * log_length,
            length < _FULL,
            length > 30,
            text.endswith(":"),
            text.endswith("?"),
            text.endswith("!"),
            math.log1p(named),
            named / max(length, 1),
            named == 0,
            bool(names(text[:25])),
            any(file in low for file in files),
            "/" in text,
            "→" in text or "->" in text,
            any(mark.isdigit() for mark in text),
            "test" in low,
            shared / max(len(words), 1),
            math.log1p(shared),
            len(words & subject) / max(len(subject), 1),
            _POINTS_BACK.match(text) is not None,
            _SPEAKS.match(text) is not None,
            _DID.match(text) is not None,
            _JOINS.search(text) is not None,
            _TO_YOU.search(text) is not None,
            narrates(text),
            *turn_row,
            *_of_its_words(text, works=works),
        ]
        rows.append([float(number) for number in row])
        before += length >= _FULL
    return rows


def _of_its_words(text: str, *, works: bool) -> list[bool]:
    """What a sentence says, and whether it can be understood alone."""
    begins = text[:40]
    done = patterns.DONE_FIRST.match(text) is not None
    return [
        _DEFINITE.match(text) is not None and not names(begins),
        _POINTS.search(text[1:]) is not None,
        _OF_US.search(text) is not None,
        text[:1].islower() and not names(text.split(" ", 1)[0]),
        names_code(text),
        names_code(begins),
        done,
        done and works,
        patterns.CAUSE.search(text) is not None,
        text.count(",") > 2,
        "—" in text or " - " in text,
        _MAY.search(text) is not None,
        _STANDS.search(text) is not None,
        _IS_NOW.search(text) is not None,
        _WAS.search(text) is not None,
        _DENIES.search(text) is not None,
        len(text) > 220,
    ]


def asks_user(answer: str) -> bool:
    """Whether an answer asks the user what to do."""
    return any(_ASKS_USER.match(one.text) for one in placed_sentences(answer))


def narrates(text: str) -> bool:
    """Whether somebody says what they are about to do."""
    return _NARRATES.match(text) is not None


def _odds(weights: Sequence[float], row: Sequence[float]) -> float:
    return sum(map(float.__mul__, weights, row)) + weights[-1]


def _chance(odds: float) -> float:
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, odds))))


@cache
def _weights() -> list[list[float]]:
    """Four rows, each with its constant at the end: worth keeping and title, with the meaning to be
    added; then the same two for when no meaning is known."""
    numbers = array("f", safe_files.read_whole(_WEIGHTS, 16 * (FEATURES + 1)))
    width = FEATURES + 1
    return [list(numbers[at * width : (at + 1) * width]) for at in range(4)]
