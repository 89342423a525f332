"""Remove what a person wrapped in `<private>…</private>`.

In: a text. Out: the text with each private span replaced by `[REDACTED]`, and how many there were.
What can go wrong: a broken tag. It is then read in the way that hides more, never less:

* an opener without closer hides everything to the end of its text;
* a closer without opener hides everything from the start of its text, because the opener may have
  been cut off with the field, turn or chunk before it;
* a half opener (`<private` and no `>`) is an opener; a half closer closes nothing that is open;
* `<private/>` is an opener, as it is in HTML.

A tag may be written in any case, with attributes, spaces, line ends, zero-width characters, in
full-width characters, as HTML entities, percent-encoded, or JSON-escaped any number of times.
"""

import re

from recollect.privacy.patterns import pattern

TYPE_CHECKING = False  # spares the import of `typing`; type checkers take the name for true
if TYPE_CHECKING:
    from collections.abc import Iterator

MARK = "[REDACTED]"

# Characters that show nothing, and so could hide a tag from a scanner but not from a reader.
_UNSEEN = (
    r"\0\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    r"\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
)
# Between the letters of the name any escape and any entity counts as unseen: nothing else is there.
_Z = rf"(?:[{_UNSEEN}]|\\++u[02fF][\da-fA-F]{{3}}|&\#?\w{{2,16}};)*+"
_SPACE = (
    rf"(?>[\s{_UNSEEN}]++|\\++(?:[nrt]|u(?:(?:00[02aA]|20[0-6])[\da-fA-F]|feff|FEFF))"
    r"|%20|%0\w|&nbsp;)"
)
# A run of backslashes is looked at once, from its first: else a megabyte of them is quadratic.
_LT = (
    r"(?:[<＜﹤‹〈]|(?<!\\)\\++(?:u(?:003[cC]|ff1[cC]|FF1C|fe64|2039|3008|\{3[cC]\})|[xX]3[cC])|%(?:25)*+3[cC]"
    r"|&(?:amp;)*+(?:[lL][tT]|\#0*+60|\#[xX]0*+3[cC]);)"
)
_GT = (
    r"(?:[>＞﹥›〉]|\\++(?:u(?:003[eE]|ff1[eE]|FF1E|fe65|203a|3009|\{3[eE]\})|[xX]3[eE])|%(?:25)*+3[eE]"
    r"|&(?:amp;)*+(?:[gG][tT]|\#0*+62|\#[xX]0*+3[eE]);)"
)
_SLASH = (
    r"(?:\\*+[/／∕]|\\++(?:u(?:002|ff0|FF0)[fF]|[xX]2[fF])|%(?:25)*+2[fF]"
    r"|&(?:amp;)*+(?:sol|\#0*+47|\#[xX]0*+2[fF]);)"
)
_LETTERS = [f"{c}{c.upper()}{chr(ord(c) + 0xFEE0)}{chr(ord(c) + 0xFEC0)}" for c in "private"]
_PLAIN_NAME = "".join(f"[{letter}]" for letter in _LETTERS)  # tried first, for speed
_NAME = f"(?>{_PLAIN_NAME}|{_Z.join(f'[{letter}]' for letter in _LETTERS)})[{_UNSEEN}]*+"
_QUOTED = r"""\\*+(?:"[^"]*+"|'[^']*+')"""
# Up to the tag's `>`, stepping over quoted values. A quote that never closes is a plain character.
_ATTRIBUTES = (
    rf"(?:[^>＞﹥›〉&\\%=]++|=++\s*+{_QUOTED}|=++|[&%](?![gGaA#23])|(?!{_GT})(?:\\++|[&%]))*+{_GT}"
)
# After `< ` the word may be a comparison in code, so only well-formed attributes make it a tag.
_STRICT_ATTRIBUTES = (
    rf"""(?:{_SPACE}++[\w:.-]++\s*+=\s*+(?:{_QUOTED}|[^\s<>"'&\\%]++))*+{_SPACE}*+/?+{_GT}"""
)
_CLOSER_REST = rf"(?:[^<>＜＞﹤﹥‹›〈〉&\\%]|{_SPACE})*+{_GT}"

# What a tag can go on with, tested first: most `<` are followed by something else.
_SOON = rf"(?=[pPｐＰ\s/／∕\\&%{_UNSEEN}])"
# Which group of `_TAG` took part last tells the kind of tag; none does in a half opener.
_HALF_CLOSER, _CLOSER = 2, 3
_TAG_REST = rf"(?(2)({_CLOSER_REST})?+|(?(1)({_STRICT_ATTRIBUTES})|({_ATTRIBUTES})?+))"
_TAG = rf"{_LT}{_SOON}({_SPACE}++)?+({_SLASH}{_SPACE}*+)?+{_NAME}(?!\w|[-:.]\w){_TAG_REST}"
# A cheap test that most texts fail: the last letters of the name, or something odd in it.
_HINT = rf"[vV][aA][tT][eE]|[{_UNSEEN}ｐＰｒＲｉＩｖＶａＡｔＴｅＥ]|\\u[02fF]|&\#?\w+;[\w&]"
# In an ASCII text without these a tag is only where its last letters are.
ODD_ASCII = ("\\u", "&#", "&z", "&Z", "&s", "&N")
# Tags without any dress, told apart by the same numbers of groups as those of `_TAG`.
_PLAIN_TAG = "</private()()()>|<private()()()()>"


def _tags(text: str) -> "Iterator[re.Match[str]]":
    """All tags of a text. Where every `private` stands in a plain tag, and nothing else could be
    one, a simple pattern finds the same several times faster."""
    if text.isascii() and not any(odd in text for odd in "\\&%\0"):
        low = text.lower()
        if low.count("private") == low.count("<private>") + low.count("</private>"):
            return pattern(_PLAIN_TAG).finditer(low)
    return pattern(_TAG).finditer(text)


def scrub_text(text: str) -> tuple[str, int]:
    """The text without its private spans, and the number of spans removed."""
    if pattern(_HINT).search(text) is None:
        return text, 0
    kept: list[str] = []
    count = depth = end = 0
    stray: re.Match[str] | None = None
    closers = {_CLOSER, _HALF_CLOSER}
    for tag in _tags(text):
        kind = tag.lastindex
        if kind in closers:
            if depth == 0:
                # All before it may belong to a span opened in an earlier field or chunk.
                stray = tag
                count += 1
            elif depth > 1:
                depth -= kind == _CLOSER
            elif kind == _CLOSER:
                depth = 0
                end = tag.end()
            continue
        if depth == 0:
            if stray is not None:
                kept, end, stray = [MARK], stray.end(), None
            kept += text[end : tag.start()], MARK
            count += 1
            if not any(text.find(sign, tag.end()) >= 0 for sign in "/\\&%／∕"):
                kind = None  # nothing is left that a closing tag needs
        depth += 1
        if kind is None:
            break  # an opener that never ends hides the rest, which need not be looked at
    if count == 0:
        return text, 0
    if stray is not None:
        kept, end = [MARK], stray.end()
    if depth == 0:
        kept.append(text[end:])
    return "".join(kept), count
