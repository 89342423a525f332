"""The daemon's process: `python -m recollect.daemon`.

In: settings; `--foreground` logs to the terminal too. Out: an exit code; the reason of a failure is
in the log, in `daemon.json` and on standard error. `--restore FILE`, `--accept-loss`, `--encrypt`
and `--decrypt` work on the files instead, and answer with JSON. After `--keys`, the first argument,
the keys that a command holds come on standard input.
"""

import contextlib
import logging
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

from recollect.core import daemon_stage, errors, oslayer, settings, store_key
from recollect.core.settings import Settings
from recollect.core.values import encode
from recollect.daemon.encryption import decrypt, encrypt
from recollect.daemon.logs import log_thread_failure, start_log
from recollect.daemon.restore import accept_loss, restore
from recollect.daemon.runtime import Runtime
from recollect.portable.backups import made_in

log = logging.getLogger("recollect.daemon")


def main(*, to_terminal: bool = False) -> int:
    """Run in this process until stopped; 0 after a requested stop, 1 when it could not start or
    had to end, 3 when another daemon has this data directory."""
    os.umask(0o077)
    # Switch threads sooner: filling an index must not delay the thread that answers prompts.
    sys.setswitchinterval(0.001)
    chosen: Settings | None = None
    try:
        chosen = settings.load()
        start_log(chosen, to_terminal=to_terminal)
        threading.excepthook = log_thread_failure
        Runtime(chosen).run()
    except errors.StoreBusy as error:
        log.warning("not started: %s", error)
        return 3
    except errors.DiskFull as error:
        return _ended(chosen, str(error), "Free some space, then: recollect up")
    except errors.RecollectError as error:
        return _ended(chosen, str(error), error.hint + _newest_backup(chosen, error))
    except OSError as error:
        problem = f"the operating system reported: {error}"
        return _ended(chosen, problem, "Check the disk and the data directory, then: recollect up")
    except (MemoryError, RuntimeError) as error:
        if not oslayer.out_of_resources(error):
            raise
        log.exception("stopped")
        problem = f"too little memory, or too many processes: {error or 'out of memory'}"
        return _ended(chosen, problem, "Free some, then: recollect up")
    return 0


def _ended(chosen: Settings | None, problem: str, hint: str) -> int:
    """Report why the daemon ended: in the log, to commands (`daemon.json`), and on stderr."""
    told = f"{problem.rstrip('.')}. {hint}" if hint else problem
    log.error("not running: %s", told)
    print(f"recollect: {told}", file=sys.stderr)  # noqa: T201 - there may be no log to read
    if chosen is not None:
        now = daemon_stage.Stage("failed", pid=os.getpid(), problem=problem, hint=hint)
        with contextlib.suppress(OSError):
            daemon_stage.write(chosen.directory, now)
    return 1


def _newest_backup(chosen: Settings | None, error: errors.RecollectError) -> str:
    """For a store that lost rows: the newest backup, as a sentence."""
    if chosen is None or not isinstance(error, (errors.LessThanStored, errors.DamagedDatabase)):
        return ""
    made = made_in(chosen.path("backups"))
    if not made:
        return " There is no backup."
    return f" The newest backup is {os.path.basename(made[0])}."


def answer(work: Callable[[Settings], dict[str, Any]]) -> int:
    """For commands that let this program work on the files: JSON on standard output, and 1 with
    the reason when it cannot be done."""
    os.umask(0o077)
    try:
        done = work(settings.load())
    except errors.RecollectError as error:
        done = {"error": str(error), "hint": error.hint}
    except OSError as error:
        done = {"error": f"the operating system reported: {error}", "hint": "Check the disk."}
    sys.stdout.buffer.write(encode(done) + b"\n")
    return 1 if "error" in done else 0


if __name__ == "__main__":
    given = sys.argv[1:]
    if given[:1] == ["--keys"]:
        store_key.take_over(sys.stdin.buffer.read())
        given = given[1:]
    match given:
        case ["--restore", path]:
            sys.exit(answer(lambda chosen: restore(chosen, path)))
        case ["--accept-loss"]:
            sys.exit(answer(accept_loss))
        case ["--encrypt"]:
            sys.exit(answer(encrypt))
        case ["--decrypt"]:
            sys.exit(answer(decrypt))
        case arguments:
            sys.exit(main(to_terminal="--foreground" in arguments))
