"""A machine that misbehaves: what was acknowledged stays, and hooks stay silent."""

import pathlib
import random

import pytest

from tests.crash.oracle import chosen_seed
from tests.torture import surroundings
from tests.torture.case import Attack


@pytest.mark.parametrize(
    ("attack", "tries"),
    [
        (surroundings.read_only_disk, 2),
        (surroundings.little_memory, 1),
        (surroundings.no_new_processes, 4),
        (surroundings.damaged_model, 1),
        (surroundings.odd_days, 500),
        (surroundings.jumping_clock, 2),
    ],
)
def test_nothing_is_lost_or_broken(attack: Attack, tries: int, tmp_path: pathlib.Path) -> None:
    seed = chosen_seed()
    report = attack(random.Random(seed), tries, tmp_path)
    assert not report.failures, f"seed {seed}: {report.failures[:5]}"
