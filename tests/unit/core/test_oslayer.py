"""Doors share the descriptors that a process may have, and leave enough for everything else."""

import resource
import subprocess
import sys

import pytest

from recollect.core import oslayer


@pytest.mark.parametrize("limit", [64, 128, 256, 1024, 4096, 1 << 20])
def test_all_doors_together_stay_below_the_limit(limit: int) -> None:
    connections = oslayer.share_of(limit, 256, least=4)
    workers = oslayer.share_of(limit, 32)
    # Three doors, and two kinds of workers whose readers have two files each.
    assert 18 + 3 * connections + 2 * 2 * workers < limit
    assert 4 <= connections <= 256 and 2 <= workers <= 32


@pytest.mark.parametrize(("soft", "hard", "granted"), [(64, 64, 64), (256, 900, 900)])
def test_as_many_descriptors_are_asked_for_as_are_allowed(
    soft: int, hard: int, granted: int
) -> None:
    program = "from recollect.core import oslayer; print(oslayer.descriptor_limit())"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard)),
    )  # fmt: skip
    assert int(done.stdout) == granted
