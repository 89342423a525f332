"""A store with everything that an import needs around it."""

import pathlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from recollect.core.clock import ManualClock
from recollect.core.settings import Settings
from recollect.core.values import StoredEvent
from recollect.extract.tombstones import Tombstones
from recollect.ingest.counters import Counters
from recollect.ingest.memories import Memories
from recollect.ingest.origins import Namespaces
from recollect.ingest.pipeline import Pipeline
from recollect.ingest.turn_writer import TurnWriter
from recollect.portable.backups import Backups
from recollect.portable.erasure import Erasure
from recollect.portable.import_progress import ImportTally
from recollect.portable.importing import Importer, ImportRequest
from recollect.store.sqlite import SqliteStore
from tests.fakes.waiting import PATIENCE_S

NOW = datetime(2026, 6, 1, tzinfo=UTC)


@dataclass
class Desk:
    """All of it, wired as the daemon does."""

    home: pathlib.Path
    settings: Settings
    clock: ManualClock
    store: SqliteStore
    pipeline: Pipeline
    memories: Memories
    turn_writer: TurnWriter
    importing: Importer
    erasure: Erasure
    backups: Backups

    def take(self, *sources: str, **more: object) -> dict[str, ImportTally]:
        request = ImportRequest(sources=sources, home=str(self.home), **more)  # type: ignore[arg-type]
        progress = self.importing.run(request)
        assert progress.state == "done"
        assert self.turn_writer.wait(PATIENCE_S)
        return progress.sources

    def events(self) -> list[StoredEvent]:
        return [
            event
            for namespace in self.store.projects.namespaces()
            for event in reversed(self.store.events.page(namespace, limit=500).items)
        ]

    def namespace(self, directory: str) -> str:
        return Namespaces(self.store, self.settings.actor_id).of(directory)


def wire(home: pathlib.Path, settings: Settings, clock: ManualClock) -> Desk:
    store = SqliteStore(settings, clock)
    counters = Counters(clock)
    pipeline = Pipeline(store, clock, settings.actor_id, counters)
    memories = Memories(store)
    turn_writer = TurnWriter(store, memories, counters)
    pipeline.listeners.append(turn_writer.on_event)
    turn_writer.start()
    backups = Backups(settings, store, clock)
    return Desk(
        home=home,
        settings=settings,
        clock=clock,
        store=store,
        pipeline=pipeline,
        memories=memories,
        turn_writer=turn_writer,
        importing=Importer(
            store, pipeline, memories, clock, settings.actor_id, turn_writer.derive_work
        ),
        erasure=Erasure(
            settings,
            store,
            pipeline,
            memories,
            backups,
            lambda: None,
            turn_writer,
            Tombstones(store).refuse_erased,
        ),
        backups=backups,
    )


@pytest.fixture
def desk(tmp_path: pathlib.Path, settings: Settings) -> Iterator[Desk]:
    home = tmp_path / "person"
    home.mkdir()
    wired = wire(home, settings, ManualClock(start=NOW))
    yield wired
    wired.turn_writer.close()
    wired.store.close()


@pytest.fixture
def project(desk: Desk) -> str:
    """A directory that is a project."""
    place = desk.home / "work" / "shop"
    place.mkdir(parents=True)
    (place / "Makefile").touch()
    return str(place)
