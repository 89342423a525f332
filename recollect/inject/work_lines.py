"""Lines about work for a brief: the branch, how the project is built and tested, likely files.

In: a question, the work of its project and what its session was told. Out: lines, and of files that
are not worth naming the reason.
"""

from collections.abc import Collection

from recollect.core.tuning import SPEAKING
from recollect.ingest.pipeline import RecallQuestion
from recollect.inject.draft import BriefLine, Section
from recollect.inject.speaking import chance_of_file, weight_of_prompt
from recollect.work.cache import WorkCache
from recollect.work.index import ProjectWork
from recollect.work.likely_files import Ask, rank
from recollect.work.lines import Line, branch_line, files_line, runs_line

FILES = 8  # at the first prompt of a session
FILES_LATER = 6


def work_lines(
    cache: WorkCache, question: RecallQuestion, told: Collection[str], at: float, idle: float
) -> list[BriefLine]:
    """`idle`: how likely the prompt only carries the conversation on."""
    ask = Ask(question.text, at, question.session_id, question.person, question.branch)

    def look(work: ProjectWork) -> list[BriefLine]:
        later = bool(work.of_session.get(ask.session))
        if question.trigger == "session-start":
            return []  # the first prompt decides what is likely; it brings these lines
        found = [] if later else [branch_line(work, ask, told), runs_line(work, ask, told)]
        lines = [_line(line, "place") for line in found if line is not None]
        return _files(work, ask, told, later=later, idle=idle) + lines

    return cache.ask(question.namespaces[0], look)


def _files(
    work: ProjectWork, ask: Ask, told: Collection[str], *, later: bool, idle: float
) -> list[BriefLine]:
    likely = [
        one
        for one in rank(work, ask)
        if f"file {one.path}" not in told and not work.is_ignored(one.path)
    ]
    likely = likely[: FILES_LATER if later else FILES]
    prompt = weight_of_prompt(ask.text, later=later, idle=idle)
    chances = [chance_of_file(one.score, prompt) for one in likely]
    kept = [one for one, chance in zip(likely, chances, strict=True) if chance >= SPEAKING.least]
    line = files_line(work, ask, kept, told)
    return [] if line is None else [_line(line, "files", max(chances))]


def _line(line: Line, section: Section, score: float = 1.0) -> BriefLine:
    return BriefLine(
        line.keys[0],
        section,
        round(score, 3),
        "earlier work",
        line=line.text,
        keys=line.keys,
        chance=score,
    )
