"""For all unit tests: recall waits, so that a busy machine makes no brief late."""

import pathlib
from collections.abc import Iterator

import pytest

from recollect.inject import recall
from tests.fakes.project_sessions import ProjectSessions
from tests.fakes.runtime import RuntimeHome
from tests.fakes.waiting import PATIENCE_S


@pytest.fixture(autouse=True, scope="session")
def patient_recall() -> Iterator[None]:
    patch = pytest.MonkeyPatch()
    patch.setattr(recall, "LIMIT_MS", int(1000 * PATIENCE_S))
    yield
    patch.undo()


@pytest.fixture
def sessions(tmp_path: pathlib.Path) -> Iterator[ProjectSessions]:
    """A project whose sessions are played through hooks, with the real embedding model."""
    home = RuntimeHome(tmp_path / "home", embedding=True)
    yield ProjectSessions(home, tmp_path / "shop")
    home.close()
