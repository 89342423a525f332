"""Exports everything that is stored as text, and imports it again.

In: a store and a selection. Out: JSONL with a header line, one JSON document, or Markdown to read.
JSONL and JSON can be imported: into an empty store they restore the same memory, into another one
they add what is missing. Vectors and indexes are derived and not exported. Imported rows are
scrubbed like everything else, and an invalid line is named in the error.
"""

import errno
import io
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, BinaryIO, cast

import msgspec

from recollect import __version__, privacy
from recollect.core import projects, safe_files, sealing, store_key
from recollect.core.errors import BadInput, StoreError
from recollect.core.values import Record, encode
from recollect.extract.content_hash import checked_hash
from recollect.extract.tombstones import Tombstones
from recollect.portable.transcript_import import Period
from recollect.store.interface import IDENTITIES, Row, Store, with_content

FORMAT = "recollect export"
VERSION = 1
BATCH = 200
# The one-document form is held in memory as a whole; JSONL is not.
_WHOLE_BYTES = 128 << 20  # the most bytes of one JSON document; JSONL has no limit
_LINE_BYTES = 64 << 20
# When a row happened, for each kind that has a time of its own.
_MOMENTS = {
    "event": "valid_time",
    "memory": "valid_from",
    "session": "started_at",
    "relationship": "valid_from",
    "fact": "valid_from",
    "procedure": "created_at",
    "preference": "created_at",
    "checkpoint": "created_at",
    "receipt": "created_at",
    "operation": "at",
    "version": "since",
}
_KEPT_NAMES = IDENTITIES | {"project_id"}
# What identifies a row, where it is not its kind's own id; `version` has two.
_KEYS = {
    "memory": ("record_id",),
    "operation": ("op_id",),
    "version": ("op_id", "source_id"),
    "extraction_runs": ("run_id",),
}
_CONTENT = ("kind", "observation_type", "knowledge_type", "title", "summary", "detail", "facts")
_SESSION = "session"  # its row comes with its events, so it is never counted as new


@dataclass(frozen=True)
class ExportSelection:
    """What of a store is exported; None means all."""

    namespaces: tuple[str, ...] | None = None
    kinds: frozenset[str] | None = None
    memory_kinds: frozenset[str] | None = None
    period: Period = field(default_factory=Period)

    def takes(self, kind: str, row: dict[str, Any]) -> bool:
        if kind == "project":
            return True
        if self.kinds is not None and kind not in self.kinds:
            return False
        kinds = self.memory_kinds if kind == "memory" else None
        if kinds is not None and row["kind"] not in kinds:
            return False
        name = _MOMENTS.get(kind)
        moment = row.get(name) if name else None
        return moment is None or self.period.covers(datetime.fromisoformat(moment))


# --- out -----------------------------------------------------------------------------------------


def header(store: Store, actor: str, wanted: ExportSelection, now: datetime) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "recollect": __version__,
        "actor": actor,
        "exported_at": now.isoformat(),
        "namespaces": list(_namespaces(store, wanted)),
        "whole": wanted == ExportSelection(),
    }


def rows(store: Store, wanted: ExportSelection) -> Iterator[Row]:
    for namespace in _namespaces(store, wanted):
        for kind, row in store.bulk.dump(namespace):
            if wanted.takes(kind, row):
                yield kind, row


def jsonl(store: Store, actor: str, wanted: ExportSelection, now: datetime) -> Iterator[bytes]:
    yield encode(header(store, actor, wanted, now)) + b"\n"
    for kind, row in rows(store, wanted):
        yield encode({"is": kind, **row}) + b"\n"


def document(store: Store, actor: str, wanted: ExportSelection, now: datetime) -> Iterator[bytes]:
    """The same as one JSON document."""
    yield b'{"header": ' + encode(header(store, actor, wanted, now)) + b',\n"rows": [\n'
    first = True
    for kind, row in rows(store, wanted):
        yield (b"" if first else b",\n") + encode({"is": kind, **row})
        first = False
    yield b"\n]}\n"


def markdown(store: Store, actor: str, wanted: ExportSelection, now: datetime) -> Iterator[bytes]:
    """The memories by project, newest last, for people. It cannot be imported."""
    yield f"# What Recollect remembers\n\nExported on {now.date()}.\n".encode()
    for namespace in _namespaces(store, wanted):
        named = False
        for kind, row in store.bulk.dump(namespace):
            if kind == "project":
                yield f"\n## {row['name']}\n".encode()
                named = True
            elif wanted.takes(kind, row) and (text := _markdown(kind, row)):
                if not named:
                    yield b"\n## In all projects\n"
                    named = True
                yield text.encode()


def _markdown(kind: str, row: dict[str, Any]) -> str:
    match kind:
        case "memory":
            lines = [f"\n### {_escaped(row['title'])}\n"]
            about = [row["valid_from"][:10], row["kind"], *row["files"][:5]]
            if (state := row.get("state", "current")) != "current":
                about.insert(2, state)
            lines.append(f"*{', '.join(map(_escaped, about))}*\n")
            body = row["summary"] or row["detail"]
            lines += [f"\n{_escaped(body)}\n"] if body else []
            lines += [f"- {_escaped(fact)}\n" for fact in row["facts"]]
            return "".join(lines)
        case "fact" if row["valid_until"] is None:
            said = " ".join(_escaped(row[name]) for name in ("subject", "predicate", "object"))
            return f"\n- {said}\n"
        case "preference":
            key = f"{_escaped(row['category'])}.{_escaped(row['key'])}"
            return f"\n- {key}: {_escaped(row['value'])}\n"
        case "procedure":
            steps = "".join(
                f"  {at}. {_escaped(step)}\n" for at, step in enumerate(row["steps"], 1)
            )
            return f"\n- **{_escaped(row['name'])}**: {_escaped(row['trigger'])}\n{steps}"
    return ""


def _escaped(text: str) -> str:
    """Escape headings inside a memory, which must not become headings of the page."""
    return text.replace("\n#", "\n\\#").replace("<", "&lt;")


def _namespaces(store: Store, wanted: ExportSelection) -> tuple[str, ...]:
    every = store.projects.namespaces()
    return tuple(every) if wanted.namespaces is None else wanted.namespaces


# --- in ------------------------------------------------------------------------------------------


def is_export(path: str) -> bool:
    """StoreLocked or WrongKey when it is an encrypted one, and its key is not here."""
    try:
        with _opened(path) as file:
            start = file.read(4096)
    except OSError:
        return False
    return FORMAT.encode() in start and start.lstrip().startswith(b"{")


class ExportReader:
    """Imports an export in batches."""

    def __init__(self, store: Store, actor: str) -> None:
        self._store = store
        self._actor = actor
        self._namespaces: dict[str, str] = {}
        self._projects: dict[str, str] = {}
        self._held: dict[str, set[Hashable]] = {}
        self._stones = Tombstones(store)
        self._came: set[str] = set()

    def read(
        self, path: str, step: Callable[[int, int, dict[str, int]], None], *, dry_run: bool = False
    ) -> None:
        """Read a file; `step` is called with bytes read, rows read and rows that were new, or would
        be in a dry run."""
        batch: list[Row] = []
        size = kept_out = 0
        for number, (raw_size, line) in enumerate(_lines(path)):
            size += raw_size
            if number == 0:
                _check_header(line)
                continue
            kind = line.pop("is", None)
            if not isinstance(kind, str):
                raise BadInput(f"line {number + 1} does not name its kind", field="is")
            row = self._localised(kind, line)
            if kind == "memory" and (self._kept_out(row) or self._is_known(row)):
                kept_out += 1
            else:
                batch.append((kind, row))
            if len(batch) == BATCH:
                self._put(batch, number + 1, size, step, dry_run)
                batch, size = [], 0
        self._put(batch, 0, size, step, dry_run)
        if kept_out:
            step(0, kept_out, {})

    def _kept_out(self, row: dict[str, Any]) -> bool:
        """Whether a memory was forgotten or refused here before this import. One that is stored
        stays as it is."""
        namespace, record_id = str(row.get("namespace")), str(row.get("record_id"))
        return self._stones.keeps_out(namespace, record_id, str(row.get("title"))) and not (
            self._store.records.get(namespace, [record_id])
        )

    def _is_known(self, row: dict[str, Any]) -> bool:
        """Whether a memory with exactly these texts is here under another id, and did not come with
        this file: a store may hold the same words twice. The hash is not taken on trust."""
        try:
            fields = {name: row[name] for name in Record.__struct_fields__ if name in row}
            record = msgspec.convert(fields, Record, strict=False)
        except msgspec.ValidationError:
            return False  # the store says what is wrong with it
        row["content_hash"] = mark = checked_hash(record)
        self._came.add(record.record_id)
        if not mark or record.traits.is_turn:
            return False
        same = with_content(self._store.records, record.namespace, mark)
        return (
            same is not None
            and same.record_id not in self._came
            and all(getattr(same, one) == getattr(record, one) for one in _CONTENT)
            and (record.tool_class is None or same.valid_from == record.valid_from)
        )

    def _put(
        self,
        batch: list[Row],
        number: int,
        size: int,
        step: Callable[[int, int, dict[str, int]], None],
        dry_run: bool,
    ) -> None:
        loaded: dict[str, int] = self._would_load(batch) if dry_run else {}
        if batch and not dry_run:
            try:
                loaded = self._store.bulk.load(batch)
            except BadInput as error:
                near = f" (near line {number})" if number else " (at its end)"
                raise BadInput(f"{error}{near}; nothing of this batch was imported",
                               field=error.field) from error  # fmt: skip
        step(size, sum(kind != _SESSION for kind, _ in batch), loaded)

    def _would_load(self, batch: list[Row]) -> dict[str, int]:
        """How many rows are not stored yet, by kind."""
        new: dict[str, int] = {}
        for kind, row in batch:
            if kind != _SESSION and _key(kind, row) not in self._here(kind, row):
                new[kind] = new.get(kind, 0) + 1
        return new

    def _here(self, kind: str, row: dict[str, Any]) -> set[Hashable]:
        if kind == "project":
            return {("project", one.project_id) for one in self._store.projects.all()}
        namespace = str(row.get("namespace"))
        if namespace not in self._held:
            self._held[namespace] = {_key(*one) for one in self._store.bulk.dump(namespace)}
        return self._held[namespace]

    def _localised(self, kind: str, row: dict[str, Any]) -> dict[str, Any]:
        """A row, scrubbed, with this store's actor and projects."""
        if kind == "project":
            self._match_project(row)
            return {**row, "marks": privacy.scrub_tree(row.get("marks"))}
        kept = {name: row[name] for name in row if name in _KEPT_NAMES}
        clean: dict[str, Any] = {**privacy.scrub_tree(row), **kept}
        for name in ("namespace", "payload"):
            if name in clean:
                clean[name] = self._renamed(clean[name])
        if "actor_id" in clean:
            clean["actor_id"] = self._actor
        return clean

    def _match_project(self, row: dict[str, Any]) -> None:
        """Map a project to the one that is known here under another id, by one of its marks."""
        given = row.get("project_id")
        listed = row.get("marks")
        told = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
        marks = {(str(mark.get("kind")), str(mark.get("value"))) for mark in told}
        for known in self._store.projects.all():
            if known.project_id != given and marks.intersection(known.identities):
                self._projects[str(given)] = known.project_id
                row["project_id"] = known.project_id
        for mark in told:
            mark["project_id"] = row.get("project_id")

    def _renamed(self, value: Any) -> Any:
        if isinstance(value, str) and value.startswith("/actor/"):
            if value not in self._namespaces:
                project = value.rstrip("/").rpartition("/project/")[2]
                project = project if "/project/" in value else ""
                project = self._projects.get(project, project)
                self._namespaces[value] = projects.namespace(self._actor, project)
            return self._namespaces[value]
        if isinstance(value, dict):
            return {
                name: self._renamed(one) if name in ("namespace", "record", "vectors") else one
                for name, one in value.items()
            }
        return value


def _key(kind: str, row: dict[str, Any]) -> Hashable:
    """What identifies a row; the whole row where nothing names it."""
    names = _KEYS.get(kind, (f"{kind}_id",))
    if all(name in row for name in names):
        return (kind, *(str(row[name]) for name in names))
    return (kind, encode(dict(sorted(row.items()))))


def _check_header(line: dict[str, Any]) -> None:
    if line.get("format") != FORMAT:
        raise BadInput("this is not an export of Recollect: its first line is not a header")
    if not isinstance(line.get("version"), int) or line["version"] > VERSION:
        raise BadInput(
            f"this export is of format {line.get('version')}, this version reads {VERSION}",
            hint="Upgrade Recollect.",
        )


def _lines(path: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The header and the rows of either form."""
    try:
        with _opened(path) as file:
            if file.peek(10).startswith(b'{"header":'):
                raw = file.read(_WHOLE_BYTES + 1)
                if len(raw) > _WHOLE_BYTES:
                    raise OSError(errno.EFBIG, f"it has more than {_WHOLE_BYTES} bytes", path)
                whole = _decoded(raw, 1)
                yield 0, whole["header"]
                for row in whole["rows"]:
                    yield len(encode(row)), row
                return
            rows = safe_files.lines(file, _LINE_BYTES, all_needed=True)
            for number, raw in enumerate(rows, 1):
                if raw.strip():
                    yield len(raw), _decoded(raw, number)
    except OSError as error:
        raise BadInput(
            f"{path} cannot be read: {error.strerror}",
            field="source",
            hint="recollect export --format jsonl" if error.errno == errno.EFBIG else "",
        ) from error
    except KeyError as error:
        raise BadInput(f"{path} has no {error.args[0]}", field="source") from error


class _Sealed(io.RawIOBase):
    """An encrypted export, to be read as if it were not. BadInput where it was changed."""

    def __init__(self, file: BinaryIO, opening: sealing.Unsealer, path: str) -> None:
        self._file = file
        self._unsealing = opening
        self._path = path
        self._waiting = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            while not self._waiting:
                part = self._file.read(sealing.PIECE_BYTES)
                self._waiting = self._unsealing.feed(part)
                if not part:
                    self._unsealing.close()
                    break
        except sealing.NotSealed as error:
            raise BadInput(f"{self._path} is damaged: {error}", field="source") from error
        part, self._waiting = self._waiting[: len(buffer)], self._waiting[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)

    def close(self) -> None:
        self._file.close()
        super().close()


def _opened(path: str) -> io.BufferedReader:
    """A file to read; an encrypted export is decrypted on the way."""
    file = cast(io.BufferedReader, safe_files.open_plain(path))
    try:
        start = file.read(sealing.PREFIX_BYTES) or b""
        label = sealing.label_of(start)
        if label is None:
            file.seek(0)
            return file
        try:
            key = store_key.find(label, path)
        except StoreError as error:
            error.hint = "recollect import FILE --key passphrase, file:PATH or keychain"
            raise
        return io.BufferedReader(_Sealed(file, sealing.Unsealer(key.sealing, start), path))
    except BaseException:
        file.close()
        raise


def _decoded(raw: bytes, number: int) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"line {number} is not JSON: {error}", field="source") from error
    if not isinstance(found, dict):
        raise BadInput(f"line {number} is not an object", field="source")
    return found
