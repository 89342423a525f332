"""An agent that speaks to `recollect mcp` in this process, line by line.

In: the directory it works in. Out: what a tool answered, and whether that is an error. Use it with
the fixture `terminal`, which leads the command to a Runtime without a socket.
"""

from typing import Any

from recollect.cli.mcp import Proxy


class McpAgent:
    def __init__(self, cwd: str) -> None:
        self._proxy = Proxy(cwd)

    def speak(self, *messages: Any) -> list[dict[str, Any]]:
        """The answers to these messages; a notification has none."""
        answers = [self._proxy.answer(message) for message in messages]
        return [answer for answer in answers if answer is not None]

    def call(self, tool: str, **arguments: Any) -> tuple[str, bool]:
        params = {"name": tool, "arguments": arguments}
        (answer,) = self.speak(
            {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        )
        result = answer["result"]
        return result["content"][0]["text"], bool(result.get("isError"))
