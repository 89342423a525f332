"""Putting the hook where hosts find it, and telling it where Python is.

In: the data directory. Out: `launcher`, `bin/recollect-hook` and the fallback script `bin/hook.py`
in it, whole or not at all.
OSError when the directory cannot be written to, BadInput when a path cannot stand on a line.
"""

import os
import subprocess
import sys

from recollect.capture import launcher_file
from recollect.core import oslayer
from recollect.core.errors import BadInput

_HERE = os.path.dirname(os.path.abspath(__file__))
COMPILED = os.path.join(_HERE, "recollect-hook")
NAME = "recollect-hook"
if sys.platform == "win32":  # there a program is known by its ending
    COMPILED += ".exe"
    NAME += ".exe" if os.path.exists(COMPILED) else ".cmd"
PACKAGE = os.path.dirname(os.path.dirname(_HERE))

# The kernel cuts a longer first line, and splits it at a blank.
_SHEBANG_BYTES = 120

# What the compiled hook runs when the daemon does not answer, with -I -S -E and --frame, and the
# hook itself where there is no compiled one. It is tiny because Python compiles a script anew each
# time it runs. The package may have moved with another version of Python in the same place.
_HOOK = """\
# Written by recollect/capture/launcher.py.
import os
import sys

try:
    # At the end of the path, so that nothing beside the package can hide a standard module.
    place = sys.executable.rpartition("/bin/")[0] + "/lib/python{{}}.{{}}/site-packages"
    sys.path += [{package!r}, place.format(*sys.version_info)]
    from recollect.capture.fallback import main

    main()
except BaseException:  # a hook fails open; not even a broken install speaks
    pass
finally:
    os._exit(0)  # without the interpreter's tidying up, which costs 2 ms
"""

# For a python whose path cannot stand in a first line. `:` and the quotes hide it from Python.
_SHELL = """\
#!/bin/sh
''':'
[ -x {python} ] || exit 0
exec {python} -ISE "$0" "$@" 2>/dev/null
'''
"""


def write(directory: str, python: str = sys.executable) -> str:
    """Write the launcher file and the script that it names; gives its path."""
    script = os.path.join(directory, "bin", "hook.py")
    lines = (python, script, PACKAGE)
    if any("\n" in line for line in lines) or not os.path.isabs(python):
        raise BadInput(f"not a path that the hook can be told: {lines!r}", field="python")
    os.makedirs(os.path.dirname(script), mode=0o700, exist_ok=True)
    _put(script, os.fsencode(_HOOK.format(package=PACKAGE)), 0o600)
    target = launcher_file.path(directory)
    _put(target, os.fsencode("\n".join(lines) + "\n"), 0o600)
    return target


def install_hook(directory: str, python: str = sys.executable, compiled: str = COMPILED) -> str:
    """Put the hook into `<directory>/bin/` and give its path: the compiled program where there is
    one that runs here, else a script that does the same."""
    folder = os.path.join(directory, "bin")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    target = os.path.join(folder, NAME)
    if _runs(compiled):
        with open(compiled, "rb") as file:
            content = file.read()
    else:
        content = _script(python)
    _put(target, content, 0o700)
    return target


def _runs(program: str) -> bool:
    """A program built on a newer system may be here and not start."""
    try:
        run = subprocess.run([program, "--where"], capture_output=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return False
    return run.returncode == 0 and os.path.isabs(os.fsdecode(run.stdout))


def _script(python: str) -> bytes:
    if sys.platform == "win32":
        return os.fsencode(f'@"{python}" -I -S -E "%~dp0hook.py" %* 2>nul\r\n')
    body = _HOOK.format(package=PACKAGE)
    first = f"#!{python} -ISE\n"
    if len(os.fsencode(first)) > _SHEBANG_BYTES or any(char.isspace() for char in python):
        import shlex

        first = _SHELL.format(python=shlex.quote(python))
    return os.fsencode(first + body)


def _put(target: str, content: bytes, mode: int) -> None:
    """A program that runs can be renamed over, but not be written to. What is there already is
    left alone: it needs no room on a disk that has none."""
    if not _same(target, content, mode):
        oslayer.replace_file(target, content, mode)


def _same(target: str, content: bytes, mode: int) -> bool:
    try:
        with open(target, "rb") as file:
            same_mode = os.fstat(file.fileno()).st_mode & 0o777 == mode
            return same_mode and file.read(len(content) + 1) == content
    except OSError:
        return False
