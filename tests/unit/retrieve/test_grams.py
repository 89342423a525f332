"""Words and 4-grams of any text."""

import numpy as np

from recollect.core.text_words import MAX_WORD, words
from recollect.retrieve.vocabulary import grams_of


def test_words_are_lower_case_and_split_at_marks() -> None:
    assert words("Fix src/retry_storm.py: HTTP 503!") == [
        "fix", "src", "retry", "storm", "py", "http", "503",
    ]  # fmt: skip


def test_words_keep_versions_whole() -> None:
    assert words("upgrade to v1.2.3 or 0.9") == ["upgrade", "to", "v1.2.3", "or", "0.9"]


def test_words_lose_accents_and_case_of_other_scripts() -> None:
    assert words("Übergrößenträger naïve ΑΘΗΝΑ") == [
        "ubergrossentrager", "naive", "αθηνα",
    ]  # fmt: skip


def test_unsegmented_scripts_become_pairs() -> None:
    assert words("検索する abc 日") == ["検索", "索す", "する", "abc", "日"]


def test_words_of_nothing() -> None:
    assert words("") == words(" \n—!") == []


def test_long_runs_are_cut() -> None:
    assert words("x" * 500) == ["x" * MAX_WORD]


def test_identifier_shares_most_grams_with_its_parts() -> None:
    whole = set(grams_of(["getusername"])[0].tolist())
    parts = set(grams_of(["user", "name"])[0].tolist())
    assert len(whole & parts) >= 2


def test_grams_of_many_words_are_those_of_each() -> None:
    batch = ["a", "ab", "abc", "migration", "日本", "\ud800x"]
    together, starts = grams_of(batch)
    for number, word in enumerate(batch):
        alone = grams_of([word])[0]
        assert np.array_equal(together[starts[number] : starts[number + 1]], alone)
        assert len(alone) == max(1, len(word) - 1)
    assert len(grams_of([])[0]) == 0


def test_grams_rarely_share_a_code() -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    batch = [a + b + c for a in letters for b in letters for c in letters]
    codes = {code for word in batch for code in grams_of([word])[0][:1].tolist()}
    assert len(codes) > 0.98 * len(batch)
