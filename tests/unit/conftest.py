"""For all unit tests: recall waits, so that a busy machine makes no brief late."""

from collections.abc import Iterator

import pytest

from recollect.inject import recall
from tests.fakes.waiting import PATIENCE_S


@pytest.fixture(autouse=True, scope="session")
def patient_recall() -> Iterator[None]:
    patch = pytest.MonkeyPatch()
    patch.setattr(recall, "LIMIT_MS", int(1000 * PATIENCE_S))
    yield
    patch.undo()
