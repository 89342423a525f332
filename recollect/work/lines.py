"""Lines of a brief that come from work: files, commands, the branch.

In: the work of a project and who asks. Out: short lines. Each thing it names has a key, so that
nothing is told twice in a session.
"""

import heapq
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from recollect.core.text_words import count_tokens
from recollect.work.index import BranchWork, ProjectWork
from recollect.work.likely_files import Ask, Likely, likely_names
from recollect.work.paths import shortest_unique

MOST_RUNS = 3
FILES_TOKENS = 140
MOST_COMMITS = 2


@dataclass(frozen=True)
class Line:
    text: str
    keys: tuple[str, ...]  # what it tells


def files_line(
    work: ProjectWork, ask: Ask, likely: Sequence[Likely], told: Collection[str]
) -> Line | None:
    """Files that are likely to be needed, some with names that they define; without what the
    session was told of."""
    new = [one for one in likely if f"file {one.path}" not in told]
    if not new:
        return None
    names = likely_names(work, ask, new, told)
    for size in range(len(new), 0, -1):
        line = _files_line(work, [one.path for one in new[:size]], names)
        if count_tokens(line.text) <= FILES_TOKENS:
            return line
    return None


def _files_line(work: ProjectWork, paths: list[str], names: Mapping[str, list[str]]) -> Line:
    texts = [
        f"{short} ({', '.join(names[path])})" if path in names else short
        for path, short in zip(paths, shortest_unique(paths, work.by_name), strict=True)
    ]
    keys = [f"file {path}" for path in paths]
    keys += [f"name {name}" for path in paths for name in names.get(path, ())]
    return Line(f"Likely files: {', '.join(texts)}", tuple(keys))


def runs_line(work: ProjectWork, ask: Ask, told: Collection[str]) -> Line | None:
    """The commands by which this project is built and tested, with how they ended last."""
    scores = ((-runs.weight(ask.at), form) for form, runs in work.usual.items())
    best = [form for _, form in heapq.nsmallest(MOST_RUNS, scores)]
    new = [form for form in best if f"run {form}" not in told]
    if not new:
        return None
    text = "; ".join(_with_state(work, one) for one in new)
    return Line(f"Runs: {text}", tuple(f"run {one}" for one in new))


def _with_state(work: ProjectWork, form: str) -> str:
    last = work.runs[form].last
    if not last.failed:
        return form
    return f"{form} (failed last: {last.error})" if last.error else f"{form} (failed last)"


def branch_line(work: ProjectWork, ask: Ask, told: Collection[str]) -> Line | None:
    """What earlier sessions did on this branch."""
    key = f"branch {ask.branch}"
    branch = work.by_branch.get(ask.branch)
    if branch is None or key in told:
        return None
    sessions = [at for session, at in branch.sessions.items() if session != ask.session]
    if not sessions:
        return None
    last = datetime.fromtimestamp(max(sessions), UTC).strftime("%Y-%m-%d")
    commits = _commits(branch, ask.session)
    count = f"{len(sessions)} session{'s' if len(sessions) > 1 else ''}"
    text = f"Branch {ask.branch} ({count}, last {last})"
    return Line(f"{text}: {'; '.join(commits)}" if commits else text, (key,))


def _commits(branch: BranchWork, without: str) -> list[str]:
    made = [(at, some) for at, session, some in branch.commits.values() if session != without]
    made.sort(key=lambda one: one[0])
    newest_first = (subject for _, some in reversed(made) for subject in reversed(some))
    return list(dict.fromkeys(newest_first))[:MOST_COMMITS]
