# ruff: noqa: E501  (patterns are read line by line)
"""Whether a text keeps the sense of what was said, and does not turn it round.

In: a text that somebody wants to keep, and the sentences that it is taken from. Out: what is wrong
with it, in words. Shared words are not enough: "delete a branch before you ask" has all words of
"ask before you delete a branch", and "use yarn" all of "do not use yarn" but one.
"""

import re
from collections.abc import Iterator

from recollect.core.text_words import STOP_WORDS, stem, words
from recollect.extract.normalised_text import names, word_set
from recollect.extract.rules.belief_terms import terms
from recollect.extract.rules.patterns import FILLER
from recollect.reconcile.ending_pairs import read

_READ = 2000  # characters
_CLAUSES = re.compile(r"[,;:.!?](?:\s|$)|[、。，；：！？]|\bbut\b", re.IGNORECASE)
# What denies the words behind it, and what denies its whole clause.
_DENIES = re.compile(
    r"\b(?:not|no|never|without|avoid|stop(?:s|ped)?|instead of|rather than|nicht|nie|niemals|kein\w{0,2}|nunca|jamais)\b",
    re.IGNORECASE,
)
_DENIES_ALL = re.compile(
    r"\b(?:\w+n't|cannot|don't|nobody|nothing|none|(?:is|are|was|were|be|been|does|do|did|must|should|can|may|will|has|have|shall|we|i|you)"
    r" (?:not|never|no longer)|forbidden|banned|prohibited|off limits|no longer|any ?more|nicht mehr)\b",
    re.IGNORECASE,
)
_WIDE_DENIES = re.compile(r"ない|なく|なし|ません|禁止|やめ|[不别別没勿]")
# What stands before it and what stands behind it are not the same.
_RELATIONS = {
    one: re.compile(rf"\b{one}\b", re.IGNORECASE)
    for one in ("before", "after", "over", "than", "until", "unless", "without", "except", "to")
}
_FROM = re.compile(r"\bfrom\b", re.IGNORECASE)
# What makes a rule hold only sometimes.
_EXCEPTIONS = frozenset(("until", "unless", "without", "except"))
_LIGHT = frozenset(
    map(stem, STOP_WORDS | word_set("always never only please use using used from now on"))
)

_ANY = frozenset(map(stem, word_set("each every any all")))


def sense_lost(text: str, said: str, known: str = "") -> str:
    """What a text does to what was said: "denies" it or the other way round, has it in another
    "order", adds an exception or a name that is not in it, nor in `known`. Empty if nothing."""
    new, old = _tidy(text), _tidy(said)
    shared = _content(new) & _content(old)
    if (denied(new) ^ denied(old)) & shared:
        return "it denies what they do not, or the other way round"
    if (_WIDE_DENIES.search(new) is None) != (_WIDE_DENIES.search(old) is None) and _wide(
        new + old
    ):
        return "it denies what they do not, or the other way round"
    for relation in _RELATIONS:
        mine, theirs = _sides(new, relation), _sides(old, relation)
        if mine and theirs and (mine[0] & theirs[1] or mine[1] & theirs[0]):
            return f"what stands before and behind {relation!r} is swapped"
    source = f"{old} {_tidy(known)}".lower()
    if added := (_EXCEPTIONS & set(words(new))) - set(words(source)):
        return f"it adds {min(added)!r}"
    if lost := (_EXCEPTIONS & set(words(old))) - set(words(new)):
        return f"it leaves out {min(lost)!r}"
    if foreign := next((one for one in _particulars(new) if one not in source), ""):
        return f"they do not name {foreign!r}"
    return ""


def adds(text: str, said: str) -> bool:
    """Whether a text has content words that were not said: "jobs never push" for "never push"."""
    return bool(_content(_tidy(text)) - _content(_tidy(said)) - _ANY)


def _tidy(text: str) -> str:
    return FILLER.sub("", " ".join(text[:_READ].replace("’", "'").split()))


def _wide(text: str) -> bool:
    return any(char >= "\u2e80" for char in text)


def _content(text: str) -> frozenset[str]:
    return frozenset(stem(one) for one in words(text)) - _LIGHT


def denied(text: str) -> frozenset[str]:
    """The content words that are denied, also as what was left for something else."""
    found = set[str]()
    for clause in _CLAUSES.split(text):
        if _DENIES_ALL.search(clause):
            found |= _content(clause)
        elif denial := _DENIES.search(clause):
            found |= _content(clause[denial.end() :])
        found |= _content(terms(clause, "decision").old)
    return frozenset(found)


def _sides(text: str, relation: str) -> tuple[frozenset[str], frozenset[str]] | None:
    """The content words before and behind a word that relates them; None if it is not there once."""
    parts = _RELATIONS[relation].split(text)
    if len(parts) != 2 or (relation == "to" and not _FROM.search(parts[0])):
        return None
    before, behind = parts
    if not _content(before):  # "before you delete, ask"
        behind, _, before = behind.partition(",")
    return _content(before), _content(behind)


def _particulars(text: str) -> Iterator[str]:
    """Names, values and tools: what nobody says in other words."""
    for one in names(text):
        yield one.strip("\"'").lower()
    compared = read(text)
    for some in (*compared.kinds.values(), *compared.values.values()):
        yield from some
