"""No text can close its fence, and what goes in comes out."""

import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.capture.foreign import strip_foreign
from recollect.inject import render
from tests.fakes.growth import assert_linear
from tests.torture import leaks

PIECES = [
    "[", "[/", "]", "［", "[recollect", "[/recollect", "[recollect 7f3a]", "[/recollect 7f3a]",
    "<", "</", ">", "recollect", "RECOLLECT", "ReCollect", " ", "\n", "\\", "\\\\", "/", "＜", "／",
    "⟨", "\u200b", "\u00ad", "\t", 'id="', '"', "a", "0" * 32, "<recollect", "</recollect", "é",
    '<recollect id="x">', '</recollect id="x">', "re\u200bcollect", "&lt;recollect", "'", "=", "【",
]  # fmt: skip


def check(text: str) -> None:
    block = render.wrap(render.disarm(text))
    assert render.parse(block) == text
    inner = block.split("\n", 1)[1].rsplit("\n", 1)[0]
    lowered = inner.lower()
    for invisible in ("\u200b", "\u00ad", " ", "\t", "\n"):
        lowered = lowered.replace(invisible, "")
    for other, plain in zip("＜⟨／［【", "<</[[", strict=True):
        lowered = lowered.replace(other, plain)
    for bracket in "<[":
        assert f"{bracket}recollect" not in lowered and f"{bracket}/recollect" not in lowered
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


def test_no_hosts_tag_and_no_mark_of_a_chat_template_is_left_whole() -> None:
    report = leaks.tags(random.Random(19), 3000)
    assert report.tries == 3000
    assert report.failures == []


@pytest.mark.parametrize(
    "text",
    [
        "Vec<String>", "map<std::string, int>", "List<User>", "a < b and c > d", "x<y", "i<n-1",
        "<div class='a'>", "</div>", "<Button onClick>", "</Button>", "if x < max_len", "<br/>",
        "Promise<Result<T>>", "#include <sys/types.h>", "std::vector<my_type>", "<https://x.y>",
        "foo <bob@x.y>", "cat <<EOF", "x |> f <| y", "arr[i]", "[ ] todo", "<id>", "Option<&str>",
    ],
)  # fmt: skip
def test_ordinary_code_is_left_as_it_is(text: str) -> None:
    assert render.disarm(text) == text


@pytest.mark.parametrize(
    "unit",
    ["<", "< ", "</ ", "<\\", "<a-", "</a", "<r e c o", "< /", "<|", "[", "<\u200b", "<  \n"],
)
def test_disarming_takes_time_by_the_length_of_the_text(unit: str) -> None:
    def work(size: int) -> Callable[[], object]:
        text = unit * (size // len(unit)) + "<" + unit[1:] * size
        return lambda: render.disarm(text)

    assert_linear(work, 10_000)


def test_what_is_not_ours_is_not_parsed() -> None:
    for text in (
        "",
        "x",
        '<recollect id="a">\nfoo\n</recollect id="b">',
        "<recollect>\n</recollect>",
    ):
        assert render.parse(text) is None
