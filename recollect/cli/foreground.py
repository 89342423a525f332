"""Runs the daemon in this very process, so that a service manager sees it.

It replaces the process image instead of importing the daemon: skins do not know the wiring.
"""

import os
import sys


def run() -> int:
    os.execv(sys.executable, [sys.executable, "-m", "recollect.daemon", "--foreground"])
