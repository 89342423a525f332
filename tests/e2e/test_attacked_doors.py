"""Attacks on the doors, a few tries of each; `make torture` makes many."""

import pathlib
import random

import pytest

from tests.torture import doors
from tests.torture.case import Case

FEW = 8


@pytest.mark.parametrize("case", doors.CASES, ids=lambda case: case.name)
def test_the_doors_hold(case: Case, tmp_path: pathlib.Path) -> None:
    report = case.attack(random.Random(1), FEW, tmp_path)
    assert report.tries >= FEW
    assert not report.failures, report.failures
