"""Qwen Code: Claude's events in Gemini's settings file.

In: hook payloads (proven with 0.24.4). Out: captures, and Claude's JSON. The prompt hook fires
again after every tool result with an empty prompt: nobody speaks then, and nothing is answered.
"""

from recollect.capture.hosts.adapter import Reading
from recollect.capture.hosts.base import Capture, HookSpec
from recollect.capture.hosts.claude_code import ClaudeShaped
from recollect.capture.hosts.reading import pick


class Qwen(ClaudeShaped):
    name = "qwen"
    aliases = ("qwen-code", "qwen-cli")
    verified = True
    events = (
        HookSpec("SessionStart", timeout_s=10, injects=True),
        HookSpec("UserPromptSubmit", injects=True),
        HookSpec("PostToolUse"),
        HookSpec("PostToolUseFailure"),
        HookSpec("Stop"),
        HookSpec("PreCompact"),
        HookSpec("SessionEnd"),
    )
    project_env = ("QWEN_PROJECT_DIR",)
    session_env = ("QWEN_CODE_SESSION_ID",)

    # `prompt_id` is not used: it seems to count from 0 in every process, resumed sessions too.

    def on_prompt(self, reading: Reading) -> Capture:
        return self.prompted(reading, pick(reading.data, "submitted_prompt", "prompt"))

    def on_stop(self, reading: Reading) -> Capture:
        return self.stopped(reading, reading.data.get("last_assistant_message"))


QWEN = Qwen()
