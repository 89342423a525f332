"""Private spans: every shape a person or a serializer may give them."""

import random
from collections.abc import Callable

import pytest

from recollect.privacy import private_tags
from recollect.privacy.patterns import compiled
from recollect.privacy.private_tags import MARK, scrub_text
from tests.fakes.growth import assert_linear

CANARY = "CANARY7"

# (shape, what must remain of it once the canary is gone)
SHAPES = [
    ("a <private>CANARY7</private> b", "a [REDACTED] b"),
    ("a <PRIVATE>CANARY7</Private> b", "a [REDACTED] b"),
    ('a <private reason="x" level=3>CANARY7</private> b', "a [REDACTED] b"),
    ("a <private note='a > b' other=\">\">CANARY7</private> b", "a [REDACTED] b"),
    ('a <private note="</private>">CANARY7</private> b', "a [REDACTED] b"),
    ('a <private note="</private>">CANARY7', "a [REDACTED]"),
    ("a < private >CANARY7< / private > b", "a [REDACTED] b"),
    ("a <\nprivate\n>CANARY7</\nprivate\n> b", "a [REDACTED] b"),
    ("a <private\n  x='1'\n>CANARY7</private\t> b", "a [REDACTED] b"),
    ("a <private>CANARY7", "a [REDACTED]"),
    ("a <private", "a [REDACTED]"),
    ("a <private CANARY7", "a [REDACTED]"),
    ("a <private>x<private>y</private>CANARY7</private> b", "a [REDACTED] b"),
    ("a <private><private>CANARY7</private> still CANARY7", "a [REDACTED]"),
    ("CANARY7</private> b", "[REDACTED] b"),
    ("CANARY7</private", "[REDACTED]"),
    ("a <private>x</private> CANARY7 </private> b", "[REDACTED] b"),
    ("a <private>CANARY7</private and no end", "a [REDACTED]"),
    ("a <private/>CANARY7</private> b", "a [REDACTED] b"),
    (r"a \u003cprivate\u003eCANARY7\u003c/private\u003e b", "a [REDACTED] b"),
    (r"a \\u003Cprivate\\u003ECANARY7\\u003C\\/private\\u003E b", "a [REDACTED] b"),
    (r"a <private>CANARY7<\/private> b", "a [REDACTED] b"),
    (r"a \x3cprivate\x3eCANARY7\x3c/private\x3e b", "a [REDACTED] b"),
    ("a &lt;private&gt;CANARY7&lt;/private&gt; b", "a [REDACTED] b"),
    ("a &amp;lt;private&amp;gt;CANARY7&amp;lt;/private&amp;gt; b", "a [REDACTED] b"),
    ("a &#60;private&#62;CANARY7&#60;/private&#62; b", "a [REDACTED] b"),
    ("a &#x3C;private&#x3E;CANARY7&#x3c;&#x2f;private&#x3e; b", "a [REDACTED] b"),
    ("a ＜private＞CANARY7＜/private＞ b", "a [REDACTED] b"),
    ("a ＜ｐｒｉｖａｔｅ＞CANARY7＜／ＰＲＩＶＡＴＥ＞ b", "a [REDACTED] b"),
    ("a <pri\u200bvate>CANARY7</priv\u200date> b", "a [REDACTED] b"),
    ("a <\ufeffp\u2060r\u00adivate\u200b>CANARY7<\u200b/private> b", "a [REDACTED] b"),
    (r"a <pri\u200bvate>CANARY7</private> b", "a [REDACTED] b"),
    ("a <pri&#8203;vate>CANARY7</private> b", "a [REDACTED] b"),
    ("a %3Cprivate%3ECANARY7%3C%2Fprivate%3E b", "a [REDACTED] b"),
    ("a <private>CANARY7&lt;/private&gt; b", "a [REDACTED] b"),
    ('a <private x="never closed>CANARY7</private> b', "a [REDACTED] b"),
    ("<private>CANARY7</private>\n<private>CANARY7</private>", "[REDACTED]\n[REDACTED]"),
    ("<pri<private>CANARY7</private>vate>CANARY7</private> b", "[REDACTED] b"),
]


@pytest.mark.parametrize(("text", "left"), SHAPES)
def test_a_private_span_is_replaced_whatever_its_shape(text: str, left: str) -> None:
    clean, count = scrub_text(text)
    assert CANARY not in clean
    assert clean == left
    assert count >= 1
    assert scrub_text(clean) == (clean, 0)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "private",
        "a <privateer> sails </privateer>",
        "<private-key>k</private-key>",
        "<private_note/>",
        "<private:x>",
        "if a < private and b > c:",
        "public < private",
        "class A { private: int x; };",
        "\ud800 lone surrogate",
        "a & b &lt; c",
    ],
)
def test_text_without_private_tags_is_kept_as_it_is(text: str) -> None:
    assert scrub_text(text) == (text, 0)


def test_the_count_is_of_spans_not_of_tags() -> None:
    assert scrub_text("<private>a<private>b</private></private> c <private>d") == (
        f"{MARK} c {MARK}",
        2,
    )


@pytest.mark.parametrize(
    "unit",
    [
        *(
            "<private>",
            "</private>",
            "<private></private>",
            "<private ",
            '<private a="',
            "<",
            "&lt;",
        ),
        *("< private ", '< private a="', "<private a='>", "&amp;", "\\", "\\u003c", "<\u200b", "="),
        *("</private \\n", "<p<pr<pri<priv<priva<privat", "%3C", "vate\\\\", "&#0", "<private &"),
    ],
)
def test_hostile_repetition_takes_linear_time(unit: str) -> None:
    def work(size: int) -> Callable[[], object]:
        text = "private" + unit * (size // len(unit))
        return lambda: scrub_text(text)

    assert_linear(work, 60_000)  # with a million characters, fetching memory costs more than work


def test_the_quick_way_finds_what_the_thorough_one_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any mixture of plain tags: both ways give the same text and the same count."""
    dice = random.Random(5)
    pieces = ["<private>", "</private>", "<PRIVATE>", "</Private>", "a", " ", "<b>", "/", ">"]
    pieces += ["\n", "<pri\0vate>", "<private x>"]
    texts = ["".join(dice.choices(pieces, k=dice.randrange(1, 12))) for _ in range(3000)]
    quick = [private_tags.scrub_text(text) for text in texts]
    monkeypatch.setattr(private_tags, "_tags", compiled(private_tags._TAG).finditer)
    assert [private_tags.scrub_text(text) for text in texts] == quick
