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
    """The newest summary of a session that this one goes on from; None when only others have
    worked, or elsewhere."""
    return max(
        (
            one
            for one in records
            if one.traits.is_summary
            and (one.session_id or "") in work.of_session
            and work.goes_on(one.session_id or "", branch, person)
        ),
        key=lambda one: one.valid_from,
        default=None,
    )
