"""The call that a host makes when somebody types a prompt, for the proof that its hook works.

In: an event and a text. Out: the hook's event and its input, in the form that most hosts share.
"""

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class HookRun:
    """One run of the hook command: its event and its input."""

    event: str
    stdin: bytes


def prompt_call(event: str, text: str, session: str, cwd: str) -> HookRun:
    """Most hosts send one flat object."""
    return call(event, session_id=session, cwd=cwd, hook_event_name=event, prompt=text)


def call(event: str, **payload: Any) -> HookRun:
    return HookRun(event, json.dumps(payload).encode())
