"""Sentences as actions: the verb that leads a clause, its object, and whether it is refused.

In: a prompt, or the text of a rule. Out: clauses, each with its leading word and its object as
stems. Of English only the closed classes are known (determiners, prepositions, auxiliaries); a
sentence in another language gives clauses that match nothing. Nothing raises.
"""

import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from recollect.core import text_words
from recollect.work.paths import words_of

# Of a long prompt, which quotes logs and plans, the request stands at its beginning or its end.
HEAD_CHARS = 500
TAIL_CHARS = 250
MOST_CLAUSES = 40
_QUOTED_BLOCK = re.compile(r"```[^`]*+(?:```)?|^[ \t]*+>[^\n]*+$", re.MULTILINE)
_TOKEN = re.compile(r"`[^`\n]{1,200}`|[^\s`]+")
_MARKS_BEFORE = "([{\"'*“‘"
_MARKS_BEHIND = ".,;:!?)]}\"'*”’"
_CLOSING = frozenset(".,;:!?)")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]{1,2})?$")
_NUMBER = re.compile(r"v?\d[\w.]*$", re.IGNORECASE)
_JOINTS = re.compile(r"[-_/.\s]")

DEFINITE = words_of("the this that these those my our your their its his her")
INDEFINITE = words_of("a an some another any every each no all both new")
_ARTICLES = words_of("a an")
_DETERMINERS = DEFINITE | INDEFINITE
_PRONOUNS = words_of("it this that these those them us me you everything all here now too")
REFUSALS = words_of("never not no don't dont avoid cannot can't mustn't shouldn't instead rather")
# What may stand before the verb of a request or of a rule.
_LEADS = words_of(
    """
    please pls us now then also ok okay so just go ahead and but or yes yep yeah hey hi hmm again
    try help me always be sure make next first finally when whenever while if after before once
    unless until like only do asked of than even ever
    """
)
_SPEAKERS = words_of("i we you they")
_MODALS = words_of("can could would will should must may to let lets let's i'd we'd please")
_WISHES = words_of("need needs want wants")
_QUESTIONS = words_of(
    "what why where who which whose is are was were does did has have had am isn't doesn't didn't"
)
_HOW_TO = words_of("do to should can would")
# What an object ends before: prepositions, conjunctions, relatives, auxiliaries.
_ENDS = words_of(
    """
    in on at to for from with into onto by of under over before after during that which who so
    because if when while until using via without against through between as than and or but is are
    was were be must should can could may will would has have had does do need needs not never
    instead rather only per unless whenever like about where how again please directly first
    """
)
_INSTEAD = words_of("instead rather")
_NO_VERBS = (_QUESTIONS | _PRONOUNS | _ENDS) - {"do"}
_NEW_CLAUSE = _INSTEAD | words_of("and before after when whenever while then if but or")
_PARTICLES = words_of("up out off down back away")
_RECEIVERS = words_of("me us")  # "generate me a list"


@dataclass(frozen=True, slots=True)
class Token:
    """A word as it was written, without the marks around it."""

    text: str
    code: bool = False  # in backticks
    ends: bool = False  # the clause ends behind it

    @property
    def lower(self) -> str:
        return self.text.lower()


@dataclass(frozen=True, slots=True)
class Clause:
    """What a clause is about, in stems. Without an object, or with a pronoun or a number for one,
    `object` is empty."""

    head: str
    object: tuple[str, ...] = ()
    refused: bool = False  # never, not, instead of
    definite: bool = False  # it begins with "the": about a thing, not an action
    one_of: bool = True  # the object is a new or a counted one: "a branch", "the 2.0 release"
    subject: bool = False  # an article stands before its head, which is thus no verb


@lru_cache(maxsize=20_000)
def stem_of(word: str) -> str:
    found = text_words.stem(word.lower())
    return "add" if found == "ad" else found  # Porter parts "adding" from "add"


def request_of(text: str) -> str:
    """The part of a prompt in which a person asks for something."""
    if len(text) <= HEAD_CHARS + TAIL_CHARS:
        return text
    return f"{text[:HEAD_CHARS]}\n{text[-TAIL_CHARS:]}"


def tokens(text: str) -> list[Token]:
    found: list[Token] = []
    for line in _QUOTED_BLOCK.sub("\n", text).splitlines():
        for match in _TOKEN.finditer(line):
            raw = match[0]
            if raw[0] == "`":
                found.append(Token(raw.strip("` "), code=True))
                continue
            bare = raw.lstrip(_MARKS_BEFORE).rstrip(_MARKS_BEHIND)
            ends = not _CLOSING.isdisjoint(raw[len(raw.rstrip(_MARKS_BEHIND)) :])
            if bare.strip("-–—#|+=>"):
                found.append(Token(bare, ends=ends))
            elif found:
                found[-1] = Token(found[-1].text, found[-1].code, True)
        if found:
            found[-1] = Token(found[-1].text, found[-1].code, True)
    return [one for one in found if one.text]


def clauses(given: Sequence[Token]) -> Iterator[Clause]:
    """The clauses of a text that say what is done or to be done, in order."""
    start = count = 0
    refused = False
    for at, one in enumerate(given):
        part: Sequence[Token] = ()
        if at > start and one.lower in _NEW_CLAUSE:
            part, start = given[start:at], at
            count += 1
            refused = yield from _clause(part, refused)
            refused = refused and one.lower == "or"  # "never commit or push"
        if one.ends or at == len(given) - 1:
            part, start = given[start : at + 1], at + 1
            count += 1
            yield from _clause(part, refused)
            refused = False
        if count >= MOST_CLAUSES:
            return


def _clause(given: Sequence[Token], refused: bool) -> Generator[Clause, None, bool]:
    """The clause, if it has a verb; returns whether it refuses something."""
    at, wished, definite = 0, False, False
    speaks, asks = False, False
    if len(given) > 1 and given[0].lower == "how" and given[1].lower in _HOW_TO:
        at, asks = 2, True
    while at < len(given) and not given[at].code:
        word = given[at].lower
        if word in REFUSALS:
            refused = True
        elif word in _WISHES:
            wished = True
        elif word in _SPEAKERS:
            speaks = True
        elif word in _MODALS:
            asks = True
        elif word in DEFINITE:
            definite = True
        elif word not in INDEFINITE and (word not in _LEADS or _is_done(given, at)):
            break
        at += 1
    if at == len(given) or given[at].code:
        return refused
    word = given[at].lower
    if word in _NO_VERBS or (speaks and not asks and not wished):
        return refused  # "I messed up the branches" asks for nothing
    if given[0].lower in _INSTEAD and not word.endswith("ing"):
        return refused  # "instead of requests": a thing
    if wished and given[at - 1].lower in _DETERMINERS:  # "we need a hotfix"
        named, _ = _object(given[at:])
        if named:
            yield Clause(named[-1], refused=refused)
        return refused
    named, one_of = _object(given[at + 1 :])
    if _WORD.match(word):
        subject = bool(at) and given[at - 1].lower in _ARTICLES
        yield Clause(stem_of(word), named, refused, definite, one_of, subject)
    return refused


def _is_done(given: Sequence[Token], at: int) -> bool:
    """Whether a "do" has an object: "do the release", not "do not"."""
    here = [one.lower for one in given[at : at + 2]]
    return here[0] == "do" and here[-1] in _DETERMINERS


def _object(given: Sequence[Token]) -> tuple[tuple[str, ...], bool]:
    """The words up to the end of an object, and whether it is a new or a counted one."""
    words: list[str] = []
    one_of = True
    for at, one in enumerate(given):
        word = one.lower
        if not words and (word in _PARTICLES or word in _RECEIVERS):
            continue
        if _NUMBER.match(one.text):
            one_of = True
        elif word in _DETERMINERS and not words:
            one_of = word in INDEFINITE
            follows = given[at + 1].lower if at + 1 < len(given) else ""
            if word in _PRONOUNS and (not follows or follows in _ENDS):
                return (), False
        elif word in _ENDS or (word in _PRONOUNS and not words):
            break
        else:
            words += [stem_of(part) for part in _JOINTS.split(word) if part]
        if one.code:
            break
    return tuple(words), one_of
