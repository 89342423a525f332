"""Auggie's payloads and answers: Claude Code's form with a few names of its own.

In: hook payloads; a stop carries the conversation because the installer asks for it. Out: captures,
and Claude's JSON.
"""

from recollect.hosts.adapter import Reading
from recollect.hosts.auggie.facts import FACTS
from recollect.hosts.claude_format import ClaudeFormat
from recollect.hosts.payloads import Capture
from recollect.hosts.reading import section


class AuggieAdapter(ClaudeFormat):
    answered = ("SessionStart", "PostToolUse")
    session_fields = ("conversation_id",)
    root_fields = ("workspace_roots",)
    injects_prompt = False

    def on_prompt(self, reading: Reading) -> Capture:
        return self.prompted(reading, reading.data.get("user_prompt"))

    def on_tool(self, reading: Reading) -> Capture:
        return self._tool(reading, True if reading.data.get("tool_error") else None)

    def on_stop(self, reading: Reading) -> Capture:
        return self.stopped(reading, section(reading.data, "conversation").get("agentTextResponse"))


ADAPTER = AuggieAdapter(FACTS)
