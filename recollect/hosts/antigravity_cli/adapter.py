"""Antigravity CLI's payloads, as others have reported them; nothing is answered.

In: `{"conversationId", "toolCall": {"name", "args"}, "workspacePaths", "error"}`. Out: captures. An
answer that is not exactly a decision would block the tool.
"""

from typing import Any

from recollect.hosts.adapter import Adapter, Reading
from recollect.hosts.antigravity_cli.facts import FACTS
from recollect.hosts.payloads import Capture
from recollect.hosts.reading import Data, section, word


class AntigravityCliAdapter(Adapter):
    session_fields = ("conversationId",)

    def roots(self, data: Data) -> tuple[Any, ...]:
        paths = data.get("workspacePaths")
        return tuple(paths) if isinstance(paths, list) else ()

    def on_tool(self, reading: Reading) -> Capture:
        call, error = section(reading.data, "toolCall"), reading.data.get("error")
        failed = True if error else None
        return self.used(reading, word(call, "name"), call.get("args"), error, failed=failed)


ADAPTER = AntigravityCliAdapter(FACTS)
