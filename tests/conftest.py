"""A test home: no test can read or write the real one, not even by mistake, and no process that a
test started outlives it."""

import os
import pathlib
import sys
import tempfile
import time
from collections.abc import Generator, Iterator
from multiprocessing import forkserver
from typing import TYPE_CHECKING, Any

import pytest

from recollect.core.clock import ManualClock
from recollect.core.settings import Settings
from recollect.store.sqlite import SqliteStore
from tests.fakes import processes

if TYPE_CHECKING:
    from tests.fakes.postgres import Server
    from tests.fakes.runtime import RuntimeHome

REPOSITORY = str(pathlib.Path(__file__).resolve().parent.parent)
REAL_HOME = os.path.realpath(os.path.expanduser("~"))
TEST_HOME = tempfile.mkdtemp(prefix="recollect-test-home-")

for name in [name for name in os.environ if name.startswith("RECOLLECT_")]:
    if name not in ("RECOLLECT_MODEL_DIR", "RECOLLECT_SEED", "RECOLLECT_TEST_POSTGRES"):
        del os.environ[name]
os.environ["HOME"] = TEST_HOME
# The Makefile fetches the model and says where; pytest started by hand finds it all the same.
os.environ.setdefault("RECOLLECT_MODEL_DIR", os.path.join(REPOSITORY, ".venv", "models"))
os.environ.pop("XDG_CONFIG_HOME", None)
os.environ.pop("XDG_RUNTIME_DIR", None)

_ALLOWED = tuple(
    os.path.realpath(path) + os.sep
    for path in (REPOSITORY, sys.prefix, sys.base_prefix, tempfile.gettempdir())
)
_WATCHED = {"open", "os.mkdir", "os.rename", "os.remove", "os.listdir", "os.chmod", "os.symlink"}


def _guard(event: str, arguments: tuple[object, ...]) -> None:
    if event not in _WATCHED or not isinstance(arguments[0], (str, bytes)):
        return
    path = os.fsdecode(arguments[0])
    if not path.startswith(REAL_HOME + os.sep) or f"{path}{os.sep}".startswith(_ALLOWED):
        return  # a checkout may lie in the home; pytest makes its cache there
    raise AssertionError(f"a test touched the real home: {event} {path}")


sys.addaudithook(_guard)


# --- processes ----------------------------------------------------------------------------------

_LEAVE_S = 30.0  # what a hook left to a child may take so long; a daemon stays for ever
_failed = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[Any]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    item.stash[_failed] = item.stash.get(_failed, False) or report.failed
    return report


@pytest.fixture(autouse=True)
def nothing_left_by_a_failed_test(request: pytest.FixtureRequest) -> Iterator[None]:
    """A test that failed may not have come to stopping its daemon."""
    yield
    if request.node.stash.get(_failed, False) and "tmp_path" in request.node.funcargs:
        processes.end(processes.naming(str(request.node.funcargs["tmp_path"])))


@pytest.fixture(scope="session", autouse=True)
def nothing_left_behind(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """At the end of the run every process that a test started is gone."""
    yield
    # Python's own, which crash tests fork their children from: it ends with the interpreter.
    forkserver._forkserver._stop()  # type: ignore[attr-defined]
    places = str(tmp_path_factory.getbasetemp()), TEST_HOME
    deadline = time.monotonic() + _LEAVE_S
    while (left := processes.naming(*places)) and time.monotonic() < deadline:
        if any("recollect.daemon" in command for command in left.values()):
            break
        time.sleep(0.1)
    processes.end(left)
    assert not left, "tests left processes behind: " + "; ".join(left.values())


@pytest.fixture(scope="session")
def postgres_server() -> "Iterator[Server]":
    """A real PostgreSQL for the whole session; it starts when a test first asks for it."""
    from tests.fakes.postgres import running

    with running() as server:
        yield server


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def settings(tmp_path: pathlib.Path) -> Settings:
    return Settings(home=str(tmp_path / "home"), actor="ada", reserve_mb=0)


@pytest.fixture
def store(settings: Settings, clock: ManualClock) -> Iterator[SqliteStore]:
    opened = SqliteStore(settings, clock)
    yield opened
    opened.close()


@pytest.fixture
def runtime_home(tmp_path: pathlib.Path) -> "Iterator[RuntimeHome]":
    """A Runtime with its HTTP app, in this process, on a ManualClock, by words alone."""
    from tests.fakes.runtime import RuntimeHome

    home = RuntimeHome(tmp_path / "home")
    yield home
    home.close()
