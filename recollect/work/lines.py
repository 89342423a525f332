"""Lines of a brief that come from work: files, commands, the branch.

In: the work of a project and who asks. Out: short lines. Each thing it names has a key, so that
nothing is told twice in a session.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC

from recollect.core.tuning import WORK_FILES
from recollect.core.values import TurnWork
from recollect.work.index import MAIN, ProjectWork
from recollect.work.likely_files import DAY_S, Ask, Likely
from recollect.work.paths import shortest_unique

MOST_RUNS = 3
MOST_COMMITS = 2


@dataclass(frozen=True)
class Line:
    text: str
    keys: tuple[str, ...]  # what it tells


def files_line(work: ProjectWork, likely: Sequence[Likely], told: Collection[str]) -> Line | None:
    """Files that are likely to be needed, without those the session was told of."""
    new = [one.path for one in likely if f"file {one.path}" not in told]
    if not new:
        return None
    names = shortest_unique(new, work.by_name)
    return Line(f"Likely files: {', '.join(names)}", tuple(f"file {path}" for path in new))


def runs_line(work: ProjectWork, ask: Ask, told: Collection[str]) -> Line | None:
    """The commands by which this project is built and tested, with how they ended last."""
    fades_s = WORK_FILES.run_days * DAY_S
    scores = {
        form: sum(math.exp(-max(0.0, ask.at - at) / fades_s) for at in sessions.values())
        for form, sessions in work.ran_at.items()
        if len(sessions) >= WORK_FILES.command_sessions
    }
    best = sorted(scores, key=lambda form: (-scores[form], form))[:MOST_RUNS]
    new = [form for form in best if f"run {form}" not in told]
    if not new:
        return None
    text = "; ".join(_with_state(work, one) for one in new)
    return Line(f"Runs: {text}", tuple(f"run {one}" for one in new))


def _with_state(work: ProjectWork, form: str) -> str:
    session = max(work.ran_at[form], key=lambda one: work.ran_at[form][one])
    last = work.commands[form][session]
    if not last.failed:
        return form
    return f"{form} (failed last: {last.error})" if last.error else f"{form} (failed last)"


def branch_line(work: ProjectWork, ask: Ask, told: Collection[str]) -> Line | None:
    """What earlier sessions did on this branch."""
    key = f"branch {ask.branch}"
    there = work.on_branch.get(ask.branch, {}).values()
    turns = [one for one in there if one.session_id != ask.session]
    if ask.branch in MAIN or not turns or key in told:
        return None
    turns.sort(key=lambda one: one.at)
    sessions = len({one.session_id for one in turns})
    last = turns[-1].at.astimezone(UTC).strftime("%Y-%m-%d")
    commits = _commits(turns)
    text = f"Branch {ask.branch} ({sessions} session{'s' if sessions > 1 else ''}, last {last})"
    return Line(f"{text}: {'; '.join(commits)}" if commits else text, (key,))


def _commits(turns: Sequence[TurnWork]) -> list[str]:
    newest_first = (subject for one in reversed(turns) for subject in reversed(one.commits))
    return list(dict.fromkeys(newest_first))[:MOST_COMMITS]
