# ruff: noqa: E501  (patterns are read line by line)
"""How likely a statement ends, changes or replaces an older one.

In: the words of both, and how near they are in meaning. Out: a score; `shares` turns the scores of
all candidates into shares of certainty, of which "none of them" has one too. What is compared: the
meaning, shared words, names of things that do the same job (`tool_kinds.txt`), values of one type,
and how likely the newer one tells of a change (`change`: logistic regression on its vector and on
how its sentences are built, `changes.f32`). Everything is fitted by `tests/bench/fit_endings.py`.
"""

import difflib
import functools
import math
import os
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from recollect.core import safe_files
from recollect.core.text_words import STOP_WORDS, stem, words
from recollect.core.tuning import ENDINGS
from recollect.core.vector_bytes import DIMENSIONS
from recollect.extract.normalised_text import word_set
from recollect.extract.rules.sentence_kind import speaks_english
from recollect.extract.standing import BUCKETS, form_words, forms_of, hashed, own_sentences

CHANGE_FILE = os.path.join(os.path.dirname(__file__), "changes.f32")
_KINDS_FILE = os.path.join(os.path.dirname(__file__), "tool_kinds.txt")
_MOST_BYTES = 1 << 16
_READ = 600  # characters of a statement
_SENTENCES = 6
_STEM = 6  # characters of a word: "example" and "examples" are one
_NAME = re.compile(r"(?:(?![\u2e80-\U0003ffff])[\w.+#@/-])++")  # also in text without spaces
_VALUES = {
    "duration": r"(?<![\d.,])\d[\d.,]*+\s?(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|weeks?|months?|years?)\b",
    "size": r"(?<![\d.,])\d[\d.,]*+\s?(?:[kmgt]i?b|[kmg]|megs?|gigs?|bytes|px|pixels|chars|characters|columns|cols|lines)\b",
    "share": r"(?<![\d.,])\d[\d.,]*+\s?(?:%|percent)",
    "rate": r"(?<![\d.,])\d[\d.,]*+\s?(?:/|per )\s?(?:s|sec|second|m|min|minute|h|hour|day)\b",
    "number": r"(?<![\w.:/-])\d[\d,]*k?(?![\w:/.-]*\d|\s?(?:%|percent|ms|s\b|m\b|min|h\b|hour|day|[kmg]b|meg|gig))",
    "version": r"(?<![\w.])v?\d+\.\d+(?:\.\d+)*(?![\w.])",
    "clock": r"\b\d{1,2}(?::\d\d|\s?[ap]m)\b",
    "host": r"(?<![\w.-])[\w-]{1,63}(?:\.[\w-]{1,63}){0,4}\.(?:dev|io|com|net|org|local|internal|app|cloud|eu|de|test)\b",
    "path": r"(?<![\w/.:-])[\w.@~-]*/[\w./@*-]*\w|\b[\w-]+\.(?:md|ya?ml|toml|json|py|ts|tsx|js|go|rs|sql|sh|txt|cfg|ini|lock|proto)\b",
    "frequency": r"\b(?:hourly|daily|nightly|weekly|monthly|quarterly|yearly|(?:every|once an?|twice an?|per) (?:[\w]{1,9} )?(?:seconds?|minutes?|hours?|days?|nights?|mornings?|evenings?|weeks?|months?|quarters?|years?|(?:mon|tues|wednes|thurs|fri|satur|sun)day))\b",
    "region": r"\b[a-z]{2}-[a-z]+-\d\b",
}  # fmt: skip
_TYPED = {name: re.compile(form, re.IGNORECASE) for name, form in _VALUES.items()}
# Sides of one thing: what is said of one says nothing of the other.
_SIDES = (
    "frontend backend client server",
    "dev development staging production prod qa sandbox",
    "unit e2e integration",
    "ios android web desktop mobile windows linux macos",
    "read write reads writes",
    "admin customer user",
)
_NEGATED = re.compile(r"\b(?:not|no|never|don't|without|avoid)\b", re.IGNORECASE)
_FORCE = frozenset(("always", "must", "never"))  # how firm a statement is, not what it says
# By these closed classes of words English tells that something is so, or denies it; an order needs none.
_FINITE = re.compile(
    r"\b(?:is|are|was|were|am|been|has|have|had|does|did|will|would|can|could|should|may|might|must|not|no|never"
    r"|cannot|we|i|they|he|she|nobody|everyone|everybody|nothing|(?:it|that|there|here|what)['’]s)\b|n['’]t\b",
    re.IGNORECASE,
)
# "pnpm, never npm", "ruff instead of black": what lost against the rest of the sentence.
_LOSER = re.compile(
    r"(?:,\s*(?:and |but )?(?:never|not|no(?: longer| more)?)|\b(?:instead of|rather than))"
    r"\s+([^,.;!?\n]{1,40})(?=[,.;!?\n]|$)",
    re.IGNORECASE,
)
# Words of an instruction that do not say what it is about.
_ORDERS = word_set("""use using used always never only now prefer must should please go switch move
    start stop""")  # fmt: skip


FEATURES = (
    "near", "shared", "same_kind", "typed", "other_side", "change",
    "near_change", "shared_change", "kind_change", "typed_change",
)  # fmt: skip


class ComparedStatement(NamedTuple):
    """What is compared of one statement."""

    words: frozenset[str]
    kinds: dict[str, frozenset[str]]  # of tools: the names in it
    values: dict[str, frozenset[str]]
    sides: tuple[frozenset[str], ...]
    negated: bool


@functools.lru_cache(maxsize=4096)
def read(text: str) -> ComparedStatement:
    text = text[:_READ]
    names = frozenset(one.lower().strip("./-@") for one in _NAME.findall(text))
    tools = _tool_kinds()
    of_kind: dict[str, set[str]] = {}
    for name in names:
        for kind in tools.get(name, ()):
            of_kind.setdefault(kind, set()).add(name)
    return ComparedStatement(
        words=frozenset(one[:_STEM] for one in words(text) if one not in STOP_WORDS),
        kinds={kind: frozenset(some) for kind, some in of_kind.items()},
        values={
            name: frozenset(one[0].lower().replace(" ", "") for one in form.finditer(text))
            for name, form in _TYPED.items()
        },
        sides=tuple(names & side for side in _sides()),
        negated=bool(_NEGATED.search(text)),
    )


def is_tool(name: str) -> bool:
    """Whether a word is the name of a tool, also written as its library's: Vue.js."""
    known = _tool_kinds()
    return any(one in known for one in (name.lower(), name.lower().removesuffix(".js")))


def change(text: str, vector: bytes | None) -> float:
    """How likely a statement tells that something became otherwise, or is asked for no more: by its
    meaning, and by how its sentences are built."""
    import numpy as np  # not before it is needed

    weights = _change_weights()
    logit = float(weights[-1])  # as for a text that changes nothing
    if vector is not None and len(vector) == 4 * DIMENSIONS:
        meaning = np.frombuffer(vector, dtype="<f4").astype(np.float64)
        length = float(np.linalg.norm(meaning))
        if math.isfinite(length) and length > 0:
            logit = float(weights[-2]) + float(meaning @ weights[:DIMENSIONS]) / length
    for at, share in change_forms(text):
        logit += share * float(weights[DIMENSIONS + at])
    return 1 / (1 + math.exp(-max(-50.0, min(50.0, logit))))


def change_forms(text: str) -> list[tuple[int, float]]:
    """How the sentences of a statement are built."""
    some = own_sentences(text)[:_SENTENCES]
    forms = {form for one in some for form in forms_of(one, form_words())}
    return hashed(sorted(forms))


def features(
    new: ComparedStatement, old: ComparedStatement, cosine: float, changes: float
) -> tuple[float, ...]:
    """What speaks for the newer one being about the older one, in the order of `FEATURES`."""
    near = max(0.0, cosine)
    shared = min(len(new.words & old.words), 3) / 3
    kind = float(_other_of_a_kind(new, old, changes))
    typed = float(_other_value(new, old))
    return (
        near, shared, kind, typed,
        float(any(a and b and not a & b for a, b in zip(new.sides, old.sides, strict=True))),
        changes, near * changes, shared * changes, kind * changes, typed * changes,
    )  # fmt: skip


def _other_of_a_kind(new: ComparedStatement, old: ComparedStatement, changes: float) -> bool:
    """Whether they name things that do the same job, and the newer one another."""
    if new.negated and changes < ENDINGS.changes:
        return False  # "use pnpm" and "never use npm" can both hold
    return any(new.kinds[kind] - old.kinds[kind] for kind in new.kinds.keys() & old.kinds.keys())


def _other_value(new: ComparedStatement, old: ComparedStatement) -> bool:
    return any(old.values[name] and new.values[name] - old.values[name] for name in _TYPED)


def same_slot(new: str, old: str) -> bool:
    """Whether a statement speaks of what an older one says, and not only of its subject: it has
    another value for it, or more than half of its words. "The cache is in Memcached now" does of
    "The cache is in Redis", "the cache is warmed now" does not."""
    if says_another_value(new, old):
        return True
    said, was = read(new), read(old)
    frame = was.words - _FORCE
    return len(said.words & frame) > ENDINGS.frame * len(frame)


def says_another_value(new: str, old: str, changes: float = 1.0) -> bool:
    """Whether a statement has a value, or names a thing that does the same job, and the older one
    has another."""
    said, was = read(new), read(old)
    return _other_value(said, was) or _other_of_a_kind(said, was, changes)


def may_change(new: str, old: str, changes: float) -> bool:
    """Whether a prompt that may be a task can be meant to change an older statement: it has another
    value for it, or clearly tells of a change. Nobody changes their mind in the words of a template:
    "rename the tab of the order page" says nothing against the same task for the cart page."""
    if says_another_value(new, old, changes):
        return True
    if changes < ENDINGS.tells and speaks_english(new):  # what the model of changes was fitted on
        return False
    a, b = words(new[:_READ]), words(old[:_READ])
    return difflib.SequenceMatcher(None, a, b, autojunk=False).ratio() < ENDINGS.template


def only_orders(text: str, old: str) -> bool:
    """Whether a prompt asks for work about an older statement, and does not say that anything is so
    ("go on with the work on the retry cap"): it denies nothing, has no finite verb of a closed class,
    and does not begin with what the older one speaks of, as "Lena left the company" does."""
    begins = words(text[:_READ])[:1]
    named = any(one[:_STEM] in read(old).words for one in begins)
    return speaks_english(text) and not named and not _FINITE.search(text)


def may_be_about(new: str, old: str) -> bool:
    """Whether a statement can be about an older one. One that names what lost ("pnpm, never npm") is
    about that choice: it says nothing about other things, and only what names something that does
    the same job, or says what it is about, can be about it."""
    if about := _choice(new):
        return not about.isdisjoint(_telling(old))
    kinds = read(new).kinds.keys()
    if kinds and _choice(old) and kinds.isdisjoint(read(old).kinds):
        return not _telling(new).isdisjoint(_telling(old))
    return True


@functools.lru_cache(maxsize=1024)
def _choice(text: str) -> frozenset[str]:
    """The names between which a statement chooses, or where they are no names of tools, its telling
    words; nothing if it does not say what lost."""
    lost = [one[1] for one in _LOSER.finditer(text[:_READ])]
    if any(read(one).kinds for one in lost):
        return frozenset().union(*read(text).kinds.values())
    return _telling(text) if lost else frozenset()


@functools.lru_cache(maxsize=4096)
def _telling(text: str) -> frozenset[str]:
    names = frozenset().union(*read(text).kinds.values())
    said = (one for one in words(text[:_READ]) if one not in STOP_WORDS and one not in _ORDERS)
    return names.union(map(stem, said))


def least_share(bar: float, changes: float) -> float:
    """The share of certainty with which a statement disputes an older one: two statements about one
    matter mostly both hold, unless the newer one tells of a change."""
    return bar if changes >= ENDINGS.changes else max(bar, ENDINGS.plain)


def score(new: ComparedStatement, old: ComparedStatement, cosine: float, changes: float) -> float:
    found = features(new, old, cosine, changes)
    return sum(w * f for w, f in zip(_weights(), found, strict=True))


def shares(scores: Sequence[float]) -> list[float]:
    """What of all certainty each candidate has; the rest is that none is meant, which is likelier
    where many could be."""
    none = ENDINGS.none + ENDINGS.none_of_many * math.log(max(1, len(scores)))
    top = max([none, *scores])
    parts = [math.exp(one - top) for one in scores]
    whole = sum(parts) + math.exp(none - top)
    return [one / whole for one in parts]


@functools.cache
def _sides() -> tuple[frozenset[str], ...]:
    return tuple(frozenset(one.split()) for one in _SIDES)


@functools.cache
def _weights() -> tuple[float, ...]:
    return tuple(getattr(ENDINGS, name) for name in FEATURES)


@functools.cache
def _change_weights() -> Any:
    import numpy as np

    held = safe_files.read_whole(CHANGE_FILE, 4 * (DIMENSIONS + BUCKETS + 2))
    return np.frombuffer(held, dtype="<f4")


@functools.cache
def _tool_kinds() -> dict[str, tuple[str, ...]]:
    """The kinds of each name; a line of the file is a kind."""
    found: dict[str, tuple[str, ...]] = {}
    for line in safe_files.read_whole(_KINDS_FILE, _MOST_BYTES).decode().splitlines():
        kind, colon, members = line.partition(": ")
        if colon and not line.startswith("#"):
            for name in members.split():
                found[name] = (*found.get(name, ()), kind)
    return found
