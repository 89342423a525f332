"""Gemini CLI: its own names for Claude's ideas.

In: hook payloads (proven with 0.61.0). Out: captures, and JSON answers; plain text is not injected.
PreCompress fires before every model call, so it is never taken for a compaction.
"""

from collections.abc import Mapping
from typing import ClassVar

from recollect.capture.hosts.adapter import Adapter, Reading, event_key
from recollect.capture.hosts.base import Capture, HookSpec
from recollect.capture.hosts.claude_code import hook_output

_ANSWERED = ("SessionStart", "BeforeAgent", "AfterTool")


class Gemini(Adapter):
    name = "gemini"
    aliases = ("gemini-cli",)
    verified = True
    events = (
        HookSpec("SessionStart", timeout_s=10, injects=True),
        HookSpec("BeforeAgent", injects=True),
        HookSpec("AfterTool", matcher="*"),
        HookSpec("AfterAgent"),
        HookSpec("SessionEnd"),
    )
    project_env = ("GEMINI_PROJECT_DIR",)
    session_env = ("GEMINI_SESSION_ID",)
    routes: ClassVar[Mapping[str, str]] = {
        "sessionstart": "on_start",
        "sessionend": "on_end",
        "beforeagent": "on_prompt",
        "aftertool": "on_tool",
        "afteragent": "on_answer",
    }

    def answer(self, event: str, context: str) -> bytes:
        for name in _ANSWERED:
            if event_key(name) == event_key(event):
                return hook_output(name, context)
        return b""

    def on_answer(self, reading: Reading) -> Capture:
        data = reading.data
        return self.stopped(reading, data.get("prompt_response"), prompt=data.get("prompt"))


GEMINI = Gemini()
