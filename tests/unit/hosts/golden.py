"""Golden files of the installers, and the command that writes them anew.

`python -m tests.unit.hosts.golden` runs each installer on `tests/data/install/<host>/<case>/before`
and writes `after` beside it. Read the difference before you commit it.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from recollect.hosts import registry
from recollect.hosts.context import Context
from recollect.hosts.install import install
from recollect.hosts.installer import Installer

DATA = Path(__file__).parents[2] / "data" / "install"
HOME = b"@HOME@"


def context(home: Path, **more: object) -> Context:
    data_dir = os.path.join(home, ".recollect")
    values: dict[str, object] = {
        "home": str(home),
        "data_dir": data_dir,
        "hook_command": os.path.join(data_dir, "bin", "recollect-hook"),
        "mcp_command": (os.path.join(home, "venv", "bin", "recollect"), "mcp"),
        "platform": "linux",
        "rules_file": "" if "scope" in more else os.path.join(home, "AGENTS.md"),
    }
    return Context(**(values | more))  # type: ignore[arg-type]


def cases() -> Iterator[tuple[Installer, Path]]:
    for host in registry.installers().values():
        for case in sorted((DATA / host.name).glob("*")):  # one without is named by the contract
            yield host, case


def tree(folder: Path) -> dict[str, bytes]:
    """All files below, but for our own data directory."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and path.name != ".keep"
        and ".recollect" not in path.relative_to(folder).parts
    }


def laid_out(case: Path, home: Path) -> None:
    """The files from before, with their real home in them."""
    for name, raw in tree(case / "before").items():
        target = home / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(raw.replace(HOME, str(home).encode()))


def installed(host: Installer, home: Path) -> dict[str, bytes]:
    report = install([host], context(home), lambda *_: True)
    assert report.ok, report.results[0].error
    return {name: raw.replace(str(home).encode(), HOME) for name, raw in tree(home).items()}


def main() -> None:
    for host, case in cases():
        shutil.rmtree(case / "after", ignore_errors=True)
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder)
            laid_out(case, home)
            for name, raw in installed(host, home).items():
                target = case / "after" / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(raw)
        print(host.name, case.name, file=sys.stderr)


if __name__ == "__main__":
    main()
