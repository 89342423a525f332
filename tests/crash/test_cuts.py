"""A power cut at any step of the real commands leaves the old or the new, whole."""

import pathlib
import random

import pytest

from tests.crash.oracle import chosen_seed
from tests.torture import cuts

# Enough to cut the short ones at every step; `make torture` has more.
TRIES = {"spool": 60, "settings": 30, "install": 60}


@pytest.mark.parametrize("name", cuts.WORKLOADS)
def test_what_was_told_is_there_after_a_power_cut(name: str, tmp_path: pathlib.Path) -> None:
    seed = chosen_seed()
    attack = cuts.attack(cuts.WORKLOADS[name])
    report = attack(random.Random(seed), TRIES.get(name, 40), tmp_path)
    assert not report.failures, f"seed {seed}: {report.failures[:5]}"
