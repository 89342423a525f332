"""What came of each turn of a session, as far as its later turns left it.

In: the turns of a session. Out: a TurnResult for each: its note, or none where the note was taken
back, replaced or made untrue later.
"""

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from recollect.core.tuning import NOTE_MAKING
from recollect.extract.normalised_text import content_words
from recollect.extract.rules import patterns
from recollect.extract.rules.commands import steps
from recollect.extract.rules.later_edits import LACKS, LaterEdits
from recollect.extract.rules.outcome import (
    ASIDES,
    TurnOutcome,
    is_problem,
    more_detail,
    outcome,
    with_finding,
)
from recollect.extract.rules.prose import Sentence, sentences
from recollect.extract.rules.repairs import RepairedCommand, find_repairs
from recollect.extract.rules.sentence_ranker import (
    Meanings,
    RankedSentence,
    asks_user,
    ranked,
)
from recollect.extract.rules.statements import statements_of
from recollect.extract.rules.summary import TurnResult
from recollect.extract.rules.titles import OFFERS
from recollect.extract.rules.turns import ToolCall, Turn
from recollect.extract.rules.user_words import not_chosen, quoted, remarks
from recollect.extract.rules.written_down import Message, messages_of, plan_heading
from recollect.work.paths import base

Sentences = Sequence[RankedSentence]
_CONCEDES = re.compile(
    r"(?:no, )?(?:i was wrong|i(?:'m| am) not sure|i (?:mis\w+|assumed)|my (?:mistake|bad)|sorry|"
    r"that(?:'s| is| was) (?:a|my) mistake|i apologi[sz]e)\b|"
    r"you're (?:absolutely )?right\W+(?:that's a mistake|i\b)",
    re.IGNORECASE,
)
# Headings under which stands what is to be mended.
_WRONG = re.compile(
    r"\b(?:bugs?|problems?|issues?|root causes?|fix(?:es)?|errors?)\b", re.IGNORECASE
)
_DEFECT = re.compile(
    r"\b(?:missing|lacks?|fail(?:s|ed|ing)?|bugs?|wrong\w*|incorrect\w*|broken|gaps?|unused|redundant\w*|"
    r"duplicat\w+|never|always|issues?|problems?)\b|(?:^|: )no\b|n't\b",
    re.IGNORECASE,
)
_ACCEPTS = re.compile(
    r"(?:yes|yeah|yep|yup|sure|ok(?:ay)?|do (?:it|that|so|both)|go ahead|please do|sounds good)\b",
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
    repairs = [find_repairs(turn, broken) for turn in turns]
    answer_before = ""
    all_said = [tuple(ranked(turn, meanings)) for turn in turns]
    edits = LaterEdits(turns, [[one.text for one in part] for part in all_said])
    undone = [edits.undone(at) for at in range(len(turns))]
    headings: dict[int, str] = {}  # of plans whose work was done again in a later turn
    for at, by in enumerate(undone):
        if by is not None:
            headings[by] = headings.get(by) or plan_heading(turns[at]) or headings.get(at, "")
    said, before = _still_true(turns, edits, all_said, _mended_checks(turns, repairs))
    messages, told_by = _messages(turns)
    for at, turn in enumerate(turns):
        stated = tuple(statements_of(turn, answer_before))
        held = [one for one in stated if one.state == "current"]  # what is proposed is not told
        came = outcome(
            turn,
            repairs[at],
            said[at],
            stated=[sentence for one in held for sentence in one.said],
            messages=[_still_written(one, edits, at) for one in messages[at]],
            before=before[at],
            heading=headings.get(at, ""),
            followed=edits.followed(at, turn.answered) is not None,
        )
        gone = undone[at] is not None or taken_back(turn, turns[at + 1 :])
        # It only committed what another turn did.
        gone = gone or (told_by.get(at, at) != at and not turn.works())
        gone = gone or _misled(turns, undone, at)
        stands = None if gone else came
        told.append(TurnResult(turn, stands, stated, tuple(said[at])))
        answer_before = turn.answered or answer_before
    return _with_words(_with_findings_as_before(_without_replaced(told)), told_by)


def _mended_checks(
    turns: Sequence[Turn], repairs: Sequence[Sequence[RepairedCommand]]
) -> dict[int, int]:
    """Turns that left a command failing, each with the later turn in which it passes again."""
    turn_of = {call.event_id: at for at, turn in enumerate(turns) for call in turn.calls}
    found: dict[int, int] = {}
    for at, part in enumerate(repairs):
        failed = (turn_of[one.event_ids[0]] for one in part)
        found |= {number: at for number in failed if number < at}
    return found


def _still_true(
    turns: Sequence[Turn],
    edits: LaterEdits,
    said: Sequence[Sentences],
    mended: Mapping[int, int],
) -> tuple[list[list[RankedSentence]], list[list[RankedSentence]]]:
    """The sentences of each turn that later edits left true; and for each turn what was found
    before it and is no longer so because of it."""
    before: list[list[RankedSentence]] = [[] for _ in turns]
    true: list[list[RankedSentence]] = []
    edited: list[set[str]] = [set() for _ in turns]  # files that later turns wrote
    for at in range(len(turns) - 2, -1, -1):
        edited[at] = edited[at + 1] | set(map(base, turns[at + 1].written()))
    for at, part in enumerate(said):
        following = turns[at + 1] if at + 1 < len(turns) else None
        gone = None if turns[at].written() else edits.shown_code_edited(at, turns[at].answered)
        doubted = _lists_quoted(following, part)
        # The turn that ended what this one says is missing or wrong.
        next_work = at + 1 if _accepted(turns, at) else mended.get(at)
        if next_work is None and not turns[at].written():
            next_work = edits.followed(at, turns[at].answered)
        ended = [
            (
                one,
                edits.outdated(at, one.text)
                or _followed_up(turns, at, one.sentence)
                or (next_work if next_work and _DEFECT.search(one.text) else gone),
            )
            for one in part
            if one.sentence.lead not in doubted and not _taken_up(following, edited[at], one)
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


def _lists_quoted(following: Turn | None, part: Sentences) -> set[str]:
    """What leads to lists of which the user quotes an item when asking for another edit: the other
    items tell of the same part of the work."""
    if following is None or not following.works():
        return set()
    items = [one for one in part if one.sentence.listed and one.sentence.lead]
    return {one.sentence.lead for one in items if quoted(following, one.text)}


def _taken_up(following: Turn | None, edited: AbstractSet[str], one: RankedSentence) -> bool:
    """Whether the user quotes a sentence next, which is then talked about; or it is a detail about
    a file that was `edited` again."""
    if following is not None and quoted(following, one.text):
        return True
    done = patterns.DONE_FIRST.match(one.text.rpartition(": ")[2])
    return one.keep < NOTE_MAKING.keep and not done and any(name in one.text for name in edited)


def _accepted(turns: Sequence[Turn], at: int) -> bool:
    """Whether an answer asks what to do, and the next turn does what the user says in a word."""
    if at + 1 == len(turns) or not turns[at + 1].works():
        return False
    asked = turns[at + 1].asked.strip()
    chosen = len(asked) <= NOTE_MAKING.choice_chars and not asked.endswith("?")
    return asks_user(turns[at].answered) and (chosen or _ACCEPTS.match(asked) is not None)


def _misled(turns: Sequence[Turn], undone: Sequence[int | None], at: int) -> bool:
    """Whether what a turn found about a problem led to an edit that did not last."""
    if turns[at].written() or not is_problem(turns[at]):
        return False
    soon = range(at + 1, min(at + 1 + NOTE_MAKING.leads_to, len(turns)))
    first = next((number for number in soon if turns[number].written()), None)
    return first is not None and undone[first] is not None


def _followed_up(turns: Sequence[Turn], at: int, said: Sentence) -> int | None:
    """The turn that mended what a sentence of an earlier one says about a problem, or names as a
    cause or a lack: soon after, it edited the file that the sentence names."""
    text, answer = said.text, turns[at].answered
    offers = _WRONG.search(said.heading) and answer.rstrip().endswith("?")
    wrong = is_problem(turns[at]) or patterns.CAUSE.search(text) or LACKS.search(text) or offers
    if turns[at].written() or not wrong:
        return None
    for number in range(at + 1, min(at + 1 + NOTE_MAKING.followed_up, len(turns))):
        named = answer if offers and number == at + 1 else text
        if any(base(path) in named for path in turns[number].written()):
            return number
    return None


def _still_written(message: Message, edits: LaterEdits, at: int) -> Message:
    """The message of a commit without what later turns made untrue."""
    left = [one for one in message.sentences if edits.outdated(at, one.text) is None]
    return replace(message, sentences=tuple(left))


def _messages(turns: Sequence[Turn]) -> tuple[list[list[Message]], dict[int, int]]:
    """The messages of commits, each at the turn whose work it tells: the one that made the commit,
    or, if that one edited and delegated nothing, the one since the commit before that shares most
    words; then also which turn that is."""
    found: list[list[Message]] = [[] for _ in turns]
    told_by: dict[int, int] = {}
    waiting: list[int] = []
    last: tuple[int, Message] | None = None  # and the turn at which it is told
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
            if one.amends and last is not None:
                by, before = last
                found[by] = [two for two in found[by] if two is not before]
                work = [by, *work]
            told_by[at] = max(
                work, key=lambda n: len(words & set(content_words(turns[n].answered)))
            )
            found[told_by[at]].append(one)
            last = told_by[at], one
        if made:
            waiting = []
    return found, told_by


def _with_words(told: Sequence[TurnResult], told_by: dict[int, int]) -> list[TurnResult]:
    """With what the user said in turns that have no note: it stands in the note of the work that
    was committed there, or else in that of the next turn which has one."""
    spoken: dict[int, list[str]] = {}
    waiting: list[str] = []
    for at, one in enumerate(told):
        work = told_by.get(at, at)
        waiting += not_chosen(told[at - 1].turn.answered, one.turn.asked) if at else []
        if one.outcome is not None:
            spoken.setdefault(at, []).extend(waiting[-NOTE_MAKING.carried :])
            waiting = []
        elif work != at and told[work].outcome is not None:
            spoken.setdefault(work, []).extend(remarks(one.turn))
        else:
            waiting += remarks(one.turn)
    return [
        replace(one, outcome=more_detail(one.outcome, spoken.get(at, ()))) if one.outcome else one
        for at, one in enumerate(told)
    ]


def _without_replaced(told: Sequence[TurnResult]) -> list[TurnResult]:
    """Without outcomes that a later one of the session tells again, of the same files, and without
    findings that an earlier one has. What was found on the way, and what the user said, is told by
    the note that is left."""
    left = list(told)
    for at, one in enumerate(told):
        came = one.outcome
        if came is None:
            continue
        earlier = [two.outcome for two in told[:at] if two.outcome and not came.files]
        by = next(
            (n for n in range(at + 1, len(told)) if _tells_again(told[n].outcome, came)), None
        )
        if by is not None or any(_covers(two, came.title, 0.9) for two in earlier):
            left[at] = replace(one, outcome=None)
        after = left[by].outcome if by is not None else None
        if by is not None and after is not None:
            kept = [line for line in came.detail.splitlines() if line.startswith(ASIDES)]
            left[by] = replace(left[by], outcome=more_detail(after, kept))
    return left


def _with_findings_as_before(told: Sequence[TurnResult]) -> list[TurnResult]:
    """What was found about the matter that a later turn worked on stands in that turn's note, as
    how it was then: nearly all such findings were no longer so in the end, and nothing in the
    record tells which sentences. The cause of a problem stays what it was, and so does what was
    read on the web."""
    left = list(told)
    for at, one in enumerate(told):
        came = one.outcome
        if came is None or came.type != "discovery" or came.tool_class == "research":
            continue
        if is_problem(one.turn) and patterns.CAUSE.search(f"{came.title} {came.summary}"):
            continue
        words = set(content_words(f"{came.title} {came.summary}"))
        shared = [
            (len(words & _words_of(two.outcome)), -number)
            for number, two in enumerate(left[at + 1 :], at + 1)
            if two.outcome and two.turn.works()
        ]
        most, number = max(shared, default=(0, 0))
        after = left[-number].outcome
        if after is not None and most and most >= NOTE_MAKING.worked_on * len(words):
            left[-number] = replace(
                left[-number],
                outcome=with_finding(after, came),
                found_in=(*left[-number].found_in, one.turn),
            )
            left[at] = replace(one, outcome=None)
    return left


def _words_of(came: TurnOutcome) -> set[str]:
    return set(content_words(f"{came.title} {came.summary} {came.detail}"))


def _tells_again(after: TurnOutcome | None, came: TurnOutcome) -> bool:
    if after is None or set(came.files).isdisjoint(after.files):
        return False
    return _covers(after, came.title, 0.7) and _covers(after, f"{came.title} {came.summary}", 0.5)


def _covers(came: TurnOutcome, text: str, share: float) -> bool:
    """Whether an outcome has so many of the words of a text."""
    words = set(content_words(text))
    return len(words & _words_of(came)) >= share * len(words)
