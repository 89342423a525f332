"""The commits of a session that are still there at its end, and how much was written for each.

In: the turns of a session. Out: commits in order. A commit that was amended is replaced, a fixup
belongs to the one before it, and one that was reverted is gone.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from recollect.extract.rules.commands import amends, commit_made, commit_subject, commits
from recollect.extract.rules.turns import ToolCall, Turn
from recollect.work import edited_text

_PUSH = re.compile(r"\bgit (?:-C \S+ )?push\b(?! +(?:--dry-run|-n)\b)")
# After these a commit may be on another branch.
_MOVES = re.compile(
    r"\bgit (?:-C \S+ )?(?:reset (?:--\w{1,10} ){0,3}+\S{0,60}(?:HEAD|/|[0-9a-f]{7})|"
    r"branch -[mMfdD]|cherry-pick)"
)
_REVERTS = re.compile(
    r"\bgit (?:-C \S+ )?revert (?:--?[\w-]{1,20} ){0,4}+(HEAD(?![~^@])|[0-9a-f]{7,40})\b"
)


@dataclass(frozen=True)
class MadeCommit:
    subject: str
    hash: str  # as git printed it; a rebase changes it
    branch: str
    work: int  # characters that were written for it
    pushed: bool = False

    def is_named(self, name: str) -> bool:
        """Whether a full or short hash is its own."""
        return bool(self.hash) and (name.startswith(self.hash) or self.hash.startswith(name))


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
    if reverted := _REVERTS.search(call.command):
        name = reverted[1]
        found = found[:-1] if name == "HEAD" else [one for one in found if not one.is_named(name)]
    if _MOVES.search(call.command):
        found = [replace(one, branch="") for one in found]
    if commits(call):
        amended = found.pop() if found and amends(call) else None
        printed, branch = commit_made(call)
        subject = commit_subject(call) or (amended.subject if amended else "")
        found = [one for one in found if one.subject != subject]  # made anew, or elsewhere
        work += amended.work if amended else 0
        found.append(MadeCommit(subject, printed, branch, work))
    if _PUSH.search(call.command):
        found = [replace(one, pushed=True) for one in found]
    return found
