"""Settings of a host that keep it from running hooks, and the files in which they stand.

In: files, the weakest first, as the host merges them. Out: the switches that are on. A file that
cannot be read has none: its host does not read it either, and planning an install says what is
wrong with it.
"""

import glob
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from recollect.core.errors import RecollectError
from recollect.hosts import toml_edit
from recollect.hosts.changes import read
from recollect.hosts.json_edit import JsonDocument

Key = tuple[str, ...]


@dataclass(frozen=True)
class OffSwitch:
    """Why a host does not run our hooks, and what to do about it."""

    what: str
    hint: str


def switched_off(files: Iterable[str], key: Key, off: object) -> list[OffSwitch]:
    """The switch that is on: the strongest file that sets the key decides."""
    found = [(path, value) for path in files if (value := value_of(path, key)) is not None]
    if not found or found[-1][1] != off:
        return []
    return [_switch(found[-1][0], key, off)]


def forbidden(files: Iterable[str], key: Key) -> list[OffSwitch]:
    """Files in which an organisation allows no hooks but its own."""
    return [_switch(path, key, True) for path in files if value_of(path, key) is True]


def _switch(path: str, key: Key, off: object) -> OffSwitch:
    setting = ".".join(key)
    value = str(off).lower() if isinstance(off, bool) else str(off)
    return OffSwitch(f"{setting} is {value} in {path}", f"Remove {setting} from {path}")


def value_of(path: str, key: Key) -> Any:
    """What a JSON or TOML file sets; None when it does not."""
    try:
        raw = read(path)
        if raw is None:
            return None
        if not path.endswith(".toml"):
            return JsonDocument.read(raw, path).get(key)
        found: Any = toml_edit.read(raw, path)
    except RecollectError:
        return None
    for step in key:
        found = found.get(step) if isinstance(found, dict) else None
    return found


def below(folders: Iterable[str], *names: str) -> list[str]:
    return [os.path.join(folder, name) for folder in folders for name in names]


def fragments(folder: str) -> list[str]:
    """The files of a `settings.d` folder, in the order in which they are merged."""
    return sorted(glob.glob(os.path.join(glob.escape(folder), "*.json")))


def project_folders(cwd: str, home: str) -> list[str]:
    """Where a project's settings may stand: its root first, then the folders down to this one."""
    found, folder = [], os.path.abspath(cwd)
    while folder not in (home, os.path.dirname(folder)):
        found.append(folder)
        if os.path.exists(os.path.join(folder, ".git")):
            return found[::-1]
        folder = os.path.dirname(folder)
    return found[:1]  # no repository: a host looks no further than where it was started
