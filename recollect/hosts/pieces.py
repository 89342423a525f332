"""The kinds of files that hosts read, and how our part gets in and out of each.

In: bytes of a file, or None. Out: bytes with or without our entries. A file in an unexpected form
raises BadInput; a file of someone else where ours should be raises ConfigChanged.
"""

import json
import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from recollect.core.errors import ConfigChanged
from recollect.hosts import toml_edit
from recollect.hosts.json_edit import BOM, JsonDocument, Path

MARK = "recollect-hook"  # an entry whose command holds this is ours, whatever its version
BEGIN = "<!-- recollect:begin -->"
END = "<!-- recollect:end -->"
GENERATED = "Written by `recollect install`"  # in every file that is wholly ours


class Piece(Protocol):
    """One file that a host reads, and what in it is ours."""

    @property
    def path(self) -> str: ...
    @property
    def why(self) -> str: ...
    @property
    def mode(self) -> int | None: ...

    def put(self, before: bytes | None) -> bytes:
        """The file with our entries in it; the same bytes when they are there already."""

    def strip(self, now: bytes, keep: bytes | None) -> bytes | None:
        """The file without our entries; None when nothing is left.

        `keep` is the file as it was before us: empty containers that it had stay.
        """

    def holds(self, now: bytes) -> bool:
        """Whether anything of ours is in it."""

    def command(self, now: bytes, event: str) -> tuple[str, ...] | None:
        """What the host runs for this event according to the file; None when nothing of ours."""


class JsonEdit(Protocol):
    """One thing of ours in a JSON document."""

    def put(self, document: JsonDocument) -> JsonDocument: ...
    def strip(self, document: JsonDocument, keep: JsonDocument | None) -> JsonDocument: ...
    def holds(self, document: JsonDocument) -> bool: ...


@dataclass(frozen=True)
class JsonFile:
    """A JSON(C) file with entries of ours among others."""

    path: str
    why: str
    edits: tuple[JsonEdit, ...]
    mode: int | None = None

    def put(self, before: bytes | None) -> bytes:
        document = JsonDocument.read(before, self.path)
        untouched = document.text
        for edit in self.edits:
            document = edit.put(document)
        return before if before is not None and document.text == untouched else document.raw

    def strip(self, now: bytes, keep: bytes | None) -> bytes | None:
        document = JsonDocument.read(now, self.path)
        original = None if keep is None else JsonDocument.read(keep, self.path)
        for edit in reversed(self.edits):
            document = edit.strip(document, original)
        document = self._defaults_stripped(document, original)
        if document.text.removeprefix(BOM).strip() != "{}" or document.raw == now:
            return document.raw
        blank = keep is not None and not keep.decode("utf-8").removeprefix(BOM).strip()
        return keep if keep is None or blank else document.raw

    def holds(self, now: bytes) -> bool:
        document = JsonDocument.read(now, self.path)
        return any(edit.holds(document) for edit in self.edits)

    def command(self, now: bytes, event: str) -> tuple[str, ...] | None:
        document = JsonDocument.read(now, self.path)
        for edit in self.edits:
            if isinstance(edit, Hooks | Elements) and (line := edit.command(document, event)):
                return ("/bin/sh", "-c", line)  # hosts hand the line to a shell
        return None

    def _defaults_stripped(self, document: JsonDocument, keep: JsonDocument | None) -> JsonDocument:
        """What only made the file complete goes when nobody else has come to need it."""
        defaults = [edit for edit in self.edits if isinstance(edit, Default)]
        ours = [edit for edit in defaults if keep is None or not keep.has(edit.path)]
        foreign = set(document.plain()) - {edit.path[0] for edit in ours}
        known = set() if keep is None else set(keep.plain())
        if foreign <= known and all(document.get(edit.path) == edit.value for edit in ours):
            for edit in reversed(ours):
                document = document.remove(edit.path)
        return document


@dataclass(frozen=True)
class Server:
    """Our MCP server, such as mcpServers.recollect. The user's own server of that name makes room
    for it and comes back when ours goes; `kept` are its members that others write too."""

    path: Path
    value: Mapping[str, Any]
    kept: tuple[str, ...] = ()

    def put(self, document: JsonDocument) -> JsonDocument:
        there = document.get(self.path)
        kept = {name: there[name] for name in self.kept if runs_our_server(there) and name in there}
        return document.set(self.path, {**self.value, **kept})

    def strip(self, document: JsonDocument, keep: JsonDocument | None) -> JsonDocument:
        if document.has(self.path) and not self.holds(document):
            return document  # somebody has put another one in its place
        if keep is not None and keep.has(self.path) and not self.holds(keep):
            return document.copied(self.path, keep)
        return _pruned(document.remove(self.path), self.path[:-1], keep)

    def holds(self, document: JsonDocument) -> bool:
        return runs_our_server(document.get(self.path))


def runs_our_server(entry: Any) -> bool:
    """Whether the entry of an MCP server runs `recollect mcp`, in any host's form."""
    if not isinstance(entry, dict):
        return False
    command, arguments = entry.get("command"), entry.get("args")
    words = [*(command if isinstance(command, list) else [command]),
             *(arguments if isinstance(arguments, list) else [])]  # fmt: skip
    return words[-1:] == ["mcp"] and os.path.basename(str(words[-2:][0])) == "recollect"


@dataclass(frozen=True)
class Allowed:
    """Rules of ours in a list of what an agent may do without asking. `on_demand` are those that
    only a user's own word brings: they are not missed, and go with the others. Nothing is added
    where a rule of the user's (`wider`) allows it all."""

    path: Path
    rules: tuple[str, ...]
    on_demand: tuple[str, ...] = ()
    wider: tuple[str, ...] = ()

    def put(self, document: JsonDocument) -> JsonDocument:
        there = self._there(document)
        if any(rule in there for rule in self.wider):
            return document
        for rule in self.rules:
            if rule not in there:
                document = document.append(self.path, rule)
        return document

    def strip(self, document: JsonDocument, keep: JsonDocument | None) -> JsonDocument:
        theirs = [] if keep is None else self._there(keep)
        ours = {*self.rules, *self.on_demand}.difference(map(str, theirs))
        there = self._there(document)
        for place in reversed([at for at, rule in enumerate(there) if str(rule) in ours]):
            document = document.remove((*self.path, place))
        return _pruned(document, self.path, keep)

    def holds(self, document: JsonDocument) -> bool:
        return any(rule in self._there(document) for rule in (*self.rules, *self.on_demand))

    def _there(self, document: JsonDocument) -> list[Any]:
        found = document.get(self.path)
        return found if isinstance(found, list) else []


@dataclass(frozen=True)
class Default:
    """A member that the file needs to be complete; the user's own value stays."""

    path: Path
    value: Any

    def put(self, document: JsonDocument) -> JsonDocument:
        return document if document.has(self.path) else document.set(self.path, self.value)

    def strip(self, document: JsonDocument, keep: JsonDocument | None) -> JsonDocument:
        return document  # JsonFile decides, for it sees the whole

    def holds(self, document: JsonDocument) -> bool:
        return False


@dataclass(frozen=True)
class OwnSetting:
    """A setting that we take only while it is free, and give back only while it is ours."""

    path: Path
    value: Any

    def put(self, document: JsonDocument) -> JsonDocument:
        return document if document.get(self.path) else document.set(self.path, self.value)

    def strip(self, document: JsonDocument, keep: JsonDocument | None) -> JsonDocument:
        if document.get(self.path) != self.value:
            return document
        if keep is not None and keep.has(self.path):
            return document.set(self.path, keep.get(self.path))
        return _pruned(document.remove(self.path), self.path[:-1], keep)

    def holds(self, document: JsonDocument) -> bool:
        return bool(document.get(self.path) == self.value)


@dataclass(frozen=True)
class Elements:
    """Elements of a list that are ours because their command is."""

    path: Path
    values: tuple[Any, ...]

    def put(self, document: JsonDocument) -> JsonDocument:
        places = _own(document.get(self.path))
        for place, value in zip(places, self.values, strict=False):
            document = document.set((*self.path, place), value)
        for value in self.values[len(places) :]:
            document = document.append(self.path, value)
        for place in reversed(places[len(self.values) :]):
            document = document.remove((*self.path, place))
        return document

    def strip(self, document: JsonDocument, keep: JsonDocument | None) -> JsonDocument:
        for place in reversed(_own(document.get(self.path))):
            document = document.remove((*self.path, place))
        return _pruned(document, self.path, keep)

    def holds(self, document: JsonDocument) -> bool:
        return bool(_own(document.get(self.path)))

    def command(self, document: JsonDocument, event: str) -> str:
        entries = [document.get((*self.path, place)) for place in _own(document.get(self.path))]
        named = (entry for entry in entries if entry.get("trigger") == event)
        return str(next((entry["action"]["command"] for entry in named), ""))


@dataclass(frozen=True)
class Hooks:
    """Hooks by event. `groups`: an entry is {matcher?, hooks: [...]}, as in Claude Code."""

    entries: Mapping[str, Any]
    groups: bool = False
    root: Path = ("hooks",)

    def put(self, document: JsonDocument) -> JsonDocument:
        for event, entry in self.entries.items():
            path = (*self.root, event)
            places = self._places(document.get(path))
            if not places:
                document = document.append(path, entry)
                continue
            document = document.set(*self._target((*path, *places[0]), entry, document))
            for place in reversed(places[1:]):
                document = self._removed(document, path, place)
        return self._others_stripped(document, None)

    def strip(self, document: JsonDocument, keep: JsonDocument | None) -> JsonDocument:
        for event in self.entries:
            document = self._event_stripped(document, event, keep)
        return self._others_stripped(document, keep)

    def holds(self, document: JsonDocument) -> bool:
        events = document.get(self.root)
        return isinstance(events, dict) and any(self._places(list_) for list_ in events.values())

    def command(self, document: JsonDocument, event: str) -> str:
        path = (*self.root, event)
        for place in self._places(document.get(path)):
            entry = document.get((*path, *place))
            line = str(entry.get("command") or entry.get("bash") or "")
            given = entry.get("args")  # of a host that runs the program without a shell
            return shlex.join([line, *given]) if isinstance(given, list) else line
        return ""

    def places(self, document: JsonDocument) -> list[tuple[str, int, int]]:
        """Event, group and position of each hook of ours."""
        events = document.get(self.root)
        found = events if isinstance(events, dict) else {}
        return [
            (event, int(place[0]), int(place[-1]) if self.groups else 0)
            for event, list_ in found.items()
            for place in self._places(list_)
        ]

    def _places(self, list_: Any) -> list[Path]:
        if not self.groups:
            return [(at,) for at in _own(list_)]
        return [
            (at, "hooks", inner)
            for at, group in enumerate(list_ if isinstance(list_, list) else [])
            if isinstance(group, dict)
            for inner in _own(group.get("hooks"))
        ]

    def _target(self, place: Path, entry: Any, document: JsonDocument) -> tuple[Path, Any]:
        """Replace our whole group, unless someone put another hook into it."""
        if not self.groups:
            return place, entry
        alone = len(document.get(place[:-1])) == 1
        return (place[:-2], entry) if alone else (place, entry["hooks"][0])

    def _removed(self, document: JsonDocument, path: Path, place: Path) -> JsonDocument:
        full = (*path, *place)
        if self.groups and len(document.get(full[:-1])) == 1:
            return document.remove(full[:-2])
        return document.remove(full)

    def _event_stripped(
        self, document: JsonDocument, event: str, keep: JsonDocument | None
    ) -> JsonDocument:
        path = (*self.root, event)
        places = self._places(document.get(path))
        for place in reversed(places):
            document = self._removed(document, path, place)
        return _pruned(document, path, keep) if places else document

    def _others_stripped(self, document: JsonDocument, keep: JsonDocument | None) -> JsonDocument:
        """An older version may have asked for more events."""
        events = document.get(self.root)
        for event in events if isinstance(events, dict) else {}:
            if event not in self.entries:
                document = self._event_stripped(document, event, keep)
        return document


@dataclass(frozen=True)
class OwnFile:
    """A file that is wholly ours: a plugin, a script, a rule."""

    path: str
    why: str
    content: bytes
    mode: int | None = None

    def put(self, before: bytes | None) -> bytes:
        if before is not None and not self.holds(before):
            raise ConfigChanged(
                f"{self.path} exists and is not ours", hint="Move it away, then try again."
            )
        return self.content

    def strip(self, now: bytes, keep: bytes | None) -> bytes | None:
        return keep if self.holds(now) else now

    def holds(self, now: bytes) -> bool:
        return GENERATED.encode() in now

    def command(self, now: bytes, event: str) -> tuple[str, ...] | None:
        """A script that is named after its event."""
        return (self.path,) if os.path.basename(self.path) == event else None


@dataclass(frozen=True)
class TextBlock:
    """A marked block in a text file that others write too."""

    path: str
    why: str
    text: str
    mode: int | None = None

    def put(self, before: bytes | None) -> bytes:
        block = f"{BEGIN}\n{self.text.strip()}\n{END}".encode()
        found = self._span(before or b"")
        if before is None:
            return block + b"\n"
        if found:
            return before[: found[0]] + block + before[found[1] :]
        gap = b"" if not before else b"\n" if before.endswith(b"\n") else b"\n\n"
        return before + gap + block + b"\n"

    def strip(self, now: bytes, keep: bytes | None) -> bytes | None:
        found = self._span(now)
        if not found:
            return now
        head, tail = now[: found[0]], now[found[1] :].removeprefix(b"\n")
        rest = (head.removesuffix(b"\n") if head.endswith(b"\n\n") else head) + tail
        return None if keep is None and not rest.strip() else rest

    def holds(self, now: bytes) -> bool:
        return self._span(now) is not None

    def command(self, now: bytes, event: str) -> tuple[str, ...] | None:
        return None

    def _span(self, raw: bytes) -> tuple[int, int] | None:
        start, end = raw.find(BEGIN.encode()), raw.find(END.encode())
        return (start, end + len(END)) if 0 <= start < end else None


@dataclass(frozen=True)
class TomlServer:
    """Our MCP server as a table of a TOML file; the user's own of that name comes back when ours
    goes. `also` are tables of ours that only go, never come."""

    path: str
    why: str
    table: toml_edit.Name
    values: Mapping[str, Any]
    also: tuple[toml_edit.Name, ...] = ()
    mode: int | None = None

    def put(self, before: bytes | None) -> bytes:
        return toml_edit.put(before, self.table, dict(self.values), self.path)

    def strip(self, now: bytes, keep: bytes | None) -> bytes | None:
        for table in self.also:
            now = toml_edit.remove(now, table, self.path)
        if self.holds(now):
            theirs = toml_edit.get(keep, self.table, self.path)
            if keep is not None and theirs is not None and not runs_our_server(theirs):
                now = toml_edit.copied(now, self.table, keep, self.path)
            else:
                now = toml_edit.remove(now, self.table, self.path)
        return None if keep is None and not now.strip() else now

    def holds(self, now: bytes) -> bool:
        return runs_our_server(toml_edit.get(now, self.table, self.path))

    def command(self, now: bytes, event: str) -> tuple[str, ...] | None:
        return None


def _own(list_: Any) -> list[int]:
    entries = list_ if isinstance(list_, list) else []
    return [at for at, entry in enumerate(entries) if MARK in json.dumps(entry)]


def _pruned(document: JsonDocument, path: Path, keep: JsonDocument | None) -> JsonDocument:
    """Without the containers that became empty and were not there before us."""
    while path and document.get(path) in ({}, []) and not (keep is not None and keep.has(path)):
        document, path = document.remove(path), path[:-1]
    return document
