"""Porter's stemmer (1980), so that "migrations", "migrated" and "migrate" are one term.

In: a lower-case word. Out: its stem. Words that are short, or not plain a to z, come back as
they are; nothing here raises.
"""

import re
from functools import lru_cache

_C = "[^aeiou]"  # a consonant
_V = "[aeiouy]"  # a vowel
_CS = "[^aeiou][^aeiouy]*"
_VS = "[aeiouy][aeiou]*"

_M_GT_0 = re.compile(f"^({_CS})?{_VS}{_CS}")
_M_EQ_1 = re.compile(f"^({_CS})?{_VS}{_CS}({_VS})?$")
_M_GT_1 = re.compile(f"^({_CS})?{_VS}{_CS}{_VS}{_CS}")
_HAS_VOWEL = re.compile(f"^({_CS})?{_V}")
_SHORT = re.compile(f"^{_CS}{_V}[^aeiouwxy]$")
_DOUBLE = re.compile(r"([^aeiouylsz])\1$")

_STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize",
    "bli": "ble", "alli": "al", "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize",
    "ation": "ate", "ator": "ate", "alism": "al", "iveness": "ive", "fulness": "ful",
    "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble", "logi": "log",
}  # fmt: skip
_STEP_3 = {
    "icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": "",
}  # fmt: skip
_STEP_4 = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ou", "ism",
    "ate", "iti", "ous", "ive", "ize",
)  # fmt: skip

_RE_2 = re.compile(f"^(.+?)({'|'.join(sorted(_STEP_2, key=len, reverse=True))})$")
_RE_3 = re.compile(f"^(.+?)({'|'.join(_STEP_3)})$")
_RE_4 = re.compile(f"^(.+?)({'|'.join(sorted(_STEP_4, key=len, reverse=True))})$")
_RE_ION = re.compile(r"^(.+?[st])ion$")


@lru_cache(maxsize=32_768)
def stem(word: str) -> str:
    if len(word) < 3 or not (word.isascii() and word.isalpha()):
        return word
    # A `y` at the head of a word is a consonant; the capital hides it from the vowel patterns.
    head_y = word[0] == "y"
    if head_y:
        word = "Y" + word[1:]
    word = _plurals(word)
    word = _past_and_progressive(word)
    if word[-1] == "y" and _HAS_VOWEL.match(word[:-1]):
        word = word[:-1] + "i"
    word = _replaced(word, _RE_2, _STEP_2)
    word = _replaced(word, _RE_3, _STEP_3)
    word = _bare(word)
    word = _final_e(word)
    return "y" + word[1:] if head_y else word


def _plurals(word: str) -> str:
    if word[-1] != "s":
        return word
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word if word.endswith("ss") else word[:-1]


def _past_and_progressive(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _M_GT_0.match(word[:-3]) else word
    for ending in ("ed", "ing"):
        if word.endswith(ending):
            root = word[: -len(ending)]
            return _mended(root) if _HAS_VOWEL.match(root) else word
    return word


def _mended(root: str) -> str:
    """What is left when -ed or -ing goes: hop(p)ed, fil(e)ing, conflat(e)ed."""
    if root.endswith(("at", "bl", "iz")):
        return root + "e"
    if _DOUBLE.search(root):
        return root[:-1]
    return root + "e" if _SHORT.match(root) else root


def _replaced(word: str, pattern: re.Pattern[str], endings: dict[str, str]) -> str:
    found = pattern.match(word)
    if found and _M_GT_0.match(found[1]):
        return found[1] + endings[found[2]]
    return word


def _bare(word: str) -> str:
    found = _RE_4.match(word)
    if found:
        return found[1] if _M_GT_1.match(found[1]) else word
    found = _RE_ION.match(word)
    return found[1] if found and _M_GT_1.match(found[1]) else word


def _final_e(word: str) -> str:
    if word[-1] == "e":
        root = word[:-1]
        if _M_GT_1.match(root) or (_M_EQ_1.match(root) and not _SHORT.match(root)):
            word = root
    if word.endswith("ll") and _M_GT_1.match(word):
        word = word[:-1]
    return word
