"""What installers need to know of this machine and this user.

In: settings. Out: a Context.
"""

import os
import sys

from recollect.core.settings import Settings
from recollect.hosts.base import Context


def context(settings: Settings, *, project: str | None = None, set_default: bool = True) -> Context:
    """Where hosts keep their files here, and the commands that they shall run."""
    return Context(
        home=os.path.expanduser("~"),
        data_dir=settings.directory,
        hook_command=settings.path("bin", "recollect-hook"),
        mcp_command=(_command(), "mcp"),
        scope="project" if project else "user",
        project=os.path.abspath(project) if project else "",
        env=dict(os.environ),
        set_default=set_default,
    )


def _command() -> str:
    """The `recollect` that belongs to this Python."""
    beside = os.path.join(os.path.dirname(sys.executable), "recollect")
    return beside if os.path.exists(beside) else os.path.abspath(sys.argv[0])
