"""pi, through the extension that the installer writes, which names its fields as Claude Code does.

In: JSON on stdin. Out: captures, and plain text, which the extension puts before the model.
"""

from recollect.hosts.adapter import Adapter
from recollect.hosts.pi.facts import FACTS


class PiAdapter(Adapter):
    answered = ("SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure")
    prints_text = True


ADAPTER = PiAdapter(FACTS)
