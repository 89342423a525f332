"""Projects and the marks by which they are known again.

In: places. Out: lasting, opaque project ids. Two projects are never merged silently.
"""

import apsw

from recollect.core import ids
from recollect.core.clock import from_micros, to_micros
from recollect.core.errors import Conflict, NotFound
from recollect.core.projects import GLOBAL_PROJECT, IdentityKind, Place
from recollect.store.interface import ProjectInfo
from recollect.store.sqlite import statements as sql
from recollect.store.sqlite.engine import Engine


class SqliteProjects:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._known: dict[tuple[tuple[str, str], ...], str] = {}

    def resolve(self, place: Place) -> str:
        if place.is_global:
            return GLOBAL_PROJECT
        kept = self._known  # if it is forgotten meanwhile, this answer goes with it
        known = kept.get(place.identities)
        if known is None:
            known = self._engine.write(lambda db: self._resolve(db, place))
            kept[place.identities] = known
        return known

    def forget_known(self) -> None:
        """Projects came, went or were joined by another way than `resolve`."""
        self._known = {}

    def all(self) -> list[ProjectInfo]:
        marks: dict[str, list[tuple[str, str]]] = {}
        with self._engine.reader() as db:
            for project_id, kind, value in db.execute(sql.LIST_IDENTITIES):
                marks.setdefault(project_id, []).append((kind, value))
            return [
                ProjectInfo(
                    project_id,
                    name,
                    tuple(marks.get(project_id, ())),
                    from_micros(created_at),
                    from_micros(last_seen),
                )
                for project_id, name, created_at, last_seen in db.execute(sql.LIST_PROJECTS)
            ]

    def rename(self, project_id: str, name: str) -> None:
        def work(db: apsw.Connection) -> None:
            db.execute(sql.RENAME_PROJECT, {"project_id": project_id, "name": name})
            if db.changes() == 0:
                raise NotFound(f"there is no project {project_id}")

        self._engine.write(work)

    def alias(self, project_id: str, kind: IdentityKind, value: str) -> None:
        mark = {"kind": kind, "value": value}

        def work(db: apsw.Connection) -> None:
            at = to_micros(self._engine.clock.now())
            db.execute(sql.SEEN_PROJECT, {"project_id": project_id, "at": at})
            if db.changes() == 0:
                raise NotFound(f"there is no project {project_id}")
            owner = db.execute(sql.FIND_PROJECT, mark).get
            if owner not in (None, project_id):
                raise Conflict(f"{value} belongs to project {owner}")
            db.execute(sql.PUT_IDENTITY, {**mark, "project_id": project_id, "at": at})

        self._engine.write(work)
        self.forget_known()

    def namespaces(self) -> list[str]:
        return [namespace for (namespace,) in self._engine.rows(sql.LIST_NAMESPACES, {})]

    def _resolve(self, db: apsw.Connection, place: Place) -> str:
        at = to_micros(self._engine.clock.now())
        found: str | None = None
        for kind, value in place.identities:
            found = found or db.execute(sql.FIND_PROJECT, {"kind": kind, "value": value}).get
        project_id = found or ids.new_id(ids.PROJECT)
        if found is None:
            db.execute(sql.PUT_PROJECT, {"project_id": project_id, "name": place.name, "at": at})
        for kind, value in place.identities:
            mark = {"kind": kind, "value": value, "project_id": project_id, "at": at}
            db.execute(sql.PUT_IDENTITY, mark)
        db.execute(sql.SEEN_PROJECT, {"project_id": project_id, "at": at})
        return project_id
