"""Summarises text without a model: its best sentences, and the words that find it.

In: texts of one session. Out: sentences in their order within a budget, and the rare words that
those sentences lack: identifiers, names, numbers. So the text can still be found by what a question
is likely to name.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9`\"'(\[])|\n+")
_WORD = re.compile(r"[^\W_][\w./:@#+-]*[^\W_]|[^\W_]", re.UNICODE)
_CUES = re.compile(
    r"\b(decid\w+|chose|chosen|agreed|because|instead|rather than|must|never|always|only|root cause"
    r"|caused?|turn(?:s|ed) out|fix(?:ed|es)?|solved|bug|fail\w*|error\w*|broke\w*|prefer\w*"
    r"|switch(?:ed)?|mov(?:ed|e)|renam\w+|deprecat\w+|learn\w*|found|note|remember|important"
    r"|requires?|depends?|limit\w*|default\w*|deadline|version|uses?|using|now)\b",
    re.IGNORECASE,
)
_COMMON = frozenset(
    """
    a about after again all also am an and any are as at be because been before being but by can
    could did do does doing done down for from get got had has have he her here him his how i if
    in into is it its just let like make me more most my need no not now of off ok okay on one
    only or other our out over please same she should so some such sure than thanks that the
    their them then there these they this those to too up us use very want was we well were what
    when where which while who why will with would yes you your
    """.split()  # noqa: SIM905 - a list of a hundred quoted words is no easier to read
)
_NEAR = 0.7
_LONGEST = 400


@dataclass(frozen=True)
class Extract:
    sentences: tuple[str, ...]
    words: tuple[str, ...]


def sentences(text: str) -> list[str]:
    """A text split at the ends of sentences and lines, white space folded."""
    found = []
    for part in _SENTENCE.split(text):
        flat = " ".join(part.split())
        while len(flat) > _LONGEST:
            cut = flat.rfind(" ", 0, _LONGEST)
            cut = cut if cut > _LONGEST // 2 else _LONGEST
            found.append(flat[:cut])
            flat = flat[cut:].lstrip()
        if flat:
            found.append(flat)
    return found


def words(text: str) -> list[str]:
    """Words and identifiers as written, in order."""
    return _WORD.findall(text)


def extract(texts: Sequence[str], chars: int, most_words: int, also: Sequence[str] = ()) -> Extract:
    """The most informative sentences, at most so many characters of them, and the search words that
    they lack; `also` are search words of an earlier stage."""
    units = [
        (place, at, sentence)
        for place, text in enumerate(texts)
        for at, sentence in enumerate(sentences(text))
    ]
    held = [frozenset(word.lower() for word in words(one)) - _COMMON for _, _, one in units]
    frequency = Counter(word for bag in held for word in bag)
    scores = [
        _score(sentence, bag, frequency, len(units), first=at == 0)
        for (_, at, sentence), bag in zip(units, held, strict=True)
    ]
    chosen: list[int] = []
    spent = 0
    for number in sorted(range(len(units)), key=lambda one: (-scores[one], one)):
        cost = len(units[number][2]) + 1
        if spent + cost > chars or not held[number]:
            continue
        if any(_near(held[number], held[other]) for other in chosen):
            continue
        chosen.append(number)
        spent += cost
    kept = frozenset(word for number in chosen for word in held[number])
    said = tuple(units[number][2] for number in sorted(chosen))
    return Extract(said, search_words([*texts, *also], kept, frequency, most_words))


def search_words(
    texts: Sequence[str], kept: frozenset[str], frequency: "Counter[str]", most: int
) -> tuple[str, ...]:
    """Words that are not in the kept sentences: names first, then by rarity."""
    seen: dict[str, str] = {}
    for text in texts:
        for word in words(text):
            low = word.lower()
            if low not in kept and low not in _COMMON and len(low) > 2:
                seen.setdefault(low, word[:80])
    order = {low: at for at, low in enumerate(seen)}
    ranked = sorted(seen, key=lambda low: (-_name_like(seen[low]), frequency[low], order[low]))
    return tuple(seen[low] for low in sorted(ranked[:most], key=order.__getitem__))


def is_conclusion(text: str) -> bool:
    """Whether a sentence looks like something learned or decided."""
    return _CUES.search(text) is not None


def _score(
    sentence: str, bag: frozenset[str], frequency: "Counter[str]", total: int, *, first: bool
) -> float:
    """The information in a sentence: rare words, names, words of decision; less per word in long
    ones."""
    if not bag:
        return 0.0
    rare = sum(math.log(1 + total / frequency[word]) for word in bag)
    names = sum(_name_like(word) for word in words(sentence))
    score = (rare + 1.5 * names) / math.sqrt(len(bag) + 4)
    score *= 1 + 0.25 * min(3, len(_CUES.findall(sentence)))
    return score * (1.2 if first else 1.0)


def _name_like(word: str) -> int:
    """Whether a word looks like a path, identifier, version, number or name."""
    signed = any(sign in "_./:@#" or sign.isdigit() for sign in word)
    return int(signed or word != word.lower())


def _near(one: frozenset[str], other: frozenset[str]) -> bool:
    shared = len(one & other)
    return shared >= _NEAR * min(len(one), len(other)) and abs(len(one) - len(other)) <= 4
