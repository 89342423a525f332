"""Looking into backups, and erasing in them. A backup is a SQLite file, whatever the store is now.

In: the path of a backup's file. Out: what it holds; what was erased in it, bytes included. The
running store is not touched.
"""

import contextlib
from collections.abc import Iterator, Sequence

import apsw

from recollect.core import store_key
from recollect.store.interface import Chosen, Selection
from recollect.store.sql.bulk import erase_project, erase_selected
from recollect.store.sql.projects import FIND_PROJECT, LIST_NAMESPACES
from recollect.store.sql.selection import Choice
from recollect.store.sqlite.connect import SqliteConnection, translated, unlock
from recollect.store.sqlite.statements import OPTIMIZE


def namespaces_in(path: str) -> list[str]:
    """Those that a backup holds; some may be gone from the store by now."""
    with _opened(path) as db:
        return [namespace for (namespace,) in db.run(LIST_NAMESPACES)]


def projects_in(path: str, marks: Sequence[tuple[str, str]]) -> set[str]:
    """The ids under which a backup knows a project by its marks: one that was forgotten and came
    again has another id by now."""
    with _opened(path) as db:
        found = (db.run(FIND_PROJECT, {"kind": kind, "value": value}).get for kind, value in marks)
        return {project_id for project_id in found if project_id}


def erase_in(path: str, namespace: str, what: Selection, *, apply: bool = True) -> Chosen:
    """Erase a selection as `Bulk.erase` does; without `apply`, only say what it would be."""
    with _opened(path) as db:
        if not apply:
            return Choice(db, namespace, what).chosen()
        db.pragma("secure_delete", True)
        db.pragma("foreign_keys", True)
        db.execute("BEGIN IMMEDIATE")
        choice = Choice(db, namespace, what)
        chosen = choice.chosen()
        erase_selected(db, choice)
        if what.everything:
            erase_project(db, namespace)
        db.execute("COMMIT")
        if chosen.total:
            for statement in OPTIMIZE:
                db.run(statement)
            db.execute("VACUUM")
        return chosen


@contextlib.contextmanager
def _opened(path: str) -> Iterator[SqliteConnection]:
    with translated():
        db = SqliteConnection(path, flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            unlock(db, store_key.key_of(path))
            yield db
        finally:
            db.close()
