"""A host that Recollect does not know: store what can be understood, answer nothing.

In: any payload. Out: captures, by the names that the known hosts give to events and fields.
"""

from collections.abc import Mapping
from typing import ClassVar

from recollect.capture.hosts.adapter import Adapter
from recollect.capture.hosts.claude_code import ClaudeShaped
from recollect.capture.hosts.copilot import Copilot
from recollect.capture.hosts.kiro import KiroCli


class Generic(Adapter):
    session_fields = (*Adapter.session_fields, "conversation_id", "trajectory_id", "taskId")
    injects_prompt = False
    routes: ClassVar[Mapping[str, str]] = {
        name: method
        for host in (KiroCli, Copilot, ClaudeShaped)
        for name, method in host.routes.items()
        if hasattr(Adapter, method)
    }

    def __init__(self, name: str) -> None:
        self.name = name


UNKNOWN = "unknown"


def generic(name: str) -> Generic:
    """An adapter under this name, as far as it can be one."""
    kept = "".join(letter for letter in name.lower() if letter.isalnum() or letter in "-_.")
    return Generic(kept[:64] or UNKNOWN)
