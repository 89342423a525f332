"""What `oslayer` needs of Windows; see there. Run under Wine, not on a real Windows.

In and out: as in `oslayer.py`, which calls this module and is the only one that does.
"""

import ctypes
import msvcrt
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

assert sys.platform == "win32"  # so that type checkers read this file for Windows alone

_kernel = ctypes.WinDLL("kernel32", use_last_error=True)
_QUERY = 0x1000  # PROCESS_QUERY_LIMITED_INFORMATION
_EVENT_MODIFY = 2
_STILL_ACTIVE = 259
# A lock hides the bytes that it covers from others: it covers one that no file of ours has.
_LOCKED_BYTE = 1 << 30

# os.open gives bytes as they are from here on, as on other systems; \n would become \r\n.
ctypes.CDLL("ucrtbase")._set_fmode(os.O_BINARY)


def try_lock(fd: int) -> bool:
    os.lseek(fd, _LOCKED_BYTE, os.SEEK_SET)
    try:
        msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
    except OSError:  # EACCES; Wine gives no number
        return False
    finally:
        os.lseek(fd, 0, os.SEEK_SET)
    return True


def free_bytes(path: str) -> int:
    return shutil.disk_usage(path).free


def exists(pid: int) -> bool:
    process = _kernel.OpenProcess(_QUERY, False, pid)
    if not process:
        return False
    code = ctypes.c_ulong()
    _kernel.GetExitCodeProcess(process, ctypes.byref(code))
    _kernel.CloseHandle(process)
    return code.value == _STILL_ACTIVE


def cpu_ticks(pid: int) -> int:
    process = _kernel.OpenProcess(_QUERY, False, pid)
    if not process:
        return 0
    times = [ctypes.c_ulonglong() for _ in range(4)]  # creation, exit, kernel, user; in 100 ns
    _kernel.GetProcessTimes(process, *map(ctypes.byref, times))
    _kernel.CloseHandle(process)
    return (times[2].value + times[3].value) // 100_000


def end_tree(pid: int) -> bool:
    command = ["taskkill", "/T", "/F", "/PID", str(pid)]
    return subprocess.run(command, capture_output=True).returncode == 0


def inherited(handles: list[int]) -> dict[str, Any]:
    for handle in handles:
        os.set_handle_inheritable(handle, True)
    return {"startupinfo": subprocess.STARTUPINFO(lpAttributeList={"handle_list": handles})}


def _event(pid: int) -> str:
    return f"Local\\recollect-stop-{pid}"


def on_stop(stop: Callable[[], None]) -> None:
    """Call `stop` when `ask_to_stop` is called for this process. Windows has no SIGTERM."""
    event = _kernel.CreateEventW(None, True, False, _event(os.getpid()))

    def wait() -> None:
        _kernel.WaitForSingleObject(event, -1)
        stop()

    threading.Thread(target=wait, name="recollect-stop", daemon=True).start()


def ask_to_stop(pid: int) -> None:
    event = _kernel.OpenEventW(_EVENT_MODIFY, False, _event(pid))
    if not event:
        if not exists(pid):
            raise ProcessLookupError(pid)
        return  # it has not come so far, or is no daemon: whoever asks will end it
    _kernel.SetEvent(event)
    _kernel.CloseHandle(event)


# Neither in the console nor in the group of its parent, so that it outlives both.
DETACHED = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP


def start_detached(command: list[str], environment: dict[str, str]) -> None:
    nowhere = subprocess.DEVNULL
    subprocess.Popen(
        command, env=environment, stdin=nowhere, stdout=nowhere, stderr=nowhere,
        creationflags=DETACHED,
    )  # fmt: skip
