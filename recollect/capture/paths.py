"""Where the hook finds the data directory and the socket; hook.c finds the same.

In: the environment and the place of the running program. Out: absolute paths as bytes-safe text.
Nothing is created but the runtime directory of a socket, which is refused unless it is ours alone.
"""

import os
import sys

# What fits into sockaddr_un, without its closing NUL.
SOCKET_PATH_BYTES = 107 if sys.platform == "linux" else 103

_FNV_OFFSET = 0xCBF29CE484222325
_FNV_PRIME = 0x100000001B3


def data_directory(program: str = "") -> str:
    """$RECOLLECT_HOME; else the directory in whose bin/ the program lies; else ~/.recollect."""
    chosen = os.environ.get("RECOLLECT_HOME", "")
    if chosen == "~" or chosen.startswith("~/"):
        chosen = user_home() + chosen[1:] or "/"
    if chosen:
        return os.path.abspath(chosen)
    if program:
        folder, _ = os.path.split(os.path.realpath(program))
        parent, name = os.path.split(folder)
        if name == "bin" and os.path.exists(parent + "/launcher"):
            return parent
    return os.path.abspath(user_home() + "/.recollect")


def user_home() -> str:
    """$HOME; else the home that the system has for this user; else the root directory."""
    if sys.platform == "win32":
        return os.environ.get("USERPROFILE", "")
    home = os.environ.get("HOME", "")
    if home:
        return home
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return ""


def is_loopback() -> bool:
    """As core/oslayer.py has it, which is too slow to import."""
    return sys.platform == "win32" or os.environ.get("RECOLLECT_LOOPBACK") == "1"


def socket_path(directory: str, name: str = "hook.sock") -> str:
    """The socket of a data directory: in it, or, where that is too long for a socket, in a
    directory of the runtime directory that is named after it."""
    plain = os.path.join(directory, name)
    if sys.platform == "win32" or is_loopback():
        return plain
    if len(os.fsencode(plain)) <= SOCKET_PATH_BYTES:
        return plain
    runtime = os.environ.get("XDG_RUNTIME_DIR", "") or "/tmp"
    return f"{runtime}/recollect-{os.getuid()}-{_fnv1a64(os.fsencode(directory)):016x}/{name}"


def is_ours(socket: str, directory: str) -> bool:
    """Whether a socket's place can be trusted: anyone may make directories in /tmp."""
    folder = os.path.dirname(socket)
    if sys.platform == "win32" or folder == directory:
        return True
    try:
        status = os.lstat(folder)
    except OSError:
        return False
    return status.st_mode & 0o170077 == 0o040000 and status.st_uid == os.getuid()


def prepare_socket_directory(socket: str, directory: str) -> None:
    """For the daemon: make the place of a socket. PermissionError when it is another's."""
    folder = os.path.dirname(socket)
    if folder == directory:
        return
    os.makedirs(folder, mode=0o700, exist_ok=True)
    if not is_ours(socket, directory):
        raise PermissionError(f"{folder} is not a directory of this user alone")


def _fnv1a64(data: bytes) -> int:
    value = _FNV_OFFSET
    for byte in data:
        value = (value ^ byte) * _FNV_PRIME & 0xFFFFFFFFFFFFFFFF
    return value
