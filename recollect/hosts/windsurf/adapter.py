"""Windsurf's Cascade, from its documentation; not run here.

In: hook payloads with `agent_action_name` and `tool_info`. Out: captures. Nothing can be injected,
so nothing is ever answered: memories reach Cascade through rules and MCP.
"""

from collections.abc import Mapping
from typing import ClassVar

from recollect.hosts.adapter import Adapter, Reading
from recollect.hosts.payloads import Capture, Payload
from recollect.hosts.reading import Data, pick, section, word
from recollect.hosts.windsurf.facts import FACTS


class WindsurfAdapter(Adapter):
    session_fields = ("trajectory_id",)
    injects_prompt = False
    routes: ClassVar[Mapping[str, str]] = {
        "preuserprompt": "on_prompt",
        "postwritecode": "on_write",
        "postreadcode": "on_read",
        "postruncommand": "on_command",
        "postmcptooluse": "on_mcp",
        "postcascaderesponse": "on_stop",
    }

    def interpret(self, payload: Payload, data: Data | None, repaired: bool) -> Capture:
        data = data and {**data, "hook_event_name": word(data, "agent_action_name")}
        return super().interpret(payload, data, repaired)

    def on_prompt(self, reading: Reading) -> Capture:
        info = section(reading.data, "tool_info")
        return self.prompted(reading, info.get("user_prompt"), reading.turn)

    def on_write(self, reading: Reading) -> Capture:
        return self._used(reading, "write_code")

    def on_read(self, reading: Reading) -> Capture:
        return self._used(reading, "read_code")

    def on_command(self, reading: Reading) -> Capture:
        return self._used(reading, "run_command")

    def _used(self, reading: Reading, name: str) -> Capture:
        return self.used(reading, name, section(reading.data, "tool_info"), None)

    def on_mcp(self, reading: Reading) -> Capture:
        info = section(reading.data, "tool_info")
        server, tool = word(info, "mcp_server_name"), word(info, "mcp_tool_name")
        return self.used(
            reading,
            f"mcp__{server}__{tool}",
            info.get("mcp_tool_arguments"),
            pick(info, "mcp_result", "result"),
        )

    def on_stop(self, reading: Reading) -> Capture:
        info = section(reading.data, "tool_info")
        return self.stopped(reading, info.get("response"), turn=reading.turn)


ADAPTER = WindsurfAdapter(FACTS)
