# ruff: noqa: E501  (patterns are read line by line)
"""What a statement is about, what holds, and what no longer does, as far as its words say so.

In: a sentence and its kind. Out: subject, value, polarity, and the words for what it ends.
"""

import re
from typing import Literal, NamedTuple

from recollect.extract.normalised_text import word_set
from recollect.extract.rules import grammar
from recollect.extract.rules.cues import StatementKind

MOST_CHARS = 120


class Terms(NamedTuple):
    subject: str = ""
    value: str = ""
    old: str = ""
    polarity: Literal["", "do", "avoid"] = ""


_N = r"[\w@.+/-]*[\w+](?: v?\d[\w.]*)?"
_THE = r"(?:the |a |an |our |my )?"
# Forms that name what holds (v) and what does not (old), most telling first.
_FORMS: tuple[re.Pattern[str], ...] = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"\bfrom {_THE}(?P<old>{_N}) to {_THE}(?P<v>{_N})",
        rf"\b(?:replaced?|swap(?:ped)?) {_THE}(?P<old>{_N}) (?:with|for|by) {_THE}(?P<v>{_N})",
        rf"\b(?P<old>{_N}) in favou?r of {_THE}(?P<v>{_N})",
        rf"\bfor {_THE}(?P<v>{_N}) (?:instead of|rather than) {_THE}(?P<old>{_N})",
        rf"\b(?:prefer|chose|picked|take|adopted|selected) {_THE}(?P<v>{_N}) over {_THE}(?P<old>{_N})",
        rf"\b(?P<v>{_N}),? (?:instead of|rather than|statt|anstatt|en vez de|au lieu de|invece di|em vez de) {_THE}(?P<old>{_N})",
        rf"\binstead of {_THE}(?P<old>{_N}),? (?:\w+ ){{0,6}}?(?:use|with|to|on|is) {_THE}(?P<v>{_N})",
        rf"\b(?:isn't|aren't|no longer|not|used to be|was) {_THE}(?P<old>{_N})(?: any ?more)?\b.{{0,60}}\b(?:it's|it is|now|they're) (?:now )?{_THE}(?P<v>{_N})",
        rf"\b(?P<v>{_N})(?: here| everywhere)?(?:,| and|, and) not {_THE}(?P<old>{_N})",
        rf"\b(?P<old>{_N}) (?:is|are|was|goes) (?:gone|out(?! of)|dead|history|dropped|away|no longer)\b",
        rf"\b(?:dropp(?:ing|ed)|got rid of|stopped using|no longer use|gone off|goodbye to|gave up on|ditched) {_THE}(?P<old>{_N})",
        rf"\b(?:settled on|ended up with|go(?:ing)? with|went with|picked|chose|landed on|stick(?:ing)? with|moved? to|switched to|migrated to|"
        rf"went to|bumped to|raised to|up to|lives? (?:on|in|at)|runs? on|hosted on|deployed (?:on|to)|been on|it's on|umgestellt auf) {_THE}(?P<v>{_N})",
        rf"\b(?:it's|it is) (?:now )?(?:just )?{_THE}(?P<v>{_N}) now\b|\b(?:is|are) now {_THE}(?P<w>{_N})",
        rf"\b(?:always use|use|prefer|we use|takes?) {_THE}(?P<v>{_N})",
        rf"\b(?P<v>{_N}) (?:took|takes) over\b",
    )
)
_ABOUT = re.compile(
    r"^(?:(?:and|so|btw|fyi|ok(?:ay)?|no|nope|the|our|all|every|each|in this repo)[\s,]+)*+(?P<s>(?!it\b|this\b|that\b|we\b|i\b|you\b|there\b|they\b)[\w/'-]+(?: [\w/'-]+){0,3}?) "
    r"(?:is|are|isn't|aren't|lives?|runs?|moved|changed|went|goes?|stays?|has|have|must|should|needs?|belongs?|comes?|gets?|takes?|uses?)\b"
    r"|\bfor (?:the |our |all )?(?P<t>(?!now\b|us\b|me\b|this\b|that\b|it\b|exactly\b)[\w-]+(?: [\w-]+){0,2})",
    re.IGNORECASE,
)
# What a clause says of its subject.
_SAYS = re.compile(
    r"^(?:(?:and|so|but|btw|fyi|ok(?:ay)?|no|nope|the|our|all|every|each)[\s,]+)*+(?P<s>(?!it\b|this\b|that\b|we\b|i\b|you\b|there\b|they\b|what\b|who\b)[\w/'-]+(?: [\w/'-]+){0,3}?) "
    r"(?:is|are|lives? (?:on|in|at)|runs? on|comes? from|go(?:es)? (?:to|in|through)|uses?|expires? after|takes?|stays? (?:on|at)|went (?:up |down )?to|moved to|switched to) "
    rf"(?:now |just |still |at |on |in |all )*{_THE}(?P<v>{_N})(?: (?P<more>hours?|minutes?|seconds?|days?|weeks?|months?|percent|[kmgt]b))?\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[,;:] |\. | (?:so|because|since|but|and) ")
_AVOID = re.compile(
    r"\b(?:never|don'?t|do not|stop|avoid|quit|refrain|no|not|without|forbidden|banned|mustn't|nothing|nobody|none|kein\w*|nie|niemals|nicht|jamais|pas|nunca|no|não|mai|non)\b"
    r"|禁止|しない|使わない|不要|别",
    re.IGNORECASE,
)  # fmt: skip
_NO_VALUE = word_set(
    """it this that them the a an sure yet only just now here there all any one way be use what when
    everything something anything nothing you me us him her for to and or see was rather while"""
)


_NO_SUBJECT = word_set("we i you don't doesn't this still go do just me always never please")


def terms(sentence: str, kind: StatementKind) -> Terms:
    subject = value = old = ""
    for triple in grammar.triples(sentence):
        subject, value = f"{triple[0]} {triple[1].replace('_', ' ')}", triple[2]
        break
    for form in _FORMS:
        if found := form.search(sentence[:400]):
            groups = found.groupdict()
            old = _name(groups.get("old"))
            value = value or _name(groups.get("v") or groups.get("w"))
            if old or value:
                break
    for clause in _CLAUSE.split(sentence[:400]):
        if subject and value:
            break
        if found := _SAYS.match(clause):
            said = _name(found["v"])
            if said and not said.endswith(("ed", "ing")):
                subject = subject or found["s"]
                value = value or f"{said} {found['more'] or ''}".strip()
    if not subject and (about := _ABOUT.search(sentence[:400])):
        subject = about["s"] or about["t"] or ""
    polarity: Literal["", "do", "avoid"] = ""
    if kind == "rule":
        head = " ".join(sentence.split()[:6])
        polarity = "avoid" if _AVOID.search(head) else "do"
    if _NO_SUBJECT & set(subject.lower().split()):
        subject = ""
    return Terms(subject[:MOST_CHARS], value[:MOST_CHARS], old[:MOST_CHARS], polarity)


def _name(text: str | None) -> str:
    text = (text or "").strip(" .,;:")
    return "" if text.lower() in _NO_VALUE or len(text) < 2 else text
