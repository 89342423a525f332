"""Interprets sentences that say that something has changed, when no pattern of the rules matches.

In: a sentence of the user, the entities it names, and their facts. Out: the fact that it changes
and the new value, or the facts that it casts doubt on, with the sentence. Stored facts help to read
it: if the admin server has a port, and the sentence names the admin server and one other number,
then that number is the port. An ambiguous sentence only casts doubt.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import msgspec

from recollect.core.entity_keys import key, says_nothing
from recollect.core.values import Entity, Fact
from recollect.extract.normalised_text import content_words, word_set
from recollect.extract.rules.grammar import family
from recollect.reconcile.contradict import cardinality
from recollect.reconcile.entity_names import EntityNames

LONGEST_NAME = 4  # words
_UNITS = {"sec": "second", "s": "second", "min": "minute", "m": "minute", "h": "hour", "d": "day"}
_EDGES = ".,;:!?()[]{}<>\"'`*“”‘’"
_NUMBER = re.compile(
    r"(?<![\w./-])(?P<n>v?\d+(?:\.\d+)*)"
    r"(?P<u> ?(?:milliseconds?|seconds?|secs?|minutes?|mins?|hours?|days?|weeks?|months?|percent"
    r"|[kmgt]i?b|ms|s|m|h|d|%))?(?![\w/]|\.\d|-\d)",
    re.IGNORECASE,
)
# A bare number is a value where no noun follows it, of which it would be the count.
_ALONE = re.compile(
    r"^(?:\W*$|\s*[,;.!)]|\s+(?:for|in|on|now|from|instead|please|and|as|is|because|since|to|again|"
    r"not|today|at|these days|with|so|but|after|starting)\b)",
    re.IGNORECASE,
)
_PATH = re.compile(r"(?<![\w/.-])(?:[\w.@~-]*/[\w./@-]*\w|[\w-]+\.[a-z]\w{0,4})(?![\w/])")
_WORD = re.compile(r"(?<![\w./-])[\w][\w.+-]*\w(?![\w/])|(?<![\w./-])\w(?![\w/])")
_TOKEN = re.compile(r"(?<!\S)[(\"'`]*(?:\w[\w.:@+-]*\w)(?=[\s.,;:!)\"'`]|$)")
_CLAUSE = re.compile(r"[,;:]\s+|\s(?:so|and|but|because|while|since)\s", re.IGNORECASE)
_PLACED = re.compile(r"\b(?:in|at|to|into|under|inside|is|are|now|called)\s+[`'\"]?$", re.I)
_SINCE = '; since then: "'
_PERSON = re.compile(r"(?<![\w./-])[A-Z][a-z]+(?:[-'][A-Z]?[a-z]+)*(?![\w./])")
_BRANCHES = word_set("master trunk develop mainline")
# What stands before a value that is over, and behind one.
_LEFT_BEHIND = re.compile(
    r"\b(?:from|not|than|instead of|rid of|goodbye to|away from|off|left|dropped|retired|removed|"
    r"replaced|killed|was|were|used to \w+(?: on| in| at)?|no longer \w+|abandoned)"
    r"\s+(?:the |our )?$",
    re.IGNORECASE,
)
_OVER = re.compile(
    r"^\s+(?:(?:is|are|was|were|has|have|had|been|finally|now) )*(?:gone|out|dead|history|retired|"
    r"dropped|removed|replaced|deprecated|no more|handed|gave|left|stepped|did not|didn't|does not|"
    r"doesn't|failed|went away|turned out)\b",
    re.IGNORECASE,
)


class Meaning(NamedTuple):
    entity: Entity
    fact: Fact  # what held so far
    value: str
    sure: bool


Held = tuple[Entity, Fact]


def named(names: EntityNames, sentence: str) -> Iterator[Entity]:
    """Known entities that a sentence names, longer names first, each word in one name only."""
    words = [word.strip(_EDGES).removesuffix("'s").removesuffix("’s") for word in sentence.split()]
    taken: set[int] = set()
    seen: set[str] = set()
    for length in range(LONGEST_NAME, 0, -1):
        for at in range(len(words) - length + 1):
            place = range(at, at + length)
            phrase = " ".join(words[at : at + length])
            if not all(words[at : at + length]) or taken.intersection(place):
                continue
            entity = None if says_nothing(phrase) else names.find(phrase)
            if entity is not None:
                taken.update(place)
                if entity.entity_id not in seen:
                    seen.add(entity.entity_id)
                    yield entity


def meanings(sentence: str, held: Iterable[Held], *, plain: bool) -> list[Meaning]:
    """What a sentence changes: one fact and its new value, when it is unambiguous and has a plain
    word of change; otherwise the facts that it casts doubt on."""
    standing = [
        (entity, fact)
        for entity, fact in held
        if fact.valid_until is None and cardinality(fact.predicate) != "multi"
    ]
    clauses = _CLAUSE.split(sentence)
    found: list[Meaning] = []
    doubted: list[Meaning] = []
    for entity, fact in standing:
        about = [clause for clause in clauses if _speaks_of(clause, entity)]
        value = next((v for part in (*about, sentence) if (v := _new(part, entity, fact))), "")
        if value:
            found.append(Meaning(entity, fact, value, sure=True))
        elif (plain or _named_kind(fact)) and any(_other(sentence, entity, fact)):
            doubted.append(_doubt(entity, fact, sentence))
    said = sentence.casefold()
    if len(found) > 1:  # those whose old value is named
        found = [one for one in found if one.fact.object.casefold() in said] or found
    if len(found) > 1:
        found = [one for one in found if _names_kind(said, one.fact)] or found
    if len(found) == 1 and plain:
        return found
    # Numbers stand in many a sentence; without a word of change and their kind they say nothing.
    doubted += [
        _doubt(one.entity, one.fact, sentence)
        for one in found
        if plain or _named_kind(one.fact) or _placed(clauses, one) or _labelled(sentence, one)
    ]
    return doubted if len(doubted) == 1 else []


def _named_kind(fact: Fact) -> bool:
    """Whether the stored object is of a kind whose other members are known by name."""
    return bool(family(fact.object.split(_SINCE)[0])) or fact.predicate == "owned_by"


def _placed(clauses: Iterable[str], one: Meaning) -> bool:
    """Whether a path stands in the clause that names the entity."""
    return _PATH.fullmatch(one.value) is not None and any(
        _speaks_of(clause, one.entity) and one.value in clause for clause in clauses
    )


def _labelled(sentence: str, one: Meaning) -> bool:
    """Whether a number follows the name of its kind: `Node 24`, `port 80`."""
    words = "|".join(map(re.escape, one.fact.predicate.split("_")))
    return re.search(rf"\b(?:{words}) {re.escape(one.value)}", sentence, re.I) is not None


def _doubt(entity: Entity, fact: Fact, sentence: str) -> Meaning:
    """The stored fact and the sentence: a reader of both can decide."""
    held = fact.object.split(_SINCE)[0]
    said = " ".join(sentence.split())
    return Meaning(entity, fact, f'{held}{_SINCE}{said}"', sure=False)


def _new(text: str, entity: Entity, fact: Fact) -> str:
    """The one value that could replace the fact's object, unless the sentence also has that
    object."""
    if _is_current_in(text, fact.object):
        return ""
    values = set(_other(text, entity, fact))
    return values.pop() if len(values) == 1 else ""


def _other(text: str, entity: Entity, fact: Fact) -> Iterator[str]:
    own = {key(name) for name in (entity.name, *entity.aliases)}
    for value in _rivals(text, fact):
        if key(value) not in own and key(value) != key(fact.object):
            yield value


def _speaks_of(clause: str, entity: Entity) -> bool:
    return any(name.casefold() in clause.casefold() for name in (entity.name, *entity.aliases))


def _rivals(sentence: str, fact: Fact) -> Iterator[str]:
    """Values in a sentence that could replace the fact's object."""
    if _SINCE in fact.object:
        fact = msgspec.structs.replace(fact, object=fact.object.split(_SINCE)[0])
    old = _NUMBER.fullmatch(fact.object.strip())
    if old is not None:
        for found in _NUMBER.finditer(sentence):
            same = _unit(found["u"]) == _unit(old["u"])
            same = same and found["n"].count(".") == old["n"].count(".")
            alone = found["u"] or _ALONE.match(sentence[found.end() :])
            if same and alone and not _is_past(sentence, found.start(), found.end()):
                yield found[0].strip()
    elif _PATH.fullmatch(fact.object):
        for value in _current_facts(_PATH, sentence, lambda value: True):
            if _PLACED.search(sentence[: sentence.index(value)]):
                yield value
    elif fact.predicate == "owned_by":
        yield from _current_facts(_PERSON, sentence, lambda value: bool(content_words(value)))
    elif fact.predicate == "default_branch":
        branches = _BRANCHES | ({"main"} if "branch" in sentence.lower() else frozenset())
        yield from _current_facts(_WORD, sentence, lambda value: value in branches)
    elif kind := family(fact.object):
        yield from _current_facts(_WORD, sentence, lambda value: family(value) == kind)
    elif " " not in fact.object and (form := _form(fact.object)) != "a":
        yield from _current_facts(_TOKEN, sentence, lambda value: _form(value) == form)


def _form(text: str) -> str:
    """The shape of a word: `us-east-1` is `a-a-0`."""
    return re.sub(r"[0-9]+", "0", re.sub(r"[^\W\d_]+", "a", text))


def _current_facts(
    pattern: re.Pattern[str], sentence: str, fits: Callable[[str], bool]
) -> Iterator[str]:
    for found in pattern.finditer(sentence):
        value = found[0].rstrip(".")
        if fits(value) and not _is_past(sentence, found.start(), found.start() + len(value)):
            yield value


def _is_past(sentence: str, start: int, end: int) -> bool:
    """Whether a value is said to be no longer valid."""
    before, after = sentence[:start], sentence[end:]
    return bool(_LEFT_BEHIND.search(before) or _OVER.match(after))


def _is_current_in(sentence: str, value: str) -> bool:
    """Whether a sentence has a value, and not as something past."""
    return any(
        not _is_past(sentence, found.start(), found.end())
        for found in re.finditer(rf"(?<![\w.]){re.escape(value)}(?!\w)", sentence, re.IGNORECASE)
    )


def _unit(text: str | None) -> str:
    unit = (text or "").strip().lower()
    unit = unit.removesuffix("s") if len(unit) > 2 else unit
    return _UNITS.get(unit, unit)


def _names_kind(said: str, fact: Fact) -> bool:
    return any(word in said for word in fact.predicate.split("_") if len(word) > 3)
