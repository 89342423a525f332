"""Tells whether a text is about a person's pay, health, beliefs or whereabouts: kept, but shared
only by consent.

In: a fact, or any text that may be put before an agent. Out: whether it is sensitive. What can go
wrong: a text about such data without any ("add a salary column"). So a word counts only in a
sentence that also mentions a person or a number, and words that programs have too (live, address,
condition) only in the form of a sentence about a person.
"""

import re
from collections.abc import Iterator

from recollect.privacy.patterns import pattern
from recollect.privacy.scrubbing import words_held

_WORDS = (
    r"(?:salar(?:y|ies)|wages?|income|compensation|earns|bonus(?:es)?"
    r"|health (?:condition|issue|problem|insurance|record)s?|illness|ill with"
    r"|diagnosed with|disease|disabilit\w{1,20}|pregnan\w{1,20}|medication|therap(?:y|ist)"
    r"|diabet\w{1,4}|cancer|asthma|epilep\w{1,4}|autis\w{1,4}|adhd|hiv|antidepressants?"
    r"|allerg\w{1,20}|depress\w{1,20}|religio\w{1,20}|sexual\w{0,20}|gender identity"
    r"|political party|voted? for|votes for|home address|lives at|postal address|street address"
    r"|phone number|mobile number|date of birth|birthday|born on|passport|national id"
    r"|social security|ssn|tax id|iban|bank account|credit card|criminal"
    r"|divorc\w{1,20}|marital)(?!\w)"
    # A phone is a device, too: the word counts with a number behind it that is no date.
    r"|phone(?=[^.!?\n\d]{0,60}(?!\d{4}-\d\d-\d\d)\d(?:[ ()/.-]{0,2}\d){5})"
)
# Words for pay in other languages; and what English says with a verb.
_PAY = (
    r"(?:gehalt|monatslohn|jahresgehalt|stundenlohn|salaire|sueldo|salario|stipendio|salário"
    r"|зарплат\w{0,3}|оклад|wynagrodzeni\w|pensj[aęi]|salaris|maaş\w{0,4})(?!\w)"
    r"|راتب|工资|薪水|年薪|月薪|給料|年収|연봉|월급"
    r"|(?:earn|make|makes|get paid|gets paid|am paid|is paid) [^.!?\n\d]{0,12}"
    r"(?:\d[\d.,]{3,12}|\d{2,3} ?k\b|\d{2,3} ?[€$£])"
    r"|pay (?:is|was|rose to|went up to) [^.!?\n\d]{0,12}\d[\d.,]{2,12}"
    r"|gets? [€$£]?\d[\d.,]{2,12} ?[€$£]? ?(?:a|per) (?:week|month|year)(?!\w)"
)
_PERSON = (
    r"\b(?:my|mine|i|i'm|i’m|his|her|hers|their|our|your|he|she|me|mein\w{0,2}|ich|mon|ma|mes|mi|mis"
    r"|mio|mia|minha|meu|мо[йяё]|mój|moja|moje|mijn|benim)\b|\w['’]s\b|[私我나내]"
)
# A name before a verb, which counts for topics that only people have: a library may have a tax id.
_NAMED = r"\b[A-Z][a-z]{1,20} (?:is|has|was|had|takes|took|got|suffers|lives)\b"
_OF_PEOPLE = (
    "ill", "diagnosed", "disabilit", "pregnan", "medication", "therap", "diabet", "cancer",
    "asthma", "epilep", "autis", "adhd", "hiv", "antidepress", "allerg", "depress", "religio",
    "sexual", "divorc",
)  # fmt: skip
_AMOUNT = r"\d[\d.,' ]{2,12}|\d ?k\b|[€$£¥]|\b(?:eur|usd|gbp|chf)\b"
# Of each English topic a word that it cannot do without: most texts hold none, which shows quickly.
_GATE = frozenset(
    b"salary salaries wage wages income compensation earn earns bonus bonuses health illness ill"
    b" diagnosed disease disability disabilities pregnant pregnancy medication therapy therapist"
    b" allergy allergies allergic depressed depression depressive religion religious religiously"
    b" sexual sexuality sexually gender political vote votes home lives postal street phone mobile"
    b" birth birthday born passport national social ssn tax iban bank credit criminal divorce"
    b" divorced marital diabetes diabetic cancer asthma epilepsy epileptic autism autistic adhd hiv"
    b" antidepressant antidepressants voted make makes paid st avenue ave road rd lane live lived"
    b" reside resides wohne address pay week month year heart lung kidney liver thyroid back knee"
    b" eye brain mental medical chronic gehalt"
    b" monatslohn jahresgehalt stundenlohn salaire sueldo salario stipendio pensja salaris".split()
)
_FOREIGN = (
    r"[\u0370-\u1fff\u3040-\u9fff\uac00-\ud7af]|salário|maaş|wynagro|pensj|stra(?:ß|ss)e \d"
    r"|(?:weg|platz|str\.) \d"
)
_PHONE = (
    r"(?<![\w.])\+\d[\d ()-]{7,16}\d(?![\w.])"
    r"|(?<![\w.:/-])\d{1,3}[ -]?\(?\d{2,4}\)?[ -]\d{3,4}[ -]?\d{3,5}(?![\w.:/-])"
)
_STREET = (
    r"\b\d{1,5}\s{1,3}\w{1,40}(?:\s\w{1,40})?\s(?:street|st\.|avenue|ave\.?|road|rd\.|lane)\b"
    r"|(?<=\w)(?:stra(?:ß|ss)e|str\.|weg|platz)\s\d{1,4}\b"
)
# What is told of a person by the form of the sentence: where somebody lives, which is a name or a
# number; whose address has a house number; what somebody's body has. A service lives in a region,
# too, and a program has an address and conditions.
_TOLD = (
    r"\b(?:I|[Hh]e|[Ss]he) (?:still |now |also )?(?:lives?|lived|resides?) (?:in|at|near) (?:the )?"
    r"[A-ZÄÖÜ\d]"
    r"|\b[Ii]ch wohne (?:in|im|am|an der) [A-ZÄÖÜ\d]"
    r"|(?:\b[Mm]y|\b[Hh]is|\b[Hh]er|\b[A-Z][a-z]{1,20}['’]s) (?:new |old |private )?address"
    r"(?: is| was|:) (?:\d{1,5}[a-z]? [A-ZÄÖÜ]\w{2,30}"
    r"|[A-ZÄÖÜ][\w'’-]{2,30}\.?(?: [A-ZÄÖÜ][\w-]{1,20}\.?){0,2} \d{1,4}[a-z]?\b(?!\.\d))"
    r"|\b(?:I|[Hh]e|[Ss]he|[A-Z][a-z]{1,20}) (?:have|has|had) (?:an? )?(?:\w{3,12} )?"
    r"(?:heart|lung|kidney|liver|thyroid|back|knee|eye|brain|mental|medical|chronic)"
    r" (?:health )?(?:condition|disorder|disease|problem|trouble|failure|attack)s?\b"
)
_IBAN = r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}\b"
_STOPS = (". ", "! ", "? ", "\n")
_TOPIC = f"{_WORDS}|{_PAY}"  # of lower case, which is far quicker than to ignore it
_ABOUT_SOMEONE = f"{_PERSON}|{_AMOUNT}"


def fact_is_sensitive(subject: str, predicate: str, said: str) -> bool:
    """Whether a fact is about pay, health, beliefs or where a person is to be found."""
    text = f"{subject} {predicate.replace('_', ' ')} {said}"
    return (
        any(True for _ in _topics(text.lower()))
        or pattern(_PHONE).search(text) is not None
        or _is_place(text, text.lower())
        or pattern(_TOLD).search(text) is not None
    )


def is_sensitive(text: str) -> bool:
    """Whether any sentence of a text tells such a thing of somebody."""
    low = text.lower()
    if not words_held(low, _GATE) and pattern(_FOREIGN).search(low) is None:
        return pattern(_IBAN).search(text) is not None
    for found in _topics(low):
        place = _sentence(low, found.start(), found.end())
        if pattern(_ABOUT_SOMEONE).search(low, *place):
            return True
        if found[0].startswith(_OF_PEOPLE) and pattern(_NAMED).search(text, *place):
            return True
    return _is_place(text, low) or pattern(_TOLD).search(text) is not None


def _topics(low: str) -> Iterator[re.Match[str]]:
    """Where the words are, not inside others; scripts without spaces have no such thing."""
    for found in pattern(_TOPIC).finditer(low):
        start = found.start()
        if low[start] > "\u05ff" or not low[start - 1 : start].isalnum():
            yield found


def _is_place(text: str, low: str) -> bool:
    """Where somebody lives, or where their money is."""
    return pattern(_STREET).search(low) is not None or pattern(_IBAN).search(text) is not None


def _sentence(text: str, start: int, end: int) -> tuple[int, int]:
    """About the sentence that holds a word; 200 characters on either side at most."""
    before = text[max(0, start - 200) : start]
    after = text[end : end + 200]
    first = max(before.rfind(stop) for stop in _STOPS) + 1
    stops = [at for stop in _STOPS if (at := after.find(stop)) >= 0]
    return start - len(before) + first, end + min(stops, default=len(after))
