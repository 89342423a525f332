"""Show planned changes, and make them: all of a host's files, or none.

In: changes that a plan made. Out: files written by temp + fsync + rename (mode kept, symlinks
followed), originals backed up in the ledger first. A file that changed since planning raises
ConfigChanged, one that cannot be written CannotWrite; what was written before is then put back.
"""

import difflib
import os
import stat
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec

from recollect.core import oslayer
from recollect.core.clock import Clock, SystemClock
from recollect.core.errors import CannotWrite, ConfigChanged
from recollect.hosts.changes import FileChange, digest, read
from recollect.hosts.context import Context
from recollect.hosts.installer import Installer
from recollect.hosts.ledger import FileRecord, InstallLedger


def diff(change: FileChange) -> str:
    """The change as a unified diff, for a person to read."""
    name = change.path
    old, new = _lines(change.before), _lines(change.after)
    source = name if change.before is not None else "/dev/null"
    target = name if change.after is not None else "/dev/null"
    return "".join(difflib.unified_diff(old, new, source, target))


def apply_install(
    installer: Installer, context: Context, changes: list[FileChange], clock: Clock | None = None
) -> None:
    """Make the changes, with the originals backed up before the first byte is written."""
    _check(changes)
    old = InstallLedger.load(context.data_dir)
    files, backups = dict(old.files), {}
    by_path = {change.path: change for change in changes}
    moment = (clock or SystemClock()).now().isoformat(timespec="seconds")
    for piece in installer.all_pieces(context):
        change = by_path.get(piece.path)
        now = change.before if change else read(piece.path)
        after = change.after if change else now
        record = files.get(piece.path)
        if record is None or record.after != digest(now):
            # Someone wrote since: the original is now what they would have without us.
            known = old.original(piece.path) if record else None
            original = piece.strip(now, known) if now is not None and piece.holds(now) else now
            record = FileRecord(
                hosts=record.hosts if record else (),
                before=digest(original),
                after=None,
                mode=_mode(piece.path),
                time=moment,
                project=context.project if context.in_project else "",
                made=record.made if record else tuple(_missing_directories(piece.path)),
            )
            if original is not None:
                backups[old.backup_path(piece.path)] = original
        hosts = tuple(sorted({*record.hosts, installer.name}))
        files[piece.path] = msgspec.structs.replace(record, hosts=hosts, after=digest(after))
    new = msgspec.structs.replace(old, files=files)
    if new == old and not changes:
        return
    _save(new, backups)
    try:
        _write_all(changes)
    except CannotWrite:
        _save(old, {})
        _forget([path for path in new.files if path not in old.files], old)
        raise


def apply_uninstall(installer: Installer, context: Context, changes: list[FileChange]) -> None:
    """Make the changes and forget the files that no other host needs."""
    _check(changes)
    old = InstallLedger.load(context.data_dir)
    _write_all(changes)
    paths = {piece.path for piece in installer.all_pieces(context)}
    files, gone = {}, []
    for path, record in old.files.items():
        hosts = tuple(host for host in record.hosts if host != installer.name)
        theirs = path not in paths and (hosts == record.hosts or os.path.lexists(path))
        if theirs or hosts:
            files[path] = record if theirs else msgspec.structs.replace(record, hosts=hosts)
        else:
            gone.append((path, record))
    if files == old.files:
        return
    new = msgspec.structs.replace(old, files=files)
    _save(new, {})
    for path, record in gone:
        if not os.path.lexists(path):
            _remove_empty(reversed(record.made))
    _forget([path for path, _ in gone], new)


def _forget(paths: list[str], ledger: InstallLedger) -> None:
    """Drop backups that nothing needs any more, and with the last of them the ledger."""
    for path in paths:
        _unlink_quietly(ledger.backup_path(path))
    if not ledger.files:
        _unlink_quietly(ledger.path)
        _remove_empty([os.path.join(ledger.directory, "files"), ledger.directory])


# --- checks -----------------------------------------------------------------------------------


def _check(changes: list[FileChange]) -> None:
    for change in changes:
        if read(change.path) != change.before:
            raise ConfigChanged(f"{change.path} changed since the plan was made")
        target = os.path.realpath(change.path)
        mode = _mode(target)
        if mode is not None and (not mode & 0o222 or not os.access(target, os.W_OK)):
            raise CannotWrite(
                f"{change.path} is read-only; nothing was changed", hint=f"chmod u+w {target}"
            )
        parent = _nearest_directory(target)
        if not os.access(parent, os.W_OK | os.X_OK):
            raise CannotWrite(f"{parent} cannot be written to; nothing was changed")


def _mode(path: str) -> int | None:
    try:
        return stat.S_IMODE(os.stat(path).st_mode)
    except OSError:
        return None


def _nearest_directory(path: str) -> str:
    parent = os.path.dirname(path)
    while not os.path.isdir(parent) and parent != os.path.dirname(parent):
        parent = os.path.dirname(parent)
    return parent


def _missing_directories(path: str) -> list[str]:
    """Outermost first."""
    parent, missing = os.path.dirname(os.path.realpath(path)), []
    while parent and not os.path.lexists(parent):
        missing.append(parent)
        parent = os.path.dirname(parent)
    return missing[::-1]


# --- writing ----------------------------------------------------------------------------------


@dataclass
class _Undo:
    """What to put back, newest first."""

    files: list[tuple[FileChange, int | None]] = field(default_factory=list)
    directories: list[str] = field(default_factory=list)

    def run(self) -> None:
        for change, mode in reversed(self.files):
            _write(change.path, change.before, mode)
        _remove_empty(reversed(self.directories))


def _write_all(changes: list[FileChange]) -> None:
    undo = _Undo()
    for change in changes:
        try:
            undo.directories += _missing_directories(change.path)
            mode = _mode(change.path)
            _write(change.path, change.after, mode if mode is not None else change.mode)
        except OSError as error:
            what = f"{change.path} cannot be written: {error.strerror}"
            try:
                undo.run()
            except OSError as second:
                raise CannotWrite(
                    f"{what}; putting back what was written before failed too: {second}",
                    hint="recollect uninstall",
                ) from error
            raise CannotWrite(f"{what}; everything is as it was") from error
        undo.files.append((change, mode))


def _write(path: str, raw: bytes | None, mode: int | None) -> None:
    target = os.path.realpath(path)
    if raw is None:
        os.unlink(target)
        return
    directory = os.path.dirname(target)
    os.makedirs(directory, exist_ok=True)
    temporary = os.path.join(directory, f".{os.path.basename(target)}.recollect-{os.getpid()}")
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(raw)
            _own_as(target, file.fileno())
            oslayer.set_mode(file.fileno(), 0o600 if mode is None else mode)
        oslayer.put_in_place(temporary, target)
    except OSError:
        _unlink_quietly(temporary)
        raise


def _own_as(target: str, handle: int) -> None:
    """Under sudo the file stays its user's; a new one goes to the owner of its directory."""
    here = os.path.dirname(target)
    like = os.stat(target) if os.path.exists(target) else os.stat(here)
    if sys.platform != "win32" and os.geteuid() == 0 and like.st_uid != 0:
        os.fchown(handle, like.st_uid, like.st_gid)


def _save(ledger: InstallLedger, backups: dict[str, bytes]) -> None:
    try:
        # One by one: a mode holds for the last directory of a path only.
        for here in (os.path.dirname(ledger.directory), ledger.directory, ledger.files_directory):
            os.makedirs(here, mode=0o700, exist_ok=True)
        if sys.platform != "win32":
            os.chmod(ledger.directory, 0o700)  # earlier versions made it readable
        for path, raw in backups.items():
            _write(path, raw, 0o600)
        _write(ledger.path, ledger.encoded(), 0o600)
    except OSError as error:
        raise CannotWrite(f"{ledger.directory} cannot be written: {error.strerror}") from error


def _unlink_quietly(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return  # it is only ours, and only in the way


def _remove_empty(directories: Iterable[str]) -> None:
    for directory in directories:
        try:
            os.rmdir(directory)
        except OSError:
            continue  # something else is in it by now: it stays


def _lines(raw: bytes | None) -> list[str]:
    lines = (raw or b"").decode("utf-8", "replace").splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n\\ No newline at end of file\n"
    return lines
