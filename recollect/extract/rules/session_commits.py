"""The commits of a session that are still there at its end, and how much was written for each.

In: the turns of a session. Out: commits in order. A commit that was amended is replaced, and what
rewrites history changes the hashes of those before it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from recollect.extract.rules.commands import commit_made, commit_subject, commits
from recollect.extract.rules.turns import ToolCall, Turn
from recollect.work import edited_text

_PUSH = re.compile(r"\bgit (?:-C \S+ )?push\b(?! +(?:--dry-run|-n)\b)")
_AMENDS = re.compile(r"\bcommit\b[^\n;&|]{0,200}--amend\b")
_REWRITES = re.compile(r"\bgit (?:-C \S+ )?(?:rebase|filter-branch|filter-repo|pull --rebase)\b")


@dataclass(frozen=True)
class MadeCommit:
    subject: str
    printed: str  # its hash and branch; empty when git did not print them or they changed since
    work: int  # characters that were written for it
    pushed: bool = False


def made_commits(turns: Sequence[Turn]) -> list[MadeCommit]:
    found: list[MadeCommit] = []
    work = 0
    for call in (call for turn in turns for call in turn.calls if not call.failed):
        if call.tool_class == "file-write":
            work += sum(len(after) for _, after in edited_text.changes(call.input))
        elif call.tool_class == "command":
            found = _after(call, found, work)
            work = 0 if commits(call) else work
    return found


def _after(call: ToolCall, made: Sequence[MadeCommit], work: int) -> list[MadeCommit]:
    """The commits after a command that worked, for which so much had been written."""
    found = list(made)
    if _REWRITES.search(call.command):
        found = [replace(one, printed="") for one in found]
    if commits(call):
        amended = found.pop() if found and _AMENDS.search(call.command) else None
        subject = commit_subject(call) or (amended.subject if amended else "")
        found.append(
            MadeCommit(subject, commit_made(call), work + (amended.work if amended else 0))
        )
    if _PUSH.search(call.command):
        found = [replace(one, pushed=True) for one in found]
    return found
