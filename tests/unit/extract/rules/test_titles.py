# ruff: noqa: E501  (one case a line)
"""The title of an outcome: it stands alone, says what was done, and is cut off nowhere."""

import pytest

from recollect.extract.rules.prose import is_whole
from recollect.extract.rules.sentence_ranker import ranked
from recollect.extract.rules.titles import as_title, best_title, listed_title, with_file
from recollect.extract.rules.turns import turns_of
from tests.unit.extract.session import Told, as_stored

PROJECT = "/work/orbit"


@pytest.mark.parametrize(
    ("sentence", "title"),
    [
        ("I've successfully removed the lock around the cache.", "Removed the lock around the cache."),
        ("Fix: outputs now set both fields of the answer", "Outputs now set both fields of the answer"),
        ("Moved /home/ada/work/other/deep/settings.toml to /work/orbit/conf/app.toml.", "Moved deep/settings.toml to conf/app.toml."),
        ("Done — added a line to README.md", "Added a line to README.md"),
        ("Plan: Cache the tokens of the gateway", "Cache the tokens of the gateway"),
        ("reader.py:12-18 drops the last row: " + "a reason, " * 30, "reader.py drops the last row"),
        ("It holds " + "one, " * 60 + "and more", ""),
        ("The option (" + "which nobody uses " * 12 + ") is gone", ""),
    ],
)  # fmt: skip
def test_a_sentence_as_a_title(sentence: str, title: str) -> None:
    assert as_title(sentence, PROJECT) == title
    assert is_whole(title)


@pytest.mark.parametrize(
    ("answer", "title"),
    [
        ("Done! All tests pass.\n\nAdded `retry()` with backoff to client.py so that a lost connection is tried again.\n\nLet me know if you want more.", "Added retry() with backoff to client.py so that a lost connection is tried again."),
        ("The root cause was that `read_rows()` in reader.py skipped the last line when the file had no newline at its end.\n\nIt is fixed now.", "The root cause was that read_rows() in reader.py skipped the last line when the file had no newline at its end."),
    ],
)  # fmt: skip
def test_the_best_sentence_is_the_title(answer: str, title: str) -> None:
    turn = turns_of(as_stored(Told().ask("mend the reader").edit("client.py").answer(answer)))[0]
    assert best_title(ranked(turn), PROJECT) == title


def test_narration_and_questions_are_never_chosen() -> None:
    answer = "Let me look at reader.py.\nNow I change `read_rows()`.\nI'll run pytest.\nShall I go on with parse.py?"
    turn = turns_of(as_stored(Told().ask("mend it").answer(answer)))[0]
    assert ranked(turn) == []


def test_a_list_of_what_was_done_is_named_by_its_items() -> None:
    answer = (
        "Done. I've added:\n\n1. **Table of contents** - Links to all sections\n"
        "2. **Requirements (#4)** - Git version and systems\n3. **Why?** - What it is good for\n"
    )
    title = "Requirements (#4) - Git version and systems"
    assert listed_title(title, answer, "") == "Added Table of contents, Requirements, Why"
    assert listed_title("Something else", answer, "") == ""
    assert listed_title(title, answer.replace("I've added:", "You could add:"), "") == ""
    unnamed = answer + "4. Links everywhere\n"
    assert listed_title(title, unnamed, "") == ""


def test_a_title_has_the_file_whose_lines_are_about_it() -> None:
    told = Told().ask("x").write("/work/orbit/copy.py", "skip symlinks that were encountered")
    told.write("/work/orbit/tests/test_copy.py", "assert skip")
    [turn] = turns_of(as_stored(told))
    assert with_file("Skips symlinks encountered", turn).endswith("(copy.py)")
    assert with_file("Added a test that looks for links", turn).endswith("(test_copy.py)")
