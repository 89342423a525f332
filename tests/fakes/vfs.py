"""Disks that misbehave, as SQLite sees them: one that remembers every write, one that fails.

In: the name of a fake to register; tests hand that name to the store. Out: a log that can be cut
at any instant (`Disk`), or errors at the n-th call (`Trouble`). Both write through to real files.
"""

import errno
import os
import random
from dataclasses import dataclass, field
from typing import Any, Literal

import apsw

SECTOR = 512

Name = str | apsw.URIFilename | None
Operation = Literal["read", "write", "sync", "truncate"]


def _text(name: Name) -> str:
    return name.filename() if isinstance(name, apsw.URIFilename) else name or ""


# --- a disk that remembers ----------------------------------------------------------------------


@dataclass(frozen=True)
class Step:
    """One thing that happened, in order: to a file, or something a client was told."""

    what: Literal["create", "write", "truncate", "sync", "delete", "told"]
    file: str = ""
    offset: int = 0
    data: bytes = b""
    told: Any = None


class RecordingVFS(apsw.VFS):
    """Logs what reaches the files, and, between those steps, what clients were told."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.steps: list[Step] = []
        super().__init__(name, "")

    def xOpen(self, name: Name, flags: list[int]) -> "RecordingFile":
        path = _text(name)
        new = not os.path.exists(path) or os.path.getsize(path) == 0
        file = RecordingFile(self, name, flags)
        if new and flags[0] & apsw.SQLITE_OPEN_READWRITE:
            self.steps.append(Step("create", os.path.basename(path)))
        return file

    def xDelete(self, filename: str, syncdir: bool) -> None:
        super().xDelete(filename, syncdir)
        self.steps.append(Step("delete", os.path.basename(filename), offset=int(syncdir)))

    def tell(self, told: Any) -> None:
        self.steps.append(Step("told", told=told))


class RecordingFile(apsw.VFSFile):
    def __init__(self, vfs: RecordingVFS, name: Name, flags: list[int]) -> None:
        self._steps = vfs.steps
        self._file = os.path.basename(_text(name))
        super().__init__("", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:
        super().xWrite(data, offset)
        self._steps.append(Step("write", self._file, offset, bytes(data)))

    def xTruncate(self, newsize: int) -> None:
        super().xTruncate(newsize)
        self._steps.append(Step("truncate", self._file, newsize))

    def xSync(self, flags: int) -> None:
        super().xSync(flags)
        self._steps.append(Step("sync", self._file))


@dataclass
class _File:
    durable: bytearray = field(default_factory=bytearray)
    loose: list[tuple[int, Step]] = field(default_factory=list)  # written, not synced
    named: bool = False  # its name in the directory has been synced
    removed: bool = False  # deleted, but the directory has not been synced since


class Disk:
    """Replays a log and says what a power cut might have left behind.

    What was synced is there. Each unsynced write is there, is not, or is there by half: sectors
    of 512 bytes keep the old content or take the new. A sector never holds anything else.
    """

    def __init__(self) -> None:
        self.told: list[Any] = []
        self._files: dict[str, _File] = {}
        self._count = 0

    def apply(self, step: Step) -> None:
        self._count += 1
        if step.what == "told":
            self.told.append(step.told)
            return
        file = self._files.setdefault(step.file, _File())
        match step.what:
            case "create":
                if file.removed:  # the name may still lead to the old content
                    file.removed = False
                    file.loose.append((self._count, Step("truncate", step.file, 0)))
            case "delete" if step.offset:
                del self._files[step.file]
                self._sync_directory()
            case "delete":
                file.removed = True
            case "sync":
                for _, loose in file.loose:
                    _lay(file.durable, loose)
                file.loose.clear()
                # The unix VFS syncs the directory with the first sync of a log or a journal.
                if not file.named and step.file.endswith(("-wal", "-journal")):
                    self._sync_directory()
            case _:
                file.loose.append((self._count, step))

    def _sync_directory(self) -> None:
        for name, file in list(self._files.items()):
            file.named = True
            if file.removed:
                del self._files[name]

    def cut(self, chance: random.Random) -> dict[str, bytes]:
        """The files as they might be found after the power failed now."""
        manner = chance.choice(("lost", "kept", "beginning", "some", "torn", "torn"))
        instant = chance.randrange(self._count + 1)
        left = {}
        for name, file in self._files.items():
            if (file.removed or not file.named) and chance.random() < 0.5:
                continue
            content = bytearray(file.durable)
            for when, step in file.loose:
                if manner == "torn":
                    _lay_torn(content, step, chance)
                elif (
                    manner == "kept"
                    or (manner == "beginning" and when <= instant)
                    or (manner == "some" and chance.random() < 0.5)
                ):
                    _lay(content, step)
            left[name] = bytes(content)
        return left


def _lay(content: bytearray, step: Step) -> None:
    if step.what == "truncate":
        if step.offset < len(content):
            del content[step.offset :]
        return
    if len(content) < step.offset:
        content.extend(bytes(step.offset - len(content)))
    content[step.offset : step.offset + len(step.data)] = step.data


def _lay_torn(content: bytearray, step: Step, chance: random.Random) -> None:
    if step.what == "truncate":
        if chance.random() < 0.5:
            _lay(content, step)
        return
    position = 0
    while position < len(step.data):
        offset = step.offset + position
        size = min(SECTOR - offset % SECTOR, len(step.data) - position)
        if chance.random() < 0.5:
            piece = step.data[position : position + size]
            _lay(content, Step("write", step.file, offset, piece))
        position += size


# --- a disk that fails --------------------------------------------------------------------------


@dataclass
class Trouble:
    """What goes wrong: the `nth` call of an operation, and all after it while it `lasts`."""

    operation: Operation = "write"
    nth: int = 0  # 0: nothing goes wrong
    error: Literal["full", "io", "busy", "read-only"] = "io"
    torn: bool = False  # half of the data is written before the error
    lasts: bool = False
    calls: int = 0
    struck: int = 0

    def strikes(self, operation: Operation) -> bool:
        if operation != self.operation:
            return False
        self.calls += 1
        hit = self.nth > 0 and (self.calls == self.nth or (self.lasts and self.calls > self.nth))
        self.struck += hit
        return hit

    def passes(self) -> None:
        """All is well again."""
        self.nth = 0

    def exception(self) -> apsw.Error:
        if self.error == "full":
            return apsw.FullError("no room (injected)")
        if self.error == "busy":
            return apsw.BusyError("busy (injected)")
        if self.error == "read-only":
            return apsw.ReadOnlyError("read-only file system (injected)")
        failure = apsw.IOError(f"input/output error on {self.operation} (injected)")
        codes: dict[Operation, int] = {
            "read": apsw.SQLITE_IOERR_READ,
            "write": apsw.SQLITE_IOERR_WRITE,
            "sync": apsw.SQLITE_IOERR_FSYNC,
            "truncate": apsw.SQLITE_IOERR_TRUNCATE,
        }
        vars(failure)["extendedresult"] = codes[self.operation]  # apsw hands this to SQLite
        return failure


class FailingVFS(apsw.VFS):
    def __init__(self, name: str, trouble: Trouble) -> None:
        self.name = name
        self.trouble = trouble
        super().__init__(name, "")

    def xOpen(self, name: Name, flags: list[int]) -> "FailingFile":
        return FailingFile(self.trouble, name, flags)

    def xGetLastError(self) -> tuple[int, str]:
        return (errno.EIO, "injected")


class FailingFile(apsw.VFSFile):
    def __init__(self, trouble: Trouble, name: Name, flags: list[int]) -> None:
        self._trouble = trouble
        super().__init__("", name, flags)

    def xRead(self, amount: int, offset: int) -> bytes:
        if self._trouble.strikes("read"):
            raise self._trouble.exception()
        return super().xRead(amount, offset)

    def xWrite(self, data: bytes, offset: int) -> None:
        if self._trouble.strikes("write"):
            if self._trouble.torn:
                super().xWrite(bytes(data)[: len(data) // 2], offset)
            raise self._trouble.exception()
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:
        if self._trouble.strikes("truncate"):
            raise self._trouble.exception()
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:
        if self._trouble.strikes("sync"):
            raise self._trouble.exception()
        super().xSync(flags)
