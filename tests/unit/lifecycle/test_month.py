"""A month of one developer through capture, episodes, extraction and daily maintenance."""

import pathlib

from tests.bench.year import Year


def test_a_month_stays_bounded_and_keeps_what_was_learned(tmp_path: pathlib.Path) -> None:
    year = Year(str(tmp_path), events_a_day=90)
    try:
        for day in range(14):
            year.day(day)
        half = year.month(1, 13)
        for day in range(14, 30):
            year.day(day)
        full = year.month(2, 29)
    finally:
        year.close()
    assert full.events > 1500 and full.learned > half.learned > 10
    # Turns live a day, and six more beside the episode that stands for them.
    assert half.oldest_raw_days <= 7.1 and full.oldest_raw_days <= 7.1
    assert full.raw < 1.5 * half.raw
    assert full.compressed <= 1.5 * half.compressed + 5 and full.distilled > half.distilled
    # Nothing that was planted is lost on the way through the stages, by words alone.
    assert half.found >= 0.95 and full.found >= 0.95
    assert full.junk <= half.junk + 0.03
    assert max(half.step_cpu_s, full.step_cpu_s, full.run_cpu_s) < 1.0
    # What rules learn grows with what there is to learn, not with events.
    assert 0 < half.facts < full.facts <= full.learned + 20  # tools of the project beside it
    assert full.entities <= full.learned + 25 and full.waiting < 50
    assert full.knowledge <= 2 * full.learned
