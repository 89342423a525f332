"""Which namespace a directory belongs to, for whoever reads or writes there.

In: a directory as a payload or a user names it. Out: the namespace of its project, or the actor's
global one for what is no project. A disk that hangs is not waited for (`disk_lookup`).
"""

from recollect import privacy
from recollect.core import projects
from recollect.core.projects import ProjectPlace
from recollect.ingest.disk_lookup import DiskLookup
from recollect.store.interface import Store


class Namespaces:
    def __init__(self, store: Store, actor: str) -> None:
        self._store = store
        self._actor = actor
        self._disk = DiskLookup()

    def of(self, directory: str | None) -> str:
        return self.of_place(self.locate(directory or "")[0])

    def of_place(self, place: ProjectPlace) -> str:
        return projects.namespace(self._actor, self._store.projects.resolve(place))

    def locate(self, directory: str) -> tuple[ProjectPlace, str | None]:
        """Where work happens, and the path as it may be stored. A path that holds something
        private is stored without it and belongs to the global project."""
        if not directory or not directory.startswith("/"):
            return ProjectPlace(), None
        shown = privacy.scrub(directory).text[:2048]
        if shown != directory or "\0" in directory or "[REDACTED" in directory:
            return ProjectPlace(), shown.replace("\0", "") or None
        return self._disk.locate(directory), shown
