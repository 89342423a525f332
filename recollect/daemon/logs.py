"""The daemon's log: one file per day, without secrets, also when the disk is full.

In: settings. Out: handlers of `logging`. When no file can be written, standard error says so.
"""

import logging
import logging.handlers
import os
import sys
import threading
import time

from recollect import privacy
from recollect.core import oslayer
from recollect.core.settings import Settings

log = logging.getLogger("recollect.daemon")

KEPT_DAYS = 14  # long enough to look back at last week's trouble
ENTRY_CHARS = 20_000  # a longer entry is no use to anybody


class ScrubbedFormatter(logging.Formatter):
    """Removes secrets from every line, since an error may quote what it was given."""

    def format(self, record: logging.LogRecord) -> str:
        return privacy.scrub(super().format(record)[:ENTRY_CHARS])


def start_log(chosen: Settings, *, to_terminal: bool) -> None:
    """A new file every day; the old ones are kept for two weeks."""
    # A line that cannot be written (a full disk) is lost. Python would print a traceback for each
    # instead, and stop the daemon in the middle of it when nobody reads what it prints.
    logging.raiseExceptions = False
    folder = chosen.path("logs")
    handlers: list[logging.Handler] = [logging.StreamHandler()] if to_terminal else []
    try:
        oslayer.private_directory(chosen.directory)
        oslayer.private_directory(folder)
        handlers.append(
            logging.handlers.TimedRotatingFileHandler(
                os.path.join(folder, "recollect.log"),
                when="midnight",
                backupCount=KEPT_DAYS,
                encoding="utf-8",
                utc=True,
            )
        )
    except OSError as error:
        print(f"recollect: no log: {error}", file=sys.stderr)  # noqa: T201 - there is no log
    formatter = ScrubbedFormatter("%(asctime)s.%(msecs)03dZ %(levelname)s %(name)s: %(message)s")
    formatter.converter = time.gmtime
    formatter.default_time_format = formatter.datefmt = "%Y-%m-%dT%H:%M:%S"
    for one in handlers:
        one.setFormatter(formatter)
    logging.basicConfig(level=chosen.log_level.upper(), handlers=handlers, force=True)


def log_thread_failure(failure: threading.ExceptHookArgs) -> None:
    """A thread ended by an error that nobody expected: its traceback belongs in the log."""
    name = failure.thread.name if failure.thread else "a thread"
    log.error("%s ended: %s", name, failure.exc_value, exc_info=failure.exc_value)
