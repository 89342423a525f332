"""What came of each turn of a session, as far as its later turns left it.

In: the turns of a session. Out: a TurnResult for each: its note, or none where the note was taken
back, replaced or made untrue later.
"""

import dataclasses
import re
from collections.abc import Sequence

from recollect.core.tuning import NOTE_MAKING
from recollect.extract.normalised_text import content_words
from recollect.extract.rules import patterns
from recollect.extract.rules.commands import steps
from recollect.extract.rules.later_edits import LACKS, LaterEdits
from recollect.extract.rules.outcome import TurnOutcome, is_problem, outcome
from recollect.extract.rules.prose import sentences
from recollect.extract.rules.repairs import RepairedCommand, find_repairs
from recollect.extract.rules.sentence_ranker import Meanings, RankedSentence, ranked
from recollect.extract.rules.statements import statements_of
from recollect.extract.rules.summary import TurnResult
from recollect.extract.rules.titles import OFFERS
from recollect.extract.rules.turns import ToolCall, Turn
from recollect.extract.rules.written_down import Message, messages_of, plan_heading
from recollect.work.paths import base

Sentences = Sequence[RankedSentence]
_CONCEDES = re.compile(
    r"(?:no, )?(?:i was wrong|i(?:'m| am) not sure|i (?:mis\w+|assumed)|my (?:mistake|bad)|sorry|"
    r"that(?:'s| is| was) (?:a|my) mistake|i apologi[sz]e)\b|"
    r"you're (?:absolutely )?right\W+(?:that's a mistake|i\b)",
    re.IGNORECASE,
)
_LOOK_AGAIN = re.compile(
    r"\b(?:check|look|validate|verify|review|read|think)\b.{0,80}\bagain\b|\bare you sure\b",
    re.IGNORECASE,
)
_STILL = re.compile(
    r"\b(?:still|again|same (?:error|issue|problem)|(?:doesn't|didn't|does not|did not) "
    r"(?:work|help|fix)|i (?:don't|can't) see|not fixed|are you sure)\b",
    re.IGNORECASE,
)


def taken_back(turn: Turn, later: Sequence[Turn]) -> bool:
    """Whether what a turn concluded did not stand: the user corrected it next, the agent took it
    back, or the first check that ran afterwards failed."""
    if not later:
        return False
    after = later[0]
    asked = next(iter(sentences(after.asked[:1_000])), "")
    refused = patterns.SAYS_NO.match(asked) is not None
    refused = refused or any(map(_CONCEDES.match, sentences(after.answered)[:2]))
    if turn.written():  # what was changed stands until the same files are changed again
        again = not turn.written().keys().isdisjoint(after.written())
        return again and (refused or _STILL.search(asked) is not None)
    corrected = patterns.CORRECTION.search(asked) or _LOOK_AGAIN.search(asked)
    return refused or corrected is not None or _first_check_fails(after)


def _first_check_fails(turn: Turn) -> bool:
    for call in turn.calls:
        if call.tool_class == "file-write":
            return False
        if call.tool_class == "command" and any(map(patterns.CHECKING.search, steps(call.command))):
            return call.failed and not call.refused
    return False


def turn_results(turns: Sequence[Turn], meanings: Meanings) -> list[TurnResult]:
    """What came of each turn, as far as later turns left it; what fails is carried over until it
    passes."""
    told: list[TurnResult] = []
    broken: dict[str, ToolCall] = {}
    answer_before = ""
    all_said = [tuple(ranked(turn, meanings)) for turn in turns]
    edits = LaterEdits(turns, [[one.text for one in part] for part in all_said])
    undone = [edits.undone(at) for at in range(len(turns))]
    headings: dict[int, str] = {}  # of plans whose work was done again in a later turn
    for at, by in enumerate(undone):
        if by is not None:
            headings[by] = headings.get(by) or plan_heading(turns[at]) or headings.get(at, "")
    said, before = _still_true(turns, edits, all_said)
    messages = _messages(turns)
    for at, turn in enumerate(turns):
        repairs: list[RepairedCommand] = find_repairs(turn, broken)
        stated = tuple(statements_of(turn, answer_before))
        held = [one for one in stated if one.state == "current"]  # what is proposed is not told
        came = outcome(
            turn,
            repairs,
            said[at],
            stated=[sentence for one in held for sentence in one.said],
            messages=[_still_written(one, edits, at) for one in messages[at]],
            before=before[at],
            heading=headings.get(at, ""),
        )
        gone = undone[at] is not None or taken_back(turn, turns[at + 1 :])
        gone = gone or _misled(turns, undone, at)
        stands = None if gone else came
        told.append(TurnResult(turn, stands, stated, tuple(said[at])))
        answer_before = turn.answered or answer_before
    return [_without_replaced(one, told[:at], told[at + 1 :]) for at, one in enumerate(told)]


def _still_true(
    turns: Sequence[Turn], edits: LaterEdits, said: Sequence[Sentences]
) -> tuple[list[list[RankedSentence]], list[list[RankedSentence]]]:
    """The sentences of each turn that later edits left true; and for each turn what was found
    before it and is no longer so because of it."""
    before: list[list[RankedSentence]] = [[] for _ in turns]
    true: list[list[RankedSentence]] = []
    for at, part in enumerate(said):
        ended = [
            (one, edits.outdated(at, one.text) or _followed_up(turns, at, one.text)) for one in part
        ]
        over = [(one, by) for one, by in ended if by is not None and one.keep >= NOTE_MAKING.keep]
        left = [one for one, by in ended if by is None]
        if not turns[at].written() and over:
            # What is left of a finding that is half over explains what is over.
            sure = [one for one in part if one.keep >= NOTE_MAKING.sure]
            lost = [one for one, _ in over if one.keep >= NOTE_MAKING.sure]
            first = max(part, key=lambda one: one.keep)
            if 2 * len(lost) >= len(sure) or first in (one for one, _ in over):
                left = []
            for one, by in over:
                if not OFFERS.search(one.text):
                    before[by].append(one)
        true.append(left)
    best = [sorted(part, key=lambda one: one.keep, reverse=True) for part in before]
    return true, best


def _misled(turns: Sequence[Turn], undone: Sequence[int | None], at: int) -> bool:
    """Whether what a turn found about a problem led to an edit that did not last."""
    if turns[at].written() or not is_problem(turns[at]):
        return False
    soon = range(at + 1, min(at + 1 + NOTE_MAKING.leads_to, len(turns)))
    first = next((number for number in soon if turns[number].written()), None)
    return first is not None and undone[first] is not None


def _followed_up(turns: Sequence[Turn], at: int, text: str) -> int | None:
    """The turn that mended what a sentence of an earlier one says about a problem, or names as a
    cause or a lack: soon after, it edited the file that the sentence names."""
    wrong = is_problem(turns[at]) or patterns.CAUSE.search(text) or LACKS.search(text)
    if turns[at].written() or not wrong:
        return None
    for number in range(at + 1, min(at + 1 + NOTE_MAKING.followed_up, len(turns))):
        if any(base(path) in text for path in turns[number].written()):
            return number
    return None


def _still_written(message: Message, edits: LaterEdits, at: int) -> Message:
    """The message of a commit without what later turns made untrue."""
    left = [one for one in message.sentences if edits.outdated(at, one.text) is None]
    return dataclasses.replace(message, sentences=tuple(left))


def _messages(turns: Sequence[Turn]) -> list[list[Message]]:
    """The messages of commits, each at the turn whose work it tells: the one that made the commit,
    or, if that one edited and delegated nothing, the one since the commit before that shares most
    words."""
    found: list[list[Message]] = [[] for _ in turns]
    waiting: list[int] = []
    for at, turn in enumerate(turns):
        if turn.written():
            waiting.append(at)
        made = messages_of(turn)
        for one in made:
            words = set(
                content_words(" ".join((one.subject, *(two.text for two in one.sentences))))
            )
            own = at in waiting or any(call.tool_class == "delegation" for call in turn.calls)
            work = [at] if own or not waiting else waiting
            found[
                max(work, key=lambda n: len(words & set(content_words(turns[n].answered))))
            ].append(one)
        if made:
            waiting = []
    return found


def _without_replaced(
    told: TurnResult, earlier: Sequence[TurnResult], later: Sequence[TurnResult]
) -> TurnResult:
    """Without an outcome that a later one of the session tells again, of the same files, and
    without a finding that an earlier one has."""
    came = told.outcome
    if came is None:
        return told
    for one in earlier if not came.files else ():
        if one.outcome is not None and _covers(one.outcome, came.title, 0.9):
            return dataclasses.replace(told, outcome=None)
    whole = f"{came.title} {came.summary}"
    for one in later:
        after = one.outcome
        if after is not None and not set(came.files).isdisjoint(after.files):
            again = _covers(after, came.title, 0.7) and _covers(after, whole, 0.5)
            if again:
                return dataclasses.replace(told, outcome=None)
    return told


def _covers(came: TurnOutcome, text: str, share: float) -> bool:
    """Whether an outcome has so many of the words of a text."""
    words = set(content_words(text))
    return len(words & set(content_words(f"{came.title} {came.summary}"))) >= share * len(words)
