"""Builds the compiled hook into the package, where a C compiler is found.

In: recollect/capture/hook.c. Out: recollect/capture/recollect-hook, and then a wheel for this
platform; without a compiler a wheel for every platform, whose hook is the Python one.
"""

import os
import shlex
import subprocess
from functools import cache
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

CAPTURE = Path(__file__).resolve().parent / "recollect" / "capture"
SOURCE = CAPTURE / "hook.c"
PROGRAM = CAPTURE / "recollect-hook"
FLAGS = ("-std=c99", "-O2", "-Wall", "-Wextra", "-Wpedantic")


@cache
def compile_hook() -> bool:
    """Whether there is a compiled hook, from the source as it is now."""
    fresh = CAPTURE / "recollect-hook.new"
    command = [*shlex.split(os.environ.get("CC", "cc")), *FLAGS, "-o", str(fresh), str(SOURCE)]
    try:
        subprocess.run(command, check=True, capture_output=True)
        # A compiler for another machine gives a program that does not run on this one.
        subprocess.run([fresh, "--where"], check=True, capture_output=True, timeout=10)
        fresh.replace(PROGRAM)
    except (OSError, subprocess.SubprocessError):
        fresh.unlink(missing_ok=True)
        PROGRAM.unlink(missing_ok=True)
        return False
    return True


class BuildPy(build_py):
    """For wheels and for editable installs."""

    def run(self) -> None:
        compiled = compile_hook()
        super().run()
        # Not as package data, which a source package would hold too.
        target = Path(self.build_lib, "recollect", "capture", PROGRAM.name)
        target.unlink(missing_ok=True)  # what an earlier build left there
        if compiled and not self.editable_mode:
            self.copy_file(str(PROGRAM), str(target))
        windows = PROGRAM.with_suffix(".exe")  # `make windows-hook` made it
        if windows.exists() and not self.editable_mode:
            self.copy_file(str(windows), str(target.with_suffix(".exe")))


class Platform(Distribution):
    """What makes setuptools treat the package as one for this platform."""

    def has_ext_modules(self) -> bool:
        return compile_hook()


class Wheel(bdist_wheel):
    """The program does not care which Python 3 the package is installed for."""

    def get_tag(self) -> tuple[str, str, str]:
        _, _, platform = super().get_tag()
        return "py3", "none", platform


setup(distclass=Platform, cmdclass={"bdist_wheel": Wheel, "build_py": BuildPy})
