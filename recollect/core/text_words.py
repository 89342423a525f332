"""Splits text into words, finds names in code, and counts tokens.

In: any text. Out: lower-case words, pairs of characters where a script has no spaces; identifiers;
a number of tokens that is never too low for the tokenizers of today's models. Nothing here raises.
"""

import re
import unicodedata
from functools import lru_cache

MAX_WORD = 64  # longer runs are hashes and base64: their beginning is enough to find them

# Scripts written without spaces: Thai to Khmer, kana, Han, Hangul, and Han's extensions.
_UNSEGMENTED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f"
)
_ASCII_WORD = re.compile(r"[a-z]?\d+(?:\.\d+)+|[a-z0-9]+")
_SPACED_WORD = re.compile(r"[^\W\d_]?\d+(?:\.\d+)+|[^\W_]+")
_ANY_WORD = re.compile(
    rf"(?P<run>[{_UNSEGMENTED}]+)|[^\W\d_]?\d+(?:\.\d+)+|(?:(?![{_UNSEGMENTED}])[^\W_])+"
)
_HAS_UNSEGMENTED = re.compile(f"[{_UNSEGMENTED}]")
_ACCENT = re.compile("[\u0300-\u036f]+")

# Function words. They weigh less in a query, but not zero: see docs/decisions/ranking.md.
STOP_WORDS = frozenset((
    "a", "about", "after", "again", "all", "also", "am", "an", "and", "any", "are", "as", "at",
    "be", "because", "been", "before", "being", "but", "by", "can", "could", "d", "did", "do",
    "does", "doing", "done", "for", "from", "get", "give", "go", "going", "got", "had", "has",
    "have", "having", "he", "her", "here", "him", "his", "how", "i", "if", "in", "into", "is",
    "it", "its", "just", "know", "last", "like", "ll", "look", "m", "make", "many", "me",
    "more", "most", "much", "my", "need", "no", "not", "now", "of", "on", "one", "only", "or",
    "our", "out", "over", "please", "re", "really", "s", "said", "same", "say", "see", "she",
    "should", "show", "so", "some", "such", "t", "take", "tell", "than", "that", "the", "their",
    "them", "then", "there", "these", "they", "thing", "things", "think", "this", "those",
    "through", "time", "to", "too", "up", "us", "use", "used", "using", "ve", "very", "want",
    "was", "way", "we", "well", "were", "what", "when", "where", "whether", "which", "while",
    "who", "whom", "whose", "why", "will", "with", "would", "yes", "you", "your",
))  # fmt: skip


def words(text: str) -> list[str]:
    """The words of a text, in order, lower case and without accents."""
    if not text.isascii():
        text = _plain(text)
    if text.isascii():
        found = _ASCII_WORD.findall(text.lower())
    elif _HAS_UNSEGMENTED.search(text):
        found = _in_pairs(text)
    else:
        found = _SPACED_WORD.findall(text)
    return [word[:MAX_WORD] for word in found]


def _in_pairs(text: str) -> list[str]:
    """Words, with runs of unsegmented script as overlapping pairs of characters."""
    found: list[str] = []
    for match in _ANY_WORD.finditer(text):
        run = match["run"]
        if run is None or len(run) == 1:
            found.append(match[0])
        else:
            found.extend(run[at : at + 2] for at in range(len(run) - 1))
    return found


def _plain(text: str) -> str:
    """Compatibility forms normalised, case folded, accents removed."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    if folded.isascii():
        return folded
    return unicodedata.normalize("NFC", _ACCENT.sub("", unicodedata.normalize("NFD", folded)))


_RUN = re.compile(r"[A-Za-z]+|[0-9]|[^\S\n]+|[\x00-\x7f]|[^\x00-\x7f]+")


def count_tokens(text: str) -> int:
    """An upper bound for the tokenizers of today's models: a token for each three letters of a
    word, for each digit and sign, and for each byte of other scripts. White space before a word
    belongs to the word; indentation and line ends count."""
    total = 0
    for run in _RUN.findall(text):
        first = run[0]
        if first.isascii():
            if first.isalpha():
                total += -(-len(run) // 3)
            elif first.isspace() and first != "\n":
                total += len(run) - 1
            else:
                total += 1
        else:
            total += len(run.encode("utf-8", "replace"))
    return total


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
    "ate", "iti", "ous", "ive", "ize", "ion",
)  # fmt: skip

# What an ending is replaced by, and the measure that must be left before it.
_STEPS = tuple(
    (re.compile(f"^(.+?)({'|'.join(endings)})$"), endings, measure)
    for endings, measure in (
        (_STEP_2, _M_GT_0),
        (_STEP_3, _M_GT_0),
        (dict.fromkeys(_STEP_4, ""), _M_GT_1),
    )
)


@lru_cache(maxsize=32_768)
def stem(word: str) -> str:
    if len(word) < 3 or not (word.isascii() and word.isalpha()):
        return word
    # A `y` at the head of a word is a consonant; the capital hides it from the vowel patterns.
    head_y = word[0] == "y"
    if head_y:
        word = "Y" + word[1:]
    if word.endswith(("sses", "ies")):
        word = word[:-2]
    elif word[-1] == "s" and word[-2] != "s":
        word = word[:-1]
    if word.endswith(("ed", "ing")):
        word = _past_and_progressive(word)
    if word[-1] == "y" and _HAS_VOWEL.match(word[:-1]):
        word = word[:-1] + "i"
    for pattern, endings, measure in _STEPS:
        found = pattern.match(word)
        if found and measure.match(found[1]) and (found[2] != "ion" or found[1][-1] in "st"):
            word = found[1] + endings[found[2]]
    root = word[:-1]
    if word[-1] == "e" and (
        _M_GT_1.match(root) or (_M_EQ_1.match(root) and not _SHORT.match(root))
    ):
        word = root
    if word.endswith("ll") and _M_GT_1.match(word):
        word = word[:-1]
    return "y" + word[1:] if head_y else word


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


_IDENTIFIER = re.compile(r"[A-Za-z_]\w{3,}(?:\(\))?")
_INNER_CAPITAL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]|\w_\w")


def identifiers(text: str, *, calls: bool = True) -> list[str]:
    """The names in code that a text has, in order, each once. In code itself, where any word may be
    called, `calls` do not make a name of it."""
    found = (
        word.removesuffix("()")
        for word in dict.fromkeys(_IDENTIFIER.findall(text))
        if (calls and word.endswith("()")) or _INNER_CAPITAL.search(word)
    )
    return list(dict.fromkeys(found))
