"""Devin CLI's payloads and answers: Claude Code's form, from its documentation.

In: hook payloads without `cwd` (a variable names the project), also those of Claude Code's hooks,
which Devin CLI runs too. Out: captures, and Claude's JSON.
"""

from recollect.hosts.claude_format import ClaudeFormat
from recollect.hosts.devin_cli.facts import FACTS
from recollect.hosts.payloads import Payload
from recollect.hosts.reading import Data


class DevinCliAdapter(ClaudeFormat):
    runs_hooks_of = ("claude-code",)
    signs = frozenset({"DEVIN_PROJECT_DIR"})

    def sent(self, payload: Payload, data: Data) -> bool:
        """Claude Code, which may have been started from within Devin, always says where it is."""
        return "cwd" not in data


ADAPTER = DevinCliAdapter(FACTS)
