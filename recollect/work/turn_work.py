"""The work of one turn, from its events.

In: the events of a turn, in order. Out: what was touched, run,
committed and defined in it, and the words by which it is found again. The same events give the
same row.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from recollect.core.text_words import identifiers
from recollect.core.values import (
    IMPORTED,
    IMPORTED_FOR_MODEL,
    Action,
    Event,
    EventSource,
    How,
    JsonBody,
    MessageBody,
    TextBody,
    TurnWork,
)
from recollect.work import commands, edited_text, renames
from recollect.work.commands import first_error
from recollect.work.paths import base, inside, is_output
from recollect.work.terms import terms

MOST_ACTIONS = 300
MOST_COMMITS = 20
MOST_TERMS = 400
MOST_TEXT = 20_000
MOST_NAMES = 200
MOST_EDITED = 100  # names in the text of edits
NAME_CHARS = range(5, 33)  # of these; a longer one costs more than it tells
MOST_DIGITS = 3  # what has more of them is an id
MOST_CODE = 100_000  # characters of one edit
# /home/ada, /Users/ada, /var/home/ada, C:/Users/ada, and that as a Linux beside it sees it.
_HOME = re.compile(r"(?:[A-Za-z]:|/mnt/[a-z]|/var|/export)?/(?:Users|home)/([^/]{1,200})", re.I)


class TurnWorkBuilder:
    """Takes the events of one turn, in order."""

    def __init__(self) -> None:
        self._first: Event | None = None
        self._actions: list[Action] = []
        self._commits: dict[str, None] = {}
        self._defines: dict[tuple[str, str], None] = {}
        self._edited: dict[str, dict[str, None]] = {}
        self._edited_left = MOST_EDITED
        self._terms: dict[str, int] = {}
        self._room = MOST_TEXT

    def add(self, event: Event) -> None:
        if self._first is None:
            self._first = event
        match event.body:
            case JsonBody(data=dict(call)) if event.kind == "tool_use":
                self._tool(call, event.source)
            case TextBody(content=content):
                self._read(content)
            case MessageBody(turns=turns):
                for turn in turns:
                    self._read(turn.content)

    def _tool(self, call: dict[str, Any], source: EventSource) -> None:
        new = list(_actions(call, source))
        for one in new:
            if len(self._actions) < MOST_ACTIONS and one not in self._actions[-1:]:
                self._actions.append(one)
        command = call.get("command")
        if isinstance(command, str) and call.get("failed") is not True:
            subject = commands.commit_subject(command)
            if subject and len(self._commits) < MOST_COMMITS:
                self._commits[subject] = None
        paths = [one.path for one in new if one.how in ("edit", "read")]
        if len(paths) == 1:
            names = call.get("defines")
            for name in names if isinstance(names, list) else ():
                if len(self._defines) < MOST_NAMES:
                    self._defines[(str(name), paths[0])] = None
            if call.get("class") == "file-write" and call.get("failed") is not True:
                self._edit(paths[0], call.get("input"))
        self._read(" ".join([*(base(one.path) for one in new if one.path), *patterns(call)]))

    def _edit(self, path: str, given: Any) -> None:
        held = self._edited.setdefault(path, {})
        for before, after in edited_text.changes(given):
            for name in identifiers(f"{before[:MOST_CODE]}\n{after[:MOST_CODE]}", calls=False):
                if name in held or len(name) not in NAME_CHARS:
                    continue
                if self._edited_left and sum(map(str.isdigit, name)) <= MOST_DIGITS:
                    held[name] = None
                    self._edited_left -= 1

    def _read(self, text: str) -> None:
        text = text[: max(0, self._room)]
        self._room -= len(text)
        for term in terms(text):
            if term in self._terms or len(self._terms) < MOST_TERMS:
                self._terms[term] = self._terms.get(term, 0) + 1

    @property
    def errors(self) -> tuple[str, ...]:
        """The first line of what each failed command printed."""
        return tuple(dict.fromkeys(one.error for one in self._actions if one.error))

    def build(self) -> TurnWork | None:
        """The row; None when there was no event."""
        first = self._first
        if first is None:
            return None
        return TurnWork(
            turn_id=first.event_id,
            namespace=first.namespace,
            session_id=first.session_id,
            at=first.valid_time,
            person=person_of(first),
            branch=first.source.branch,
            actions=tuple(self._actions),
            commits=tuple(self._commits),
            defines=tuple(self._defines),
            edited={path: tuple(names) for path, names in self._edited.items() if names},
            terms=dict(self._terms),
        )


def work_of(events: Iterable[Event]) -> TurnWork | None:
    builder = TurnWorkBuilder()
    for event in events:
        builder.add(event)
    return builder.build()


def person_of(event: Event) -> str:
    """Who worked: of what was imported, the one in whose home it was done."""
    if event.source.client_id in (IMPORTED, IMPORTED_FOR_MODEL):
        home = _HOME.match((event.source.project_path or "").replace("\\", "/"))
        if home is not None:
            return home[1]
    return event.actor_id


def patterns(call: dict[str, Any]) -> list[str]:
    """What a tool searched for."""
    given = call.get("input")
    if not isinstance(given, dict):
        return []
    return [given[key] for key in ("pattern", "query", "regex") if isinstance(given.get(key), str)]


def _actions(call: dict[str, Any], source: EventSource) -> Iterator[Action]:
    tool_class = call.get("class")
    failed = call.get("failed") is True
    if tool_class in ("file-write", "file-read"):
        how: How = "edit" if tool_class == "file-write" else "read"
        if how == "read" and patterns(call):
            how = "search"
        for name in call.get("files") or ():
            path = _inside(name, source) if isinstance(name, str) else ""
            if path and (how == "edit" or ("." in base(path)[1:] and not is_output(path))):
                yield Action(how=how, path=path, failed=failed)
    command = call.get("command")
    if tool_class == "command" and isinstance(command, str):
        yield from _ran(command, call.get("output"), source, failed=failed)
    if not failed:
        yield from _renamed(call, source)


def _renamed(call: dict[str, Any], source: EventSource) -> Iterator[Action]:
    where, root = source.project_path or "", source.root or source.project_path or ""
    found = [(where, pair) for pair in renames.by_tool(call)]
    command = call.get("command")
    if isinstance(command, str) and "mv " in command:
        found += [(where, pair) for pair in renames.by_command(command)]
    if isinstance(command, str) and "git" in command:
        found += [(root, pair) for pair in renames.printed_by_git(call.get("output"))]
    for there, (old, new) in found:
        was, path = inside(old, there, root), inside(new, there, root)
        if was and path and was != path:
            folder = "/" if old.endswith("/") else ""
            yield Action(how="edit", path=path + folder, was=was + folder)


def _inside(name: str, source: EventSource) -> str:
    where = source.project_path or ""
    return inside(name, where, source.root or where)


def _ran(command: str, output: Any, source: EventSource, *, failed: bool) -> Iterator[Action]:
    steps = commands.steps(command)
    forms = [step.form for step in steps if step.form]
    for step in steps:
        for name in step.files:
            path = _inside(name, source)
            if path and not is_output(path):
                yield Action(how="run", path=path)
        if step.form:
            # Of a line of several steps that failed, only the last one is known to have run.
            broke = failed and step.form == forms[-1]
            error = first_error(output) if broke else ""
            yield Action(how="run", command=step.form, failed=broke, error=error)
