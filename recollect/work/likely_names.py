"""Which names of the likely files a session may need: functions and types worked on before.

In: a prompt, and the files that were ranked for it. Out: a few names by file. A name counts by the
turns like the prompt in which it was defined, by the words it shares with the prompt, and by how
recently and in how many sessions it came up; one that comes up everywhere tells nothing.
"""

import math
from collections.abc import Collection, Sequence

from recollect.core.tuning import WORK_FILES
from recollect.work import bm25
from recollect.work.index import DAY_S, MAIN, ProjectWork
from recollect.work.likely_files import Ask, Likely
from recollect.work.terms import terms

MOST = 3
SHORTEST = 5
LONGEST = 32  # a longer one costs more than it tells


def likely_names(
    work: ProjectWork, ask: Ask, likely: Sequence[Likely], told: Collection[str]
) -> dict[str, list[str]]:
    """The best names, by the path of their file."""
    files = {work.number[one.path]: one.path for one in likely if one.path in work.number}
    prompt = set(terms(ask.text))
    votes: dict[str, float] = {}
    for number, score in bm25.best(bm25.search(work.words, prompt), WORK_FILES.voters):
        turn = work.turn[number]
        if turn is None or turn.session_id == ask.session:
            continue
        for name in turn.names:
            votes[name] = votes.get(name, 0.0) + score
    common = max(WORK_FILES.rare_sessions, WORK_FILES.rare_share * len(work.of_session))
    scores: dict[str, float] = {}
    for name, vote in votes.items():
        use = work.names.get(name)
        if use is None or use.sessions > common or not SHORTEST <= len(name) <= LONGEST:
            continue
        if name in ask.text:
            continue
        if f"name {name}" in told or files.keys().isdisjoint(work.symbols.get(name, ())):
            continue
        own = set(terms(name))
        shared = len(own & prompt) / max(1, len(own))
        recent = math.exp(-max(0.0, ask.at - use.last_at) / (WORK_FILES.recent_days * DAY_S))
        here = 2.0 if use.branch == ask.branch and ask.branch not in MAIN else 1.0
        scores[name] = vote * (0.2 + shared) * (0.3 + recent) * here * math.sqrt(use.sessions)
    best = sorted(scores, key=lambda name: (-scores[name], name))[:MOST]
    found: dict[str, list[str]] = {}
    for name in best:
        path = next(files[number] for number in work.symbols[name] if number in files)
        found.setdefault(path, []).append(name)
    return found
