"""What we changed in whose files, and how these were before.

In: the data directory. Out: records, with the original bytes beside them, all 0600.
A ledger that cannot be read raises BadInput: guessing could lose the user's original.
"""

import hashlib
import os
from typing import Annotated

import msgspec

from recollect.core.errors import BadInput

DIRECTORY = "install"


class FileRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One file that holds something of ours, for which hosts, and its hash before and after."""

    hosts: tuple[str, ...]
    before: str | None  # sha256, None when there was no file
    after: str | None
    mode: int | None = None
    time: str
    project: str = ""  # the project that it was installed for, when not for the user
    made: tuple[str, ...] = ()  # directories that did not exist, outermost first


class InstallLedger(msgspec.Struct, frozen=True, kw_only=True):
    """All records by path. One ledger for all hosts, because two hosts may share a file."""

    version: Annotated[int, msgspec.Meta(ge=1, le=1)] = 1
    files: dict[str, FileRecord] = {}
    directory: str = ""

    @classmethod
    def load(cls, data_dir: str) -> "InstallLedger":
        directory = os.path.join(data_dir, DIRECTORY)
        path = os.path.join(directory, "ledger.json")
        try:
            with open(path, "rb") as file:
                found = msgspec.json.decode(file.read(), type=cls)
        except FileNotFoundError:
            return cls(directory=directory)
        except OSError as error:
            raise BadInput(f"{path} cannot be read: {error.strerror}") from error
        except msgspec.MsgspecError as error:
            raise BadInput(
                f"{path} is damaged: {error}",
                hint=f"Move it away; the originals are beside it in {directory}/files.",
            ) from error
        return msgspec.structs.replace(found, directory=directory)

    @property
    def path(self) -> str:
        return os.path.join(self.directory, "ledger.json")

    @property
    def files_directory(self) -> str:
        return os.path.join(self.directory, "files")

    def backup_path(self, path: str) -> str:
        name = hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()[:16]
        return os.path.join(self.files_directory, f"{name}-{os.path.basename(path)}")

    def original(self, path: str) -> bytes | None:
        """The bytes from before us, verified; None when there was no file."""
        record = self.files[path]
        if record.before is None:
            return None
        try:
            with open(self.backup_path(path), "rb") as file:
                raw = file.read()
        except OSError as error:
            raise BadInput(
                f"the backup of {path} cannot be read: {error.strerror}",
                hint=f"Remove Recollect's entries from {path} by hand.",
            ) from error
        if hashlib.sha256(raw).hexdigest() != record.before:
            raise BadInput(
                f"the backup of {path} does not match its hash",
                hint=f"Compare {self.backup_path(path)} with {path} by hand.",
            )
        return raw

    def installations(self) -> list[tuple[str, str]]:
        """Every host that has something of ours, with its project ("" for the user)."""
        found = {(host, record.project) for record in self.files.values() for host in record.hosts}
        return sorted(found)

    def encoded(self) -> bytes:
        return msgspec.json.format(
            msgspec.json.encode({"version": self.version, "files": self.files}), indent=1
        )
