"""Forgets, scrubs and moves memories, everywhere at once.

In: a selection: memories, a session, a project, an entity, words, an age. Out: what it matches and,
when it is done, that nothing of it is left: in the rows, index, vectors, archive and log of the
store, in the spool, in the log files and, if requested, in the backups.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from recollect import privacy
from recollect.core import oslayer, projects, safe_files
from recollect.core.errors import BadInput, NotFound
from recollect.core.projects import ProjectPlace
from recollect.core.settings import Settings
from recollect.core.values import Entity, Receipt, Record, TurnWork
from recollect.ingest.memories import Memories
from recollect.ingest.pipeline import Pipeline
from recollect.ingest.turn_writer import TurnWriter
from recollect.portable.backups import Backups
from recollect.store import backup_files
from recollect.store.interface import Chosen, Cursor, Selection, Store
from recollect.work.lost_names import LostNames

_BATCH = 200
SHORTEST = 3  # a shorter text would match nearly everything


@dataclass(frozen=True)
class ErasureSelection:
    """What to forget or move: one of the first seven, within a namespace or everywhere."""

    record_ids: tuple[str, ...] = ()
    session_id: str | None = None
    entity: str | None = None
    text: str | None = None
    before: datetime | None = None
    path: str | None = None
    everything: bool = False
    namespace: str | None = None


@dataclass(frozen=True)
class ErasureOutcome:
    """What was found or done, by namespace, and the other files that were changed."""

    chosen: tuple[Chosen, ...] = ()
    files: tuple[str, ...] = ()
    backups: int = 0
    tombstones: int = 0
    found: dict[str, int] = field(default_factory=dict)

    def also(self, one: Chosen, found: dict[str, int]) -> "ErasureOutcome":
        """The same with what was found elsewhere."""
        return replace(self, chosen=(*self.chosen, one), found=_added(self.found, found))

    @property
    def counts(self) -> dict[str, int]:
        total: dict[str, int] = {}
        for one in self.chosen:
            for kind, count in one.counts.items():
                total[kind] = total.get(kind, 0) + count
        return total


class Erasure:
    def __init__(
        self,
        settings: Settings,
        store: Store,
        pipeline: Pipeline,
        memories: Memories,
        backups: Backups,
        drain: Callable[[], None],
        turn_writer: TurnWriter,
        refuse: Callable[[Record, str], object],
    ) -> None:
        self._settings = settings
        self._store = store
        self._pipeline = pipeline
        self._memories = memories
        self._backups = backups
        self._drain = drain
        self._turn_writer = turn_writer
        self._refuse = refuse

    # --- forgetting ---

    def preview(self, wanted: ErasureSelection, *, backups: bool = False) -> ErasureOutcome:
        selected = self._selected(wanted, required=not backups)
        held = self._in_backups(self._selected_in_backups(wanted), apply=False) if backups else 0
        if not (selected or held):
            raise self._nothing(backups=backups)
        return ErasureOutcome(tuple(chosen for _, _, chosen in selected), backups=held)

    def forget(
        self,
        wanted: ErasureSelection,
        actor: str,
        *,
        backups: bool = False,
        never_again: bool = False,
    ) -> ErasureOutcome:
        """Erase the selection without a trace. The spool is stored first, so that it is searched
        too."""
        self._drain()
        done = []
        with self._turn_writer.paused():
            selected = self._selected(wanted, required=not backups)
            kept = self._selected_in_backups(wanted) if backups else []
            tombstones = self._log_tombstones(selected, actor) if never_again else 0
            for namespace, selection, _ in selected:
                before = list(self._store.turn_works.stream(namespace))
                chosen = self._store.bulk.erase(namespace, selection, actor)
                self._memories.changed(namespace, chosen.record_ids)
                self._forget_work(namespace, before)
                done.append(chosen)
        self._pipeline.forget_seen()
        self._store.bulk.sweep()
        words = [one for one in (wanted.text, wanted.entity, wanted.session_id) if one]
        files = self._erase_words(words) if words else ()
        cleaned = self._in_backups(kept, apply=True)
        if not (selected or cleaned or files):
            raise self._nothing(backups=backups)
        return ErasureOutcome(tuple(done), tuple(files), cleaned, tombstones)

    def _forget_work(self, namespace: str, before: Sequence[TurnWork]) -> None:
        """Make the work of what is left anew, and erase the receipts of briefs that named a file, a
        command or anything else that only the erased turns knew of."""
        self._turn_writer.derive_work(namespace)
        lost = LostNames(before, list(self._store.turn_works.stream(namespace)))
        cursor: Cursor | None = None
        stale: list[str] = []
        while lost:
            page = self._store.receipts.page(namespace, before=cursor, limit=_BATCH)
            stale += [one.receipt_id for one in page.items if lost.named_in(_text_of(one))]
            cursor = page.next
            if cursor is None:
                break
        if stale:
            self._store.receipts.delete(namespace, stale)

    def _log_tombstones(self, selected: Sequence[tuple[str, Selection, Chosen]], actor: str) -> int:
        """Log that these must not be learned again. Only fingerprints are kept, from which the text
        cannot be read."""
        buried = 0
        for namespace, _, chosen in selected:
            for record in self._store.records.get(namespace, chosen.record_ids):
                self._refuse(record, actor)
                buried += 1
        return buried

    def _selected(
        self, wanted: ErasureSelection, *, required: bool = True
    ) -> list[tuple[str, Selection, Chosen]]:
        """The selection in each namespace where it matches. No match is an error: the user must not
        believe that something was erased."""
        found = []
        scope = [wanted.namespace] if wanted.namespace else self._store.projects.namespaces()
        for namespace in scope:
            selection = self._selection(wanted, namespace)
            if selection is None:
                continue
            chosen = self._store.bulk.erase(namespace, selection, "", apply=False)
            if chosen.total or (wanted.everything and wanted.namespace):
                found.append((namespace, selection, chosen))
        if not found and required:
            raise self._nothing(backups=False)
        return found

    def _nothing(self, *, backups: bool) -> NotFound:
        hint = "recollect search"
        if not backups and not self._settings.store and self._backups.files():
            hint = "recollect search; --backups searches the backups too."
        return NotFound("nothing matches this selection", hint=hint)

    def _selection(self, wanted: ErasureSelection, namespace: str) -> Selection | None:
        if wanted.record_ids:
            return Selection(record_ids=wanted.record_ids)
        if wanted.session_id is not None:
            return Selection(session_id=wanted.session_id)
        if wanted.text is not None:
            if len(wanted.text.strip()) < SHORTEST:
                raise BadInput(
                    f"{wanted.text!r} is too short: nearly everything contains it", field="text"
                )
            return Selection(words=(wanted.text,))
        if wanted.entity is not None:
            names = self._names(namespace, wanted.entity)
            return Selection(words=names, whole=True) if names else None
        if wanted.before is not None:
            return Selection(before=wanted.before)
        if wanted.path is not None:
            return Selection(path=wanted.path)
        if wanted.everything:
            if wanted.namespace is None:
                raise BadInput("name the project", field="project", hint="--project DIR")
            return Selection(everything=True)
        raise BadInput(
            "nothing was selected", hint="memories, --session, --entity, --text, --until, --all"
        )

    def _names(self, namespace: str, name: str) -> tuple[str, ...]:
        """An entity under all its names."""
        wanted = name.casefold()
        for entity in self._store.graph.all(namespace, Entity):
            names = (entity.name, *entity.aliases)
            if wanted in {one.casefold() for one in names}:
                return tuple(one for one in names if len(one) >= SHORTEST)
        return (name,) if len(name) >= SHORTEST else ()

    # --- cleaning ---

    def scrub(self, actor: str, *, apply: bool, backups: bool = False) -> ErasureOutcome:
        """Find secrets and private spans in what is stored, and erase them in the same way."""
        done, found = [], dict[str, int]()
        if apply:
            self._drain()
        # Open turns are written first, so that they are searched, too.
        with self._turn_writer.paused() if apply else nullcontext():
            for namespace in self._store.projects.namespaces():
                result = self._store.bulk.rewrite(namespace, _clean, apply=apply)
                found = _added(found, result.found)
                records = result.records.get(namespace, ())
                if result.rows:
                    done.append(Chosen(namespace, result.rows, records))
                if apply and records:
                    self._memories.changed(namespace, records)
                if apply and result.rows:
                    self._turn_writer.derive_work(namespace)
            for chosen, taken in self._scrub_projects(actor, apply=apply):
                done.append(chosen)
                found = _added(found, taken)
        files: list[str] = []
        cleaned = 0
        if apply:
            if done:
                self._store.bulk.sweep()
            files = self._rewrite_files(lambda raw: privacy.scrub_raw(raw))
            if backups and done:
                cleaned = self._backups.replace_all()
        return ErasureOutcome(tuple(done), tuple(files), cleaned, found=found)

    def _scrub_projects(
        self, actor: str, *, apply: bool
    ) -> Iterator[tuple[Chosen, dict[str, int]]]:
        """Names lose what is private; a path or a remote that holds it no longer stands for its
        project, as if it had come in by a hook."""
        for one in self._store.projects.all():
            name, taken = _clean(one.name)
            dirty = [mark for mark in one.identities if privacy.scrub(mark[1]) != mark[1]]
            for _, value in dirty:
                taken = _added(taken, _clean(value)[1])
            if not taken:
                continue
            if apply:
                self._store.projects.update(one.project_id, name=name, unmark=dirty)
            counts = {"project": 1}
            yield Chosen(projects.namespace(actor, one.project_id), counts), taken

    # --- moving ---

    def move(
        self, wanted: ErasureSelection, target: str, actor: str, *, apply: bool
    ) -> ErasureOutcome:
        with self._turn_writer.paused():
            found = self._selected(wanted, required=False)
            if not found:
                raise NotFound("nothing matches this selection", hint="recollect search")
            selected = [one for one in found if one[0] != target]
            if not selected:
                raise NotFound("nothing matches this selection outside the target project")
            if not apply:
                return ErasureOutcome(tuple(chosen for _, _, chosen in selected))
            done = []
            for namespace, selection, _ in selected:
                chosen = self._store.bulk.move(namespace, selection, target, actor)
                self._memories.changed(namespace, chosen.record_ids)
                self._memories.changed(target, chosen.record_ids)
                self._turn_writer.derive_work(namespace)
                self._turn_writer.derive_work(target)
                done.append(chosen)
        return ErasureOutcome(tuple(done))

    def join(self, namespace: str, target: str, actor: str) -> ErasureOutcome:
        """Move a project, and its future events, to another project."""
        return self.move(
            ErasureSelection(everything=True, namespace=namespace), target, actor, apply=True
        )

    def separate(self, place: ProjectPlace, actor: str) -> tuple[str, ErasureOutcome]:
        """The opposite of `join`: a folder becomes a project of its own, with what was captured in
        it. Returns its namespace and what was moved."""
        before = projects.namespace(actor, self._store.projects.resolve(place))
        own = projects.namespace(actor, self._store.projects.resolve(place, apart=True))
        if own == before:
            return own, ErasureOutcome()
        try:
            return own, self.move(
                ErasureSelection(path=place.root, namespace=before), own, actor, apply=True
            )
        except NotFound:
            return own, ErasureOutcome()  # nothing was captured there yet

    # --- beside the store ---

    def _erase_words(self, words: Iterable[str]) -> list[str]:
        """Remove log lines and unreadable spooled frames that hold these words."""
        pattern = re.compile(b"|".join(re.escape(word.encode()) for word in words), re.IGNORECASE)

        def without(raw: bytes) -> bytes:
            if not pattern.search(raw):
                return raw
            lines = raw.splitlines(keepends=True)
            return b"".join(line for line in lines if not pattern.search(line))

        touched = self._rewrite_files(without)
        for path in oslayer.files_under(self._settings.path("spool")):
            try:
                with safe_files.open_plain(path, follow=False) as file:
                    held = bool(pattern.search(file.read()))
            except safe_files.NotPlain:
                continue
            if held:
                os.unlink(path)
                touched.append(path)
        return touched

    def _rewrite_files(self, clean: Callable[[bytes], bytes]) -> list[str]:
        """Rewrite the log files; the logger has today's open, so it is changed in place."""
        touched = []
        for path in oslayer.files_under(self._settings.path("logs")):
            with open(path, "rb+") as file:
                raw = file.read()
                kept = clean(raw)
                if kept != raw:
                    file.seek(0)
                    file.write(kept)
                    file.truncate()
                    touched.append(path)
        return touched

    def _selected_in_backups(self, wanted: ErasureSelection) -> list[tuple[str, str, Selection]]:
        """The selection in backups, which can hold what the store has lost and projects it no
        longer knows."""
        return [
            (path, namespace, selection)
            for path in self._backups.files()
            for namespace in self._namespaces_in_backup(wanted, path)
            if (selection := self._selection(wanted, namespace)) is not None
        ]

    def _namespaces_in_backup(self, wanted: ErasureSelection, path: str) -> set[str]:
        held = set(backup_files.namespaces_in(path))
        if wanted.namespace is None:
            return held
        owner, _, project_id = wanted.namespace.rstrip("/").partition("/project/")
        marks = [mark for one in self._store.projects.all() if one.project_id == project_id
                 for mark in one.identities]  # fmt: skip
        earlier = backup_files.projects_in(path, marks)
        return held & {wanted.namespace, *(f"{owner}/project/{one}/" for one in earlier)}

    def _in_backups(self, selected: Iterable[tuple[str, str, Selection]], *, apply: bool) -> int:
        """Erase in the backups; returns how many files held it."""
        erase = backup_files.erase_in
        return len({path for path, namespace, selection in selected
                    if erase(path, namespace, selection, apply=apply).total})  # fmt: skip


def _text_of(receipt: Receipt) -> str:
    text = receipt.detail.get("text") if isinstance(receipt.detail, dict) else ""
    return text if isinstance(text, str) else ""


def _added(counts: dict[str, int], more: dict[str, int]) -> dict[str, int]:
    return {kind: counts.get(kind, 0) + more.get(kind, 0) for kind in {**counts, **more}}


def _clean(tree: Any) -> tuple[Any, dict[str, int]]:
    taken: dict[str, int] = {}
    clean = privacy.scrub_tree(tree, taken)
    return clean, taken if clean != tree else {}
