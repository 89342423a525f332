"""Cursor, from its documentation; not run here.

In: hook payloads, also those of Claude's hooks when Cursor loads third-party files. Out: captures,
`additional_context` at session start, and the `continue` that a submitted prompt must be given.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from recollect.hosts.adapter import Adapter, Reading, answer_draft, event_key
from recollect.hosts.cursor.facts import FACTS
from recollect.hosts.payloads import Capture, Payload
from recollect.hosts.reading import Data, pick, plain, word


class CursorAdapter(Adapter):
    answered = ("sessionStart", "postToolUse", "beforeSubmitPrompt", "userPromptSubmit")
    runs_hooks_of = ("claude-code",)
    signs = frozenset({"CURSOR_VERSION", "conversation_id", "cursor_version", "workspace_roots"})
    session_fields = ("conversation_id", "session_id")
    root_fields = ("workspace_roots", "cwd")
    routes: ClassVar[Mapping[str, str]] = {
        "sessionstart": "on_start",
        "sessionend": "on_end",
        "beforesubmitprompt": "on_prompt",
        "userpromptsubmit": "on_prompt",
        "posttooluse": "on_tool",
        "posttoolusefailure": "on_tool_failure",
        "afterfileedit": "on_edit",
        "aftershellexecution": "on_shell",
        "aftermcpexecution": "on_mcp",
        "afteragentresponse": "on_response",
        "precompact": "on_compaction",
        "stop": "on_turn_end",
    }

    def sent(self, payload: Payload, data: Data) -> bool:
        if not data:
            return "CLAUDECODE" not in payload.env
        return not self.signs.isdisjoint(data)

    def output(self, event: str, context: str) -> Data:
        said = {"additional_context": context} if context else {}
        return {"continue": True, **said} if self.routes[event_key(event)] == "on_prompt" else said

    def _tool(self, reading: Reading, failed: bool | None) -> Capture:
        data = reading.data
        return self.used(
            reading,
            word(data, "tool_name"),
            _decoded(data.get("tool_input")),
            _decoded(pick(data, "tool_output", "tool_response", "error_message")),
            call=word(data, "tool_use_id"),
            failed=failed,
        )

    def on_edit(self, reading: Reading) -> Capture:
        data = reading.data
        arguments = {"file_path": data.get("file_path"), "edits": data.get("edits")}
        return self.used(reading, "Edit", arguments, None)

    def on_shell(self, reading: Reading) -> Capture:
        data = reading.data
        return self.used(reading, "Shell", {"command": data.get("command")}, data.get("output"))

    def on_mcp(self, reading: Reading) -> Capture:
        data = reading.data
        name = word(data, "tool_name")
        # The server is only known by what starts it.
        server = word(data, "command", "url")
        name = name if name.lower().startswith("mcp") else f"mcp__{name}"
        return self.used(
            reading,
            name,
            _decoded(data.get("tool_input")),
            _decoded(data.get("result_json")),
            server=server,
        )

    def on_response(self, reading: Reading) -> Capture:
        """An answer, maybe not the last of the turn: only `stop` ends it."""
        draft = answer_draft(reading.data.get("text"), turn=reading.turn)
        if draft is None:
            return reading.nothing("empty answer")
        return replace(reading.empty, drafts=(draft,))

    def on_turn_end(self, reading: Reading) -> Capture:
        """The answer came with afterAgentResponse; this says how the turn ended."""
        ended = self.stopped(reading, None, reason=word(reading.data, "status"))
        return replace(ended, transcript=None, note="")


def _decoded(value: Any) -> Any:
    """Cursor sends some objects as JSON in a string."""
    if not isinstance(value, str) or value[:1] not in ("{", "["):
        return value
    try:
        return plain(json.loads(value))
    except (ValueError, RecursionError):
        return value


ADAPTER = CursorAdapter(FACTS)
