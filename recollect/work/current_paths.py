"""The work of turns with every file called as it is called now.

In: turns in the order of time. Out: the same turns; where a file or its folder was renamed later,
its new name stands in place of the old one. A new file of an old name is not mistaken for it.
"""

from collections.abc import Sequence

import msgspec

from recollect.core.values import Action, TurnWork


def with_current_paths(turns: Sequence[TurnWork]) -> list[TurnWork]:
    if not any(action.was for work in turns for action in work.actions):
        return list(turns)
    touched = {action.path for work in turns for action in work.actions if action.path}
    now: dict[str, str] = {}  # from the last turn back: what a name of that time became
    found = []
    for work in reversed(turns):
        actions: list[Action] = []
        for action in reversed(work.actions):
            path = now.get(action.path, action.path)
            if not path.endswith("/"):  # a folder is no file
                actions.append(msgspec.structs.replace(action, path=path, was=""))
            if action.was:
                _rename(now, touched, action.was, action.path)
        defines = tuple((name, now.get(path, path)) for name, path in work.defines)
        found.append(
            msgspec.structs.replace(work, actions=tuple(reversed(actions)), defines=defines)
        )
    return found[::-1]


def _rename(now: dict[str, str], touched: set[str], old: str, new: str) -> None:
    """From here back the old name means the new one, and the new one means another file."""
    names = [(old, new)]
    if old.endswith("/"):
        names = [(one, new + one[len(old) :]) for one in touched if one.startswith(old)]
    for before, after in names:
        now[before] = now.get(after, after)
    for before, after in names:
        if after != before:
            now.pop(after, None)
