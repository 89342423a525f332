"""Commands that failed and pass again, with what was written in between.

In: turns in order. Out: repairs, as titles and as facts of a note.
"""

from dataclasses import dataclass

from recollect.extract.rules import patterns
from recollect.extract.rules.commands import error_line, failed_step, signature, steps
from recollect.extract.rules.prose import cut
from recollect.extract.rules.turns import ToolCall, Turn
from recollect.work.paths import base


@dataclass(frozen=True)
class RepairedCommand:
    """A command that failed and later passed, with the files that were written between."""

    command: str
    error: str
    files: tuple[str, ...]
    event_ids: tuple[str, ...]


def find_repairs(turn: Turn, broken: dict[str, ToolCall]) -> list[RepairedCommand]:
    """Commands that pass now and failed before. `broken` keeps failing commands between turns."""
    found: list[RepairedCommand] = []
    edits: dict[str, list[str]] = {key: [] for key in broken}
    for call in turn.calls:
        if call.tool_class == "file-write" and not call.failed:
            for files in edits.values():
                files += [path for path in call.files if path not in files]
        elif call.tool_class == "command" and not call.refused:
            broke = failed_step(call.command, call.output) if call.failed else ""
            for key in map(signature, [broke] if call.failed else steps(call.command)):
                if not key or patterns.LOOKING.match(key):
                    continue
                if call.failed:
                    broken.setdefault(key, call)
                    edits.setdefault(key, [])
                elif key in broken:
                    failure = broken.pop(key)
                    found.append(
                        RepairedCommand(
                            key,
                            error_line(failure.output),
                            tuple(edits.pop(key)),
                            (failure.event_id, call.event_id),
                        )
                    )
    return found


def names_rule(repair: RepairedCommand) -> bool:
    """Whether what failed was a linter that named the rule."""
    return repair.error.endswith(")") and patterns.TIDYING.search(repair.command) is not None


def repair_title(repair: RepairedCommand) -> str:
    where = ", ".join(map(base, repair.files[:3]))
    mended = f" after a change to {where}" if where else ""
    return f"{cut(repair.command, 80)} passes again{mended}"


def repair_text(repair: RepairedCommand) -> str:
    where = ", ".join(map(base, repair.files[:3]))
    mended = f"; passes after a change to {where}" if where else "; passes now"
    return cut(f"{cut(repair.command, 80)} failed: {cut(repair.error, 140)}{mended}", 300)
