"""GitHub Copilot CLI, in both spellings of its hooks (sessionStart and SessionStart).

In: hook payloads (proven with 1.0.102), also those of Claude's project hooks, which Copilot runs
too. Out: captures, and a top-level `additionalContext`, the only thing that Copilot injects.
"""

from collections.abc import Mapping
from typing import ClassVar

from recollect.capture.hosts.adapter import Adapter, event_key
from recollect.capture.hosts.base import HookSpec, Payload
from recollect.capture.hosts.reading import (
    Data,
    lines_from_the_end,
    plain_text,
    prose,
    section,
    word,
)
from recollect.core.values import encode

_ANSWERED = frozenset(["sessionstart", "userpromptsubmitted", "userpromptsubmit", "posttooluse"])


def is_copilot(payload: Payload, data: Data) -> bool:
    """Whether Copilot sent this, though the hook was written for Claude.

    The shape decides, for either may have been started from within the other: Claude sends no
    time, and always a transcript; Copilot sends a time, and a transcript only when it stops.
    """
    if not data:
        return "COPILOT_PROJECT_DIR" in payload.env
    if "sessionId" in data or "tool_result" in data or "initial_prompt" in data:
        return True
    transcript = word(data, "transcript_path")
    return "timestamp" in data and (not transcript or "copilot" in transcript)


class Copilot(Adapter):
    name = "copilot"
    aliases = ("copilot-cli", "github-copilot")
    verified = True
    events = (
        HookSpec("sessionStart", timeout_s=10, injects=True),
        HookSpec("userPromptSubmitted", injects=True),
        HookSpec("postToolUse"),
        HookSpec("postToolUseFailure"),
        HookSpec("agentStop"),
        HookSpec("preCompact"),
        HookSpec("sessionEnd"),
    )
    project_env = ("COPILOT_PROJECT_DIR",)
    routes: ClassVar[Mapping[str, str]] = {
        "sessionstart": "on_start",
        "sessionend": "on_end",
        "userpromptsubmitted": "on_prompt",
        "userpromptsubmit": "on_prompt",
        "posttooluse": "on_tool",
        "posttoolusefailure": "on_tool_failure",
        "agentstop": "on_stop",
        "stop": "on_stop",
        "precompact": "on_compaction",
    }

    def answer(self, event: str, context: str) -> bytes:
        if not context or event_key(event) not in _ANSWERED:
            return b""
        return encode({"additionalContext": plain_text(context)})

    def final_answer(self, transcript: bytes) -> str:
        """agentStop does not say the answer; the session's events.jsonl does, on its last lines."""
        for line in lines_from_the_end(transcript):
            if line.get("type") == "user.message":
                break
            if line.get("type") == "assistant.message":
                answer = prose(section(line, "data").get("content"))
                if answer:
                    return answer
        return ""


COPILOT = Copilot()
