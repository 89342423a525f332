"""`<data directory>/launcher`: how the hook finds Python. One item per line.

In: the data directory. Out: the python, the fallback script, the directory of the package.
OSError when there is no such file, ValueError when it is not one of ours.
"""

import os


def path(directory: str) -> str:
    return os.path.join(directory, "launcher")


def read(directory: str) -> tuple[str, str, str]:
    fd = os.open(path(directory), os.O_RDONLY)
    try:
        lines = os.fsdecode(os.read(fd, 3 * 4096)).split("\n")
    finally:
        os.close(fd)
    if len(lines) < 3 or not os.path.isabs(lines[0]):
        raise ValueError(f"{path(directory)} does not name a python, a script and a package")
    return lines[0], lines[1], lines[2]
