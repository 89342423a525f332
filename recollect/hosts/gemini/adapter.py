"""Gemini CLI: its own names for Claude's ideas.

In: hook payloads. Out: captures, and JSON answers; plain text is not injected.
PreCompress fires before every model call, so it is never taken for a compaction.
"""

from collections.abc import Mapping
from typing import ClassVar

from recollect.hosts.adapter import Reading
from recollect.hosts.claude_format import ClaudeFormat
from recollect.hosts.gemini.facts import FACTS
from recollect.hosts.payloads import Capture


class GeminiAdapter(ClaudeFormat):
    answered = ("SessionStart", "BeforeAgent", "AfterTool")
    routes: ClassVar[Mapping[str, str]] = {
        "sessionstart": "on_start",
        "sessionend": "on_end",
        "beforeagent": "on_prompt",
        "aftertool": "on_tool",
        "afteragent": "on_answer",
    }

    def on_answer(self, reading: Reading) -> Capture:
        data = reading.data
        return self.stopped(reading, data.get("prompt_response"), prompt=data.get("prompt"))


ADAPTER = GeminiAdapter(FACTS)
