"""What is stripped from prompts and answers, and what must stay."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.capture.foreign import BLOCKS, strip_foreign, strip_own
from tests.fakes.growth import assert_linear

OWN = '<recollect id="7f3a">\nNotes.\n- {}\n</recollect id="7f3a">'


@pytest.mark.parametrize("tag", sorted(BLOCKS))
def test_every_known_block_is_removed_or_unwrapped(tag: str) -> None:
    left = strip_foreign(f"before\n<{tag}>inside</{tag}>\nafter")
    assert left.split() == (
        ["before", "after"] if BLOCKS[tag] == "drop" else ["before", "inside", "after"]
    )


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("no tags at all", "no tags at all"),
        ("a < b and c > d", "a < b and c > d"),
        ("<div>html stays</div>", "<div>html stays</div>"),
        ("what does <system-reminder> mean?", "what does <system-reminder> mean?"),
        ("</system-reminder> alone stays", "</system-reminder> alone stays"),
        ("<SYSTEM-REMINDER>x</System-Reminder>ask", "\nask"),
        ('<system-reminder kind="a">x</system-reminder>ask', "\nask"),
        ("<hook_context>memory</hook_context>\n\nask", "\n\n\nask"),
        ("<system-reminder>a<system-reminder>b</system-reminder>c</system-reminder>ask", "\nask"),
        ("<command-name>/x</command-name><command-args>mine</command-args>", "\n\nmine\n"),
    ],
)
def test_text_of_the_user_stays(text: str, left: str) -> None:
    assert strip_foreign(text) == left


def test_an_own_block_is_removed_with_everything_in_it() -> None:
    assert strip_foreign("ask" + OWN.format("</recollect> </recollect id='7f3a'>")).strip() == "ask"


@pytest.mark.parametrize("strip", [strip_foreign, strip_own])
@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("ask\n[recollect 7f3a]\n- x\n[/recollect 7f3a]\nmore", ["ask", "more"]),
        ("[recollect 7f3a]\nx [/recollect bbbb] y\n[/recollect 7f3a]ask", ["ask"]),
        ("ask\n[recollect 7f3a]\nNotes. And then the host cut", ["ask"]),
        ("[recollect why] and [recollect 7f3a] in a sentence", None),
    ],
)
def test_a_block_with_square_brackets_is_removed_as_well(
    strip: Callable[[str], str], text: str, left: list[str] | None
) -> None:
    assert strip(text).split() == (text.split() if left is None else left)


def test_an_own_block_closes_only_with_its_own_id() -> None:
    text = '<recollect id="aa">\nx</recollect id="bb">still quoted</recollect id="aa">ask'
    assert strip_foreign(text).strip() == "ask"


def test_an_own_block_that_lost_its_end_is_cut_off() -> None:
    assert (
        strip_foreign('ask\n<recollect id="7f3a">\nNotes. And then the host cut').strip() == "ask"
    )


def test_an_own_block_that_lost_its_end_within_a_reminder_costs_only_the_reminder() -> None:
    text = '<system-reminder><recollect id="a">\ncut here</system-reminder>ask'
    assert strip_foreign(text).strip() == "ask"


def test_a_mention_of_the_own_tag_in_a_sentence_is_no_block() -> None:
    asked = 'what is <recollect id="7f3a"> for?'
    assert strip_foreign(asked) == asked


def test_an_own_block_is_recognised_inside_json() -> None:
    escaped = OWN.format("x").replace('"', '\\"').replace("\n", "\\n")
    assert strip_own(f'{{"text": "a {escaped} b"}}').split() == ['{"text":', '"a', 'b"}']


def test_only_own_blocks_are_taken_out_of_what_tools_print() -> None:
    printed = "<system-reminder>kept</system-reminder>"
    assert strip_own(printed + OWN.format("x")) == printed + "\n"


HOSTILE: dict[str, Callable[[int], str]] = {
    "opening tags": lambda size: "<system-reminder>" * (size // 17),
    "own opening tags": lambda size: '<recollect id="a">' * (size // 18),
    "own opening tags with other ids": lambda size: "".join(
        f'<recollect id="{number:06}">' for number in range(size // 23)
    ),
    "brackets": lambda size: "<" * size,
    "half tags": lambda size: "<system-reminder " * (size // 17),
    "pairs": lambda size: "<hook_context>x</hook_context>" * (size // 30),
    "nested": lambda size: "<hook_context>" * (size // 29) + "</hook_context>" * (size // 29),
    "crossed": lambda size: (
        "<hook_context><system-reminder></hook_context></system-reminder>" * (size // 64)
    ),
    "spaces in a tag": lambda size: "<system-reminder" + " " * size,
    "backslashes": lambda size: "<recollect id=" + "\\" * size,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_linear_work(name: str) -> None:
    def work(size: int) -> Callable[[], object]:
        text = HOSTILE[name](size)
        return lambda: strip_foreign(text)

    assert_linear(work, 250_000)


PIECES = st.sampled_from(
    [
        *("<system-reminder>", "</system-reminder>", "<hook_context>", "</hook_context>"),
        *("<command-args>", "</command-args>", '<recollect id="a">', '</recollect id="a">'),
        *('<recollect id="b">', '</recollect id="b">', "<system-", "reminder>", "<", ">", "/"),
        *("text", "\n", " ", '"', "\\n"),
    ]
)


@settings(deadline=None)
@given(st.lists(PIECES, max_size=30).map("".join))
def test_cleaning_twice_is_cleaning_once(text: str) -> None:
    once = strip_foreign(text)
    assert strip_foreign(once) == once
    own = strip_own(text)
    assert strip_own(own) == own


@settings(deadline=None)
@given(st.text())
def test_any_text_without_brackets_is_left_alone(text: str) -> None:
    plain = text.replace("<", "")
    assert strip_foreign(plain) == plain


@settings(deadline=None)
@given(st.text(alphabet="ab<>/ \n"), st.sampled_from(["abcd", "0123", "7f3a"]))
def test_nothing_inside_an_own_block_survives(content: str, nonce: str) -> None:
    text = f'ask\n<recollect id="{nonce}">\nSECRET{content}SECRET\n</recollect id="{nonce}">'
    assert "SECRET" not in strip_foreign(text)
