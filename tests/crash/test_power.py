"""A2: an acknowledged write survives a power cut that loses or tears what was not synced."""

import os
import random

import pytest

from recollect.core import oslayer
from tests.crash import power
from tests.crash.oracle import open_store

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
    report = power.cut(steps, 60, chance, memory_directory)
    assert report.losing > 20, report
    assert not report.findings.corrupt, report.findings.corrupt


def test_the_name_of_a_new_home_is_durable_before_anything_is_kept_in_it(
    memory_directory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    sync = oslayer.sync_directory

    def noted(path: str) -> None:
        synced.append(path)
        sync(path)

    monkeypatch.setattr(oslayer, "sync_directory", noted)
    parent = os.path.join(memory_directory, "new")
    open_store(os.path.join(parent, "home")).close()
    assert synced[:2] == [memory_directory, parent]
