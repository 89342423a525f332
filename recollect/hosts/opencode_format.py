"""OpenCode and its fork Kilo, through the plugin that the installer writes.

In, as the plugin was given it: `{"input": …, "output": …}` of a plugin hook, or an event
`{"type": …, "properties": …}`; beside them `directory`, and for session.idle the plugin adds
`answer` (or `messages`). Out: captures, and plain text, which the plugin puts where it belongs.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from recollect.hosts.adapter import Adapter, Reading, event_key
from recollect.hosts.payloads import Capture, Payload
from recollect.hosts.reading import Data, pick, prose, section, word


class OpenCodeFormat(Adapter):
    answered = ("session.created", "session.resumed", "chat.message")
    prints_text = True
    # `worktree` comes last: outside a repository it is "/".
    root_fields = ("directory", "info_directory", "worktree")
    routes: ClassVar[Mapping[str, str]] = {
        "sessioncreated": "on_start",
        "sessionresumed": "on_start",  # ours: the plugin sees a session that it did not see begin
        "sessiondeleted": "on_end",
        "sessioncompacted": "on_compaction",
        "chatmessage": "on_prompt",
        "toolexecuteafter": "on_tool",
        "sessionidle": "on_stop",
    }

    def interpret(self, payload: Payload, data: Data | None, repaired: bool) -> Capture:
        event = payload.event.removeprefix("event.")
        if data is not None:
            data = {**data, **section(data, "event")}
            data["info_directory"] = _info(data).get("directory")
            event = word(data, "type") if event in ("", "event") else event
        return super().interpret(replace(payload, event=event), data, repaired)

    def session_id(self, payload: Payload, data: Data) -> str | None:
        places = (data, section(data, "input"), section(data, "properties"))
        found = next(filter(None, (word(place, "sessionID") for place in places)), "")
        return super().session_id(payload, {"session_id": found or word(_info(data), "id")})

    def answer(self, event: str, context: str, message: str = "") -> bytes:
        return super().answer(event.removeprefix("event."), context, message)

    def on_start(self, reading: Reading) -> Capture:
        if _info(reading.data).get("parentID"):
            return reading.nothing("session of a subagent")
        resumed = event_key(reading.empty.event) == "sessionresumed"
        return self.signalled(
            reading, "session-start", "resume" if resumed else "startup", wants="session-start"
        )

    def on_end(self, reading: Reading) -> Capture:
        return self.signalled(reading, "session-end", "deleted")

    def on_prompt(self, reading: Reading) -> Capture:
        output = section(reading.data, "output")
        message = section(output, "message")
        spoken = [
            part
            for part in _dicts(output.get("parts"))
            if part.get("type") == "text" and not part.get("synthetic")
        ]
        return self.prompted(reading, unquoted(prose(spoken)), word(message, "id"))

    def on_tool(self, reading: Reading) -> Capture:
        call, output = section(reading.data, "input"), section(reading.data, "output")
        result = {"output": output.get("output"), "metadata": output.get("metadata")}
        arguments = pick(call, "args") or output.get("args")
        return self.used(reading, word(call, "tool"), arguments, result, call=word(call, "callID"))

    def on_stop(self, reading: Reading) -> Capture:
        answer = prose(reading.data.get("answer")) or _last_answer(reading.data.get("messages"))
        return self.stopped(reading, answer, turn=word(reading.data, "messageID"), reason="idle")


def unquoted(text: str) -> str:
    """`opencode run` puts its words between double quotes; the user did not."""
    inner = text.strip()
    if len(inner) < 2 or inner[0] != '"' or inner[-1] != '"':
        return text
    inner = inner[1:-1]
    if '"' in inner.replace('\\"', ""):
        return text
    return inner.replace('\\"', '"')


def _info(data: Data) -> Data:
    return section(section(data, "properties"), "info")


def _last_answer(messages: Any) -> str:
    """The text of the last message, as `client.session.messages` lists them."""
    for message in reversed(_dicts(messages)):
        if section(message, "info").get("role") == "assistant":
            parts = _dicts(message.get("parts"))
            return prose([part for part in parts if part.get("type") == "text"])
    return ""


def _dicts(values: Any) -> list[Data]:
    return (
        [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []
    )
