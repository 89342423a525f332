"""A2: an acknowledged write survives a power cut that loses or tears what was not synced."""

import os
import random

import pytest

from tests.crash import power

CUTS = 500 // len(power.WORKLOADS) + 1


@pytest.mark.parametrize("workload", power.WORKLOADS, ids=lambda one: one.__name__)
def test_power_cuts_lose_nothing_and_damage_nothing(
    workload: power.Workload, chance: random.Random, memory_directory: str
) -> None:
    steps = power.record(workload, os.path.join(memory_directory, "home"))
    report = power.cut(steps, CUTS, chance, memory_directory)
    assert not report.findings, (report.first, report.findings)
    assert report.cuts == CUTS


def test_the_harness_finds_the_losses_of_a_store_that_does_not_sync(
    chance: random.Random, memory_directory: str
) -> None:
    steps = power.record(
        power.group_commits, os.path.join(memory_directory, "home"), power.sync_less
    )
    report = power.cut(steps, 40, chance, memory_directory)
    assert report.losing > 20, report
    assert not report.findings.corrupt, report.findings.corrupt
