"""The storage room. `open_store` is where a backend is chosen; nobody else knows which it is.

In: settings. Out: a `Store`. The backend that is not used is never imported.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from recollect.core.errors import BadSetting

if TYPE_CHECKING:
    from recollect.core.clock import Clock
    from recollect.core.settings import Settings
    from recollect.store.postgres import PostgresStore
    from recollect.store.sqlite import SqliteStore


def open_store(
    settings: "Settings",
    clock: "Clock | None" = None,
    *,
    locked: bool = True,
    needed: bool = False,
    doing: Callable[[str], None] = lambda what: None,
) -> "SqliteStore | PostgresStore":
    """The store that the setting `store` names. It holds the data directory's lock, which only a
    tool beside the daemon that works on a server alone may do without. A server that is away is
    waited for, unless it is `needed` at once. `doing` hears what takes time, once the lock is
    held."""
    if settings.store:
        try:
            from recollect.store.postgres import PostgresStore
        except ModuleNotFoundError as error:
            raise BadSetting(
                f"store is a PostgreSQL database, which needs {error.name}",
                field="store",
                hint="pip install 'recollect[postgres]'",
            ) from error
        return PostgresStore(settings, clock, locked=locked, needed=needed, doing=doing)
    from recollect.store.sqlite import SqliteStore

    return SqliteStore(settings, clock, doing=doing)
