"""`python -m tests.bench.hook [calls]`: CPU of one hook call, fork to exit, with the daemon up.

In: the hook from this tree and a socket that answers. Out: medians beside /bin/true, `python3 -c
pass` and `node -e 0`, all in turn within one run. Exit status 1 when a bar is missed.
"""

import os
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

from tests.fakes.frame_server import FrameServer
from tests.fakes.hooks import install

PAYLOAD = b'{"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "%s"}' % (
    b"why does the retry storm " * 20
)


def cpu_ms(command: list[str], environment: dict[str, str]) -> float:
    """User and system time of a child, from fork to exit."""
    read, write = os.pipe()
    os.write(write, PAYLOAD)  # fits into the pipe, and not every command reads it
    os.close(write)
    child = os.fork()
    if child == 0:
        try:
            os.dup2(read, 0)
            os.dup2(os.open("/dev/null", os.O_WRONLY), 1)
            os.closerange(3, 64)
            os.execve(command[0], command, environment)
        finally:
            os._exit(127)
    os.close(read)
    _, status, usage = os.wait4(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0, command
    return (usage.ru_utime + usage.ru_stime) * 1000


def measure(calls: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as scratch:
        fast = install("compiled", Path(scratch) / "c")
        slow = install("python", Path(scratch) / "p")
        event = ["claude-code", "UserPromptSubmit"]
        cases = {
            "/bin/true": (["/bin/true"], {}),
            "hook, compiled": ([fast.program, *event], fast.environment()),
            "hook, Python": ([slow.program, *event], slow.environment()),
            "python3 -I -S -E -c pass": ([sys.executable, "-ISE", "-c", "pass"], {}),
            "python3 -c pass": ([sys.executable, "-c", "pass"], {}),
        }
        if node := shutil.which("node"):
            cases["node -e 0"] = ([node, "-e", "0"], {"PATH": os.environ["PATH"]})
        samples: dict[str, list[float]] = {name: [] for name in cases}
        with FrameServer(fast.socket) as first, FrameServer(slow.socket) as second:
            for _ in range(calls):
                for name, (command, environment) in cases.items():
                    samples[name].append(cpu_ms(command, environment))
            assert len(first.taken) == len(second.taken) == calls
    return {name: statistics.median(values) for name, values in samples.items()}


def main() -> int:
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    medians = measure(calls)
    for name, value in medians.items():
        print(f"{name:28} {value:7.2f} ms CPU")
    above = medians["hook, compiled"] - medians["/bin/true"]
    spare = medians["python3 -c pass"] - medians["hook, Python"]
    print(f"compiled hook above /bin/true: {above:.2f} ms (bar: 3)")
    print(f"Python hook below python3 -c pass: {spare:.2f} ms (bar: 0)")
    return 0 if above <= 3 and spare >= 0 else 1


if __name__ == "__main__":
    sys.exit(main())
