"""What real processes did to files, and what a power cut would have left of it.

In: commands run with `recorder.c` preloaded. Out: their steps, and, for any instant, a directory
as it might be found after the power failed then. The model promises no more than POSIX does: the
content of a file is safe after its fsync, a name after an fsync of its directory.
"""

import functools
import hashlib
import os
import random
import shutil
import struct
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

SOURCE = Path(__file__).with_name("recorder.c")
SECTOR = 512
_HEADER = struct.Struct("<cIIIq")


@dataclass(frozen=True)
class Step:
    """c(reate) w(rite) t(runcate) s(ync) r(ename) l(ink) u(nlink) m(kdir) d(elete directory), or
    T(old): the user was told that something is done."""

    what: str
    path: str
    second: str = ""
    offset: int = 0
    data: bytes = b""


@functools.cache
def library() -> str:
    """The compiled recorder."""
    name = hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:16]
    target = Path(tempfile.gettempdir()) / f"recollect-recorder-{os.getuid()}-{name}.so"
    if not target.exists():
        fresh = f"{target}.{os.getpid()}"
        compiler = os.environ.get("CC", "cc")
        subprocess.run(
            [compiler, "-shared", "-fPIC", "-O2", "-o", fresh, SOURCE, "-ldl"], check=True
        )
        os.rename(fresh, target)
    return str(target)


class Recording:
    """The steps of every process that runs with `environment`, below one directory."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._log = root.with_name(f"{root.name}.steps")
        self.environment = {
            "LD_PRELOAD": library(),
            "RECORDER_ROOT": str(root),
            "RECORDER_LOG": str(self._log),
        }

    def forget(self) -> None:
        """Begin anew: what was recorded so far was only to prepare."""
        self._log.unlink(missing_ok=True)

    def told(self, what: str) -> None:
        """The user saw that this is done: from here on it must be there."""
        name = what.encode()
        with open(self._log, "ab", buffering=0) as log:
            log.write(_HEADER.pack(b"T", len(name), 0, 0, 0) + name)

    def steps(self) -> list[Step]:
        raw = self._log.read_bytes()
        found, at = [], 0
        while at < len(raw):
            what, path, second, size, offset = _HEADER.unpack_from(raw, at)
            parts = []
            at += _HEADER.size
            for length in (path, second, size):
                parts.append(raw[at : at + length])
                at += length
            found.append(
                Step(what.decode(), os.fsdecode(parts[0]), os.fsdecode(parts[1]), offset, parts[2])
            )
        # SQLite's shared memory is made anew by whoever opens the database next.
        return [step for step in found if not step.path.endswith("-shm")]


@dataclass
class _File:
    durable: bytearray = field(default_factory=bytearray)
    loose: list[Step] = field(default_factory=list)


_DIRECTORY = _File()
Names = dict[str, _File]


class Disk:
    """A directory tree of which some is durable and the rest only in memory."""

    def __init__(self, root: Path) -> None:
        """What is there before anything is recorded is durable."""
        self.told: list[str] = []
        self._now: Names = {}
        for directory, folders, files in os.walk(root):
            for name in folders:
                self._now[_relative(root, directory, name)] = _DIRECTORY
            for name in files:
                path = os.path.join(directory, name)
                if os.path.isfile(path):
                    content = bytearray(Path(path).read_bytes())
                    self._now[_relative(root, directory, name)] = _File(content)
        self._durable = dict(self._now)
        self._unsynced: list[tuple[Step, _File | None]] = []

    def apply(self, step: Step) -> None:
        match step.what:
            case "T":
                self.told.append(step.path)
            case "w" | "t":
                if (file := self._now.get(step.path)) is not None:
                    file.loose.append(step)
            case "s":
                self._sync(step.path)
            case "c":
                self._rename(step, _File())
            case "m":
                self._rename(step, _DIRECTORY)
            case _:
                self._rename(step, self._now.get(step.path))

    def _rename(self, step: Step, file: _File | None) -> None:
        _change_names(self._now, step, file)
        self._unsynced.append((step, file))

    def _sync(self, path: str) -> None:
        file = self._now.get(path)
        if path and file is not None and file is not _DIRECTORY:
            for step in file.loose:
                _lay(file.durable, step)
            file.loose.clear()
            return
        left = []
        for step, changed in self._unsynced:
            if os.path.dirname(step.second or step.path) == path:
                _change_names(self._durable, step, changed)
            else:
                left.append((step, changed))
        self._unsynced = left

    def cut(self, chance: random.Random, target: Path) -> None:
        """Write the tree into `target`, as it might be found if the power failed now."""
        names = dict(self._durable)
        for step, file in self._names_left(chance):
            _change_names(names, step, file)
        content = chance.choice(("none", "all", "beginning", "torn"))
        target.mkdir(parents=True)
        for path in sorted(names):
            if names[path] is _DIRECTORY and (target / path).parent.is_dir():
                (target / path).mkdir(mode=0o700)
            elif (target / path).parent.is_dir():
                (target / path).write_bytes(_left(names[path], content, chance))
                (target / path).chmod(0o600)

    def _names_left(self, chance: random.Random) -> list[tuple[Step, _File | None]]:
        """Of what was not synced: for each directory its first changes, in their order."""
        by_directory: dict[str, list[tuple[Step, _File | None]]] = {}
        for step, file in self._unsynced:
            folder = os.path.dirname(step.second or step.path)
            by_directory.setdefault(folder, []).append((step, file))
        manner = chance.choice(("none", "all", "some"))
        kept = []
        for changes in by_directory.values():
            some = {"none": 0, "all": len(changes)}.get(manner, chance.randrange(len(changes) + 1))
            kept += changes[:some]
        return kept


def _relative(root: Path, directory: str, name: str) -> str:
    return os.path.relpath(os.path.join(directory, name), root)


def _change_names(names: Names, step: Step, file: _File | None) -> None:
    if step.what in ("u", "d"):
        names.pop(step.path, None)
    elif file is None:
        return
    elif step.what == "r":
        if names.get(step.path) is file:
            del names[step.path]
        names[step.second] = file
    else:
        names[step.second or step.path] = file


def _left(file: _File, manner: str, chance: random.Random) -> bytes:
    content = bytearray(file.durable)
    kept = {"none": 0, "beginning": chance.randrange(len(file.loose) + 1)}
    for step in file.loose[: kept.get(manner, len(file.loose))]:
        if manner != "torn":
            _lay(content, step)
            continue
        for start in range(0, max(1, len(step.data)), SECTOR):
            if chance.random() < 0.5:
                piece = step.data[start : start + SECTOR]
                _lay(content, Step(step.what, step.path, "", step.offset + start, piece))
    return bytes(content)


def _lay(content: bytearray, step: Step) -> None:
    if step.what == "t":
        del content[step.offset :]
    if len(content) < step.offset:
        content.extend(bytes(step.offset - len(content)))
    content[step.offset : step.offset + len(step.data)] = step.data


def instants(steps: int, tries: int, chance: random.Random) -> list[int]:
    """Where to cut: at every point as often as the tries allow, at random for the rest."""
    whole, rest = divmod(tries, steps + 1)
    extra = chance.sample(range(steps + 1), rest)
    return sorted([*list(range(steps + 1)) * whole, *extra])


def replaced(root: Path, disk: Disk, chance: random.Random) -> None:
    """The tree as a cut leaves it, in place of the one that was recorded: paths stay the same."""
    shutil.rmtree(root)
    disk.cut(chance, root)
