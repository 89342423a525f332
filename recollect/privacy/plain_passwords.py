"""Finds passwords that are plain words or numbers, by the sentence that tells them.

In: a text, its lower-case twin, and where a noun for "password" stands in it. Out: spans. The
sentence must end, or pause, after the value, and the value must not be a word that describes a
password. What can go wrong: a describing word that the tables do not have is taken for one.
"""

import re
from collections.abc import Iterator
from functools import cache

from recollect.privacy import secret_values
from recollect.privacy.patterns import compiled, pattern
from recollect.privacy.rules import plain
from recollect.privacy.rules.definition import Language

Place = tuple[int, int]

_GAP = r"[ \t\u00a0]{1,3}+"
_OPEN = r"[\"'`«“„”‘’*]{0,2}+"
_WORD = r"[^\W\d_][\w'’-]{0,20}+"
_PREPOSITION = (
    r"(?:for|of|on|to|in|at|from|we|you|i|they|that|here|used|der|des|vom|von|für|zum|im|du|de|d['’]"
    r"|del|della|dello|da|do|di|pour|para|per|per il|van|voor|do|dla|od|от|для|на|к)"
)
_VALUE = r"(?P<value>[^\s\"'`«»“”„<>(){}\[\],;:=|\\，。؟،؛]{4,64}+)"
_END = (
    r"(?=[\"'`»”’](?!\w)"
    r"|[\"'`»”’*]{0,2}+(?:[.!?]{0,3}+(?:\s*+\Z|[ \t]*+\n|[,;)]|[.!?]\s|(?<=[.!?])[ \t])"
    r"|[ ](?:[-–—(]|ein\b|an\b|in\b(?=[.,])|(?:please|pls|lol|bitte|thanks|btw|kullan|yaz|gir|olsun"
    r"|olacak)\b)))"
)
# "…, type X": after the noun of a sentence that says that it will be asked for.
_TYPED = (
    rf"\w{{0,4}}(?:{_GAP}{_WORD}){{0,3}}?,?{_GAP}(?:{plain.TYPES})(?!\w)"
    rf"(?:{_GAP}(?:just|einfach|in))?{_GAP}{_OPEN}{_VALUE}{_END}"
)
# The same in a script without spaces; the value is of ASCII.
_JOINED_VALUE = r"(?P<value>[A-Za-z][A-Za-z0-9_.-]{3,40}+|[0-9]{4,8}+)"
_JOINED = rf"{plain.JOINED_LINK}[ ]?[“「『\"']?{_JOINED_VALUE}[”」』\"']?{plain.JOINED_END}"
_NUMBER_LINK = r"(?:is|are|was|ist|lautet|est|es|è|é|to|это|هو|هي|是|は|는|은|이|olarak)"
_NUMBER_SAID = (
    rf"(?:(?:{_GAP}{_WORD}){{0,5}}?{_GAP}{_NUMBER_LINK}{_GAP}|[ ]{{0,2}}+[:：=—-][ ]{{0,3}}+"
)
_NUMBER_JOINED = r"[ ]?(?:是|は|는|은|为)[ ]?"
_NUMBER = (
    rf"(?:[- ]?(?:code|nummer|kodu|код|kod|码))?+(?:{_NUMBER_SAID}|{_NUMBER_JOINED}|{_GAP})"
    r"(?P<open>[\"'`]?)(?P<value>\d{4,8}|\d{2,4}(?:[ -]\d{2,4}){1,3})(?![\w.:/%+-]*[\d%/])"
    r"(?![.,:/]\d|[- ]?(?:digit|char|bit|byte|zeichen|stell|chiffre|cifra|dígito|文字|桁|位|字"
    r"|자)))"
)
# "Credentials: admin / X", "creds are root:X".
_PAIR_LINK = r"(?:are|is|sind|ist|lauten|sont|son|sono|são|zijn|to|są|with|это|هي)"
_PAIR = (
    rf"(?:(?:{_GAP}{_WORD}){{0,4}}?{_GAP}{_PAIR_LINK}(?!\w)[ ]?:?{_GAP}|[ ]?[:：=][ ]{{0,3}}+)"
    rf"{_OPEN}(?P<user>[\w.@+-]{{2,64}}+){_OPEN}(?P<split>[ ]?/[ ]?|:){_OPEN}"
    r"(?P<value>[^\s\"'`<>(){}\[\],;/|\\]{4,64}+)"
)
_CHANGES = rf"(?<!\w)(?:{plain.CHANGES})"
# Some words without a pause, as a passphrase has them.
_PHRASE_WHICH = rf"(?:{_GAP}{_PREPOSITION}(?:{_GAP}{_WORD}){{0,5}}?)?"
_PHRASE = (
    rf"{_PHRASE_WHICH}(?:{_GAP}(?:is|was)|[ ]?[:=]){_GAP}{_OPEN}"
    r"(?P<value>[a-z]{3,12}(?: [a-z]{3,12}){2,7}+)"
    r"(?=[\"'`]?[.,]?\s*+(?:\Z|\n))"
)
_BARE_VALUE_JUST = r"(?:einfach|mal|ruhig|simplement|simplemente|semplicemente|gewoon|just|simply)"
_BARE_VALUE = (
    rf"(?P<ending>\w{{0,4}}){_GAP}(?:{_BARE_VALUE_JUST}{_GAP})?(?P<open>{_OPEN}){_VALUE}{_END}"
)
# Run together with a capital between, as names in code are: `password: userInput`.
_TWO_WORDS = r"\w{0,64}?[a-z][A-Z]"
_IDENTIFIER = r"[^_]{0,64}+_|[^./]{0,64}+[./]\w{1,64}+[./]|\D{0,64}+\d{1,20}+\.\d"
# What a line of code or configuration has and a sentence has not.
_CODE = (
    r"[{}=<>\[\]|$;]|\(\)|::|->|//|\w\(|[\"']:"
    r"|^\s*(?:def|class|if|for|return|import|let|const|var)\b"
)
_MINE = (
    *(" is the ", " is my ", " was the ", "'s the ", " ist das ", " ist mein ", " est le "),
    " es la ",
)


@cache
def _after(tongue: Language) -> re.Pattern[str]:
    """From the end of a noun to the end of the clause that gives the value."""
    links = plain.TELLING.get(tongue.nouns[0], "is") + "|" + plain.CHANGED_TO
    bracket = r"(?:[ ]?\([^()\n]{1,40}\))?+"
    which = known = rf"(?:{_GAP}{_WORD}){{0,5}}?"
    ending = tongue.ending
    if tongue.nouns[0] == "password":
        ending = ""
        known = rf"(?:{_GAP}(?:for|of|on|to|del|du|vom)(?:{_GAP}{_WORD}){{1,4}}?)?"
        which = rf"(?:{_GAP}{_PREPOSITION}(?:{_GAP}{_WORD}){{0,5}}?|{_GAP}admin)?"
    said = rf"(?:{which},?{_GAP}(?P<link>{links})(?!\w)|['’](?P<own>s))(?:[ ]?:)?{_GAP}"
    signed = rf"{known}{bracket}[ ]{{0,2}}+(?P<sign>[:：=—–]|->|=>|→)[ ]{{0,3}}+"
    return compiled(rf"{ending}(?:{said}|{signed})(?P<open>{_OPEN}){_VALUE}{_END}")


def judge(text: str, low: str, at: int, end: int, tongue: Language) -> Place | None:
    """The plain password that the sentence about the noun at `at` tells, if it tells one."""
    if not tongue.spaced:
        found = pattern(_JOINED).match(text, end)
        return _accepted(text, found, tongue) if found is not None else None
    english = tongue.nouns[0] == "password"
    if english and (low[at - 1 : at] in "_-.$@\"'/&" and at):
        return None
    found = _after(tongue).match(low, end)
    if found is not None and not (found["sign"] and _is_code(text, at, found)):
        if found["own"] and found["value"].isalpha():
            return None  # "the password's length"
        if (
            found["link"] in plain.CHANGED_TO.split("|")
            and found["link"] not in plain.TELLING.get(tongue.nouns[0], "").split("|")
            and pattern(_CHANGES).search(low, max(0, at - 40), at) is None
        ):
            return None  # "send the password to alice"
        return _accepted(text, found, tongue)
    found = pattern(_PHRASE).match(low, end) if low.startswith("passphrase", at) else None
    if found is not None and _is_phrase(found["value"]):
        return found.span("value")
    found = _direct(text, low, at, end, tongue)
    if found is not None:
        return _accepted(text, found, tongue)
    found = pattern(_TYPED).match(low, end)
    if found is not None and any(
        ask in low[max(0, at - 40) : found.start("value")] for ask in plain.ASKS
    ):
        return _accepted(text, found, tongue)
    return _used(text, low, at, end, tongue)


def _is_phrase(value: str) -> bool:
    every = value.split()
    plain_words = [word for word in every if not secret_values.is_describing(word)]
    return len(every) - len(plain_words) <= 1


def _direct(text: str, low: str, at: int, end: int, tongue: Language) -> re.Match[str] | None:
    """A value that follows its noun at once: "user bob and password X", "als Passwort X", "şifrem
    X", and "пароль X" with a small word of another script."""
    found = pattern(_BARE_VALUE).match(low, end)
    if found is None:
        return None
    before = low[max(0, at - 60) : at]
    value = found["value"].rstrip(".!?")
    if not tongue.nouns[0].isascii() and tongue.nouns[0][0] > "\u0370":
        good = value.isascii() and value.isalpha() and text[slice(*found.span("value"))].islower()
    elif tongue.before:
        good = found["ending"] in ("m", "miz", "im", "mız")
    elif before.endswith((" als ", " comme ", " como ", " come ", " jako ")):
        good = not value.isalpha()
    else:
        good = pattern(plain.WITH_USER).search(before) is not None
    return found if good else None


def _used(text: str, low: str, at: int, end: int, tongue: Language) -> Place | None:
    """ "Use X as the password", "X is the password"."""
    if pattern(r"\w{0,4}(?:" + plain.AFTER_NOUN + ")").match(low, end) is None:
        return None
    start = max(0, at - 80)
    before = low[start:at]
    found = pattern(
        r"(?<!\w)(?P<verb>\w{1,20}+)[ ][\"'`«“„]?(?P<value>[^\s\"'`,;()<>]{4,64}+)[\"'`»”]?[ ]"
        r"(?:as|als|comme|como|come|jako|как|в качестве|كـ|ك)[ ]?(?:\w{2,5} )?\Z"
    ).search(before)
    if found is not None:
        verb = found["verb"] in plain.USES
        value = text[start + found.start("value") : start + found.end("value")]
        if verb and is_plain(value, tongue) and not pattern(_IDENTIFIER).match(value):
            return start + found.start("value"), start + found.end("value")
    for words in _MINE:
        if before.endswith(words):
            rest = text[start : at - len(words)].removesuffix(" that").split()
            value = rest[-1].strip(",\"'`") if rest else ""
            if secret_values.is_chosen(value) or secret_values.is_spoken(value):
                place = text.find(value, start)
                return place, place + len(value)
    return None


def _is_code(text: str, at: int, found: re.Match[str]) -> bool:
    """Whether a label with a sign stands in a line of code rather than in a note."""
    line = text.rfind("\n", 0, at) + 1
    value = text[slice(*found.span("value"))]
    if found["sign"] == "=" and not (
        secret_values.is_spoken(value) or secret_values.is_chosen(value)
    ):
        return True
    return pattern(_CODE).search(text, line, at) is not None or bool(
        found["sign"] in ":=" and pattern(r"[ \t]*[,{;]").match(text, found.end())
    )


def _accepted(text: str, found: re.Match[str], tongue: Language) -> Place | None:
    start, stop = found.span("value")
    value = text[start:stop].rstrip(".!?:*")
    quoted = bool(found.groupdict().get("open"))
    if not is_plain(value, tongue):
        return None
    if not quoted and pattern(_IDENTIFIER).match(value) and not secret_values.is_spoken(value):
        return None
    if tongue.nouns[0] == "password" and not quoted and pattern(_TWO_WORDS).match(value):
        sign = found.groupdict().get("sign")
        if (sign and not secret_values.is_spoken(value)) or secret_values.is_telling(value):
            return None
    return start, start + len(value)


def is_plain(value: str, tongue: Language) -> bool:
    """A word or a number that somebody chose, and none that describes a password."""
    if not 4 <= len(value) <= 64 or _is_stand_in(value):
        return False
    if value.isdigit():
        return len(value) <= 12
    if not any(map(str.isalpha, value)) or value[0] in "-/.$%&@#~+_":
        return False
    if "@" in value or "&" in value:
        return False
    small = value.lower()
    if value.isupper() or secret_values.is_describing(small) or secret_values.is_term(value):
        return False
    parts = pattern(r"[\W\d_]+").split(small)
    if all(not part or secret_values.is_describing(part) for part in parts):
        return False
    return not any(_describes(small, name) for name in (tongue.nouns[0], *_LATIN))


def _is_stand_in(value: str) -> bool:
    """A placeholder; but "Welcome123" and "Secret!99" are what people choose."""
    if not secret_values.is_placeholder(value):
        return False
    if secret_values.is_template(value) or not any(map(str.isdigit, value)):
        return True
    return value.isalnum() and secret_values.is_telling(value)


_LATIN = ("passwort", "mot de passe", "contraseña", "parola d'ordine", "senha", "wachtwoord")


@cache
def _about() -> dict[str, tuple[frozenset[str], tuple[str, ...]]]:
    table = {}
    for name, text in plain.ABOUT.items():
        every = text.split()
        endings = tuple(word[1:] for word in every if word[0] == "-")
        table[name] = frozenset(word for word in every if word[0] != "-"), endings
    return table


def _describes(small: str, name: str) -> bool:
    known, endings = _about().get(name, (frozenset(), ()))
    if small in known or small in _names():
        return True
    if name in ("passwort", "wachtwoord") and pattern(plain.PARTICIPLE).match(small):
        return True
    return small.endswith(endings) if endings else False


@cache
def _names() -> frozenset[str]:
    from recollect.privacy.rules.languages import TONGUES

    return frozenset(noun for tongue in TONGUES for noun in tongue.nouns)


@cache
def gate_words() -> frozenset[bytes]:
    """Words without which a text in ASCII holds no PIN, pair or login."""
    every = (*plain.PINS, *plain.LOGINS, *plain.ENTERS, *plain.PHRASES)
    return frozenset(word.encode() for word in every)


def find_numbers_and_pairs(
    text: str, low: str, words: frozenset[bytes], other_script: bool
) -> Iterator[Place]:
    """PINs and codes, `user / password` after a word for credentials, and what looks like a
    password in a sentence about logging in."""
    for word in words & gate_words():
        name = word.decode()
        yield from _by_name(text, low, plain.PHRASES.get(name, name))
    if not text.isascii():
        for name in plain.NAMES if other_script else plain.LATIN_NAMES:
            if name in low:
                yield from _by_name(text, low, name)


def _by_name(text: str, low: str, name: str) -> Iterator[Place]:
    at = low.find(name)
    while at >= 0:
        end = at + len(name)
        letter = low[at - 1 : at].isalnum() and at > 0 and name.isascii()
        if (not letter or name[0] == " ") and not (
            name.isascii() and low[end : end + 1].isascii() and low[end : end + 1].isalnum()
        ):
            if name in plain.PINS or name in plain.PIN_NAMES or name == " code":
                yield from _pin(text, low, at, end, name)
            elif name in plain.LOGINS or name in plain.LOGIN_NAMES:
                yield from _credentials(text, low, end)
            if (
                name in plain.ENTERS
                or name in plain.PHRASES.values()
                or name in plain.ENTER_NAMES
                or name == "login"
            ):
                yield from _login(text, low, at, end)
        at = low.find(name, end)


def _pin(text: str, low: str, at: int, end: int, name: str) -> Iterator[Place]:
    if name == " code" and not low.endswith(plain.CODES, 0, at):
        return
    if name == "pin" and low.startswith((" the ", " it ", " your ", " this "), end):
        return  # the verb
    found = pattern(_NUMBER).match(low, end)
    if found is None and name in plain.PIN_NAMES:
        found = pattern(r"\w{0,4}(?: \w{1,12}){1,3}? (?P<value>\d{4,8})(?=[.,;!)]|\s*\Z|\n)").match(
            low, end
        )
    if found is not None and not _is_code_line(text, at):
        yield found.span("value")


def _is_code_line(text: str, at: int) -> bool:
    line = text.rfind("\n", 0, at) + 1
    stop = text.find("\n", at)
    return (
        pattern(r"[{}<>;]|\w\(|==|_pin|pin_").search(text, line, stop if stop >= 0 else len(text))
        is not None
    )


def _credentials(text: str, low: str, end: int) -> Iterator[Place]:
    found = pattern(_PAIR).match(low, end)
    if found is None:
        return
    start, stop = found.span("value")
    value = text[start:stop].rstrip(".!?")
    if text[start + len(value) : stop] == "!":
        value += "!"
    wide = found["split"] in (" / ", ":") and value.lower() != found["user"]
    looks = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    named = found["user"] not in ("http", "https", "note", "see", "e.g", "username", "user")
    if named and (looks or wide) and _is_pair_value(value):
        yield start, start + len(value)


def _is_pair_value(value: str) -> bool:
    return (
        value[0] not in "-$%<{@~/.[*"
        and value[-1] != ":"
        and not (_is_stand_in(value) or secret_values.is_describing(value) or value.isupper())
    )


def _login(text: str, low: str, at: int, end: int) -> Iterator[Place]:
    """A jumble of letters, digits and symbols in the sentence."""
    stop = text.find("\n", end)
    stop = min(stop if stop >= 0 else len(text), end + 90)
    start = max(text.rfind("\n", 0, at) + 1, at - 40)
    for found in pattern(r"[!-~]{7,64}+").finditer(text, start, stop):
        value = found[0].strip("\"'`,;()").rstrip(".")
        core = value.rpartition(":")[2] if value.count(":") == 1 else value
        told = low[max(0, found.start() - 16) : found.start()].endswith(
            ("unlocks with ", "cates with ", "rypts with ")
        ) and not secret_values.is_term(core)
        if _is_jumble(core) or (
            told and secret_values.is_password(core) and not _is_stand_in(core)
        ):
            place = text.find(core, found.start())
            yield place, place + len(core)


def _is_jumble(value: str) -> bool:
    return (
        len(value) >= 7
        and any(map(str.isdigit, value))
        and any(char in "!#$%^&*~?" for char in value[1:])
        and value[0].isalnum()
        and not any(char in "/=@<>(){}[]|\\,;\"'`" for char in value)
        and secret_values.is_password(value)
        and not _is_stand_in(value)
        and pattern(r"[A-Za-z-]*#\d+\Z|\w+\?$").match(value) is None
    )
