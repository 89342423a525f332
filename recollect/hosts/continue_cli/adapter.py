"""Continue's payloads and answers: Claude Code's form, whose hooks it loads too."""

from recollect.hosts.claude_format import ClaudeFormat
from recollect.hosts.continue_cli.facts import FACTS
from recollect.hosts.payloads import Payload
from recollect.hosts.reading import Data


class ContinueCliAdapter(ClaudeFormat):
    runs_hooks_of = ("claude-code",)
    signs = frozenset({"CONTINUE_PROJECT_DIR"})

    def sent(self, payload: Payload, data: Data) -> bool:
        """It has no transcript; Claude Code, perhaps started from within it, always names one."""
        return not data.get("transcript_path")


ADAPTER = ContinueCliAdapter(FACTS)
