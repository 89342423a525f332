"""The summary of a session, and its checkpoint.

In: a session's turns with what came of each. Out: the summary (request, completed, learned, next
steps, files) and a checkpoint. The summary's id follows from the session: it replaces itself as
the session grows.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from recollect.extract.normalised_text import content_words, normalised
from recollect.extract.rules import patterns
from recollect.extract.rules.commands import commit_subject
from recollect.extract.rules.outcome import TurnOutcome, as_title, ended, informative, request
from recollect.extract.rules.prose import cut, lines, sentences
from recollect.extract.rules.statements import BeliefStatement
from recollect.extract.rules.turns import Turn

MOST_TURNS = 50
MOST_COMPLETED = 10
MOST_LEARNED = 5
MOST_STEPS = 5
MOST_REQUESTS = 5
MOST_FILES = 20
MOST_EARLIER = 4
_TITLE_CHARS = 160
_ITEM_CHARS = 130
_SUMMARY_CHARS = 1_400
_PROGRESS_CHARS = 600
_MOST_SAID = 8
_TURNS_BACK = 5


@dataclass(frozen=True)
class TurnResult:
    """A turn with its outcome and its statements."""

    turn: Turn
    outcome: TurnOutcome | None
    statements: tuple[BeliefStatement, ...]
    refused: Callable[[str], bool] = lambda text: False

    @property
    def request(self) -> str:
        """What was asked for; empty for a rule or a decision."""
        said = (sentence for one in self.statements for sentence in one.said)
        return request(self.turn, frozenset(map(normalised, said)))


@dataclass(frozen=True)
class Summary:
    title: str
    requests: tuple[str, ...]
    completed: tuple[str, ...]
    learned: tuple[str, ...]
    next_steps: tuple[str, ...]
    questions: tuple[str, ...]
    files: tuple[str, ...]
    event_ids: tuple[str, ...] = field(default=())

    @property
    def text(self) -> str:
        parts = (
            ("Asked", self.requests),
            ("Completed", self.completed),
            ("Learned", self.learned),
            ("Next", self.next_steps),
            ("Files", [os.path.basename(path) for path in self.files[:10]]),
        )
        told = [
            f"{name}: {'; '.join(one.rstrip(' .') for one in items)}"
            for name, items in parts
            if items
        ]
        return cut(" ".join(map(ended, told)), _SUMMARY_CHARS).removesuffix(".")


def summary(told: Sequence[TurnResult]) -> Summary | None:
    """None when nothing in the session is worth keeping."""
    told = told[-MOST_TURNS:]
    if not any(one.outcome or one.statements for one in told):
        return None
    commits = _once(
        subject
        for one in told
        for call in one.turn.commands()
        if len(content_words(subject := commit_subject(call))) >= 3 and not one.refused(subject)
    )
    worked = [one.outcome for one in told if one.outcome]
    done = [one.title for one in worked if one.type in ("tool_use", "error")]
    learned = [lesson for one in worked for lesson in _lessons(one)]
    learned += [one.text for one in (s for each in told for s in each.statements)]
    requests = _once(asked for one in told if (asked := one.request) and not one.refused(asked))
    # A commit at the end does not finish the next steps.
    last = next(
        (one.turn.answered for one in reversed(told) if one.outcome), told[-1].turn.answered
    )
    files = dict.fromkeys(path for one in told for path in one.turn.written())
    title = commits[0] if commits else _first(done, learned, requests)
    finished = [text for one in told if (text := _finished(one))]
    completed = _once([*commits, *finished])[-MOST_COMPLETED:]
    return Summary(
        title=cut(title, _TITLE_CHARS),
        requests=_short(_spread(requests, MOST_REQUESTS)),
        completed=_short(completed),
        learned=_short([one for one in _once(learned) if one not in completed][-MOST_LEARNED:]),
        next_steps=_short(_still_to_do(told)),
        questions=_short(questions(last)),
        files=tuple(files)[-MOST_FILES:],
        event_ids=_evidence(told),
    )


def _still_to_do(told: Sequence[TurnResult]) -> list[str]:
    """The latest next steps, without those that were asked for or done afterwards."""
    since: list[str] = []
    for one in told[: -_TURNS_BACK - 1 : -1]:
        steps = next_steps(one.turn.answered)
        if steps:
            return [step for step in steps if not _covered(step, since)]
        since += [one.request, one.outcome.title if one.outcome else ""]
    return []


def _covered(step: str, texts: Sequence[str]) -> bool:
    words = set(content_words(step))
    return any(2 * len(words & set(content_words(text))) >= len(words) for text in texts if text)


def _finished(one: TurnResult) -> str:
    """What was done in a turn. An error's title is its cause, which belongs under Learned."""
    came = one.outcome
    if came is None or came.type not in ("tool_use", "error"):
        return ""
    if came.type == "tool_use":
        return came.title
    said = (text for text in informative(one.turn.answered) if patterns.DONE_FIRST.match(text))
    mended = next((text for text in said if normalised(text) != normalised(came.title)), "")
    asked = one.request
    title = as_title(mended, one.turn.project) if mended else f"Fixed: {asked}" if asked else ""
    return came.title if not title or one.refused(mended or asked) else title


def _lessons(came: TurnOutcome) -> list[str]:
    """What was learned in a turn: a cause, or else what failed and what made it pass."""
    if came.type in ("error", "discovery"):
        return [came.title]
    return list(came.facts[:1]) if came.verified else []


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
    """The open questions of an answer, without offers to continue."""
    found = []
    for sentence in sentences(answer):
        named = patterns.OPEN_QUESTION.match(sentence)
        sentence = named[1] if named else sentence
        if sentence.endswith("?") and not patterns.OFFER.match(sentence):
            found.append(sentence)
    return found[-3:]


def progress(told: Sequence[TurnResult]) -> str:
    """The progress: what earlier turns finished, and what the last answer says."""
    for index in range(len(told) - 1, -1, -1):
        said = _steps_taken(told[index].turn.answered)
        if said:
            now = cut(" ".join(said), _PROGRESS_CHARS)
            known = normalised(now)
            before = _once(_finished(one) for one in told[:index])
            before = [one for one in before if normalised(one) not in known]
            room = _PROGRESS_CHARS - len(now) - 10
            earlier = "; ".join(one.rstrip(" .") for one in _spread(before, MOST_EARLIER))
            return f"Before: {cut(earlier, room)}. {now}" if earlier and room > 60 else now
    return ""


def _steps_taken(answer: str) -> list[str]:
    """As in a title's search, but a step that is numbered, or only committed, is still a step."""
    done = patterns.NEXT_SECTION.split(answer, maxsplit=1)[0]
    telling = set(informative(answer))
    return [
        one
        for one in sentences(done)[:40]
        if one.strip(" -:—") in telling or patterns.STEP_TAKEN.match(one)
    ][:_MOST_SAID]


def _evidence(told: Sequence[TurnResult]) -> tuple[str, ...]:
    """The prompts and answers of the relevant turns, then their calls, up to a limit."""
    telling = [one.turn for one in told if one.outcome or one.statements]
    spoken = [event for turn in telling for event, _ in (*turn.prompts, *turn.answers)]
    calls = [
        call.event_id for turn in telling for call in turn.calls if call.tool_class == "file-write"
    ]
    return tuple(dict.fromkeys([*spoken, *calls]))[:200]


def _once(texts: Iterable[str]) -> list[str]:
    kept: dict[str, str] = {}
    for text in texts:
        if text:
            kept.setdefault(normalised(text), text)
    return list(kept.values())


def _short(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(cut(text, _ITEM_CHARS) for text in texts if text.strip())


def _spread(texts: Sequence[str], most: int) -> list[str]:
    """The first, and the last of the rest."""
    return list(texts) if len(texts) <= most else [texts[0], *texts[-(most - 1) :]]


def _first(*lists: Sequence[str]) -> str:
    return next((texts[0] for texts in lists if texts), "A session")
