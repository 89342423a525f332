"""The hook in Python for Windows, where no process can fork and no signal or poll ends a wait.

In and out: as in `fallback.py`, which does the rest. Differences: input that comes later than the
hook may wait is sent as it is, marked LATE; a second process takes over what the daemon did not
take, and may outlive this one. Run under Wine, not on a real Windows.
"""

import os
import subprocess
import sys
import threading
import time

from recollect.capture import fallback, frames, launcher_file
from recollect.capture.paths import data_directory, socket_path

assert sys.platform == "win32"

from recollect.core.oslayer_windows import DETACHED  # noqa: E402  and files carry bytes as they are


def main(mono_ns: int) -> None:
    directory = data_directory(sys.argv[0])
    match sys.argv[1:]:
        case ["--frame", mode, given]:
            fallback.take_over(mode, given)
        case ["--where"]:
            fallback.write_all(1, os.fsencode(f"{directory}\n{socket_path(directory)}\n"))
        case ["--private", given, *call]:
            _note_private(given, call, mono_ns)
        case call if fallback.is_private():
            _note_private(directory, call, mono_ns)
        case _ if not os.environ.get("RECOLLECT_INTERNAL"):
            _be_the_hook(directory, mono_ns)


def _be_the_hook(directory: str, mono_ns: int) -> None:
    deadline, call = fallback.Deadline(mono_ns), fallback.Call(mono_ns)
    stop = fallback.START_STOP_SECONDS if call.is_start else fallback.STOP_SECONDS
    request = call.request(_read_stdin(call, deadline))
    mode = "spool"
    try:
        fallback.answer(fallback.exchange(directory, request, deadline, call.patience))
        return
    except fallback.Unreached:
        mode = "retry"
    except (fallback.Unanswered, OSError):
        pass
    _hand_over(mode, directory, request, deadline.left(stop))


def _read_stdin(call: fallback.Call, deadline: fallback.Deadline) -> fallback.Stdin:
    """A thread reads, because no read of a pipe has a time limit."""
    stdin = fallback.Stdin()

    def read() -> None:
        while stdin.is_open:
            stdin.read_once()

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    reader.join(deadline.left(fallback.STDIN_SECONDS))
    if reader.is_alive() and not stdin.is_whole():
        call.flags |= frames.LATE
    return stdin


def _hand_over(mode: str, directory: str, request: bytes, seconds: float) -> None:
    """Let a second process deliver or spool the frame; print what it prints, for so long."""
    python, script, _ = launcher_file.read(directory)
    command = [python, "-I", "-S", "-E", script, "--frame", mode, directory]
    child = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        creationflags=DETACHED,
    )  # fmt: skip
    assert child.stdin is not None
    assert child.stdout is not None
    with child.stdin as sent:
        sent.write(request)
    answer = child.stdout
    relay = threading.Thread(target=lambda: fallback.answer(answer.read()), daemon=True)
    relay.start()
    relay.join(seconds)


def _note_private(directory: str, call: list[str], mono_ns: int) -> None:
    from recollect.capture import hook_keepout

    deadline = fallback.Deadline(mono_ns)
    stdin = _read_stdin(fallback.Call(mono_ns), deadline)
    host, event = [*call, "", ""][:2]
    now_ms = time.time_ns() // 1_000_000
    hook_keepout.keep_private(directory, host, event, stdin.data, os.getcwd(), now_ms)
