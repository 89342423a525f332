"""How much work a session took, counted from its events.

In: the events of a session. Out: its turns, the tool calls before its first edit, the commands that
failed, and the turns that the user corrected. Nothing is read from the words of a prompt.

A turn counts as corrected when
- a tool call in it was interrupted, refused or cancelled, or
- the next prompt came before its answer, in a session whose host reports answers, or
- a later turn takes back what it edited: by an edit that puts the old text back in place of the new
  one, or, if nothing was edited since, by `git restore`, `git checkout --`, `git revert` or
  `git reset --hard`.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from recollect.core.values import Event, JsonBody, MessageBody
from recollect.work import commands, edited_text

_STOPPED_FLAGS = ("interrupted", "is_interrupt")
_VERDICTS = ("resultType", "result_type", "status", "outcome")
_STOPPED_VERDICTS = frozenset(["denied", "rejected", "cancelled", "canceled"])
GIT_TAKES_BACK = re.compile(
    r"\bgit (?:-C \S{1,500} )?"
    r"(?:restore (?!--staged)|revert\b|reset --hard|checkout (?:\S{1,200} )?-- )"
)

Swap = tuple[int, int]  # the hashes of the old and the new text of an edit


@dataclass(frozen=True, slots=True)
class EffortStep:
    """What counts of one event; small, so that a long session can be held."""

    kind: Literal["prompt", "tool", "answer"]
    edits: bool = False
    failed_command: bool = False
    stopped: bool = False  # interrupted, refused or cancelled
    git_takes_back: bool = False
    swaps: tuple[Swap, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionEffort:
    turns: int
    calls_before_edit: int | None  # None: nothing was edited
    failed_commands: int
    corrected_turns: int


def step_of(event: Event) -> EffortStep | None:
    """What counts of an event, if anything."""
    match event.kind, event.body:
        case "prompt", _:
            return EffortStep("prompt")
        case "tool_use", JsonBody(data=dict(call)):
            return _tool_step(call)
        case _, MessageBody(turns=turns) if any(one.role != "user" for one in turns):
            return EffortStep("answer")
    return None


def effort(steps: Iterable[EffortStep]) -> SessionEffort:
    """What the steps of a session, in order, add up to."""
    turns = -1  # the number of the turn; what comes before the first prompt is in none
    calls = 0
    calls_before_edit: int | None = None
    failed = 0
    answered: set[int] = set()
    corrected: set[int] = set()
    edited_in = -1
    swapped_in: dict[Swap, int] = {}
    for step in steps:
        if step.kind == "prompt":
            turns += 1
            continue
        if step.kind == "answer":
            answered.add(turns)
            continue
        failed += step.failed_command
        if step.stopped:
            corrected.add(turns)
        if step.edits and calls_before_edit is None:
            calls_before_edit = calls
        calls += 1
        if step.git_takes_back and 0 <= edited_in < turns:
            corrected.add(edited_in)
            edited_in = -1
        for old, new in step.swaps:
            before = swapped_in.pop((new, old), turns)
            if before < turns:
                corrected.add(before)
            else:
                swapped_in[old, new] = turns
        if step.edits:
            edited_in = turns
    if answered:
        corrected |= set(range(turns)) - answered
    corrected.discard(-1)
    return SessionEffort(turns + 1, calls_before_edit, failed, len(corrected))


def _tool_step(call: dict[str, Any]) -> EffortStep:
    command = call.get("command")
    line = command if isinstance(command, str) and call.get("class") == "command" else ""
    failed = call.get("failed") is True
    stopped = _was_stopped(call.get("output"))
    edits = call.get("class") == "file-write" and not failed
    return EffortStep(
        "tool",
        edits=edits,
        # A search that finds nothing exits with 1 as well, so commands that only look do not count.
        failed_command=failed and not stopped and any(one.form for one in commands.steps(line)),
        stopped=stopped,
        git_takes_back=not failed and GIT_TAKES_BACK.search(line[: commands.MOST_LINE]) is not None,
        swaps=tuple(_swaps(call)) if edits else (),
    )


def _was_stopped(output: Any) -> bool:
    if not isinstance(output, dict):
        return False
    if any(output.get(name) is True for name in _STOPPED_FLAGS):
        return True
    return any(str(output.get(name)).lower() in _STOPPED_VERDICTS for name in _VERDICTS)


def _swaps(call: dict[str, Any]) -> Iterator[Swap]:
    """The edits of a call, each with its file, as hashes of the text before and after."""
    files = call.get("files")
    where = str(files[0]) if isinstance(files, list) and files else ""
    for old, new in edited_text.swaps(call.get("input")):
        if old and new:
            yield hash((where, old)), hash((where, new))
