import time

from recollect.ingest.recent import Recent


def test_a_repeat_is_recognised_until_it_is_taken_back() -> None:
    recent = Recent()
    assert recent.add("a")
    assert not recent.add("a")
    recent.forget("a")
    assert recent.add("a")


def test_the_oldest_are_forgotten_first() -> None:
    recent = Recent(limit=3)
    for key in "abcd":
        recent.add(key)
    assert len(recent) == 3
    assert recent.add("a")
    assert not recent.add("d")


def test_a_key_with_a_time_counts_only_for_so_long() -> None:
    recent = Recent()
    assert recent.add("a", seconds=0.02)
    assert not recent.add("a", seconds=60)
    time.sleep(0.03)
    assert recent.add("a", seconds=0.02)
