"""Gemini CLI: its own names for Claude's ideas.

In: hook payloads. Out: captures, and JSON answers; plain text is not injected.
PreCompress fires before every model call, so it is never taken for a compaction.
"""

from collections.abc import Mapping
from typing import ClassVar

from recollect.hosts.adapter import Reading
from recollect.hosts.claude_format import ClaudeFormat
from recollect.hosts.gemini.facts import FACTS
from recollect.hosts.payloads import Capture, ContextSize
from recollect.hosts.reading import count, lines_from_the_end, section, word


class GeminiAdapter(ClaudeFormat):
    # Half of its models' window of 1,048,576, unless its user sets another threshold.
    compacts_at: ClassVar[tuple[int, ...]] = (524_288,)
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

    def context_size(self, transcript: bytes) -> ContextSize | None:
        for line in lines_from_the_end(transcript):
            tokens = count(section(line, "tokens"), "total")
            if line.get("type") == "gemini" and tokens:
                return ContextSize(tokens, word(line, "model"))
        return None


ADAPTER = GeminiAdapter(FACTS)
