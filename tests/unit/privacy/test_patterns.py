"""Patterns that mean the same on every Python 3.11 and later."""

import re

import pytest

from recollect.privacy import private_tags
from recollect.privacy.patterns import plain


@pytest.mark.parametrize(
    ("pattern", "same"),
    [
        (r"(?:a|b)*+c", r"(?>(?:a|b)*)c"),
        (r"(a)?+(b)++(c){2,3}+", r"(a)?(b)+(c){2,3}"),
        (r"[a+]*+\s++x?+", r"[a+]*+\s++x?+"),
        (r"\)*+[)]*+(?:x)+y", r"\)*+[)]*+(?:x)+y"),
        (r"(?:[^>)]++|\\*+)*+", r"(?>(?:[^>)]++|\\*+)*)"),
        (r"(?:x(?>y|z)++)++", r"(?>(?:x(?>(?>y|z)+))+)"),
        (r"(?:(a)|b)*+", r"(?:(a)|b)*"),
        (r"(x)?[]*+)]+(?(1)a|b)", r"(x)?[]*+)]+(?(1)a|b)"),
    ],
)
def test_possessive_quantifiers_of_groups_are_written_in_another_way(
    pattern: str, same: str
) -> None:
    assert plain(pattern) == same
    re.compile(plain(pattern))


def test_the_plain_pattern_finds_the_same_tags() -> None:
    """What the other one finds where the interpreter has no fault is written here."""
    ordinary = re.compile(plain(private_tags._TAG))
    for text, found in (
        ("a <private>x</private> b", [((2, 11), 5), ((12, 22), 3)]),
        ("<private why=\"a>b\" c='d'>x</ private >", [((0, 25), 5), ((26, 38), 3)]),
        ("&lt;private&gt;x&lt;/private&gt;", [((0, 15), 5), ((16, 32), 3)]),
        (
            "\\u003cprivate\\u003ex\\u003c/private\\u003e < private x=1 > y <pri\u200bvate",
            [((0, 19), 5), ((20, 40), 3), ((41, 56), 4), ((59, 68), None)],
        ),
    ):
        assert [(tag.span(), tag.lastindex) for tag in ordinary.finditer(text)] == found
