# ruff: noqa: E501  (patterns are read line by line)
"""Whether words that an agent quotes are the user's, and whether the user meant them.

In: a quotation, the namespace where the agent works. Out: the prompt that holds it, with the
sentences that are quoted and what speaks against taking them at their word; or None. What the user
pasted (code, logs, quoted lines) is not the user's own, nor is a question, a joke, or what somebody
else said. The words with which the user refused a tool call are a prompt, too. An agent does not
know its session, so every session counts that runs in its project; that is still the user typing.
"""

import heapq
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from recollect.core.clock import to_micros
from recollect.core.values import IMPORTED, IMPORTED_FOR_MODEL, Event, JsonBody, TextBody
from recollect.extract.normalised_text import content_words
from recollect.extract.rules import prose
from recollect.extract.rules.statements import OwnSentence, meant_sentences
from recollect.extract.rules.turns import refusing_words
from recollect.extract.rules.vetoes import effects
from recollect.extract.statement_match import Words, word_hashes
from recollect.service.runtime import ServiceRuntime

RUNNING = timedelta(hours=12)  # a session that was silent for longer does not run any more
PROMPTS = 200  # the newest of a project, among which a quotation is looked for
LEAST_WORDS = 3
LEAST_WIDE = 6  # characters, in scripts that put no space between words
PASTED = "pasted, or quoted from somebody else"
CUT = "cut out of what denies them"
_WORD = re.compile(r"\w+")
_WIDE = "\u2e80"
_CLAUSE = re.compile(r"[,;:.!?](?:\s|$)|[、。，；：！？]|\bbut\b")
_DENIES_NEXT = re.compile(
    r"\b(?:not|no|never|nobody|nothing|none|without|avoid|stop|don'?t|\w+n't|cannot|instead of|rather than"
    r"|nicht|nie(?:mals)?|kein\w{0,2}|ne|pas|jamais|nunca|jamás|não|nao|non|ohne|sans|senza)\b|n'\w|[不别別没勿]"
)
_DENIES_BEFORE = re.compile(
    r"^\W*(?:(?:is|are|was|were|would be|does|do|did)\b.{0,20}?\b(?:not|no longer|never|over|gone|wrong|forbidden|off|bad)\b"
    r"|(?:isn't|aren't|wasn't|doesn't|didn't)\b|(?:no longer|no more|any ?more|any longer|nicht mehr|never|not)\s*$|nicht\b)"
    r"|^[^ ]*?(?:ない|なく|ません|禁止|やめ)"
)


@dataclass(frozen=True)
class UserPrompt:
    """What of a prompt is quoted, without what was pasted."""

    event_id: str
    session_id: str
    said: tuple[OwnSentence, ...]  # the quoted sentences that are meant
    objection: str = ""  # what the quoted words are instead of the user's statement
    everywhere: bool = False  # it has a word for all projects
    commands: bool = False  # it is a call of /recollect that asks to forget

    @property
    def text(self) -> str:
        return " ".join(one.text for one in self.said)

    @property
    def words(self) -> Words:
        return word_hashes(self.text)


def find_prompt(runtime: ServiceRuntime, namespace: str, quote: str) -> UserPrompt | None:
    """The newest prompt that holds these words, whatever their case, spacing and punctuation; one
    that holds them only in what was pasted if there is no other."""
    wanted = _Flat(quote).text
    pasted = None
    for event, content in _typed(runtime, namespace):
        asked = prose.asked_to_forget(content)
        if asked and _holds(_Flat(asked).text, wanted):
            order = (OwnSentence(asked),)
            return UserPrompt(event.event_id, event.session_id, order, commands=True)
        own = meant_sentences(content)
        found = _quoted(own, wanted)
        if found is not None:
            said, objection = found
            wide = any(_reaches_all(one, one in said) for one in own if not one.unmeant)
            return UserPrompt(event.event_id, event.session_id, said, objection, wide)
        if pasted is None and _holds(_Flat(" ".join(prose.lines(content))).text, wanted):
            pasted = UserPrompt(event.event_id, event.session_id, (), PASTED)
    return pasted


def _typed(runtime: ServiceRuntime, namespace: str) -> Iterator[tuple[Event, str]]:
    """What the user typed in the sessions that run, newest first: prompts, and the words with which
    calls were refused."""
    events, running = runtime.visible_store.events, dict[str, bool]()
    found = heapq.merge(
        *(events.page(namespace, kind=kind, limit=PROMPTS).items for kind in ("prompt", "tool_use")),
        key=lambda one: (to_micros(one.event.valid_time), one.event.event_id),
        reverse=True,
    )  # fmt: skip
    for stored in found:
        event = stored.event
        typed = ""
        if event.kind == "prompt" and isinstance(event.body, TextBody):
            typed = event.body.content
        elif isinstance(event.body, JsonBody):
            typed = refusing_words(event)
        if not typed:
            continue
        if event.session_id not in running:
            running[event.session_id] = _runs(runtime, event)
        if running[event.session_id]:
            yield event, typed


def _runs(runtime: ServiceRuntime, event: Event) -> bool:
    if event.source.client_id in (IMPORTED, IMPORTED_FOR_MODEL):
        return False
    session = runtime.store.sessions.get(event.namespace, event.session_id)
    return (
        session is not None
        and session.status == "active"
        and runtime.clock.now() - session.last_event_at < RUNNING
    )


def _quoted(own: list[OwnSentence], wanted: str) -> tuple[tuple[OwnSentence, ...], str] | None:
    """The sentences that a quotation touches wherever it stands, as far as they are meant, and why
    its words are no statement of the user's; None if they do not stand there."""
    flats = [_Flat(one.text) for one in own]
    whole = " ".join(one.text for one in flats)
    if not _holds(whole, wanted):
        return None
    said: dict[int, OwnSentence] = {}
    objection = ""
    for start in _places(whole, wanted):
        at, end = 0, start + len(wanted)
        touched = []
        for number, flat in enumerate(flats):
            if at < end and start < at + len(flat.text):
                touched.append(number)
                if _is_denied(flat, start - at, end - at):
                    objection = objection or CUT
            at += len(flat.text) + 1
        meant = [number for number in touched if not own[number].unmeant]
        if not meant:
            objection = objection or next((own[one].unmeant for one in touched), PASTED)
        said.update((number, own[number]) for number in meant)
    return tuple(said[number] for number in sorted(said)), objection


def _reaches_all(one: OwnSentence, is_quoted: bool) -> bool:
    """Whether a sentence says that what is quoted holds in all projects: another one does if it says
    nothing else ("In all my projects, please.")."""
    short = len(content_words(one.text)) <= LEAST_WORDS
    return (is_quoted or short) and "everywhere" in effects(one.text)


def _places(whole: str, wanted: str) -> Iterator[int]:
    at = whole.find(wanted)
    while at >= 0:
        if _is_wide(wanted) or f" {wanted} " in f" {whole[max(0, at - 1) : at + len(wanted) + 1]} ":
            yield at
        at = whole.find(wanted, at + 1)


def _is_denied(flat: "_Flat", start: int, end: int) -> bool:
    """Whether words of the same clause that are not quoted deny the quoted ones."""
    before = flat.folded[: flat.places[start]] if start > 0 else ""
    after = flat.folded[flat.places[end - 1] + 1 :] if end < len(flat.text) else ""
    if _DENIES_NEXT.search(_CLAUSE.split(before)[-1].replace("’", "'")):
        return True
    return bool(_DENIES_BEFORE.search(_CLAUSE.split(after)[0].replace("’", "'")))


class _Flat:
    """A text as its words, with the place of each character in the text before that."""

    def __init__(self, text: str) -> None:
        self.folded = unicodedata.normalize("NFKC", text).casefold()
        chars, self.places = list[str](), list[int]()
        for word in _WORD.finditer(self.folded):
            if chars:
                chars.append(" ")
                self.places.append(word.start())
            chars += word[0]
            self.places += range(word.start(), word.end())
        self.text = "".join(chars)


def _is_wide(text: str) -> bool:
    return any(char >= _WIDE for char in text)


def _holds(said: str, quote: str) -> bool:
    """A few words, or all that was said."""
    wide = sum(char >= _WIDE for char in quote)
    enough = quote.count(" ") + 1 >= LEAST_WORDS or wide >= LEAST_WIDE
    if wide:
        return enough and quote in said
    return bool(quote) and ((enough and f" {quote} " in f" {said} ") or quote == said)
