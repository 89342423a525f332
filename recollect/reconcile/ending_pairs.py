# ruff: noqa: E501  (patterns are read line by line)
"""How likely a statement ends, changes or replaces an older one.

In: the words of both, and how near they are in meaning. Out: a score; `shares` turns the scores of
all candidates into shares of certainty, of which "none of them" has one too. What is compared: the
meaning, rare words, names of things that do the same job (`tool_kinds.txt`), values of one type,
and whether the newer one speaks of a change or allows what was not allowed. The weights are fitted
by `tests/bench/fit_endings.py`.
"""

import functools
import math
import os
import re
from collections.abc import Sequence
from typing import NamedTuple

from recollect.core import safe_files
from recollect.core.tuning import ENDINGS
from recollect.extract.rules import patterns
from recollect.extract.statement_match import Words, word_hashes

_KINDS_FILE = os.path.join(os.path.dirname(__file__), "tool_kinds.txt")
_MOST_BYTES = 1 << 16
_READ = 600  # characters of a statement
_NAME = re.compile(r"[\w.+#@/-]++")
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
    "region": r"\b[a-z]{2}-[a-z]+-\d\b",
}  # fmt: skip
_TYPED = {name: re.compile(form, re.IGNORECASE) for name, form in _VALUES.items()}
# The newer one says that something became otherwise.
_CHANGES = re.compile(
    r"\b(?:as of|since (?!it|this|that|they|we|i\b)|nowadays|instead|turned out|redid|ran out|won|left|"
    r"tore|ripp?(?:ed|ing)|killed|had to|complain\w*|came back|unlocked|cutover|signed|retired|"
    r"replaced|won't|insists?|wants|wanted|asked for|decided|agreed|said no|gave|got|is out|are out|"
    r"too (?:slow|much|many|expensive|heavy)|bump|raise|lower|make (?:that|it)|regret|rather than|"
    r"goodbye|hello|dead|was|were|used to|until|moved|move|swap)\b",
    re.IGNORECASE,
)
# Rules and facts are told in the present; that something became otherwise, mostly in the past.
_PAST = re.compile(
    r"(?<!\bis )(?<!\bare )(?<!\bbe )(?<!\bget )(?<!\bgets )(?<!\bbeing )(?<!\bmust be )"
    r"\b(?!need|feed|speed|embed|seed|based|related|nested|shared|used\b|red\b|generated|supposed)"
    r"(?:[a-z]{3,}ed|went|threw|fell|made|rebuilt|built|took|lost|came|became|found|told|ran|broke|"
    r"bought|brought|did|had|wrote|chose|kept|sold|stuck|sent|shut|quit|caved|ate|blew)\b",
    re.IGNORECASE,
)
# Sides of one thing: what is said of one says nothing of the other.
_SIDES = (
    "frontend backend client server",
    "dev development staging production prod qa sandbox",
    "unit e2e integration",
    "ios android web desktop mobile windows linux macos",
    "read write reads writes",
    "admin customer user",
)
# The newer one allows what was not allowed, or asks no more for what was asked for.
_ALLOWS = re.compile(
    r"\b(?:fine|ok(?:ay)?|al(?:l )?right|allowed|(?:feel |are |you're )free to|fair game|welcome|"
    r"don't mind|may|you can|can (?:just|go|stop|share|use)|go ahead|just (?!like|as)[a-z]{3,}|"
    r"stop|quit|skip|drop|scrap|forget|ignore|leave|lift(?:ed|s)?|relax(?:ed)?|let go|overdid|"
    r"(?:is|are|'s) (?:over|off|gone|history|void)|off the table|back to|enough|plenty|"
    r"(?:your|own) judge?ment|on your own|whatever|any ?more|any longer|no longer|no more|again|"
    r"need no|needn't|(?:not?|n't|never|nothing) (?:\w+ ){0,5}(?:need(?:ed)?|have to|has to|care|"
    r"requir\w*|necessary|bother|matter|your problem))\b",
    re.IGNORECASE,
)
_NAMES_A_RULE = re.compile(
    r"\b(?:rule|thing|convention|requirement|restriction|ban|lock|limit|policy|instruction|preference|freeze|"
    r"step|habit|ritual|rhythm|checks?|approvals?)\b",
    re.IGNORECASE,
)
_NEGATED = re.compile(r"\b(?:not|no|never|don't|without|avoid)\b", re.IGNORECASE)
_RULES = re.compile(
    r"\b(?:always|never|every|each|all|must|only|no|not|don't|do not|ask|wait|before|after|please|need\w*|"
    r"should|without|keep|run|use|add|write|show|put)\b",
    re.IGNORECASE,
)


FEATURES = (
    "near", "shared", "same_kind", "typed", "allows", "names_rule", "near_change",
    "other_side",
)  # fmt: skip


class ComparedStatement(NamedTuple):
    """What is compared of one statement."""

    words: Words
    kinds: dict[str, frozenset[str]]  # of tools: the names in it
    values: dict[str, frozenset[str]]
    changes: bool
    allows: bool
    names_rule: bool
    is_rule: bool
    sides: tuple[frozenset[str], ...]
    negated: bool

    @property
    def turns(self) -> bool:
        """Whether it may speak of something that was otherwise before."""
        return self.changes or self.allows


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
        words=word_hashes(text),
        kinds={kind: frozenset(some) for kind, some in of_kind.items()},
        values={
            name: frozenset(one[0].lower().replace(" ", "") for one in form.finditer(text))
            for name, form in _TYPED.items()
        },
        changes=any(one.search(text) for one in (patterns.CHANGES, _CHANGES, _PAST)),
        sides=tuple(names & side for side in _sides()),
        negated=bool(_NEGATED.search(text)),
        allows=bool(_ALLOWS.search(text)),
        names_rule=bool(_NAMES_A_RULE.search(text)),
        is_rule=bool(_RULES.search(text)),
    )


def features(new: ComparedStatement, old: ComparedStatement, cosine: float) -> tuple[float, ...]:
    """What speaks for the newer one being about the older one, in the order of `FEATURES`."""
    near = max(0.0, cosine)
    return (
        near,
        min(len(new.words & old.words), 3) / 3,
        float(_other_of_a_kind(new, old)),
        float(_other_value(new, old)),
        float(new.allows and old.is_rule),
        float(new.names_rule and old.is_rule),
        near * new.turns,
        float(any(a and b and not a & b for a, b in zip(new.sides, old.sides, strict=True))),
    )


def _other_of_a_kind(new: ComparedStatement, old: ComparedStatement) -> bool:
    """Whether they name things that do the same job, and the newer one another."""
    if new.negated and not new.turns:
        return False  # "use pnpm" and "never use npm" can both hold
    return any(new.kinds[kind] - old.kinds[kind] for kind in new.kinds.keys() & old.kinds.keys())


def _other_value(new: ComparedStatement, old: ComparedStatement) -> bool:
    return any(old.values[name] and new.values[name] - old.values[name] for name in _TYPED)


def least_share(new: ComparedStatement, old: ComparedStatement, *, unsure: bool = False) -> float:
    """The share of certainty with which the newer one disputes the older one: two statements about
    one matter may both hold, unless the newer one speaks of a change. `unsure`: it may be no
    statement at all, but a task ("skip rows without a customer")."""
    if not new.turns:
        return ENDINGS.doubt_plain
    return ENDINGS.unsure if unsure else ENDINGS.doubt


def score(new: ComparedStatement, old: ComparedStatement, cosine: float) -> float:
    return sum(w * f for w, f in zip(_weights(), features(new, old, cosine), strict=True))


def shares(scores: Sequence[float]) -> list[float]:
    """What of all certainty each candidate has; the rest is that none is meant."""
    top = max([ENDINGS.none, *scores])
    parts = [math.exp(one - top) for one in scores]
    whole = sum(parts) + math.exp(ENDINGS.none - top)
    return [one / whole for one in parts]


@functools.cache
def _sides() -> tuple[frozenset[str], ...]:
    return tuple(frozenset(one.split()) for one in _SIDES)


@functools.cache
def _weights() -> tuple[float, ...]:
    return tuple(getattr(ENDINGS, name) for name in FEATURES)


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
