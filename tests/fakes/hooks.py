"""Real hooks as processes: the compiled program and the Python one, installed in a scratch home.

In: a directory. Out: an installed hook, and what one call of it did. The program is compiled from
the source as it is now, once per version of it, with every warning an error.
"""

import hashlib
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO

from recollect.capture import launcher, spool
from recollect.capture.frames import Frame
from tests.fakes.waiting import PATIENCE_S

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "recollect" / "capture" / "hook.c"
FLAGS = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O2")
KINDS = ("compiled", "python")


@cache
def compiled(*defines: str) -> str:
    """The path of the compiled hook."""
    flags = (*FLAGS, *(f"-D{define}" for define in defines))
    sources = b"".join(path.read_bytes() for path in sorted(SOURCE.parent.glob("hook*.[ch]")))
    name = hashlib.sha256(sources + " ".join(flags).encode()).hexdigest()[:16]
    target = Path(tempfile.gettempdir()) / f"recollect-hook-{os.getuid()}-{name}"
    if not target.exists():
        fresh = f"{target}.{os.getpid()}"
        subprocess.run([os.environ.get("CC", "cc"), *flags, "-o", fresh, SOURCE], check=True)
        os.rename(fresh, target)
    return str(target)


@dataclass(frozen=True)
class Result:
    code: int
    stdout: bytes
    stderr: bytes


@dataclass(frozen=True)
class Hook:
    """A hook of one kind, installed for one data directory."""

    kind: str
    directory: Path
    program: str

    @property
    def socket(self) -> str:
        return str(self.directory / "hook.sock")

    def environment(self, **more: str) -> dict[str, str]:
        """Nothing of this machine's: the real home can be neither read nor written."""
        return {
            "PATH": "/usr/bin:/bin",
            "HOME": str(self.directory.parent / "no-home"),
            "RECOLLECT_HOME": str(self.directory),
            **more,
        }

    def start(
        self,
        *argv: str | bytes,
        env: dict[str, str] | None = None,
        stdin: int | IO[bytes] | None = subprocess.PIPE,
        cwd: str | Path = "/",
    ) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [self.program, *argv],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment() if env is None else env,
            cwd=cwd,
        )

    def call(
        self,
        *argv: str | bytes,
        stdin: bytes = b"",
        env: dict[str, str] | None = None,
        cwd: str | Path = "/",
        timeout: float = PATIENCE_S,
    ) -> Result:
        with self.start(*argv, env=env, cwd=cwd) as process:
            try:
                out, err = process.communicate(stdin, timeout)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        return Result(process.returncode, out, err)

    def spooled(self) -> list[Frame]:
        return [frame for _, frame, _ in spool.drain(str(self.directory))]


def install(kind: str, directory: Path, python: str = sys.executable) -> Hook:
    """A hook in `directory/bin`, as `recollect install` puts it there; it starts no daemon unless
    `run_instead` says what to run."""
    directory.mkdir(mode=0o700, exist_ok=True)
    start_nothing(directory)
    launcher.write(str(directory), python)
    source = compiled() if kind == "compiled" else "/nonexistent"
    return Hook(kind, directory, launcher.install_hook(str(directory), python, source))


def start_nothing(directory: Path) -> None:
    """Keep hooks from starting a daemon: there can be no lock where a directory is."""
    (directory / "start.lock").mkdir(mode=0o700, exist_ok=True)


def may_start(directory: Path) -> None:
    """Let them again."""
    (directory / "start.lock").rmdir()


def impatient(kind: str, directory: Path, seconds: int) -> Hook:
    """A hook that waits only so long for input that does not end."""
    hook = install(kind, directory)
    if kind == "compiled":
        launcher.install_hook(str(directory), compiled=compiled(f"LATE_MS={1000 * seconds}"))
        return hook
    program = Path(hook.program)
    shorter = f"from recollect.capture import fallback\n    fallback.LATE_SECONDS = {seconds}\n"
    program.write_text(program.read_text().replace("    main()\n", f"    {shorter}    main()\n"))
    return hook


def run_instead(hook: Hook, up: str) -> None:
    """Let the launcher's python note each `python -m recollect up` and do `up` then."""
    fake = hook.directory / "python"
    fake.write_text(
        f'#!/bin/sh\n[ "$1" = -m ] || exec {sys.executable} "$@"\n'
        f'echo "$@ home=$RECOLLECT_HOME internal=${{RECOLLECT_INTERNAL-unset}}'
        f' path=${{PYTHONPATH-unset}} $(pwd)" >> {hook.directory}/started\n{up}\n'
    )
    fake.chmod(0o700)
    file = hook.directory / "launcher"
    file.write_text("\n".join([str(fake), *file.read_text().split("\n")[1:]]))
    may_start(hook.directory)


def starts(hook: Hook) -> list[str]:
    """What `run_instead` has noted."""
    path = hook.directory / "started"
    return path.read_text().splitlines() if path.exists() else []
