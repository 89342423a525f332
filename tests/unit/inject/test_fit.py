from recollect.core.text_words import count_tokens
from recollect.inject.draft import BriefLine
from recollect.inject.render import fit, forms
from tests.make import record


def test_tokens_are_counted_high() -> None:
    assert count_tokens("") == 0
    assert count_tokens("the cat sat") == 3
    assert count_tokens("internationalisation") >= 5
    assert count_tokens("12345") == 5
    assert count_tokens("日本語") >= 3
    assert count_tokens("a\n\nb") == 4


def test_what_does_not_fit_is_taken_in_its_short_form_or_left_out() -> None:
    candidates = ["a", "b", "c"]
    forms = {
        "a": ["word " * 5, "w"],
        "b": ["word " * 50, "short"],
        "c": ["word " * 50, "word " * 40],
    }
    fitted = fit(candidates, forms.__getitem__, tokens=20, chars=1000)
    assert [(one, text) for one, text in fitted.chosen] == [("a", "word " * 5), ("b", "short")]
    assert fitted.left_out == (("c", "no room left in the budget"),)


def test_characters_are_a_limit_of_their_own() -> None:
    fitted = fit(["a"], lambda _: ["x" * 50, "x" * 5], tokens=1000, chars=10)
    assert fitted.chosen == (("a", "xxxxx"),)


def test_a_note_is_told_with_names_in_code_where_there_is_room_for_them() -> None:
    note = record(
        "Added with_lock() to the cache",
        summary="Two workers no longer write one entry; `open_entry()` takes LOCK_EX.",
        detail="with_lock() is called by readRows and open_entry.",
    )
    long, short = forms(BriefLine(note.record_id, "state", 1.0, "x", note), as_sections=False)
    assert "Added with_lock() to the cache (open_entry, LOCK_EX, readRows) [" in long
    assert "(" not in short.replace("()", "")
