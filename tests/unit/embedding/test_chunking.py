"""Cutting long texts."""

from recollect.embedding.chunking import LONG, MOST, parts


def test_short_text_is_whole_and_no_text_is_none() -> None:
    assert parts("A short note.") == ["A short note."]
    assert parts("  \n") == []


def test_long_text_is_whole_and_in_parts_that_lose_no_word() -> None:
    text = " ".join(f"Sentence number {n} ends here." for n in range(60))
    whole, *pieces = parts(text)
    assert whole == text
    assert " ".join(pieces).split() == text.split()
    assert 2 <= len(pieces) <= MOST


def test_text_without_sentences_is_cut_all_the_same() -> None:
    pieces = parts("word " * 5000)
    assert 2 <= len(pieces) <= MOST + 1
    assert len(parts("word " * LONG)) == 1
