"""Nothing freezes: the attacks of `make torture`, with few tries."""

import pathlib
import random

from tests.torture import freeze


def test_hooks_are_answered_while_hostile_prompts_are_extracted(tmp_path: pathlib.Path) -> None:
    report = freeze.hostile_prompts(random.Random(15), 3, tmp_path)
    assert report.tries == 3 and report.failures == []


def test_an_extraction_that_never_ends_holds_up_nobody_and_is_set_aside(
    tmp_path: pathlib.Path,
) -> None:
    report = freeze.frozen_extraction(random.Random(15), 1, tmp_path)
    assert report.tries == 1 and report.failures == []
