"""The summary that a new session goes on from.

In: summaries of a project, its work, who asks and on which branch. Out: at most one summary. Branch
and person are those of the summary's session in the work index: a summary has neither.
"""

from collections.abc import Iterable

from recollect.core.values import Record
from recollect.work.index import ProjectWork


def last_summary(
    records: Iterable[Record], work: ProjectWork, branch: str, person: str
) -> Record | None:
    """The newest summary of a session on this branch, else of a session of this person; None when
    only others have worked, elsewhere. A main branch is everybody's: there the person counts."""
    on_branch = work.by_branch.get(branch)
    best: tuple[bool, float] | None = None
    found: Record | None = None
    for record in records:
        session = work.of_session.get(record.session_id or "")
        if not record.traits.is_summary or session is None:
            continue
        here = on_branch is not None and record.session_id in on_branch.sessions
        rank = (here, record.valid_from.timestamp())
        if (here or person in session.files) and (best is None or rank > best):
            best, found = rank, record
    return found
