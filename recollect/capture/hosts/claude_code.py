"""Claude Code, and the shape of its hooks that Codex, Qwen Code and others took over.

In: Claude's hook payloads (proven with 2.1.325). Out: captures, and JSON in `hookSpecificOutput`.
Copilot and Cursor also run hooks written for Claude: those payloads go to their own adapters.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from recollect.capture.hosts.adapter import Adapter, Reading, event_key, said, tool_draft
from recollect.capture.hosts.base import Capture, Draft, HookSpec, Payload
from recollect.capture.hosts.copilot import COPILOT, is_copilot
from recollect.capture.hosts.cursor import CURSOR, is_cursor
from recollect.capture.hosts.fitting import fit
from recollect.capture.hosts.reading import (
    Data,
    lines_from_the_end,
    plain_text,
    prose,
    section,
    word,
)
from recollect.core.values import JsonBody, encode


def hook_output(event: str, context: str) -> bytes:
    """The one answer that Claude, Codex, Gemini and Qwen all read. Any other key breaks Codex."""
    if not context:
        return b""
    return encode(
        {"hookSpecificOutput": {"hookEventName": event, "additionalContext": plain_text(context)}}
    )


class ClaudeShaped(Adapter):
    """A host whose hooks look like Claude's."""

    # Answers to other events would be ignored; an answer to Stop would start the model again.
    answered: ClassVar[tuple[str, ...]] = ("SessionStart", "UserPromptSubmit", "PostToolUse")
    routes: ClassVar[Mapping[str, str]] = {
        "sessionstart": "on_start",
        "sessionend": "on_end",
        "userpromptsubmit": "on_prompt",
        "posttooluse": "on_tool",
        "posttoolusefailure": "on_tool_failure",
        "stop": "on_stop",
        "precompact": "on_compaction",
        "postcompact": "on_compacted",
        "subagentstop": "on_subagent",
    }

    def answer(self, event: str, context: str) -> bytes:
        for name in self.answered:
            if event_key(name) == event_key(event):
                return hook_output(name, context)
        return b""

    def on_compacted(self, reading: Reading) -> Capture:
        """The summary that replaced the conversation: a note, for the turns are stored already."""
        summary = said(reading.data.get("compact_summary"))
        if not summary:
            return self.nothing(reading, "no summary")
        trigger = word(reading.data, "trigger")[:200]
        data = fit({"signal": "compacted", "reason": trigger, "summary": summary})
        draft = Draft(kind="note", body=JsonBody(data=data), author="assistant")
        return replace(self.nothing(reading, ""), drafts=(draft,))

    def on_subagent(self, reading: Reading) -> Capture:
        """A subagent's answer is the result of a delegation, not an answer to the user.

        An agent without a type is the host's own (compaction runs one). The hook is not installed:
        the Task tool's own result says the same, except for agents in the background.
        """
        data = reading.data
        kind, agent = word(data, "agent_type"), word(data, "agent_id")
        if not kind:
            return self.nothing(reading, "internal agent")
        answer = said(data.get("last_assistant_message"))
        draft = tool_draft("Agent", {"agent": kind, "id": agent}, answer, call=f"agent {agent}")
        return replace(self.nothing(reading, ""), drafts=(draft,))


class ClaudeCode(ClaudeShaped):
    name = "claude-code"
    aliases = ("claude", "claudecode", "claude_code")
    verified = True
    events = (
        HookSpec("SessionStart", timeout_s=10, injects=True),
        HookSpec("UserPromptSubmit", injects=True),
        HookSpec("PostToolUse"),
        HookSpec("PostToolUseFailure"),
        HookSpec("Stop"),
        HookSpec("PreCompact"),
        HookSpec("PostCompact"),
        HookSpec("SessionEnd"),
    )
    project_env = ("CLAUDE_PROJECT_DIR",)
    session_env = ("CLAUDE_CODE_SESSION_ID",)

    def interpret(self, payload: Payload, data: Data | None, repaired: bool) -> Capture:
        if is_cursor(payload, data or {}):
            return CURSOR.interpret(payload, data, repaired)
        if is_copilot(payload, data or {}):
            return COPILOT.interpret(payload, data, repaired)
        return super().interpret(payload, data, repaired)

    def final_answer(self, transcript: bytes) -> str:
        """The text after the last thing the user said, from the lines of the main conversation."""
        for line in lines_from_the_end(transcript):
            message = section(line, "message")
            if line.get("isSidechain") is True or line.get("type") not in ("user", "assistant"):
                continue
            if line["type"] == "user" and not _is_tool_result(message.get("content")):
                break
            answer = _text_parts(message.get("content"))
            if answer:
                return answer
        return ""


def _is_tool_result(content: Any) -> bool:
    return isinstance(content, list) and any(
        isinstance(part, dict) and part.get("type") == "tool_result" for part in content
    )


def _text_parts(content: Any) -> str:
    if not isinstance(content, list):
        return prose(content)
    parts = [part for part in content if isinstance(part, dict) and part.get("type") == "text"]
    return prose(parts)


CLAUDE_CODE = ClaudeCode()
