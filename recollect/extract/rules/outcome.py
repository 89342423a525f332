"""The outcome of a turn: a change, a fixed error, a discovery, research; or nothing worth keeping.

In: a turn, and what failed before it. Out: at most one TurnOutcome, however many calls it made: a
row per call would be a log, not a memory.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from recollect.core.kinds import ObservationType
from recollect.core.values import Author, ToolClass
from recollect.extract.normalised_text import content_words, names, normalised
from recollect.extract.rules import patterns
from recollect.extract.rules.commands import commit_subject, error_line, signature, steps
from recollect.extract.rules.prose import (
    capitalised,
    cut,
    list_sentences,
    plain,
    sentences,
    with_short_paths,
)
from recollect.extract.rules.turns import ToolCall, Turn

TITLE_CHARS = 160
SUMMARY_CHARS = 420
REQUEST_CHARS = 140
MOST_FACTS = 3
_LEAD_SENTENCES = 8
_SHORT_ANSWER = 160
_SHORT_PROMPT = 500


@dataclass(frozen=True)
class TurnOutcome:
    type: ObservationType
    tool_class: ToolClass
    title: str
    summary: str
    facts: tuple[str, ...]
    files: tuple[str, ...]
    author: Author
    confidence: float
    verified: bool


@dataclass(frozen=True)
class RepairedCommand:
    """A command that failed and later passed, with the files that were written between."""

    command: str
    error: str
    files: tuple[str, ...]
    event_ids: tuple[str, ...]


def outcome(
    turn: Turn, repairs: Sequence[RepairedCommand], *, first_work: bool, stated: Sequence[str] = ()
) -> TurnOutcome | None:
    """`first_work`: nothing was written in the session before, so a commit is news. `stated`: the
    sentences that are kept as statements; what stands there is not told a second time."""
    told = frozenset(map(normalised, stated))
    written = tuple(turn.written())
    lead = [one for one in informative(turn.answered) if normalised(one) not in told]
    subjects = map(commit_subject, turn.commands())
    subject = next((one for one in subjects if len(content_words(one)) >= 3), "")
    problem = is_problem(turn)
    acted = bool(written or repairs) or (problem and _ran_fix(turn))
    if acted:
        if is_chore(turn, lead, repairs) or _says_nothing(turn, lead, subject, told):
            return None
        if not subject and (_only_merges(turn) or _left_open(turn, lead)):
            return None
        return _work(turn, lead, subject, repairs, written, problem, told)
    if subject and first_work:
        return _outcome(turn, "tool_use", "command", subject, [], (), (), author="assistant")
    if patterns.REVIEW.search(turn.asked[:300]):
        return None
    if problem or _names_cause(lead):
        return _discovery(turn, lead)
    return (_discovery(turn, lead) if _asks_why(turn) else None) or _research(turn, lead)


def informative(text: str) -> list[str]:
    """The first informative sentences of an answer: no chatter, no offers."""
    found: list[str] = []
    done = patterns.NEXT_SECTION.split(text, maxsplit=1)[0]
    for sentence in sentences(done)[:40]:
        leads_in = sentence.endswith(":") and len(sentence) < 70 and not names(sentence)
        leads_in = leads_in and not (
            patterns.DONE_FIRST.match(sentence) and len(content_words(sentence)) >= 4
        )
        sentence = sentence.strip(" -:—")
        step = patterns.STEP_NUMBER.sub("", sentence)
        sentence = step if patterns.DONE_FIRST.match(step) else sentence
        if len(sentence) < 12 or leads_in or sentence.endswith("?"):
            continue
        if patterns.CHATTER.match(sentence) or patterns.ENUMERATED.match(sentence):
            continue
        if patterns.NEXT_INLINE.match(sentence):
            continue
        found.append(sentence)
        if len(found) == _LEAD_SENTENCES:
            break
    return found


def headline(answer: str, lead: Sequence[str], asked: str = "") -> str:
    """The sentence that can stand alone, best first: it says what was done; it says what is so now;
    the order itself, as a person gave it; what was done, from a list; it names something."""
    details = list_sentences(answer)
    whole = [one for one in lead if _says_what(one) and not patterns.DANGLES.search(one)]
    said = [one for one in whole if one not in details and not patterns.LEANS.match(one)]
    ways = (
        (one for one in said if patterns.DONE_FIRST.match(one)),
        (one for one in said if patterns.DONE.search(one) and len(content_words(one)) >= 4),
        (one for one in (order(asked),) if one),
        (one for one in whole if patterns.DONE_FIRST.match(one) and names(one)),
        (one for one in said if names(one) and not patterns.UNSURE.search(one)),
        (one for one in lead if patterns.DONE.match(one) and len(names(one)) > 1),
    )
    return next((one for way in ways for one in way), "")


def _says_what(sentence: str) -> bool:
    words = len(content_words(sentence))
    return words >= 4 or (words == 3 and bool(names(sentence)))


def order(asked: str) -> str:
    """What somebody wanted done, without the polite part; empty when it does not stand alone."""
    polite = patterns.ORDER.match(asked)
    bare = asked[polite.end() :].rstrip(" ?") if polite else ""
    leans = {"it", "this", "that", "them", "these", "those"} & set(bare.lower().split()[1:3])
    return "" if leans or len(content_words(bare)) < 4 else bare


def is_problem(turn: Turn) -> bool:
    """Whether the user reports that something is wrong."""
    text = turn.asked[:3000]
    if text.lstrip().lower().startswith("implement"):
        return False
    return bool(patterns.PROBLEM.search(text))


def request(turn: Turn, told: frozenset[str] = frozenset()) -> str:
    """What was asked for, in the user's words, on one line; empty when it says too little. `told`:
    sentences that are no request, normalised."""
    for text in (text for _, text in turn.prompts):
        for sentence in sentences(text)[:6]:
            sentence = patterns.FILLER.sub("", sentence)
            if patterns.DOCUMENT.search(text[:200]) and patterns.DOCUMENT.match(sentence):
                continue
            if told and normalised(sentence) in told:
                continue
            words = len(content_words(sentence))
            if words >= 3 or (words == 2 and names(sentence)):
                return cut(sentence, REQUEST_CHARS)
    return ""


def find_repairs(turn: Turn, broken: dict[str, ToolCall]) -> list[RepairedCommand]:
    """Commands that pass now and failed before. `broken` keeps failing commands between turns."""
    found: list[RepairedCommand] = []
    edits: dict[str, list[str]] = {key: [] for key in broken}
    for call in turn.calls:
        if call.tool_class == "file-write" and not call.failed:
            for files in edits.values():
                files += [path for path in call.files if path not in files]
        elif call.tool_class == "command" and not call.refused:
            for key in map(signature, steps(call.command)):
                if patterns.LOOKING.match(key):
                    continue
                if call.failed:
                    broken.setdefault(key, call)
                    edits.setdefault(key, [])
                elif key in broken:
                    failure = broken.pop(key)
                    found.append(
                        RepairedCommand(
                            key,
                            error_line(failure.output),
                            tuple(edits.pop(key)),
                            (failure.event_id, call.event_id),
                        )
                    )
    return found


def _work(
    turn: Turn,
    lead: list[str],
    subject: str,
    repairs: Sequence[RepairedCommand],
    written: tuple[str, ...],
    problem: bool,
    told: frozenset[str],
) -> TurnOutcome | None:
    cause = _cause(lead, strict=not problem)
    mended = [one for one in repairs if one.error and not patterns.TIDYING.search(one.command)]
    facts = [_repair_text(one) for one in mended]
    outright = bool(cause) and bool(patterns.ROOT_CAUSE.search(cause))
    kind: ObservationType = "error" if (problem and cause) or outright else "tool_use"
    if kind == "tool_use" and not written and not repairs and not _ran_change(turn):
        return None
    asked = request(turn, told)
    title = cause if cause and kind == "error" else subject or headline(turn.answered, lead, asked)
    if not title:
        ordered = not patterns.NO_ORDER.search(asked)
        plainly = len(content_words(asked)) >= 4 and ordered
        telling = next((one for one in lead if len(content_words(one)) >= 3), "")
        title = asked if plainly or (ordered and not telling) else telling
    if not title:
        title = "Changed " + ", ".join(map(os.path.basename, written[:4]))
    rest = [asked, *(one for one in lead if one != title)]
    return _outcome(
        turn,
        kind,
        "file-write" if written else "command",
        title,
        rest,
        facts,
        written,
        author="tool" if facts else "assistant",
        verified=bool(repairs),
    )


def _discovery(turn: Turn, lead: list[str]) -> TurnOutcome | None:
    """Nothing was changed, but the answer names a cause."""
    cause = _cause(lead, strict=not is_problem(turn)) or _finding(turn, lead)
    guess = any(patterns.UNSURE.search(one) for one in lead[:3])
    if not cause or guess or not names(" ".join(lead)):
        return None
    rest = [request(turn), *(one for one in lead if one != cause)]
    return _outcome(turn, "discovery", "tool-use", cause, rest, (), (), author="assistant")


def _research(turn: Turn, lead: list[str]) -> TurnOutcome | None:
    looked = [call for call in turn.calls if call.tool_class in ("research", "delegation")]
    if not looked or not lead or any(patterns.UNSURE.search(one) for one in lead[:2]):
        return None
    if len(names(" ".join(lead))) < 2 or not request(turn):
        return None
    from_web = any(call.tool_class == "research" for call in looked)
    return _outcome(
        turn,
        "discovery",
        "research" if from_web else "delegation",
        headline(turn.answered, lead) or lead[0],
        [request(turn), *lead],
        (),
        (),
        author="web" if from_web else "assistant",
    )


def _outcome(
    turn: Turn,
    kind: ObservationType,
    tool_class: ToolClass,
    title: str,
    rest: Sequence[str],
    facts: Sequence[str],
    files: Sequence[str],
    *,
    author: Author,
    verified: bool = False,
) -> TurnOutcome:
    title = as_title(title, turn.project)
    said = [one for one in rest if one and one[:60].lower() not in title.lower()]
    return TurnOutcome(
        type=kind,
        tool_class=tool_class,
        title=title,
        summary=cut(" ".join(map(ended, said)), SUMMARY_CHARS),
        facts=tuple(facts[:MOST_FACTS]),
        files=tuple(files[:50]),
        author=author,
        confidence=0.9 if verified else 0.8 if kind == "tool_use" else 0.7,
        verified=verified,
    )


def as_title(text: str, project: str) -> str:
    """A sentence as a title: without who did it, and with short paths."""
    text = patterns.HEADED.sub("", text)
    if patterns.DONE_FIRST.match(text):
        text = patterns.WHO_DID.sub("", text)
    return cut(capitalised(with_short_paths(text, project).rstrip(" :")), TITLE_CHARS)


def _cause(lead: Sequence[str], *, strict: bool) -> str:
    """The sentence that names the cause: an outright one first."""
    for one in lead:
        if patterns.ROOT_CAUSE.search(one) and not patterns.UNSURE.search(one):
            return one
    if strict:
        return ""
    return next(
        (one for one in lead if patterns.CAUSE.search(one) and not patterns.UNSURE.search(one)), ""
    )


def _finding(turn: Turn, lead: Sequence[str]) -> str:
    """The user asked why, and the answer gives the cause without the word "because"."""
    if not _asks_why(turn):
        return ""
    details = list_sentences(turn.answered)
    return next(
        (
            one
            for one in lead
            if patterns.FINDING.search(one)
            and one not in details
            and len(content_words(one)) >= 5
            and not patterns.UNSURE.search(one)
        ),
        "",
    )


def _asks_why(turn: Turn) -> bool:
    return bool(patterns.INQUIRY.search(turn.asked[:_SHORT_PROMPT]))


def _names_cause(lead: Sequence[str]) -> bool:
    return any(patterns.ROOT_CAUSE.search(one) for one in lead[:4])


def _ran_fix(turn: Turn) -> bool:
    """Whether a command succeeded that the answer names: it was the fix, not an inspection."""
    answer = plain(turn.answered).lower()
    return any(
        not call.failed and len(words := step.lower().split()) > 1 and " ".join(words[:2]) in answer
        for call in turn.commands()
        for step in steps(call.command)
        if not patterns.LOOKING.match(step)
    )


def is_chore(turn: Turn, lead: Sequence[str], repairs: Sequence[RepairedCommand] = ()) -> bool:
    """Whether a turn only kept house: it formatted, linted, corrected a comment."""
    if patterns.CHORE.match(patterns.FILLER.sub("", turn.asked.strip())):
        return len(turn.answered) < _SHORT_ANSWER or not lead
    if repairs and not all(patterns.TIDYING.search(one.command) for one in repairs):
        return False
    short = len(turn.answered) < _SHORT_ANSWER
    return short and bool(patterns.CHORE_ANSWER.search(turn.answered))


def _ran_change(turn: Turn) -> bool:
    """Whether a command succeeded that did more than inspect or check."""
    return any(
        not (patterns.LOOKING.match(step) or patterns.CHECKING.search(step))
        for call in turn.commands()
        if not call.failed
        for step in steps(call.command)
    )


def _says_nothing(turn: Turn, lead: Sequence[str], subject: str, told: frozenset[str]) -> bool:
    """The prompt is a question, a statement or too short, and no answer says what was done."""
    asked = request(turn, told)
    return not lead and not subject and (not asked or bool(patterns.NO_ORDER.search(asked)))


def _only_merges(turn: Turn) -> bool:
    """Only merges and their conflicts: the work itself was recorded where it was done."""
    asked = patterns.MERGING.search(turn.asked[:300])
    return bool(asked) and any(patterns.MERGES.search(call.command) for call in turn.commands())


def _left_open(turn: Turn, lead: Sequence[str]) -> bool:
    """The last check failed and nothing was concluded, or the answer only guesses."""
    done = any(patterns.DONE.search(one) for one in lead)
    if any(patterns.UNSURE.search(one) for one in lead[:3]) and not done:
        return True
    checks = turn.commands()
    return not lead and turn.followed and bool(checks) and checks[-1].failed


def _repair_text(repair: RepairedCommand) -> str:
    where = ", ".join(map(os.path.basename, repair.files[:3]))
    mended = f"; passes after a change to {where}" if where else "; passes now"
    return cut(f"{cut(repair.command, 80)} failed: {cut(repair.error, 140)}{mended}", 300)


def ended(sentence: str) -> str:
    return sentence if sentence[-1:] in ".!?…:;" else sentence + "."
