"""Antigravity CLI's payloads, as others have reported them; nothing is answered.

In: `{"conversationId", "toolCall": {"name", "args"}, "workspacePaths", "error"}`. Out: captures. An
answer that is not exactly a decision would block the tool.
"""

from recollect.hosts.adapter import Adapter, Reading
from recollect.hosts.antigravity_cli.facts import FACTS
from recollect.hosts.payloads import Capture
from recollect.hosts.reading import section, word


class AntigravityCliAdapter(Adapter):
    session_fields = ("conversationId",)
    root_fields = ("workspacePaths",)

    def on_tool(self, reading: Reading) -> Capture:
        call, error = section(reading.data, "toolCall"), reading.data.get("error")
        failed = True if error else None
        return self.used(reading, word(call, "name"), call.get("args"), error, failed=failed)


ADAPTER = AntigravityCliAdapter(FACTS)
