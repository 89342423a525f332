"""A connection to PostgreSQL, as the shared logic takes it.

In: statements and values. Out: rows. Errors leave in our words: a server that cannot be reached is
StoreBusy, for it comes back; what a rule of a table refuses is ConstraintFailed.
"""

import contextlib
import itertools
import select
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import psycopg
from psycopg import pq
from psycopg.abc import AdaptContext
from psycopg.adapt import Buffer, Dumper, Loader
from psycopg.types import TypeInfo
from psycopg.types.numeric import Int8BinaryDumper, Int8Dumper

from recollect.core import errors
from recollect.store.postgres import statements as sql
from recollect.store.postgres.connect_errors import LATER, not_connected
from recollect.store.postgres.values import AsItIs, Half, near, without_nul
from recollect.store.sql.engine import (
    NO_VALUES,
    AlreadyThere,
    BadValue,
    ConstraintFailed,
    Statement,
)


class _Sums(Loader):
    """Sums of whole numbers come as numeric; they are whole numbers."""

    def load(self, data: Buffer) -> int:
        return int(bytes(data))


class _HalfDumper(Dumper):
    format = pq.Format.BINARY

    def dump(self, obj: Half) -> Buffer:
        return bytes(obj)


class Fetched:
    """All rows that a statement gave."""

    def __init__(self, found: list[tuple[Any, ...]]) -> None:
        self._found = found
        self._next = 0

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        while self._next < len(self._found):
            self._next += 1
            yield self._found[self._next - 1]

    def fetchone(self) -> tuple[Any, ...] | None:
        return next(iter(self), None)

    def fetchall(self) -> list[tuple[Any, ...]]:
        return list(self)

    @property
    def get(self) -> Any:
        row = self.fetchone()
        return row[0] if row is not None and len(row) == 1 else row


class PostgresConnection:
    row_number = "row_id"

    def __init__(self, raw: "psycopg.Connection[Any]") -> None:
        self.raw = raw
        self._changes = 0
        self._savepoints = itertools.count()
        self._open: list[str] = []

    @property
    def lost(self) -> bool:
        return self.raw.closed or self.raw.info.transaction_status == pq.TransactionStatus.UNKNOWN

    @property
    def cut(self) -> bool:
        """Whether an idle connection has something to say: the server says only goodbye."""
        if self.lost:
            return True
        if sys.platform == "win32":
            return bool(select.select([self.raw.fileno()], [], [], 0)[0])
        look = select.poll()  # select() knows only the first thousand files of a process
        look.register(self.raw.fileno(), select.POLLIN)
        return bool(look.poll(0))

    def run(self, statement: Statement, values: Mapping[str, Any] = NO_VALUES) -> Fetched:
        text = statement.postgres
        given = values if isinstance(values, AsItIs) else without_nul(values)
        return self.execute(text if isinstance(text, str) else text.given(given), given)

    def execute(self, text: str, values: Mapping[str, Any] | None = None) -> Fetched:
        """Run a text in psycopg's notation."""
        with explained():
            cursor = self.raw.execute(text, values)
            self._changes = cursor.rowcount
            return Fetched(cursor.fetchall() if cursor.description else [])

    def changes(self) -> int:
        return max(self._changes, 0)

    def has_table(self, name: str) -> bool:
        return self.execute("SELECT to_regclass(%(name)s)::text", {"name": name}).get is not None

    def vector_row(self, row: dict[str, Any]) -> dict[str, Any]:
        return {**row, "near": near(row["vector"])}

    @staticmethod
    def one_text(columns: Sequence[str]) -> str:
        return f"jsonb_build_array({', '.join(columns)})::text"

    def __enter__(self) -> "PostgresConnection":
        name = f"part_{next(self._savepoints)}"
        self.execute(f"SAVEPOINT {name}")
        self._open.append(name)
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        name = self._open.pop()
        if self.lost:
            return
        self.execute(f"ROLLBACK TO SAVEPOINT {name}" if kind else f"RELEASE SAVEPOINT {name}")

    def close(self) -> None:
        with contextlib.suppress(psycopg.Error):
            self.raw.close()


def connect(
    url: str, password: str | None, actor: str, origin: str, timeout_s: int
) -> PostgresConnection:
    """A connection that has said whom it acts for."""
    known: dict[str, Any] = {"password": password} if password else {}
    try:
        raw = psycopg.connect(
            url,
            autocommit=True,
            connect_timeout=timeout_s,
            keepalives_idle=5,
            keepalives_interval=2,
            keepalives_count=3,
            tcp_user_timeout=timeout_s * 1000,
            prepare_threshold=2,
            **known,
        )
    except psycopg.Error as error:
        raise not_connected(error) from error
    with explained():
        try:
            connection = PostgresConnection(raw)
            connection.run(sql.INTRODUCE, {"actor": actor, "origin": origin})
            adapt(raw)
        except BaseException:
            raw.close()
            raise
    return connection


def adapt(raw: "psycopg.Connection[Any]") -> None:
    context: AdaptContext = raw
    context.adapters.register_dumper(int, Int8Dumper)
    context.adapters.register_dumper(int, Int8BinaryDumper)
    context.adapters.register_loader("numeric", _Sums)
    half = TypeInfo.fetch(raw, "halfvec")
    if half is not None:
        dumper = type("HalfDumper", (_HalfDumper,), {"oid": half.oid})
        context.adapters.register_dumper(Half, dumper)


@contextlib.contextmanager
def explained() -> Iterator[None]:
    try:
        yield
    except psycopg.Error as error:
        raise meaning(error) from error
    except UnicodeEncodeError as error:
        raise errors.BadInput(f"text that is not valid Unicode: {error.reason}") from error


def meaning(error: psycopg.Error) -> Exception:
    """A server's error in our words."""
    said = (error.diag.message_primary or str(error)).strip()
    code = error.sqlstate or ""
    if not code and not isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return errors.BadInput(f"the server cannot take this value: {said}")
    match code[:2], code:
        case _, "23505":
            return AlreadyThere("PostgreSQL", said)
        case "23", _:
            rule = error.diag.constraint_name or "constraint"
            return ConstraintFailed("PostgreSQL", f"{rule}: {said}")
        case "22", _:
            return BadValue("PostgreSQL", said)
        case "53", "53100":
            return errors.DiskFull(f"the server's disk is full ({said})")
        case _, "42501":
            return errors.ReadOnlyStore(
                f"this login may not do that ({said})",
                hint="Ask the owner of the tables to let it: SELECT recollect.admit('login', "
                "'actor'). docs/howto/scale.md has the kinds of logins.",
            )
        case _, "25006":
            return errors.ReadOnlyStore(
                f"the server takes no writes now ({said})",
                hint="It is a standby, or was set read-only: `store` must name the primary.",
            )
        case ("40", _) | ("57", _) | ("53", _) | ("08", _) | ("", _) | ("55", _) | ("25", "25P03"):
            return errors.StoreBusy(
                f"the PostgreSQL server cannot be reached or is busy ({said})",
                hint=LATER,
            )
    return errors.StoreError(f"The store cannot do this now. (PostgreSQL: {said})")
