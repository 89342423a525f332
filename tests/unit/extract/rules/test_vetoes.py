"""The user's own words in a prompt, without what others wrote and programs printed."""

import pytest

from recollect.extract.rules.vetoes import QUOTATION, own_words

REVIEW = "Missing shadow file treated as overlap\n\nMedium Severity\n\nIt never returns false."


@pytest.mark.parametrize(
    "pasted",
    [
        "Fetching v1 from the fork...\nNo matching commits found on v1. Nothing to sync.",
        "❯ cat /tmp/hooks.txt\nThe hook from settings.json always fires twice",
        "fatal: unable to access the server\nWe only push once",
        "--- FAIL: TestShadow (3.40s)\n    Always created the orphan branch",
        "commit 74878862a560615dac9c\nThis branch stores session metadata",
        "hooks.go:209: Never call it twice",
    ],
)
def test_what_a_program_printed_is_nobodys_word(pasted: str) -> None:
    assert own_words(pasted) == QUOTATION
    assert own_words(f"but it is public\n\n{pasted}").split("\n") == [
        "but it is public",
        "",
        QUOTATION,
    ]


def test_a_document_with_headings_is_pasted() -> None:
    assert own_words(REVIEW) == QUOTATION


def test_paragraphs_below_what_introduces_them_are_pasted() -> None:
    told = "I got this feedback, what do you think:\n\n"
    long = "We only create commits on the shadow branch if the agent has modified files there."
    assert own_words(told + long + "\n\nNever mind the rest.") == (
        f"I got this feedback, what do you think: {QUOTATION}\n"
    )


def test_what_a_person_lists_stays() -> None:
    told = "Two things:\n\nUse uv, never pip.\n\nKeep commits small."
    assert "Use uv, never pip." in own_words(told) and "Keep commits small." in own_words(told)
    rules = "Our rules, please keep to them:\n\n" + "Every migration needs a rollback step. " * 3
    assert "rollback" in own_words(rules)
