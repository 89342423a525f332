"""Reflection once a week, after the daily maintenance.

In: the runtime. Out: proposals, and the time of the last one in the file `reflected`.
"""

import os
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from recollect.core import oslayer

if TYPE_CHECKING:
    from recollect.daemon.runtime import Runtime

EVERY = timedelta(days=7)
FILE = "reflected"


def reflect_if_due(runtime: "Runtime") -> None:
    from recollect.service import reflection  # only once a week

    path, now = runtime.settings.path(FILE), runtime.clock.now()
    try:
        last = datetime.fromtimestamp(os.stat(path).st_mtime, UTC)
    except FileNotFoundError:
        last = None
    if last is not None and now - last < EVERY:
        return
    if last is not None:  # after the first week there is something to look back on
        with runtime.jobs.running("reflection", "the last week") as job:
            reflection.reflect(runtime, reflection.ReflectionRequest(project="all"), job)
    oslayer.replace_file(path, b"")
    os.utime(path, (now.timestamp(), now.timestamp()))
