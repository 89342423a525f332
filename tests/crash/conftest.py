"""What the crash tests share: a seed that is printed when a test fails, and a fast directory."""

import os
import random
import shutil
import tempfile
from collections.abc import Iterator

import pytest

from tests.crash.oracle import chosen_seed


@pytest.fixture
def seed() -> int:
    value = chosen_seed()
    print(f"RECOLLECT_SEED={value}")  # shown when the test fails
    return value


@pytest.fixture
def chance(seed: int) -> random.Random:
    return random.Random(seed)


@pytest.fixture
def memory_directory() -> Iterator[str]:
    """A directory in memory where there is one: images of disks need not reach a disk."""
    parent = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    path = tempfile.mkdtemp(prefix="recollect-crash-", dir=parent)
    yield path
    shutil.rmtree(path)
