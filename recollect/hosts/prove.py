"""A marker through a host's own hook command, to see that it arrives.

In: a host and a marker. Out: the call that the host would make when somebody types the marker.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Call:
    """One run of the hook command: its arguments after the host, its input, its environment."""

    event: str
    stdin: bytes
    env: dict[str, str] = field(default_factory=dict)


def prompt_call(host: str, marker: str, session: str, cwd: str) -> Call:
    """How this host reports a prompt."""
    return _SHAPES.get(host, _plain("UserPromptSubmit"))(marker, session, cwd)


Shape = Callable[[str, str, str], Call]


def _plain(event: str, **names: str) -> Shape:
    """Most hosts send one flat object; `names` renames its fields."""

    def call(marker: str, session: str, cwd: str) -> Call:
        payload = {
            names.get("session", "session_id"): session,
            "cwd": cwd,
            "hook_event_name": event,
            "prompt": marker,
        }
        return Call(event, _raw(payload))

    return call


def _opencode(marker: str, session: str, cwd: str) -> Call:
    output = {"message": {"id": session}, "parts": [{"type": "text", "text": marker}]}
    payload = {"sessionID": session, "directory": cwd, "output": output}
    return Call("chat.message", _raw(payload))


def _cursor(marker: str, session: str, cwd: str) -> Call:
    payload = {
        "conversation_id": session,
        "workspace_roots": [cwd],
        "hook_event_name": "beforeSubmitPrompt",
        "prompt": marker,
    }
    return Call("beforeSubmitPrompt", _raw(payload))


def _windsurf(marker: str, session: str, cwd: str) -> Call:
    payload = {
        "agent_action_name": "pre_user_prompt",
        "trajectory_id": session,
        "tool_info": {"user_prompt": marker},
    }
    return Call("pre_user_prompt", _raw(payload))


def _cline(marker: str, session: str, cwd: str) -> Call:
    payload = {
        "hookName": "UserPromptSubmit",
        "taskId": session,
        "workspaceRoots": [cwd],
        "userPromptSubmit": {"prompt": marker},
    }
    return Call("UserPromptSubmit", _raw(payload))


_SHAPES: dict[str, Shape] = {
    "gemini": _plain("BeforeAgent"),
    "copilot": _plain("userPromptSubmitted", session="sessionId"),
    "kiro-cli": _plain("userPromptSubmit"),
    "opencode": _opencode,
    "cursor": _cursor,
    "windsurf": _windsurf,
    "cline": _cline,
}


def _raw(payload: dict[str, Any]) -> bytes:
    return json.dumps(payload).encode()
