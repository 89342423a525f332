"""Sentences that say most, words that find them again."""

from hypothesis import given
from hypothesis import strategies as st

from recollect.lifecycle.extractive_summary import extract, sentences, words

TEXT = """Sure, let me have a look. I will look at it now.
The build failed because libfoo 2.31 needs glibc 2.38. We decided to pin libfoo to 2.30 in
requirements.lock. That is all for now. Let me know if there is anything else."""


def test_what_was_learned_comes_before_filler() -> None:
    found = extract([TEXT], 150, 20)
    said = " ".join(found.sentences)
    assert "libfoo 2.31 needs glibc 2.38" in said and "Sure" not in said
    assert sum(len(one) + 1 for one in found.sentences) <= 150


def test_names_that_the_sentences_lack_are_kept_as_words() -> None:
    found = extract([TEXT], 80, 20)
    kept = " ".join((*found.sentences, *found.words))
    for word in ("libfoo", "2.31", "glibc", "2.38", "requirements.lock", "2.30"):
        assert word in kept


def test_the_same_thing_is_not_said_twice() -> None:
    line = "The cache of service_a expires after 300 seconds."
    assert len(extract([line, line, line + " "], 1000, 5).sentences) == 1


@given(st.lists(st.text(max_size=500), max_size=5), st.integers(0, 500), st.integers(0, 20))
def test_any_text_is_taken_and_budgets_hold(texts: list[str], chars: int, most: int) -> None:
    found = extract(texts, chars, most)
    assert sum(len(one) + 1 for one in found.sentences) <= chars
    assert len(found.words) <= most
    every = {sentence for text in texts for sentence in sentences(text)}
    assert set(found.sentences) <= every
    assert {w.lower() for w in found.words} <= {w.lower()[:80] for t in texts for w in words(t)}
