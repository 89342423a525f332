from recollect.ingest.origins import SeenCache


def test_a_key_stands_for_what_it_was_first_met_with_until_it_is_forgotten() -> None:
    recent = SeenCache[str]()
    assert recent.first("key", "a") == "a"
    assert recent.first("key", "b") == "a"
    recent.forget("key")
    assert recent.first("key", "b") == "b"


def test_the_oldest_are_forgotten_first() -> None:
    recent = SeenCache[str](limit=3)
    for key in "abcd":
        recent.first(key, key)
    assert len(recent) == 3
    assert recent.first("a", "new") == "new"
    assert recent.first("d", "new") == "d"


def test_a_key_that_is_met_again_outlives_older_ones_that_were_not() -> None:
    recent = SeenCache[str](limit=3)
    for key in "abc":
        recent.first(key, key)
    recent.first("a", "again")
    recent.first("d", "d")
    assert recent.first("a", "new") == "a"
    assert recent.first("b", "new") == "new"


def test_ten_thousand_keys_are_remembered() -> None:
    recent = SeenCache[str]()
    for number in range(10_001):
        recent.first(str(number), "first")
    assert len(recent) == 10_000
    assert recent.first("1", "again") == "first"
    assert recent.first("0", "again") == "again"


def test_a_key_with_a_time_counts_only_within_it_on_either_side() -> None:
    recent = SeenCache[str]()
    assert recent.first("key", "a", at=10.0, seconds=2.0) == "a"
    assert recent.first("key", "b", at=11.9, seconds=2.0) == "a"
    assert recent.first("key", "b", at=8.1, seconds=2.0) == "a"  # it was told later, not made later
    assert recent.first("key", "c", at=12.0, seconds=2.0) == "c"
