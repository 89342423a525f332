import pathlib
from collections.abc import Iterator

import pytest

from tests.fakes.daemons import RealDaemon, real_daemon


@pytest.fixture
def daemon(tmp_path: pathlib.Path) -> Iterator[RealDaemon]:
    with real_daemon(tmp_path / "home") as running:
        yield running


@pytest.fixture(scope="module")
def shared_daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealDaemon]:
    with real_daemon(tmp_path_factory.mktemp("daemon") / "home") as running:
        yield running
