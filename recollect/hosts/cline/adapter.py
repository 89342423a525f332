"""Cline, from its documentation; not run here.

In: `{"hookName": …, "taskId": …, "workspaceRoots": […], "<event>": {…}}`. Out: captures, and always
an answer: Cline waits for its three fields even when there is nothing to say.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from recollect.core.values import encode
from recollect.hosts.adapter import Adapter, Reading, event_key
from recollect.hosts.cline.facts import FACTS
from recollect.hosts.payloads import Capture
from recollect.hosts.reading import Data, pick, section, word


class ClineAdapter(Adapter):
    answered = ("TaskStart", "TaskResume", "UserPromptSubmit", "PostToolUse")
    session_fields = ("taskId", "task_id")
    routes: ClassVar[Mapping[str, str]] = {
        "taskstart": "on_start",
        "taskresume": "on_start",
        "userpromptsubmit": "on_prompt",
        "posttooluse": "on_tool",
        "precompact": "on_compaction",
        "taskcomplete": "on_stop",
        "taskcancel": "on_end",
    }

    def roots(self, data: Data) -> tuple[Any, ...]:
        roots = data.get("workspaceRoots")
        return (*(roots if isinstance(roots, list) else ()), data.get("cwd"))

    def answer(self, event: str, context: str, message: str = "") -> bytes:
        return super().answer(event, context, message) or self.written(event, "")

    def written(self, event: str, context: str) -> bytes:
        return encode({"cancel": False, "contextModification": context, "errorMessage": ""})

    def on_start(self, reading: Reading) -> Capture:
        resumed = event_key(reading.event) == "taskresume"
        task = section(section(reading.data, "taskStart"), "taskMetadata")
        return self.signalled(
            reading,
            "session-start",
            "resume" if resumed else "startup",
            wants="session-start",
            query=word(task, "initialTask"),
        )

    def on_end(self, reading: Reading) -> Capture:
        return self.signalled(reading, "session-end", "cancel")

    def on_prompt(self, reading: Reading) -> Capture:
        return self.prompted(reading, section(reading.data, "userPromptSubmit").get("prompt"))

    def on_tool(self, reading: Reading) -> Capture:
        call = section(reading.data, "postToolUse")
        success = call.get("success")
        return self.used(
            reading,
            word(call, "toolName", "tool"),
            call.get("parameters"),
            call.get("result"),
            failed=not success if isinstance(success, bool) else None,
        )

    def on_stop(self, reading: Reading) -> Capture:
        done = section(reading.data, "taskComplete")
        answer = pick(section(done, "taskMetadata"), "result") or done.get("result")
        return self.stopped(reading, answer, reason="complete")


ADAPTER = ClineAdapter(FACTS)
