"""The summary of a session, and what its checkpoint takes from it.

In: a session's turns with what came of each. Out: what was asked for, what was done (commits, an
approved plan, notes, edited files), how the last check ended, and what is open. A session that did
no work has no title and no summary, only a checkpoint if its answers name next steps or questions.
The summary's id follows from the session: it replaces itself as the session grows.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from recollect.core.tuning import NOTE_MAKING
from recollect.extract.normalised_text import content_words, normalised
from recollect.extract.rules import patterns
from recollect.extract.rules.commands import commit_subject, commits, error_line
from recollect.extract.rules.outcome import TurnOutcome, ended, is_chore
from recollect.extract.rules.prose import (
    capitalised,
    cut,
    lines,
    sentences,
    shortened,
    without_line_numbers,
)
from recollect.extract.rules.sentence_ranker import RankedSentence
from recollect.extract.rules.session_commits import MadeCommit, made_commits
from recollect.extract.rules.statements import BeliefStatement
from recollect.extract.rules.titles import POINTS_BACK, as_title, order
from recollect.extract.rules.turns import Turn
from recollect.extract.rules.user_words import request
from recollect.extract.rules.written_down import plan_heading
from recollect.work import commands
from recollect.work.commands import first_error
from recollect.work.paths import base, inside

MOST_TURNS = 50
MOST_DONE = 3
MOST_FOUND = 1
MOST_STEPS = 5
MOST_FILES = 20
MOST_LEFT = 5
MOST_COMMITS = 3
MOST_DETAIL = 1_500
MOST_CHARS = 240  # of title and text: some 60 tokens
_ITEM_CHARS = 130
_ERROR_CHARS = 80
_COMMAND_CHARS = 48
_TURNS_BACK = 5
_NUMBER = re.compile(r"(?<![\w.])\d{1,9}(?![\w.])")
_OFFERS = re.compile(patterns.OFFER.pattern + r"|^(?:or|and|so|but)\b", re.I)
_OFFER_OF = re.compile(
    r"(?:would you like|do you want|want) me to (\S{1,60}+ [^?]{8,300}+)\?$|"
    r"(?:shall|should) i (\S{1,60}+ [^?]{8,300}+)\?$",
    re.I,
)
_COMMIT = re.compile(r"(?:commit|push)\b", re.IGNORECASE)  # the user may have done it
_IS_CLEAN = re.compile(r"nothing to commit, working tree clean", re.IGNORECASE)
_IS_NOW = re.compile(r"^\w++(?:\([\w ]++\))?+: |\b(?:now|no longer)\b", re.I)
_HEADING = re.compile(r"^(?:the )?root cause\s*[:—–-]\s*", re.I)
_CHECKS = (patterns.CHECKING, patterns.TIDYING, re.compile(r"\b(?:build|compile)\b"))
_TOOK = re.compile(r" ?\(\d+(?:\.\d+)?m?s\)")


@dataclass(frozen=True)
class TurnResult:
    """A turn with its outcome and its statements."""

    turn: Turn
    outcome: TurnOutcome | None
    statements: tuple[BeliefStatement, ...]
    said: tuple[RankedSentence, ...] = ()  # the sentences of its answer
    refused: Callable[[str], bool] = lambda text: False
    found_in: tuple[Turn, ...] = ()  # earlier turns that found what its outcome tells, too

    @property
    def kept(self) -> list[RankedSentence]:
        """The sentences worth keeping."""
        return [one for one in self.said if one.keep >= NOTE_MAKING.keep]

    @property
    def request(self) -> str:
        """What was asked for; empty for a rule or a decision."""
        held = (one for one in self.statements if one.state == "current")
        said = (sentence for one in held for sentence in one.said)
        return request(self.turn, frozenset(map(normalised, said)))


@dataclass(frozen=True)
class CheckRun:
    """The last test, check or build of a session; without an error it passed."""

    command: str
    error: str

    @property
    def text(self) -> str:
        return f"{self.command} failed: {self.error}" if self.error else f"{self.command} passed"


@dataclass(frozen=True)
class Summary:
    title: str  # empty: nothing was done
    task: str
    done: tuple[str, ...]  # besides the title
    found: tuple[str, ...]  # causes and discoveries
    check: CheckRun | None
    next_steps: tuple[str, ...]
    questions: tuple[str, ...]
    files: tuple[str, ...]
    event_ids: tuple[str, ...] = ()
    left: tuple[str, ...] = ()  # what the last answers say is open
    edited: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()  # the commits

    @property
    def detail(self) -> str:
        """All that is next and all that is open, a line each. What was done, the notes tell."""
        parts = (("Next", self.next_steps), ("Open", self.open_ends))
        lines = [f"{name}: {ended(item)}" for name, items in parts for item in items]
        while sum(map(len, lines)) > MOST_DETAIL:
            del lines[0]
        return "\n".join(lines)

    @property
    def text(self) -> str:
        """What fits beside the title, in whole items: what is open goes before what is done."""
        room = MOST_CHARS - len(self.title)
        said: dict[str, list[str]]
        said = {name: [] for name in ("Done", "Found", "Last check", "Next", "Open")}
        for name, items in (
            ("Last check", self._checks(failed=True)),
            ("Next", self.next_steps[:1]),
            ("Open", (*self.questions[-1:], *self.left[:1])),
            ("Done", self.done[:1]),
            ("Found", self.found),
            ("Done", self.done[1:]),
            ("Last check", self._checks(failed=False)),
            ("Next", self.next_steps[1:]),
        ):
            for item in items:
                needs = len(item) + (2 if said[name] else len(name) + 4)
                if needs <= room:
                    room -= needs
                    said[name].append(item.rstrip(" ."))
        return " ".join(
            ended(f"{name}: {'; '.join(items)}") for name, items in said.items() if items
        ).removesuffix(".")

    @property
    def progress(self) -> str:
        """What was done and found out, for a checkpoint; if no words tell it, what was edited."""
        told = [one for one in (self.title, *self.done) if one and one != self.task]
        told = [*(told or self.edited), *self.found, *self._checks(failed=False)]
        return "; ".join(one.rstrip(" .") for one in told)

    @property
    def open_ends(self) -> tuple[str, ...]:
        """What nobody has answered or mended, for a checkpoint."""
        return (*self.questions, *self.left, *self._checks(failed=True))

    def _checks(self, *, failed: bool) -> tuple[str, ...]:
        shown = self.check is not None and bool(self.check.error) == failed
        return (self.check.text,) if self.check is not None and shown else ()


def summary(told: Sequence[TurnResult]) -> Summary | None:
    """None when nothing was committed, edited or noted, and no answer names what is open."""
    told = told[-MOST_TURNS:]
    if not told:
        return None
    made = made_commits([one.turn for one in told])
    most_work_first = sorted(made, key=lambda one: one.work)[::-1]  # of equals the latest
    subjects = [text for one in most_work_first if (text := _subject(told[-1], one.subject))]
    headings = [
        one
        for result in reversed(told)
        if (one := _shortened(plan_heading(result.turn))) and not result.refused(one)
    ]
    notes, found = _notes(told, _done_in), _notes(told, _found_in)
    long = [title for one in reversed(told) if _stands_alone(title := _title(one))]
    names = (*subjects, *headings, *notes, *found, *long, *_orders(told), *_edited(told))
    named = next(iter(names), "")
    steps = tuple(_items(_still_to_do(told)))
    asks = any(map(patterns.OPEN_QUESTION.match, sentences(told[-1].turn.answered)))
    if not named and not steps and not asks:
        return None
    done = _once([named, *subjects, *notes])[1:]
    files = dict.fromkeys(path for one in told for path in one.turn.written())
    return Summary(
        title=named,
        task=_task(told) or named or cut(told[-1].turn.asked.strip(), _ITEM_CHARS),
        done=tuple(done[: MOST_DONE - 1]),
        found=tuple(_once([named, *done, *found])[1 + len(done) :][:MOST_FOUND]),
        check=_last_check(told),
        next_steps=steps,
        questions=tuple(_items(questions(told[-1].turn.answered))),
        files=tuple(files)[-MOST_FILES:],
        event_ids=_evidence(told),
        left=tuple(_left_open(told))[:MOST_LEFT],
        edited=tuple(_edited(told)),
        facts=tuple(_committed(made)),
    )


def _left_open(told: Sequence[TurnResult]) -> list[str]:
    """What the last answers say is not done or does not work, without what was asked for or done
    afterwards; and the last prompt, if nobody answered it."""
    since: list[str] = []
    edited: set[str] = set()  # files that later turns wrote
    files = _after_last_commit(told)
    found = [f"edited after the last commit: {files}"] if files else []
    if told[-1].request and not told[-1].turn.answers:
        found += _items([f"not answered: {told[-1].request}"])
    for one in told[: -_TURNS_BACK - 1 : -1]:
        if not since:
            offers = map(_OFFER_OF.match, sentences(one.turn.answered))
            texts = [offer[1] or offer[2] for offer in offers if offer]
            found += _items(f"offered: {one}" for one in texts if not _COMMIT.match(one))
        for said in one.said:
            text = said.text
            if said.aside or said.sentence.is_heading or len(content_words(text)) < 4:
                continue
            if patterns.STILL_OPEN.search(text):
                other = (patterns.LEANS, _OFFERS, patterns.DONE_FIRST, patterns.UNSURE)
                over = _covered(text, since) or any(name in text for name in edited)
                if not over and not any(one.search(text) for one in other):
                    found += [
                        patterns.OPEN_LABEL.sub("", short)
                        for short in _items([text])
                        if patterns.STILL_OPEN.search(short)
                    ]
        since += [one.request, _title(one), *_commits(one)]
        edited |= set(map(base, one.turn.written()))
    return _once(found)


def _task(told: Sequence[TurnResult]) -> str:
    """The last thing that was asked for in words that stand alone."""
    for one in reversed(told):
        asked = capitalised(order(one.request) or one.request)
        others = (patterns.CHATTER, patterns.LEANS, POINTS_BACK)
        leans = any(form.match(asked) for form in others) or one.refused(asked)
        if len(content_words(asked)) >= 4 and not leans:
            return _shortened(asked.rstrip("?")) or cut(asked, _ITEM_CHARS)
    return ""


def _title(one: TurnResult) -> str:
    return one.outcome.title if one.outcome else ""


def _after_last_commit(told: Sequence[TurnResult]) -> str:
    """The files that were edited after the last commit of a session that commits. In others the
    user does it, where nobody sees it. Empty, too, if git said since that nothing is changed."""
    files: dict[str, None] = {}
    made = False
    for call in (call for one in told for call in one.turn.calls if not call.failed):
        if commits(call):
            made, files = True, {}
        elif call.tool_class == "file-write":
            files |= dict.fromkeys(base(path) for path in call.files)
        elif _IS_CLEAN.search(call.output):
            files = {}
    worked = {base(path) for one in told if one.turn.works() for path in one.turn.written()}
    names = [name for name in files if name in worked] if made else []
    if len(names) < 5:
        return ", ".join(names)
    return f"{', '.join(names[:3])} and {len(names) - 3} more files"


def _committed(made: Sequence[MadeCommit]) -> list[str]:
    """The last commits of a session, newest first, and whether they were pushed. Without their
    hashes: those of one branch change with each rebase, and with each fixup of what came before."""
    found = [
        f"Committed{f' on {one.branch}' if one.branch else ''}: {short}"
        f"{' (pushed)' if one.pushed else ''}"
        for one in reversed(made)
        if (short := _shortened(one.subject))
    ]
    return found[:MOST_COMMITS]


def _subject(one: TurnResult, text: str) -> str:
    return "" if patterns.CHORE.match(text) or one.refused(text) else _shortened(text)


def _commits(one: TurnResult) -> list[str]:
    return [text for call in one.turn.commands() if (text := _subject(one, commit_subject(call)))]


def _notes(
    told: Sequence[TurnResult], tell: Callable[[TurnResult, TurnOutcome], Iterable[str]]
) -> list[str]:
    """What the turns came to, best first: a sentence that begins with what was done, then proven
    by a command, with more files, later."""
    ranked = []
    for at, one in enumerate(told):
        came = one.outcome
        texts = tell(one, came) if came is not None else ()
        kept = (text for text in texts if not one.refused(text))
        titles = (_shortened(as_title(text, one.turn.project)) for text in kept)
        title = next((text for text in titles if _stands_alone(text) and not one.refused(text)), "")
        if came is not None and title:
            does = bool(patterns.DONE_FIRST.match(title))
            ranked.append((does, came.verified, min(len(came.files), 3), at, title))
    return [title for *_, title in sorted(ranked, reverse=True)]


def _done_in(one: TurnResult, came: TurnOutcome) -> Iterable[str]:
    """The sentences that say what was done in a turn; of an error, its title is the cause."""
    if came.type not in ("tool_use", "error"):
        return ()
    best = sorted(one.said, key=lambda said: said.keep * said.title, reverse=True)
    said = [other.text for other in best if patterns.DONE_FIRST.match(other.text)]
    tells = patterns.ORDER.match(came.title) or not _reported(one, came)
    if came.type != "tool_use" or not tells:
        return said
    does = any(form.match(came.title) for form in (patterns.ORDER, patterns.DONE_FIRST))
    does = does or _IS_NOW.search(came.title) is not None or bool(_commits(one))
    return [came.title, *said] if does else said


def _found_in(one: TurnResult, came: TurnOutcome) -> Iterable[str]:
    """The cause or the discovery that a turn's note names."""
    told = came.type != "tool_use" and not _reported(one, came)
    return (_HEADING.sub("", came.title),) if told else ()


def _reported(one: TurnResult, came: TurnOutcome) -> bool:
    """Whether a note's title has the words of the user, not of the answer."""
    return normalised(came.title)[:40] in normalised(one.turn.asked[:3_000])


def _stands_alone(text: str) -> bool:
    return (
        len(content_words(text)) >= 3
        and not text.endswith(("?", ",", ":"))
        and not patterns.CHATTER.match(text)
        and not patterns.LEANS.match(text)
        and not POINTS_BACK.match(text)
        and not patterns.NO_ORDER.search(text)
        and not patterns.UNSURE.search(text)
    )


def _orders(told: Sequence[TurnResult]) -> list[str]:
    """What was asked for in turns that wrote files and have no note."""
    asked = (order(one.request) for one in reversed(told) if one.turn.works())
    return [short for text in asked if (short := _shortened(as_title(text, "")))]


def _edited(told: Sequence[TurnResult]) -> list[str]:
    counts: Counter[str] = Counter()
    for one in told:
        if is_chore(one.turn, one.kept):
            continue
        source = one.turn.first.event.source
        where = source.project_path or ""
        for call in one.turn.calls:
            if call.tool_class == "file-write" and not call.failed:
                counts.update(inside(path, where, source.root or where) for path in call.files)
    names = list(dict.fromkeys(base(path) for path, _ in counts.most_common() if path))
    if len(names) <= 2:
        return [f"Edited {' and '.join(names)}"] if names else []
    return [f"Edited {names[0]} and {len(names) - 1} more files"]


def _last_check(told: Sequence[TurnResult]) -> CheckRun | None:
    """How the last test run ended; None when that is not known, as after an edit, and for a failure
    after which the work was committed all the same."""
    calls = [call for one in told for call in one.turn.calls]
    edited = committed = False
    passed = set[str]()
    for call in reversed(calls):
        edited = edited or (call.tool_class == "file-write" and not call.failed)
        committed = committed or commits(call)
        if call.tool_class != "command" or call.refused:
            continue
        forms = [step.form for step in commands.steps(call.command)]
        form = next(
            (one for one in reversed(forms) if any(kind.search(one) for kind in _CHECKS)), ""
        )
        if not form:
            continue
        error = first_error(call.raw_output)
        if call.failed:
            # Of several commands only the last is known to have failed.
            known = bool(error) and form == forms[-1] and form not in passed and not committed
            error = cut(_TOOK.sub("", error_line(call.output)), _ERROR_CHARS)
            return CheckRun(_command(form), error) if known and error else None
        if not patterns.TESTING.search(form) or patterns.TIDYING.search(form):
            passed.add(form)  # that it builds, has types or is formatted, says little
            continue
        # What is piped or followed by `|| true` always passes; a run of one test says little.
        return None if edited or error or len(form) > _COMMAND_CHARS else CheckRun(form, "")
    return None


def _command(form: str) -> str:
    if len(form) <= _COMMAND_CHARS:
        return form
    words = form.split()
    first = next((n for n, word in enumerate(words) if n and word[0] in "-/.\"'"), len(words))
    return cut(" ".join(words[:first]), _COMMAND_CHARS)


def _shortened(text: str) -> str:
    """In a length for one item; empty when it cannot be ended well. Line numbers are left out: they
    are old tomorrow."""
    return shortened(without_line_numbers(text), _ITEM_CHARS).rstrip(" .")


def _items(texts: Iterable[str]) -> list[str]:
    return [
        short + "?" * text.endswith("?")
        for text in texts
        if (short := _shortened(text.rstrip("?")))
    ]


def _still_to_do(told: Sequence[TurnResult]) -> list[str]:
    """The latest next steps, without those that were asked for or done afterwards."""
    since: list[str] = []
    for one in told[: -_TURNS_BACK - 1 : -1]:
        steps = next_steps(one.turn.answered)
        if steps:
            return [step for step in steps if not _covered(step, since)]
        since += [one.request, _title(one)]
    return []


def _covered(step: str, texts: Sequence[str], share: float = 0.5) -> bool:
    words = set(content_words(step))
    least = share * len(words)
    return any(len(words & set(content_words(text))) >= least for text in texts if text)


def next_steps(answer: str) -> list[str]:
    """What an answer says is still to be done."""
    found: list[str] = []
    listed = False
    for line in lines(answer):
        inline = [step for one in sentences(line) if (step := patterns.NEXT_INLINE.match(one))]
        if inline:
            found += [step[1].strip() for step in inline]
        elif patterns.NEXT_HEADING.match(line):
            listed = True
        elif listed:
            if line.endswith("?") or len(found) == MOST_STEPS:
                break
            found.append(line)
    return found[:MOST_STEPS]


def questions(answer: str) -> list[str]:
    """The open questions of an answer that stand alone, without offers to continue."""
    found = []
    for sentence in sentences(answer):
        named = patterns.OPEN_QUESTION.match(sentence)
        sentence = named[1] if named else sentence
        telling = len(content_words(sentence)) >= 4 and not _OFFERS.match(sentence)
        if sentence.endswith("?") and telling:
            found.append(sentence)
    return found[-3:]


def _evidence(told: Sequence[TurnResult]) -> tuple[str, ...]:
    """The prompts and answers of the relevant turns, then their calls, up to a limit."""
    telling = [one.turn for one in told if one.outcome or one.turn.written() or _commits(one)]
    spoken = [event for turn in telling for event, _ in (*turn.prompts, *turn.answers)]
    calls = [
        call.event_id for turn in telling for call in turn.calls if call.tool_class == "file-write"
    ]
    return tuple(dict.fromkeys([*spoken, *calls]))[:200]


def _once(texts: Iterable[str]) -> list[str]:
    """Without texts that say what an earlier one says. The same words about step 3 and about step 4
    are two things."""
    kept: list[str] = []
    for text in texts:
        numbers = _NUMBER.findall(text)
        near = [one for one in kept if not numbers or _NUMBER.findall(one) in ([], numbers)]
        if text and not _covered(text, near):
            kept.append(text)
    return kept
