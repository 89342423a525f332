"""No text can close its fence, and what goes in comes out."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.capture.foreign import strip_foreign
from recollect.inject import fence

PIECES = [
    "<", "</", ">", "recollect", "RECOLLECT", "ReCollect", " ", "\n", "\\", "\\\\", "/", "＜", "／",
    "⟨", "\u200b", "\u00ad", "\t", 'id="', '"', "a", "0" * 32, "<recollect", "</recollect", "é",
    '<recollect id="x">', '</recollect id="x">', "re\u200bcollect", "&lt;recollect", "'", "=",
]  # fmt: skip


def check(text: str) -> None:
    mark = fence.nonce()
    block = fence.fence(text, mark)
    assert fence.parse(block) == text
    inner = block.split("\n", 1)[1].rsplit("\n", 1)[0]
    lowered = inner.lower()
    for invisible in ("\u200b", "\u00ad", " ", "\t", "\n"):
        lowered = lowered.replace(invisible, "")
    lowered = lowered.replace("＜", "<").replace("⟨", "<").replace("／", "/")
    assert "<recollect" not in lowered and "</recollect" not in lowered
    assert strip_foreign(block).strip() == ""
    assert strip_foreign(f"before\n{block}\nafter").split() == ["before", "after"]


def test_twenty_thousand_hostile_texts_stay_inside() -> None:
    seed = random.randrange(2**32)
    dice = random.Random(seed)
    for number in range(20_000):
        text = "".join(dice.choices(PIECES, k=dice.randrange(1, 14)))
        try:
            check(text)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}, text {number}: {text!r}") from error


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=200))
def test_any_text_stays_inside(text: str) -> None:
    check(text)


def test_what_is_not_ours_is_not_parsed() -> None:
    for text in (
        "",
        "x",
        '<recollect id="a">\nfoo\n</recollect id="b">',
        "<recollect>\n</recollect>",
    ):
        assert fence.parse(text) is None
