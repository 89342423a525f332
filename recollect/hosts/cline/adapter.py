"""Cline: its CLI as it was seen running (3.0.65), its extension from the documentation.

In: `{"hookName": …, "taskId": …, "workspaceRoots": […], "<event>": {…}}`; the CLI names its session
in `sessionContext` and the answer in `turn`, and reports no prompt: that is in the session's file.
Out: captures, and always an answer: Cline waits for its three fields even when there is nothing to
say. The CLI reads it with a tool only: what is known about a prompt comes before its first tool.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from recollect.core.values import encode
from recollect.hosts.adapter import Adapter, Reading, event_key
from recollect.hosts.claude_format import text_parts
from recollect.hosts.cline.facts import FACTS
from recollect.hosts.payloads import Capture, Payload
from recollect.hosts.reading import Data, moment, pick, read_object, section, word

SESSIONS = "~/.cline/data/sessions"
TYPED = re.compile(r"\A<user_input\b[^<>]*+>(.*)</user_input>\Z", re.DOTALL)


class ClineAdapter(Adapter):
    answered = ("TaskStart", "TaskResume", "UserPromptSubmit", "PreToolUse", "PostToolUse")
    session_fields = ("taskId", "task_id")
    root_fields = ("workspaceRoots", "cwd")
    routes: ClassVar[Mapping[str, str]] = {
        "taskstart": "on_start",
        "taskresume": "on_start",
        "userpromptsubmit": "on_prompt",
        "pretooluse": "on_before_tool",
        "posttooluse": "on_tool",
        "precompact": "on_compaction",
        "taskcomplete": "on_stop",
        "taskcancel": "on_end",
        "sessionshutdown": "on_end",
    }

    def session_id(self, payload: Payload, data: Data) -> str | None:
        """The CLI's `taskId` is that of one run; its session goes on when it is resumed."""
        root = _cli_session(data)
        return super().session_id(payload, {"taskId": root} if root else data)

    def answer(self, event: str, context: str, message: str = "") -> bytes:
        return super().answer(event, context, message) or encode(self.output(event, ""))

    def output(self, event: str, context: str) -> Data:
        return {"cancel": False, "contextModification": context, "errorMessage": ""}

    def on_start(self, reading: Reading) -> Capture:
        resumed = event_key(reading.empty.event) == "taskresume"
        task = section(section(reading.data, "taskStart"), "taskMetadata")
        return self.signalled(
            reading,
            "session-start",
            "resume" if resumed else "startup",
            wants=None if _cli_session(reading.data) else "session-start",
            query=word(task, "initialTask"),
        )

    def on_end(self, reading: Reading) -> Capture:
        shut = event_key(reading.empty.event) == "sessionshutdown"
        return self.signalled(reading, "session-end", "end" if shut else "cancel")

    def on_prompt(self, reading: Reading) -> Capture:
        return self.prompted(reading, section(reading.data, "userPromptSubmit").get("prompt"))

    def on_before_tool(self, reading: Reading) -> Capture:
        return self._with_prompt_file(reading.nothing("no prompt in the payload"), reading)

    def on_tool(self, reading: Reading) -> Capture:
        call, told = section(reading.data, "postToolUse"), section(reading.data, "tool_result")
        success = call.get("success")  # of the CLI: whether the tool ran at all
        output = pick(told, "output") or call.get("result")
        used = self.used(
            reading,
            word(call, "toolName", "tool"),
            pick(told, "input") or call.get("parameters"),  # the CLI's own, before it made texts
            output,
            call=word(told, "id"),
            failed=True if success is False else None,
        )
        # On a busy machine its hooks may be called later than the next tool ends.
        return replace(used, happened_at=moment(told.get("endedAt")) or used.happened_at)

    def on_stop(self, reading: Reading) -> Capture:
        done = section(reading.data, "taskComplete")
        answer = pick(section(done, "taskMetadata"), "result") or done.get("result")
        answer = answer or section(reading.data, "turn").get("outputText")
        return self._with_prompt_file(self.stopped(reading, answer, reason="complete"), reading)

    def _with_prompt_file(self, captured: Capture, reading: Reading) -> Capture:
        session = self.file_name(_cli_session(reading.data))
        path = f"{SESSIONS}/{session}/{session}.messages.json"
        return replace(captured, prompt_file=path) if session else captured

    def prompt_in(self, file: bytes) -> tuple[str, str]:
        data, _ = read_object(file)
        messages = (data or {}).get("messages")
        for message in reversed(messages if isinstance(messages, list) else []):
            if isinstance(message, dict) and (text := typed(message)):
                return word(message, "id"), text
        return "", ""


def typed(message: Data) -> str:
    """What the user typed, of a message of the CLI; empty when it is another's."""
    found = TYPED.fullmatch(text_parts(message.get("content")).strip())
    return found[1] if found and message.get("role") == "user" else ""


def _cli_session(data: Data) -> str:
    return word(section(data, "sessionContext"), "rootSessionId")


ADAPTER = ClineAdapter(FACTS)
