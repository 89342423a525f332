"""The real daemon with a memory that always has something to say, to see where it arrives.

In: the usual settings. Out: a daemon whose answers to hooks hold a fenced text that names its
trigger. For tests only: `python -m tests.clients.recalling_daemon`.
"""

import os
import sys

from recollect.core import settings
from recollect.daemon.logs import start_log
from recollect.daemon.runtime import Runtime
from recollect.ingest.messages import Recalled, RecallQuestion

MARK = "RECALLED"


def recalled(question: RecallQuestion) -> Recalled:
    return Recalled(
        f"[recollect 7e57]\nNotes from earlier work. {MARK}-{question.trigger}\n[/recollect 7e57]",
        ("mr_1", "mr_2"),
    )


class Recalling(Runtime):
    """Never loads the real recall."""

    def _load(self) -> None:
        self.pipeline.recall = recalled


def main() -> int:
    os.umask(0o077)
    chosen = settings.load()
    start_log(chosen, to_terminal=False)
    Recalling(chosen).run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
