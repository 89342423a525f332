"""Projects and the marks by which they are known again.

In: places. Out: lasting, opaque project ids. Two projects are never merged silently. What a folder
says of itself never decides: only where it lies does.
"""

from collections.abc import Sequence

from recollect.core import ids
from recollect.core.clock import from_micros, to_micros
from recollect.core.errors import Conflict, NotFound
from recollect.core.projects import GLOBAL_PROJECT, WINDOW, IdentityKind, ProjectPlace
from recollect.store.interface import ProjectInfo
from recollect.store.sql.engine import Connection, Engine, both, each

FIND_PROJECT = each(
    sqlite="SELECT project_id FROM project_identities WHERE kind = $kind AND value = $value",
    postgres="""
SELECT project_id FROM project_identities
 WHERE actor = acting() AND kind = $kind AND value = $value
""",
)
PUT_PROJECT = both("""
INSERT INTO projects (project_id, name, created_at, last_seen)
VALUES ($project_id, $name, $at, $at)
""")
PUT_IDENTITY = both("""
INSERT INTO project_identities (kind, value, project_id, first_seen)
VALUES ($kind, $value, $project_id, $at) ON CONFLICT DO NOTHING
""")
SEEN_PROJECT = both("UPDATE projects SET last_seen = $at WHERE project_id = $project_id")
RENAME_PROJECT = both("UPDATE projects SET name = $name WHERE project_id = $project_id")
LIST_PROJECTS = each(
    sqlite="SELECT project_id, name, created_at, last_seen FROM projects ORDER BY project_id",
    postgres="""
SELECT project_id, name, created_at, last_seen FROM projects
 WHERE actor = acting() ORDER BY project_id
""",
)
# Commits are marks too, and many: whoever lists projects does not want them.
LIST_IDENTITIES = both("""
SELECT project_id, kind, value FROM project_identities
 WHERE NOT (kind = 'alias' AND value >= 'commit:' AND value < 'commit;') ORDER BY kind, value
""")
LIST_COMMITS = both("""
SELECT value FROM project_identities
 WHERE project_id = $project_id AND kind = 'alias' AND value >= 'commit:' AND value < 'commit;'
 ORDER BY first_seen DESC, value
""")
GIVE_IDENTITY = both("""
UPDATE project_identities SET project_id = $into WHERE kind = $kind AND value = $value
""")
DROP_IDENTITY = both("DELETE FROM project_identities WHERE kind = $kind AND value = $value")
# Only tables with an index of words make their namespace known by themselves, and what a user wants
# in every project may be all that the global one holds.
LIST_NAMESPACES = both(
    """
SELECT namespace FROM namespaces UNION SELECT namespace FROM preferences ORDER BY namespace
""",
    across="what there is: names of namespaces, no content",
)

# Two kinds of aliases are the store's own: a commit of a project's history, and the root of a
# project that somebody wants kept apart from what it claims to be.
_COMMIT = "commit:"
_APART = "apart:"


class SqlProjects:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._known: dict[ProjectPlace, str] = {}

    def resolve(self, place: ProjectPlace, *, apart: bool = False) -> str:
        kept = self._known  # if it is forgotten meanwhile, this answer goes with it
        known = kept.get(place)
        if known is not None and not apart:
            return known
        if place.is_global:
            known = GLOBAL_PROJECT
        elif apart:
            known = self._engine.write(lambda db: self._separate(db, place))
            self.forget_known()
            return known
        else:
            known = self._engine.write(lambda db: self._resolve(db, place))
        kept[place] = known
        return known

    def forget_known(self) -> None:
        """Projects came, went or were joined by another way than `resolve`."""
        self._known = {}

    def all(self) -> list[ProjectInfo]:
        marks: dict[str, list[tuple[str, str]]] = {}
        apart: dict[str, list[str]] = {}
        with self._engine.reader() as db:
            for project_id, kind, value in db.run(LIST_IDENTITIES):
                if kind == "alias" and value.startswith(_APART):
                    apart.setdefault(project_id, []).append(value.removeprefix(_APART))
                else:
                    marks.setdefault(project_id, []).append((kind, value))
            return [
                ProjectInfo(
                    project_id,
                    name,
                    tuple(marks.get(project_id, ())),
                    from_micros(created_at),
                    from_micros(last_seen),
                    tuple(apart.get(project_id, ())),
                )
                for project_id, name, created_at, last_seen in db.run(LIST_PROJECTS)
            ]

    def update(
        self,
        project_id: str,
        *,
        name: str | None = None,
        mark: tuple[IdentityKind, str] | None = None,
        unmark: Sequence[tuple[str, str]] = (),
        commits: Sequence[str] = (),
    ) -> None:
        def work(db: Connection) -> None:
            if name is not None:
                _rename(db, project_id, name)
            at = to_micros(self._engine.clock.now())
            if mark is not None:
                _add_mark(db, project_id, *mark, at)
            for kind, value in unmark:
                db.run(DROP_IDENTITY, {"kind": kind, "value": value})
            if commits:
                _add_commits(db, project_id, commits, at)

        self._engine.write(work)
        if mark is not None or unmark:
            self.forget_known()

    def commits(self, project_id: str) -> tuple[str, ...]:
        found = self._engine.rows(LIST_COMMITS, {"project_id": project_id})
        return tuple(dict.fromkeys(value.split(":")[1] for (value,) in found))

    def _separate(self, db: Connection, place: ProjectPlace) -> str:
        """The project is new when others have a share in the one that it was, and keeps its id
        when it was alone."""
        at = to_micros(self._engine.clock.now())
        project_id = self._resolve(db, place)
        own = {*place.identities, ("alias", _APART + place.root)}
        others = [
            (kind, value)
            for owner, kind, value in db.run(LIST_IDENTITIES)
            if owner == project_id and kind in ("root", "git") and (kind, value) not in own
        ]
        if others:
            project_id = ids.new_id(ids.PROJECT)
            about = {"project_id": project_id, "name": place.name, "at": at}
            db.run(PUT_PROJECT, about)
        for kind, value in own:
            mark = {"kind": kind, "value": value}
            db.run(PUT_IDENTITY, {**mark, "project_id": project_id, "at": at})
            db.run(GIVE_IDENTITY, {**mark, "into": project_id})
        return project_id

    def namespaces(self) -> list[str]:
        return [namespace for (namespace,) in self._engine.rows(LIST_NAMESPACES, {})]

    def _resolve(self, db: Connection, place: ProjectPlace) -> str:
        at = to_micros(self._engine.clock.now())
        found = _known_as(db, place)
        project_id = found or ids.new_id(ids.PROJECT)
        if found is None:
            db.run(PUT_PROJECT, {"project_id": project_id, "name": place.name, "at": at})
        marks = list(place.identities)
        if place.git_dir and place.remote:
            marks.append(("remote", place.remote))  # its own, unless another one had it first
        for kind, value in marks:
            mark = {"kind": kind, "value": value, "project_id": project_id, "at": at}
            db.run(PUT_IDENTITY, mark)
        db.run(SEEN_PROJECT, {"project_id": project_id, "at": at})
        return project_id


def _known_as(db: Connection, place: ProjectPlace) -> str | None:
    for kind, value in place.identities:
        found: str | None = db.run(FIND_PROJECT, {"kind": kind, "value": value}).get
        if found:
            return found
    return None


def _rename(db: Connection, project_id: str, name: str) -> None:
    db.run(RENAME_PROJECT, {"project_id": project_id, "name": name})
    if db.changes() == 0:
        raise NotFound(f"there is no project {project_id}")


def _add_mark(db: Connection, project_id: str, kind: str, value: str, at: int) -> None:
    mark = {"kind": kind, "value": value}
    db.run(SEEN_PROJECT, {"project_id": project_id, "at": at})
    if db.changes() == 0:
        raise NotFound(f"there is no project {project_id}")
    owner = db.run(FIND_PROJECT, mark).get
    if owner not in (None, project_id):
        raise Conflict(f"{value} belongs to project {owner}")
    db.run(PUT_IDENTITY, {**mark, "project_id": project_id, "at": at})


def _add_commits(db: Connection, project_id: str, commits: Sequence[str], at: int) -> None:
    # Two projects may share a history, so a mark names the project too.
    given = [f"{_COMMIT}{commit}:{project_id}" for commit in commits[:WINDOW]]
    known = [value for (value,) in db.run(LIST_COMMITS, {"project_id": project_id})]
    old = [value for value in known if value not in given]
    for value in old[WINDOW - len(given) :]:
        db.run(DROP_IDENTITY, {"kind": "alias", "value": value})
    for number, value in enumerate(given):
        mark = {"kind": "alias", "value": value}
        db.run(DROP_IDENTITY, mark)
        db.run(PUT_IDENTITY, {**mark, "project_id": project_id, "at": at - number})
