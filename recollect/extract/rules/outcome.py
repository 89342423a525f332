"""The outcome of a turn: a change, a mended error, a discovery, research; or nothing worth keeping.

In: a turn with its ranked sentences, and what failed before it. Out: at most one TurnOutcome,
however many calls it made: a row per call would be a log, not a memory.
"""

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import dropwhile

from recollect.core.kinds import ObservationType
from recollect.core.tuning import NOTE_MAKING
from recollect.core.values import Author, ToolClass
from recollect.extract.normalised_text import content_words, names, names_code, normalised
from recollect.extract.rules import patterns
from recollect.extract.rules.commands import steps
from recollect.extract.rules.prose import (
    Sentence,
    capitalised,
    placed_sentences,
    plain,
    sentences,
    with_short_paths,
    without_line_numbers,
)
from recollect.extract.rules.repairs import RepairedCommand, names_rule, repair_text, repair_title
from recollect.extract.rules.sentence_ranker import BEFORE, RankedSentence
from recollect.extract.rules.titles import (
    LEAD,
    answer_heading,
    as_title,
    best_title,
    heads,
    is_talk,
    leads_in,
    listed_title,
    order,
    stated_order,
    tells_of_a_commit,
    title_of_part,
    with_file,
)
from recollect.extract.rules.turns import Turn
from recollect.extract.rules.user_words import SAID, remarks, request
from recollect.extract.rules.written_down import Message, plan_heading, plan_reasons, written_down

ASIDES = (SAID, BEFORE)  # before lines that are not of the answer
# What may be or could be done: offered, not done.
_HYPOTHETICAL = re.compile(
    r"\b(?:would|could|might|should|may|try|probably|likely)\b", re.IGNORECASE
)
_AGREES = re.compile(
    r"\A(?:(?:yes|no|exactly|good (?:point|catch|question)|you(?:'re| are) (?:absolutely )?right)"
    r"(?: to question this)?\s*[,.!:;—–-]+\s+)+",
    re.IGNORECASE,
)
# Headings under which an answer turns to its reader.
_TO_READER = re.compile(
    r"\?$|\b(?:how to|usage|benefits?|next|which|try|quick|instructions?|examples?|why|steps)\b",
    re.IGNORECASE,
)
_BOASTS = re.compile(
    r"\b(?:perfectly|flawless\w*|exactly as (?:promised|expected))\b", re.IGNORECASE
)
_SUSPECTED = re.compile(r"\b(?:suspicion|suspects?|presumably|seems?|appears?)\b", re.IGNORECASE)
_OPTIONS = re.compile(
    r"\b(?:options?|approach(?:es)?|alternatives?|recommend\w*|suggest\w*|ideas?|proposals?|proposed|"
    r"pros|cons|potential|concerns?|questions?|risks?|could|should|would)\b",
    re.IGNORECASE,
)
# Above sentences on how it was before an edit.
_PROBLEM_ABOVE = re.compile(
    r"(?:\W|\d)*(?:the |what (?:was|went) )?(?:(?:root )?(?:problems?|issues?|bugs?|cause)|"
    r"wrong|before|previously)(?: was)?\W*$",
    re.IGNORECASE,
)
# Begins with a word for what the sentence before it names.
_MEANS_BEFORE = re.compile(
    r"(?:it|its|they|those|both)\b|(?:this|that) (?:\S+s|way)\b", re.IGNORECASE
)
_QUESTION = re.compile(
    r"\?|^\W*(?:what|how|why|which|where|who|does|is|are|do we)\b", re.IGNORECASE
)


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


def outcome(
    turn: Turn,
    repairs: Sequence[RepairedCommand],
    said: Sequence[RankedSentence],
    *,
    stated: Sequence[str] = (),
    messages: Sequence[Message] = (),
    before: Sequence[RankedSentence] = (),
    heading: str = "",
    followed: bool = False,
) -> TurnOutcome | None:
    """`said`: the sentences of the answer. `stated`: the sentences that are kept as statements;
    what stands there is not told a second time. `messages`: those of the commits with this work.
    `before`: what earlier answers said about how it was until this turn. `heading`: of a plan whose
    work this turn did again. `followed`: what it is about was edited soon after."""
    told = frozenset(map(normalised, stated))
    said = [one for one in map(_without_agreement, said) if normalised(one.text) not in told]
    said = [one for one in said if not is_talk(one.text) and not _BOASTS.search(one.text)]
    said = [one for one in said if not tells_of_a_commit(one.text)]
    if turn.works():
        said = [_as_it_was(one) if _under_problem(one) else one for one in said]
    words = remarks(turn, told)
    kept = [one for one in said if one.keep >= NOTE_MAKING.keep]
    main = [one for one in said if not one.aside]
    if kept and len(plain(turn.answered)) <= NOTE_MAKING.short_answer:
        kept = main  # the ranking learned from long answers; a short one says cause and fix
    best = max((one.keep for one in kept), default=0.0)
    details = _details(said)
    more = [one for one in said if one in kept or one in details]
    written = tuple(turn.written())
    named = [one for one in messages if len(content_words(one.subject)) >= 3]
    subject = named[0].subject if named else ""
    noted = written_down(messages, subject)
    acted = (
        turn.works()
        or bool(repairs)
        or (best >= NOTE_MAKING.sure and is_problem(turn) and _ran_fix(turn))
    )
    acted = acted and not _asks_how_to_go_on(turn)
    if acted:
        if is_chore(turn, kept, repairs) or (
            best < NOTE_MAKING.certain and not subject and _only_merges(turn)
        ):
            return None
        poor = [one for one in main if one.keep >= NOTE_MAKING.poor]
        sentences = noted or kept or poor
        subject = subject or plan_heading(turn) or heading
        return _work(turn, sentences, more, subject, repairs, written, told, before, words)
    if subject:  # work that others did, or that was done before the session
        told_of = [*noted, *kept]
        return _outcome(
            turn, "tool_use", "command", subject, told_of, (), (), author="assistant", more=more
        )
    sure = [one for one in kept if not _is_offered(one.sentence)]
    ran = any(call.tool_class in ("command", "delegation") for call in turn.calls)
    if written or not ran:  # made for a trial, or planned
        sure = [one for one in sure if not patterns.DONE_FIRST.match(one.text)]
    # What was mended soon after is not told in every detail.
    more = [one for one in (kept if followed else more) if not _is_offered(one.sentence)]
    return _finding(turn, sure, more, words)


def _under_problem(one: RankedSentence) -> bool:
    """Whether a sentence of an answer stands under "The problem" and not under what was done."""
    above = one.sentence.lead or one.sentence.heading
    return not one.sentence.is_heading and not one.aside and _PROBLEM_ABOVE.match(above) is not None


def _as_it_was(one: RankedSentence) -> RankedSentence:
    """A sentence on the problem that a turn mended: no longer so."""
    text = one.text.removeprefix("But ").rstrip(":")
    placed = Sentence(BEFORE + capitalised(text), "", False, False, True)
    return replace(one, sentence=placed, title=0.0)


def _details(said: Sequence[RankedSentence]) -> list[RankedSentence]:
    """What the detail of a note tells: no headings, and of a list all or only the best."""
    found: list[RankedSentence] = []
    led = False  # the list that follows is told whole
    for one in said:
        listed, leads = one.sentence.listed, one.text.endswith(":")
        led = led if listed else leads and one.keep >= NOTE_MAKING.lead_in
        poor = one.keep < NOTE_MAKING.keep
        leans = poor and not listed and patterns.LEANS.match(one.text)
        enough = one.keep >= (NOTE_MAKING.lead_in if leads else NOTE_MAKING.detail)
        if poor and (one.text.endswith("!") or _TO_READER.search(one.sentence.heading)):
            continue
        if (enough or (led and listed)) and not leans and not (poor and one.sentence.is_heading):
            found.append(one)
    return found


def _asks_how_to_go_on(turn: Turn) -> bool:
    """Whether the user refused the last edit, and the answer asks what to do instead."""
    edits = [call for call in turn.calls if call.tool_class == "file-write"]
    asks = turn.answered.rstrip().endswith("?")
    return asks and bool(edits) and edits[-1].refused


def _without_agreement(one: RankedSentence) -> RankedSentence:
    """A sentence without "You're right - " before it."""
    text = _AGREES.sub("", one.text)
    if text == one.text or len(content_words(text)) < NOTE_MAKING.title_words:
        return one
    return replace(one, sentence=replace(one.sentence, text=capitalised(text)))


def _is_offered(one: Sentence) -> bool:
    """Whether a sentence says what could be done, or what may be the case."""
    return (
        any(words.search(one.text) for words in (_HYPOTHETICAL, patterns.UNSURE, _SUSPECTED))
        or (one.listed and patterns.REQUEST.match(one.text) is not None)
        or _OPTIONS.search(one.heading) is not None
    )


def _needed(turn: Turn, kept: Sequence[RankedSentence]) -> float:
    """How good the best sentence of a turn without a change must be: less if it was asked for."""
    if any(call.tool_class == "research" for call in turn.calls):
        return NOTE_MAKING.sure
    if not is_problem(turn):
        return NOTE_MAKING.asked_for if _QUESTION.search(turn.asked[:300]) else NOTE_MAKING.certain
    return (
        NOTE_MAKING.keep
        if any(patterns.CAUSE.search(one.text) for one in kept)
        else NOTE_MAKING.sure
    )


def is_problem(turn: Turn) -> bool:
    """Whether the user reports that something is wrong."""
    text = turn.asked[:3000]
    if text.lstrip().lower().startswith("implement"):
        return False
    return bool(patterns.PROBLEM.search(text))


def _work(
    turn: Turn,
    kept: Sequence[RankedSentence],
    more: Sequence[RankedSentence],
    subject: str,
    repairs: Sequence[RepairedCommand],
    written: tuple[str, ...],
    told: frozenset[str],
    before: Sequence[RankedSentence],
    words: Sequence[str],
) -> TurnOutcome | None:
    # What passes without a change was called from elsewhere, or with something else in place.
    mended = [
        one
        for one in repairs
        if one.error and one.files and not patterns.TIDYING.search(one.command)
    ]
    facts = [repair_text(one) for one in repairs if one in mended or names_rule(one)]
    asked = request(turn, told)
    sure = [one for one in kept if one.keep >= NOTE_MAKING.sure]
    ordered = as_title(order(asked), turn.project)
    heading = answer_heading(turn.answered, turn.project)
    title = as_title(subject, turn.project)
    title = title or best_title(sure, turn.project, ordered, heading=heading)
    title = title or stated_order(asked, turn.project)
    title = (
        title
        or best_title(kept, turn.project)
        or best_title(kept, turn.project, names_nothing=True)
        or title_of_part(kept, turn.project, next(reversed(written), ""))
    )
    title = title or best_title(kept, turn.project, leaning=True)
    title = listed_title(title, turn.answered, turn.project) or title
    title = title or next(map(repair_title, mended), "")
    if not title:
        return None
    caused = is_problem(turn) and any(patterns.CAUSE.search(one.text) for one in kept)
    return _outcome(
        turn,
        "error" if caused or _was_broken(turn, mended) else "tool_use",
        "file-write" if written else "command",
        title if subject else with_file(title, turn),
        kept,
        facts,
        written,
        author="tool" if facts else "assistant",
        verified=bool(repairs),
        before=before,
        more=more,
        words=words,
    )


def _was_broken(turn: Turn, mended: Sequence[RepairedCommand]) -> bool:
    """Whether a command that was mended had failed before this turn wrote anything: then mending it
    is what the turn was about."""
    after = dropwhile(lambda call: call.tool_class != "file-write" or call.failed, turn.calls)
    own = {call.event_id for call in after}
    return any(one.event_ids[0] not in own for one in mended)


def _finding(
    turn: Turn,
    kept: Sequence[RankedSentence],
    more: Sequence[RankedSentence],
    words: Sequence[str],
) -> TurnOutcome | None:
    """Nothing was changed, but the answer says what was found; what it offers does not count."""
    needed = _needed(turn, kept)
    if max((one.keep for one in kept), default=0.0) < needed:
        return None
    enough = min(needed, NOTE_MAKING.sure)
    classes = {call.tool_class for call in turn.calls}
    # Of a cause, and of what was read on the web, a number or a product says enough.
    caused = is_problem(turn) and any(patterns.CAUSE.search(one.text) for one in kept)
    tells = names if caused or "research" in classes else names_code
    sure = [one for one in kept if one.keep >= enough and tells(one.text)]
    asked = request(turn)
    question = as_title(asked, turn.project) if _is_question(asked) else ""
    plain_ones = [one for one in sure if not one.sentence.listed]
    title = best_title(plain_ones, turn.project) or best_title(sure, turn.project)
    if tells is names:
        title = title or best_title(plain_ones, turn.project, names_nothing=True)
    title = title or question
    if not title or not tells(" ".join(one.text for one in kept)):
        return None
    looked: ToolClass = "tool-use"
    looked = next((one for one in ("research", "delegation") if one in classes), looked)
    author: Author = "web" if looked == "research" else "assistant"
    return _outcome(
        turn,
        "discovery",
        looked,
        title,
        kept,
        (),
        (),
        author=author,
        more=more,
        words=words,
    )


def _is_question(asked: str) -> bool:
    """Whether it is a question that says what it is about."""
    return asked.endswith("?") and len(content_words(asked)) >= NOTE_MAKING.title_words


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
    before: Sequence[RankedSentence] = (),
    more: Sequence[RankedSentence] = (),
    words: Sequence[str] = (),
) -> TurnOutcome:
    """`more`: what the detail tells besides. `words`: of the user."""
    same = normalised(title)[:60]
    details = {one.text for one in more}
    first = [one for one in kept if one.text not in details]
    chosen = {one.text: one.sentence for one in (*first, *more)}
    leads = {one.lead for one in (*placed_sentences(turn.answered), *chosen.values())}
    found = [
        one for one in chosen.values() if same not in normalised(without_line_numbers(one.text))
    ]
    found = [one for one in found if not leads_in(one.text) and one.text not in leads]
    best = {one.text for one in kept}
    # Items of a list stand in the body only with the first of them, which has what leads to them.
    first_items = {one.lead: one.text for one in reversed(found)}
    good = [one.text in best and (not one.lead or first_items[one.lead] in best) for one in found]
    told = list(zip(_headed(found, title), good, strict=True))
    well = {one.text for one, is_good in zip(found, good, strict=True) if is_good}
    alone = _without_what_they_mean(turn.answered, well, same)
    early = [LEAD.sub("", one.text).rstrip(":") for one in before if not _leads(one.text)]
    early = [BEFORE + capitalised(text) for text in early[: NOTE_MAKING.before]]
    told += [*((one, True) for one in early), *((one, False) for one in words)]
    new = set(_news((text for text, _ in told), title))

    def short(text: str) -> str:
        return without_line_numbers(with_short_paths(text, turn.project))

    reasons = [(one, True) for one in plan_reasons(turn)]
    body, rest = _fitting(
        [*((short(text), good) for text, good in told if text in new), *reasons],
        set(map(short, alone)),
    )
    return TurnOutcome(
        type=kind,
        tool_class=tool_class,
        title=title,
        summary=body,
        detail=rest,
        facts=tuple(facts[: NOTE_MAKING.facts]),
        files=tuple(files[:50]),
        author=author,
        confidence=0.9 if verified else 0.8 if kind == "tool_use" else 0.7,
        verified=verified,
    )


def _without_what_they_mean(answer: str, told: AbstractSet[str], title: str) -> set[str]:
    """Sentences that begin with "this" or "they" and are told without the one before them."""
    found: set[str] = set()
    before = ""
    for one in placed_sentences(answer):
        known = before in told - found or (title and title in normalised(before))
        if one.text in told and _MEANS_BEFORE.match(one.text) and before and not known:
            found.add(one.text)
        before = one.text
    return found


def _fitting(told: Iterable[tuple[str, bool]], alone: AbstractSet[str]) -> tuple[str, str]:
    """Whole sentences: of the good ones as many as a summary holds, and the rest. Those that cannot
    stand `alone` leave their room empty: what would fill it is less good."""
    body, rest = list[str](), list[str]()
    room = NOTE_MAKING.body_chars
    for one, good in told:
        if good and len(one) + 2 <= room:
            (rest if one in alone else body).append(one)
            room -= len(one) + 2
        else:
            room = 0 if good else room
            rest.append(one)
    return " ".join(map(ended, body)), _lines("", rest)


def _lines(detail: str, texts: Iterable[str]) -> str:
    """A detail with more lines, as many as it holds."""
    for one in texts:
        if len(detail) + len(one) <= NOTE_MAKING.detail_chars:
            detail += "\n" + ended(one)
    return detail.strip()


def more_detail(came: TurnOutcome, texts: Sequence[str]) -> TurnOutcome:
    """With more lines in the detail, if they say something new."""
    new = _news(texts, came.title, also=(came.summary, *came.detail.splitlines()))
    return replace(came, detail=_lines(came.detail, new)) if new else came


def with_finding(came: TurnOutcome, found: TurnOutcome) -> TurnOutcome:
    """With what an earlier turn found, as how it was: in the body as far as there is room."""
    said = [found.title, *sentences(found.summary)][: NOTE_MAKING.findings]
    lines = [one if one.startswith(ASIDES) else BEFORE + one for one in said]
    lines = _news(lines, came.title, also=(came.summary, *came.detail.splitlines()))
    body = came.summary
    while lines and len(body) + len(lines[0]) + 2 <= NOTE_MAKING.body_chars:
        body = f"{body} {ended(lines.pop(0))}".strip()
    return replace(came, summary=body, detail=_lines(came.detail, lines))


def _leads(text: str) -> bool:
    return leads_in(text) or (text.endswith(":") and text.lower().startswith("here"))


def _headed(found: Sequence[Sentence], title: str) -> list[str]:
    """The texts of sentences. The first item of a list has what leads to it or the heading, which
    it needs to be understood: "Removed: the cache"."""
    texts: list[str] = []
    above, led, same = title, "", normalised(title)[:60]
    for one in found:
        shown = one.listed and one.heading not in ("", above) and heads(one.heading, title)
        text = one.text.rstrip(":")  # code came after it
        if (
            one.lead not in ("", led)
            and not leads_in(one.lead)
            and same not in normalised(one.lead)
        ):
            text = f"{one.lead} {text}"
        elif shown:
            text = f"{one.heading}: {text}"
        texts.append(text)
        above, led = (one.heading if one.listed else above), one.lead
    return texts


def _news(
    texts: Iterable[str], title: str, share: float = 0.9, also: Iterable[str] = ()
) -> list[str]:
    """Without texts whose words the title or one before them has."""
    found: list[str] = []
    known = [frozenset(content_words(one)) for one in (title, *also)]
    for text in texts:
        aside = text.startswith(BEFORE)
        words = frozenset(content_words(text.removeprefix(BEFORE)))
        enough = len(words) * (NOTE_MAKING.said_again if aside else share)
        if words and any(len(words & one) >= enough for one in known):
            continue
        found.append(text)
        known.append(words)
    return found


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
        return len(turn.answered) < NOTE_MAKING.chore_answer or not kept
    short = len(turn.answered) < NOTE_MAKING.chore_answer
    return short and bool(patterns.CHORE_ANSWER.search(turn.answered))


def _only_merges(turn: Turn) -> bool:
    """Only merges and their conflicts: the work itself was recorded where it was done."""
    asked = patterns.MERGING.search(turn.asked[:300])
    return bool(asked) and any(patterns.MERGES.search(call.command) for call in turn.commands())


def ended(sentence: str) -> str:
    return sentence if sentence[-1:] in ".!?…:;" else sentence + "."
