"""The outcome of a turn: a change, a mended error, a discovery, research; or nothing worth keeping.

In: a turn with its ranked sentences, and what failed before it. Out: at most one TurnOutcome,
however many calls it made: a row per call would be a log, not a memory.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import dropwhile

from recollect.core.kinds import ObservationType
from recollect.core.values import Author, ToolClass
from recollect.extract.normalised_text import content_words, names, normalised
from recollect.extract.rules import patterns
from recollect.extract.rules.commands import (
    commit_message,
    error_line,
    failed_step,
    pull_request,
    signature,
    steps,
)
from recollect.extract.rules.prose import (
    Sentence,
    capitalised,
    cut,
    is_whole,
    placed_sentences,
    plain,
    sentences,
    shortened,
    with_short_paths,
)
from recollect.extract.rules.sentence_ranker import RankedSentence, narrates
from recollect.extract.rules.turns import ToolCall, Turn

TITLE_CHARS = 160
SUMMARY_CHARS = 420
DETAIL_CHARS = 2_000
REQUEST_CHARS = 140
MOST_FACTS = 3
SHORT_ANSWER = 400  # characters of an answer of which every sentence counts
POOR = 0.1  # of what is told of a change where no sentence is better
KEEP = 0.3  # of a sentence beside a better one
SURE = 0.4  # of the best sentence of a turn that changed something
ASKED_FOR = 0.5  # of the best sentence of an answer to a question
CERTAIN = 0.65  # of the best sentence of a turn that changed nothing
GOOD = 0.2  # of a title
GOOD_ITEM = 0.35  # of a title from a list, which holds details
WRITTEN = 0.6  # of a sentence of a commit's message
FEWEST_FIXED = 5  # words of a problem, or of a question, that can be a title
MOST_HEADING_WORDS = 5
MOST_REASONS = 2
MOST_BEFORE = 1  # sentences on how it was before
_SHORT_ANSWER = 160
_ASKED, _WHY, _BEFORE, _FIXED = "Asked: ", "Why: ", "Before: ", "Fixed: "
# Headings of a plan under which it says why.
_REASONS = re.compile(
    r"(?:the )?(?:context|problem|goal|summary|background|motivation|why|overview|root cause)\b",
    re.I,
)
# A heading's first word, before what it heads.
_LABEL = re.compile(
    r"^(?:plan|summary|change|solution|fix|bug|issue|test|code change|title|result)"
    r"(?: \((?-i:[A-Z]+)\))?:\s+(?=(?:\S+\s+){2})",
    re.IGNORECASE,
)
# Where a plan that is to be carried out names itself.
_PLAN = re.compile(
    r"\s*(implement the following plan:?\s+)?#{1,3} +((?:[\w-]+ )?plan\s*[:—–-] *)?(\S[^\n]*)", re.I
)
_CONCEDES = re.compile(
    r"(?:no, )?(?:i was wrong|i(?:'m| am) not sure|i (?:mis\w+|assumed)|my (?:mistake|bad)|sorry|"
    r"that(?:'s| is| was) (?:a|my) mistake|i apologi[sz]e)\b|"
    r"you're (?:absolutely )?right\W+(?:that's a mistake|i\b)",
    re.IGNORECASE,
)
# What may be or could be done: offered, not done.
_HYPOTHETICAL = re.compile(
    r"\b(?:would|could|might|should|may|try|probably|likely)\b", re.IGNORECASE
)
_OF_ONESELF = re.compile(
    r"(?:i'm|i am|i'll|i'd|i was|my|i (?:also )?(?:see|saw|think|thought|need|can|can't|could|will|"
    r"believe|understand|assumed?|want|should|would|don't|didn't|noticed?|realized?|know|guess|hope|"
    r"suggest|recommend|found|have|haven't))\b|\*",
    re.IGNORECASE,
)
# Headings of a pull request under which it says how it was checked.
_CHECKED = re.compile(r"(?:test|testing|checklist|verification|how to test)\b", re.IGNORECASE)
# It only leads to what follows, or says of something unnamed what it does.
_NO_TITLE = re.compile(
    r"\A(?:(?i:.{0,200}\b(?:here(?:'s| is| are)|below|as follows|the following)\b|"
    r"now (?:correctly |also |always |only )?[a-z]+s\b)|"
    r"(?:Verifi|Check|Test|Use|Return|Create|Read|Assert|Ensure|Run|Call|Set|Show|Print|Cover|Fall|"
    r"Require|Handle|Take|Make|Get|Include|Document|Store|Find|Add|Keep|Detect|Scan|Fetch|Trigger|"
    r"List|Copi|Write|Remove|Validate|Wrap|Extract|Parse|Load|Save|Send|Build|Allow|Prevent|Support|"
    r"Skip|Exit|Satisfi|Move|Update|Replace|Select|Clear)(?:s|es)\b|"
    r"(?:Before|After|Pros|Cons|Note|Example|Title|Effort|Step \d+): |"
    r"[^-—–]{1,40}+(?<= )[-—–] "
    r"(?:Verifies|Checks|Tests|Uses|Returns|Creates|Reads|Asserts|Ensures)\b)"
)
# What may stand before a sentence and is no part of it: a commit's number, "Yes, ", "However, ".
_LEAD = re.compile(
    r"^(?:[0-9a-f]{7,40}\b[\s:—–-]*|based on [^,]{3,60}, |(?:yes|no)(?:,| [—–-]) |"
    r"(?:however|but|so|also|finally|overall),? )+",
    re.IGNORECASE,
)
# Headings that say no more than that something follows.
_SAYS_LITTLE = re.compile(
    r"(?:the |key |main |code |what |files? |test |final |full |new )*"
    r"(?:changes?|findings?|summary|details|results?|notes?|overview|points?|i did|was done|"
    r"changed|added|modified|implementation|how it works|analysis|solution|fix(?:es)?|answer|"
    r"explanation|review|example|behaviou?r|features?|tests?)\b.{0,12}$",
    re.IGNORECASE,
)
_AT_LINE = re.compile(r"lines? \d", re.IGNORECASE)
_CONDITION = re.compile(
    r"(?:if|when|once|should|in case|since|because|otherwise|next time|given|while|although|as|"
    r"after|until|unless)\b",
    re.IGNORECASE,
)
# What is to be done, or offered.
OFFERS = re.compile(
    r"\b(?:would|could|might|should|try|needs? to|(?:has|have) to|next (?:time|run))\b",
    re.IGNORECASE,
)
_JOINS = re.compile(r"(?:but|and|or|so|also|then|(?:even )?though|although)\b", re.IGNORECASE)
_OFFERED = re.compile(
    r"(?:option|approach|alternative|variant|(?:fix )?suggestion|suggested fix) ?\w?\b",
    re.IGNORECASE,
)
_SUSPECTED = re.compile(r"\b(?:suspicion|suspects?|presumably|seems?|appears?)\b", re.IGNORECASE)
_OPTIONS = re.compile(
    r"\b(?:options?|approach(?:es)?|alternatives?|recommend\w*|suggest\w*|ideas?|proposals?|proposed)\b",
    re.IGNORECASE,
)
_LOOK_AGAIN = re.compile(
    r"\b(?:check|look|validate|verify|review|read|think)\b.{0,80}\bagain\b|\bare you sure\b",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"\?|^\W*(?:what|how|why|which|where|who|does|is|are|do we)\b", re.IGNORECASE
)
_STILL = re.compile(
    r"\b(?:still|again|same (?:error|issue|problem)|(?:doesn't|didn't|does not|did not) "
    r"(?:work|help|fix)|i (?:don't|can't) see|not fixed|are you sure)\b",
    re.IGNORECASE,
)
_LINE_NUMBERS = re.compile(r"(?<=\w):\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*\b| ?\(lines? [\d, -]+\)")


@dataclass(frozen=True)
class TurnOutcome:
    type: ObservationType
    tool_class: ToolClass
    title: str
    summary: str
    detail: str
    facts: tuple[str, ...]
    files: tuple[str, ...]
    author: Author
    confidence: float
    verified: bool


@dataclass(frozen=True)
class Message:
    """What was written down of some work: the message of a commit, the text of a pull request."""

    subject: str
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True)
class RepairedCommand:
    """A command that failed and later passed, with the files that were written between."""

    command: str
    error: str
    files: tuple[str, ...]
    event_ids: tuple[str, ...]


def outcome(
    turn: Turn,
    repairs: Sequence[RepairedCommand],
    said: Sequence[RankedSentence],
    *,
    stated: Sequence[str] = (),
    messages: Sequence[Message] = (),
    before: Sequence[RankedSentence] = (),
    heading: str = "",
) -> TurnOutcome | None:
    """`said`: the sentences of the answer. `stated`: the sentences that are kept as statements;
    what stands there is not told a second time. `messages`: those of the commits with this work.
    `before`: what earlier answers said about how it was until this turn. `heading`: of a plan whose
    work this turn did again."""
    told = frozenset(map(normalised, stated))
    said = [one for one in said if normalised(one.text) not in told and not _is_talk(one.text)]
    kept = [one for one in said if one.keep >= KEEP]
    if kept and sum(len(one.text) for one in said) <= SHORT_ANSWER:
        kept = said  # the ranking learned from long answers; a short one says cause and fix
    best = max((one.keep for one in kept), default=0.0)
    written = tuple(turn.written())
    named = [one for one in messages if len(content_words(one.subject)) >= 3]
    subject = named[0].subject if named else ""
    noted = _written_down(messages, subject)
    acted = bool(written or repairs) or (best >= SURE and is_problem(turn) and _ran_fix(turn))
    if acted:
        if is_chore(turn, kept, repairs) or (best < CERTAIN and not subject and _only_merges(turn)):
            return None
        poor = [one for one in said if one.keep >= POOR]
        sentences = [*noted, *(kept or poor)]
        subject = subject or plan_heading(turn) or heading
        return _work(turn, sentences, subject, repairs, written, told, before)
    if subject:  # work that others did, or that was done before the session
        told_of = [*noted, *kept]
        return _outcome(turn, "tool_use", "command", subject, told_of, (), (), author="assistant")
    return _finding(turn, [one for one in kept if not _is_offered(one.sentence)])


def messages_of(turn: Turn) -> list[Message]:
    """The messages of the commits that a turn made, then the pull request that it opened."""
    calls = turn.commands()
    found = [*map(commit_message, calls), *map(pull_request, calls)]
    return [
        Message(
            subject, tuple(one for one in placed_sentences(body) if not _CHECKED.match(one.heading))
        )
        for subject, body in found
        if subject
    ]


def _written_down(messages: Sequence[Message], subject: str) -> list[RankedSentence]:
    """What the messages say besides the subject that is the title."""
    found: dict[str, Sentence] = {}
    for message in messages:
        if message.subject != subject:
            found.setdefault(message.subject, Sentence(message.subject, "", False, False, True))
        for one in message.sentences:
            if not one.is_heading and not _leads_in(one.text) and not _is_talk(one.text):
                found.setdefault(one.text, one)
    return [RankedSentence(one, WRITTEN, 0.0) for one in found.values()]


def _is_offered(one: Sentence) -> bool:
    """Whether a sentence says what could be done, or what may be the case."""
    return (
        any(words.search(one.text) for words in (_HYPOTHETICAL, patterns.UNSURE, _SUSPECTED))
        or (one.listed and patterns.REQUEST.match(one.text) is not None)
        or _OPTIONS.search(one.heading) is not None
    )


def _is_talk(text: str) -> bool:
    """Whether a sentence is about the conversation, not about the work."""
    if patterns.DONE_FIRST.match(text):
        return False
    return _OF_ONESELF.match(text) is not None or patterns.CHATTER.match(text) is not None


def _needed(turn: Turn, kept: Sequence[RankedSentence]) -> float:
    """How good the best sentence of a turn without a change must be: less if it was asked for."""
    if any(call.tool_class == "research" for call in turn.calls):
        return SURE
    if not is_problem(turn):
        return ASKED_FOR if _QUESTION.search(turn.asked[:300]) else CERTAIN
    return KEEP if any(patterns.CAUSE.search(one.text) for one in kept) else SURE


def plan_heading(turn: Turn) -> str:
    """The heading of a plan that the turn was to carry out."""
    found = _PLAN.match(turn.asked[:1_000])
    if found is None or not (found[1] or found[2]) or not turn.written():
        return ""
    heading = shortened(plain(found[3]), TITLE_CHARS)
    return heading if len(content_words(heading)) >= 2 else ""


def plan_reasons(turn: Turn) -> list[str]:
    """Why a plan that the turn was to carry out was made, in its own words."""
    if not plan_heading(turn):
        return []
    found = [
        _WHY + with_short_paths(one.text, turn.project)
        for one in placed_sentences(turn.asked[:6_000])
        if _REASONS.match(one.heading) and not (one.listed or one.is_heading)
        if len(content_words(one.text)) >= 5 and not one.text.endswith(":")
    ]
    return found[:MOST_REASONS]


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
            if patterns.MERGES.match(sentence):
                continue
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
            ran = steps(call.command)
            if call.failed:
                ran = [failed_step(call.command, call.output)]
            for key in map(signature, ran):
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
    kept: Sequence[RankedSentence],
    subject: str,
    repairs: Sequence[RepairedCommand],
    written: tuple[str, ...],
    told: frozenset[str],
    before: Sequence[RankedSentence],
) -> TurnOutcome | None:
    mended = [one for one in repairs if one.error and not patterns.TIDYING.search(one.command)]
    facts = [_repair_text(one) for one in mended]
    asked = request(turn, told)
    sure = [one for one in kept if one.keep >= SURE]
    ordered = as_title(order(asked), turn.project)
    title = as_title(subject, turn.project) or best_title(sure, turn.project, ordered)
    title = title or _stated_order(asked, turn.project)
    title = (
        title
        or best_title(kept, turn.project)
        or _title_of_part(kept, turn.project, next(reversed(written), ""))
    )
    title = title or best_title(kept, turn.project, leaning=True)
    title = title or next(map(_repair_title, mended), "")
    if not title:
        return None
    caused = is_problem(turn) and any(patterns.CAUSE.search(one.text) for one in kept)
    return _outcome(
        turn,
        "error" if caused or _was_broken(turn, mended) else "tool_use",
        "file-write" if written else "command",
        title,
        kept,
        facts,
        written,
        author="tool" if facts else "assistant",
        verified=bool(repairs),
        asked=asked,
        before=before,
    )


def _was_broken(turn: Turn, mended: Sequence[RepairedCommand]) -> bool:
    """Whether a command that was mended had failed before this turn wrote anything: then mending it
    is what the turn was about."""
    after = dropwhile(lambda call: call.tool_class != "file-write" or call.failed, turn.calls)
    own = {call.event_id for call in after}
    return any(one.event_ids[0] not in own for one in mended)


def _finding(turn: Turn, kept: Sequence[RankedSentence]) -> TurnOutcome | None:
    """Nothing was changed, but the answer says what was found; what it offers does not count."""
    needed = _needed(turn, kept)
    if max((one.keep for one in kept), default=0.0) < needed:
        return None
    sure = [one for one in kept if one.keep >= min(needed, SURE)]
    asked = request(turn)
    title = best_title(sure, turn.project)
    title = title or (as_title(asked, turn.project) if _is_question(asked) else "")
    title = title or _title_of_part(sure, turn.project)
    if not title or not names(" ".join(one.text for one in kept)):
        return None
    classes = {call.tool_class for call in turn.calls}
    looked: ToolClass = "tool-use"
    looked = next((one for one in ("research", "delegation") if one in classes), looked)
    author: Author = "web" if looked == "research" else "assistant"
    return _outcome(turn, "discovery", looked, title, kept, (), (), author=author, asked=asked)


def _is_question(asked: str) -> bool:
    """Whether it is a question that says what it is about."""
    return asked.endswith("?") and len(content_words(asked)) >= FEWEST_FIXED


def _title_of_part(kept: Sequence[RankedSentence], project: str, file: str = "") -> str:
    """The best sentence that says what something unnamed does, with the file that was written, or
    the heading above it: "cache.py: Keeps the rows for a minute"."""
    for one in sorted(kept, key=lambda one: one.keep, reverse=True):
        title = as_title(one.text, project)
        what = os.path.basename(file) or (
            one.sentence.heading if _heads(one.sentence.heading, "") else ""
        )
        talks = _is_talk(title) or _leads_in(one.text) or OFFERS.search(title)
        if what and _NO_TITLE.match(title) and not talks and len(content_words(title)) >= 4:
            return as_title(f"{what}: {title}", project)
    return ""


def _outcome(
    turn: Turn,
    kind: ObservationType,
    tool_class: ToolClass,
    title: str,
    kept: Sequence[RankedSentence],
    facts: Sequence[str],
    files: Sequence[str],
    *,
    author: Author,
    verified: bool = False,
    asked: str = "",
    before: Sequence[RankedSentence] = (),
) -> TurnOutcome:
    same = normalised(title)[:60]
    told = _headed(
        [
            one.sentence
            for one in kept
            if same not in normalised(one.text) and not _leads_in(one.text)
        ],
        title,
    )
    told += [_BEFORE + capitalised(_LEAD.sub("", one.text)) for one in before[:MOST_BEFORE]]
    told = [with_short_paths(one, turn.project) for one in _news(told, title)]
    wanted = [_ASKED + one for one in _news([asked], title, 0.6) if len(content_words(one)) >= 3]
    body, rest = _fitting(wanted, [*plan_reasons(turn), *told])
    return TurnOutcome(
        type=kind,
        tool_class=tool_class,
        title=title,
        summary=body,
        detail=rest,
        facts=tuple(facts[:MOST_FACTS]),
        files=tuple(files[:50]),
        author=author,
        confidence=0.9 if verified else 0.8 if kind == "tool_use" else 0.7,
        verified=verified,
    )


def _fitting(first: Sequence[str], told: Iterable[str]) -> tuple[str, str]:
    """Whole sentences: as many as a summary holds, and the rest."""
    body, rest = list(first), list[str]()
    room = SUMMARY_CHARS - sum(map(len, body))
    for one in told:
        if len(one) + 2 <= room and not rest:
            body.append(one)
            room -= len(one) + 2
        else:
            rest.append(one)
    detail = ""
    for one in rest:
        if len(detail) + len(one) <= DETAIL_CHARS:
            detail += ended(one) + "\n"
    return " ".join(map(ended, body)), detail.strip()


def _headed(found: Sequence[Sentence], title: str) -> list[str]:
    """The texts of sentences. The first item of a list has the heading that it needs to be
    understood: "Removed: the cache"."""
    texts: list[str] = []
    above = title
    for one in found:
        shown = one.listed and one.heading not in ("", above) and _heads(one.heading, title)
        texts.append(f"{one.heading}: {one.text}" if shown else one.text)
        above = one.heading if one.listed else above
    return texts


def _heads(heading: str, title: str) -> bool:
    few = 0 < len(content_words(heading)) <= MOST_HEADING_WORDS
    says = not _is_talk(heading) and not _SAYS_LITTLE.match(heading)
    return few and says and normalised(heading) not in normalised(title)


def _news(texts: Iterable[str], title: str, share: float = 0.9) -> list[str]:
    """Without texts whose words the title or one before them has."""
    found: list[str] = []
    known = [frozenset(content_words(title))]
    for text in texts:
        words = frozenset(content_words(text))
        if words and any(len(words & one) >= share * len(words) for one in known):
            continue
        found.append(text)
        known.append(words)
    return found


def best_title(
    kept: Sequence[RankedSentence], project: str, order: str = "", *, leaning: bool = False
) -> str:
    """The best sentence that stands alone and is not cut off anywhere. Where it is a poor title:
    the order that was given, or the heading above it that says what was done. `leaning`: it may
    depend on the sentence before it."""
    titles = _titles(kept, project, leaning=leaning)
    one, title = next(titles, (None, ""))
    if one is None or one.title >= (GOOD_ITEM if one.sentence.listed else GOOD):
        return title or order
    return order or _done_heading(one.sentence.heading, project) or title


def _titles(
    kept: Sequence[RankedSentence], project: str, *, leaning: bool
) -> Iterator[tuple[RankedSentence, str]]:
    """The sentences that can be a title, best first; what was done before how it was or is."""

    def worth(one: RankedSentence) -> float:
        return one.keep * one.title * (2 if patterns.DONE_FIRST.match(one.text) else 1)

    for one in sorted(kept, key=worth, reverse=True):
        if _leads_in(one.text) or _OFFERED.match(one.text) or patterns.UNSURE.search(one.text):
            continue
        title = as_title(one.text, project)
        if len(content_words(title)) < 2 + (not names(title)) or not is_whole(title):
            continue
        if _is_talk(title) or any(bad.match(title) for bad in (_AT_LINE, _CONDITION, _NO_TITLE)):
            continue
        if OFFERS.search(title) or (
            one.sentence.is_heading and not patterns.DONE_FIRST.match(title)
        ):
            continue
        leans = patterns.LEANS.match(title) or _JOINS.match(title)
        if bool(leans) == leaning and (not leans or len(names(title)) > 1):
            yield one, title


def _done_heading(heading: str, project: str) -> str:
    title = as_title(heading, project) if patterns.DONE_FIRST.match(heading) else ""
    return title if len(content_words(title)) >= 3 else ""


def as_title(text: str, project: str) -> str:
    """A sentence as a title: without who did it, line numbers and far paths; empty when it is too
    long and cannot be ended earlier."""
    text = _LABEL.sub("", _LEAD.sub("", text))
    bare = patterns.WHO_DID.sub("", text)
    text = bare if patterns.DONE_FIRST.match(text) else text
    text = _LINE_NUMBERS.sub("", with_short_paths(text, project)).rstrip(" :")
    text = capitalised(text)
    return shortened(text, TITLE_CHARS) or shortened(text.partition(" — ")[2], TITLE_CHARS)


def _leads_in(text: str) -> bool:
    """The words before a list or a piece of code, which say nothing without it."""
    return text.endswith(":") and len(content_words(text)) < 6


def _stated_order(asked: str, project: str) -> str:
    """What was asked for, if it says enough and is an order. Of something wrong that was reported:
    that it was fixed."""
    remark = patterns.NO_ORDER.search(asked) or narrates(asked)
    if remark or asked.endswith("…") or len(content_words(asked)) < 4:
        return ""
    title = as_title(asked, project)
    if patterns.PROBLEM.search(asked):
        return _FIXED + title if len(content_words(title)) >= FEWEST_FIXED else ""
    return title if patterns.ORDER.match(asked) else ""


def _ran_fix(turn: Turn) -> bool:
    """Whether a command succeeded that the answer names: it was the fix, not an inspection."""
    answer = plain(turn.answered).lower()
    return any(
        not call.failed and len(words := step.lower().split()) > 1 and " ".join(words[:2]) in answer
        for call in turn.commands()
        for step in steps(call.command)
        if not patterns.LOOKING.match(step)
    )


def is_chore(
    turn: Turn, kept: Sequence[RankedSentence], repairs: Sequence[RepairedCommand] = ()
) -> bool:
    """Whether a turn only kept house: it formatted, linted, corrected a comment."""
    if repairs and not all(patterns.TIDYING.search(one.command) for one in repairs):
        return False
    if patterns.CHORE.match(patterns.FILLER.sub("", turn.asked.strip())):
        return len(turn.answered) < _SHORT_ANSWER or not kept
    short = len(turn.answered) < _SHORT_ANSWER
    return short and bool(patterns.CHORE_ANSWER.search(turn.answered))


def _only_merges(turn: Turn) -> bool:
    """Only merges and their conflicts: the work itself was recorded where it was done."""
    asked = patterns.MERGING.search(turn.asked[:300])
    return bool(asked) and any(patterns.MERGES.search(call.command) for call in turn.commands())


def _repair_title(repair: RepairedCommand) -> str:
    where = ", ".join(map(os.path.basename, repair.files[:3]))
    mended = f" after a change to {where}" if where else ""
    return f"{cut(repair.command, 80)} passes again{mended}"


def _repair_text(repair: RepairedCommand) -> str:
    where = ", ".join(map(os.path.basename, repair.files[:3]))
    mended = f"; passes after a change to {where}" if where else "; passes now"
    return cut(f"{cut(repair.command, 80)} failed: {cut(repair.error, 140)}{mended}", 300)


def ended(sentence: str) -> str:
    return sentence if sentence[-1:] in ".!?…:;" else sentence + "."
