"""One browser and one furnished daemon for all tests here; each test has a window of its own."""

import pathlib
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from tests.browser.browsers import chromium, contradict, furnish
from tests.fakes.daemons import RealDaemon, real_daemon
from tests.fakes.waiting import PATIENCE_S

expect.set_options(timeout=1000 * PATIENCE_S)


# Not for the whole session: while playwright runs, its event loop does, and no other test may
# have one in this process.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="package")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealDaemon]:
    home = pathlib.Path(tmp_path_factory.mktemp("dashboard"))
    contradict(home / "home")
    with real_daemon(home / "home") as daemon:
        furnish(daemon, home / "projects")
        yield daemon


@pytest.fixture
def window(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport={"width": 1280, "height": 860})
    context.set_default_timeout(1000 * PATIENCE_S)
    yield context
    context.close()
