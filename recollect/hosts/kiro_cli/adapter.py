"""Kiro CLI's payloads and answers, from its documentation (2.x, hooks in agent files).

In: JSON on stdin. Out: captures, and plain text. It spawns its agent on every prompt and gives no
session id without a terminal: the start is keyed, so that the pipeline sees it once a session.
"""

from recollect.hosts.adapter import Adapter, Reading
from recollect.hosts.kiro_cli.facts import FACTS
from recollect.hosts.payloads import Capture
from recollect.hosts.reading import word


class KiroCliAdapter(Adapter):
    answered = ("agentSpawn", "sessionStart", "userPromptSubmit", "promptSubmit")

    def on_start(self, reading: Reading) -> Capture:
        return self.signalled(
            reading,
            "session-start",
            word(reading.data, "source") or "spawn",
            wants="session-start",
            once=True,
        )


ADAPTER = KiroCliAdapter(FACTS)
