"""Finds passwords in sentences of languages other than English.

In: a text (and its lower-case twin of equal length). Out: spans of the passwords. What can go
wrong: the value has to look like a secret, so one of letters only is not found. English is covered
by `assignments.py`, together with code.
"""

import re
from collections.abc import Iterator
from functools import cache

from recollect.privacy import plain_passwords, secret_values
from recollect.privacy.patterns import compiled, pattern
from recollect.privacy.rules.definition import Language

Span = tuple[int, int, str]

_SIGN = r"(?:[:=：＝]|=>|->|→|–|—|-)"
_OPEN = r"[\"'`«“„”「『‘’*]{0,2}+[ \u00a0]?+"
_GAP = r"[ \t\u00a0]{1,3}+"
_WHICH = r"[^\W\d_]{1,20}+(?:['’.-][^\W\d_]{1,20}+)?+"  # "für den Server", "d'accès"
_OF = r"(?:del|della|di|de|der|des|du|van|do|da|für|pour|per|para|voor|von|vom)(?!\w)"
# "it is still X", in the languages that we read
_STILL = (
    r"(?:toujours|encore|ancora|adesso|nog steeds|nog|nadal|teraz|immer noch|noch|jetzt|nun|ainda"
    r"|agora|todavía|ahora|siendo|всё ещё|все еще|теперь|hâlâ|hala|artık|لا تزال|الآن|now|still)"
)
_STOP = r"\s\"'`«»“”„「」『』‘’<>(){}\[\],;，。；、؟،؛？！"
_SCRIPTS = r"[\u0370-\u1fff\u3040-\u9fff\uac00-\ud7af]"
_CAPITAL_WITHIN = r"[A-Za-z]{3,}[a-z][A-Z][A-Za-z]{3,}\Z"  # two words run together
_AS_WORDS = ("als ", "as ", "come ", "como ", "comme ", "jako ", "как ")
_AS = (*_AS_WORDS, *(word + article for word in _AS_WORDS for article in ("the ", "das ", "my ")))


# Nouns that also mean other things, so that a plain word after them is no password.
_NOT_PLAIN = frozenset(
    (
        *("clave", "palabra clave", "parola chiave", "jeton", "токен", "token", "令牌", "密钥"),
        *("密鑰", "トークン", "토큰", "ключ доступа"),
    )
)
_PLAIN = ("pwd", "pw")
_CLAUSE_ENDS = ("", "\n", "\r", ",", ";", ")", '"', "'", "`", "»", "”", "」")

Noun = tuple[str, Language]


class _Nouns:
    """The nouns by how a text is asked for them: by its words, or one by one."""

    def __init__(self) -> None:
        from recollect.privacy.rules.languages import TONGUES

        self.by_word: dict[bytes, list[Noun]] = {}
        self.ascii: list[Noun] = []
        self.latin: list[Noun] = []
        self.other: list[Noun] = []
        for tongue in TONGUES:
            for noun in tongue.nouns:
                self._add(noun, tongue)
        self.words = frozenset(self.by_word)

    def _add(self, noun: str, tongue: Language) -> None:
        first, *more = pattern(r"[^a-z0-9_-]+").split(noun)
        if not noun.isascii():
            (self.other if pattern(_SCRIPTS).search(noun) else self.latin).append((noun, tongue))
        elif len(noun) < 4 or (not tongue.joined and (more or tongue.ending in ("", "s?"))):
            for word in (first,) if more else (first, first + "s"):
                self.by_word.setdefault(word.encode(), []).append((noun, tongue))
        else:
            self.ascii.append((noun, tongue))


@cache
def _nouns() -> _Nouns:
    return _Nouns()


@cache
def _after(tongue: Language) -> re.Pattern[str]:
    """From the end of a noun to the end of the value."""
    links = "|".join(sorted(map(re.escape, tongue.links), key=len, reverse=True))
    links += f"|{_STILL}" if tongue.spaced else ""
    if not tongue.spaced:
        still = "(?:还是|まだ|아직|지금)?+[ ]?+"
        link = rf"[ \u00a0]{{0,2}}+(?:(?P<link>{links})[ \u00a0]{{0,2}}+{still})?+"
        between = rf"{link}(?P<sign>{_SIGN}?+)[ ]{{0,2}}+"
        return compiled(rf"{between}(?P<open>{_OPEN})(?P<value>(?:(?![{_STOP}])[!-~]){{6,128}}+)")
    which = rf"(?:{_GAP}{_WHICH})"
    still = rf"(?:{_GAP}{_STILL}(?!\w))?+"
    looks = rf"(?={_OPEN}[^{_STOP}]{{0,64}}?[\d!@#$%^&*+~?])"  # else a word that tells which
    said = rf"{which}{{0,5}}?,?+{_GAP}(?P<link>{links})(?!\w){still}"
    said += rf"(?P<colon>[ ]?[:=])?+{_GAP}{looks}"
    signed = rf"{which}{{0,5}}?[ \t\u00a0]{{0,3}}+(?P<sign>{_SIGN})[ \t\u00a0]{{0,3}}+"
    bare = rf"(?P<which>{which}{{0,3}}?){_GAP}{looks}"
    ways = f"{said}|{signed}|{bare}" if tongue.signed else f"{said}|{_GAP}{_OF}{signed}"
    return compiled(rf"{tongue.ending}(?:{ways})(?P<open>{_OPEN})(?P<value>[^{_STOP}]{{6,128}}+)")


def noun_words() -> frozenset[bytes]:
    """Words without which a text holds none of the nouns that are whole words of ASCII."""
    return _nouns().words | plain_passwords.gate_words()


def find_password_sentences(text: str, low: str, words: frozenset[bytes]) -> Iterator[Span]:
    """Passwords after "das Passwort ist", "mot de passe :", "密码是" and their like."""
    other = not text.isascii() and pattern(_SCRIPTS).search(text) is not None
    # The nouns that the text may hold. Most texts hold none, so this is what costs.
    nouns = _nouns()
    likely = nouns.ascii if text.isascii() else nouns.ascii + nouns.latin
    likely = likely + nouns.other if other else likely
    possible = [entry for entry in likely if entry[0] in low]
    for word in nouns.words & words:
        possible += nouns.by_word[word]
    for noun, tongue in possible:
        at = low.find(noun)
        while at >= 0:
            end = at + len(noun)
            inside = tongue.joined and len(noun) > 3
            if inside or not tongue.spaced or not low[at - 1 : at].isalnum():
                span = _judge_after(text, low, end, tongue)
                if span is None and not tongue.spaced:
                    span = _judge_joined(text, at, tongue)
                elif span is None and (tongue.before or low.endswith(_AS, 0, at)):
                    span = _judge_before(text, at, tongue)
                # What a sentence says of a token or a key is seldom a plain word.
                plain = tongue.nouns[0] != "token" and noun not in _NOT_PLAIN
                if span is None and (plain or noun in _PLAIN):
                    span = plain_passwords.judge(text, low, at, end, tongue)
                if span is not None:
                    yield *span, "password"
            at = low.find(noun, end)
    if words & plain_passwords.gate_words() or not text.isascii():
        for place in plain_passwords.find_numbers_and_pairs(text, low, words, other):
            yield *place, "password"


def _judge_after(text: str, low: str, end: int, tongue: Language) -> tuple[int, int] | None:
    found = _after(tongue).match(low, end)
    if found is None:
        return None
    start, stop = found.span("value")
    if tongue.spaced and text[stop : stop + 1] in ("(", "[", "{"):
        return None  # a call, an index: code
    if pattern(r"\s*[=+]").match(text, stop):
        return None
    value = text[start:stop].rstrip(".:!?*")
    if text[start + len(value) : stop] == "!":
        value += "!"
    parts = found.groupdict()
    if not (parts["link"] or parts.get("sign")) and parts.get("which"):
        good = _is_strong(value)  # nothing says that it is the value
    else:
        sure = parts.get("sign") or parts.get("colon") or found["open"].strip(" *")
        good = _is_password_value(value, bool(sure)) or (
            bool(sure)
            and text[stop : stop + 1] in _CLAUSE_ENDS
            and pattern(_CAPITAL_WITHIN).match(value) is not None
        )
    return (start, start + len(value)) if good else None


def _judge_before(text: str, at: int, tongue: Language) -> tuple[int, int] | None:
    """ "use … as the password", "… als Passwort", "… şifresi"."""
    words = text[max(0, at - 80) : at].split()
    if not tongue.before:
        while words and words.pop().lower() + " " not in _AS_WORDS:
            pass
    if not words or not text[at - 1].isspace():
        return None
    value = words[-1].strip("\"'`,;:()«»“”„")
    start = text.rfind(value, max(0, at - 80), at)
    good = _is_strong(value) if tongue.before else _is_password_value(value)
    return (start, start + len(value)) if good else None


def _judge_joined(text: str, at: int, tongue: Language) -> tuple[int, int] | None:
    """ "用…作为密码", "…をパスワードとして": the same in a script without spaces."""
    found = pattern(
        rf"((?:(?![{_STOP}])[!-~]){{6,64}}+)(?:を|作为|作為|当作|當作|를|을) ?\Z"
    ).search(text[max(0, at - 72) : at])
    if found is None:
        return None
    if not (_is_password_value(found[1]) or plain_passwords.is_plain(found[1], tongue)):
        return None
    start = max(0, at - 72) + found.start(1)
    return start, start + len(found[1])


def _is_password_value(value: str, sure: bool = False) -> bool:
    plain = _in_ascii(value)
    if secret_values.is_placeholder(plain) or secret_values.is_term(plain):
        return False
    if secret_values.is_spoken(plain):
        return True
    return sure and (secret_values.is_chosen(plain) or secret_values.is_run_together(plain))


def _is_strong(value: str) -> bool:
    """Of letters, digits and a symbol within: no name of anything looks so."""
    return (
        any(map(str.isdigit, value))
        and any(char in "!@#$%^&*+~?" for char in value[1:-1])
        and _is_password_value(value)
    )


def _in_ascii(value: str) -> str:
    """The value with its letters of other scripts as Latin ones, for the judgement of its looks."""
    if value.isascii():
        return value
    return "".join(
        char if char.isascii() or not char.isalpha() else "A" if char.isupper() else "a"
        for char in value
    )
