"""Qwen Code: Claude's events in Gemini's settings file.

In: hook payloads. Out: captures, and Claude's JSON. The prompt hook fires again after every tool
result with an empty prompt: that is not a prompt, and nothing is answered.
"""

from recollect.hosts.adapter import Reading
from recollect.hosts.claude_format import ClaudeFormat
from recollect.hosts.payloads import Capture
from recollect.hosts.qwen.facts import FACTS
from recollect.hosts.reading import pick


class QwenAdapter(ClaudeFormat):
    # `prompt_id` is not used: it seems to count from 0 in every process, resumed sessions too.

    def on_prompt(self, reading: Reading) -> Capture:
        return self.prompted(reading, pick(reading.data, "submitted_prompt", "prompt"))

    def on_stop(self, reading: Reading) -> Capture:
        return self.stopped(reading, reading.data.get("last_assistant_message"))


ADAPTER = QwenAdapter(FACTS)
