"""The form of Claude Code's hooks, which Codex, Qwen Code, Factory Droid and others took over.

In: payloads in Claude's form. Out: captures, and JSON in `hookSpecificOutput`.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from recollect.core.values import JsonBody
from recollect.hosts.adapter import Adapter, Reading, said, tool_draft
from recollect.hosts.payloads import Capture, EventDraft
from recollect.hosts.reading import fit, prose, word


class ClaudeFormat(Adapter):
    """A host whose hooks look like Claude's."""

    # Answers to other events would be ignored; an answer to Stop would start the model again.
    answered: ClassVar[tuple[str, ...]] = (
        "SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure",
    )  # fmt: skip
    routes: ClassVar[Mapping[str, str]] = {
        **Adapter.routes,
        "postcompact": "on_compacted",
        "subagentstop": "on_subagent",
    }

    def on_compacted(self, reading: Reading) -> Capture:
        """The summary that replaced the conversation: a note, for the turns are stored already."""
        summary = said(reading.data.get("compact_summary"))
        if not summary:
            return reading.nothing("no summary")
        trigger = word(reading.data, "trigger")[:200]
        data = fit({"signal": "compacted", "reason": trigger, "summary": summary})
        draft = EventDraft(kind="note", body=JsonBody(data=data), author="assistant")
        return replace(reading.empty, drafts=(draft,))

    def on_subagent(self, reading: Reading) -> Capture:
        """A subagent's answer is the result of a delegation, not an answer to the user.

        An agent without a type is the host's own (compaction runs one). The hook is not installed:
        the Task tool's own result says the same, except for agents in the background.
        """
        data = reading.data
        kind, agent = word(data, "agent_type"), word(data, "agent_id")
        if not kind:
            return reading.nothing("internal agent")
        answer = said(data.get("last_assistant_message"))
        draft = tool_draft("Agent", {"agent": kind, "id": agent}, answer, call=f"agent {agent}")
        return replace(reading.empty, drafts=(draft,))


def is_tool_result(content: Any) -> bool:
    return isinstance(content, list) and any(
        isinstance(part, dict) and part.get("type") == "tool_result" for part in content
    )


def text_parts(content: Any) -> str:
    if not isinstance(content, list):
        return prose(content)
    parts = [part for part in content if isinstance(part, dict) and part.get("type") == "text"]
    return prose(parts)
