"""`recollect add`: store a memory by hand."""

import os
import sys
from typing import Any

import click

from recollect.cli.options import json_option, project_option, project_path
from recollect.cli.output import daemon_client, print_json
from recollect.core import private_sessions
from recollect.core.errors import BadInput, Conflict
from recollect.core.kinds import KINDS, Kind

_PLAIN = "note"  # of no type: a few words to keep
_KINDS: dict[str, Kind] = {one.name: one for one in KINDS.values() if one.route}
_TYPES = {name: one.types for name, one in _KINDS.items() if not one.is_summary}
_FITTING = " ".join(f"Of {KINDS[name].plural}: {', '.join(of)}." for name, of in _TYPES.items())


@click.command()
@click.argument("text", nargs=-1)
@project_option(default=".")
@click.option(
    "--kind", type=click.Choice([_PLAIN, *_KINDS]),
    help="What it is. Default: the kind that --type belongs to, else a note.",
)  # fmt: skip
@click.option(
    "--type", "type_", type=click.Choice(sorted({type_ for of in _TYPES.values() for type_ in of})),
    metavar="TYPE", help=_FITTING,
)  # fmt: skip
@click.option("--content", default="", help="Details beyond the title; - reads standard input.")
@click.option("--reason", help="Belief: why it holds.")
@click.option("--alternative", multiple=True, help="Belief: an alternative that was not taken.")
@click.option("--investigated", multiple=True, help="Summary: what was looked into.")
@click.option("--completed", multiple=True, help="Summary: what was done.")
@click.option("--learned", multiple=True, help="Summary: what was learned.")
@click.option("--next", "next_steps", multiple=True, help="Summary: a next step.")
@click.option("--concept", "concepts", multiple=True, help="A topic, for filters.")
@click.option("--file", "files", multiple=True, help="A file it is about.")
@click.option("--session", "session_id", help="The session it belongs to.")
@json_option
def command(
    text: tuple[str, ...], project: str, kind: str | None, type_: str | None, content: str,
    reason: str | None, alternative: tuple[str, ...], investigated: tuple[str, ...],
    completed: tuple[str, ...],
    learned: tuple[str, ...], next_steps: tuple[str, ...], concepts: tuple[str, ...],
    files: tuple[str, ...], session_id: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Store TEXT as a note; with --type constraint, as a rule that agents are told.

    --kind knowledge stores a belief, --kind summary what a session came to. TEXT of - reads
    standard input. Private spans and secrets are removed before it is stored.
    """
    if private_sessions.private_environment(os.environ):
        variable = private_sessions.PRIVATE_VARIABLE
        why = f"{variable} is set: this shell is private, and nothing is stored"
        raise Conflict(why, hint=f"unset {variable}")
    kind = _kind(kind, type_)
    title = " ".join(text)
    if title == "-" or (not title and not sys.stdin.isatty()):
        title = sys.stdin.read().strip()
    elif content == "-":
        content = sys.stdin.read()
    if not title:
        raise BadInput("there is nothing to store", hint='recollect add "what you know"')
    body: dict[str, Any] = {"project": project_path(project), "concepts": concepts, "files": files}
    if session_id:
        body["session_id"] = session_id
    more: dict[str, Any]
    traits = KINDS.get(kind)
    if traits is None:
        more = {"text": f"{title}\n{content}" if content else title}
    elif traits.is_summary:
        more = {"request": title, "investigated": investigated, "completed": completed,
                "learned": learned, "next_steps": next_steps, "notes": content}  # fmt: skip
    elif traits.is_belief:
        more = {"title": title, "content": content, "type": type_ or "decision",
                "alternatives": alternative}  # fmt: skip
        more |= {"reason": reason} if reason else {}
    else:
        more = {"title": title, "content": content, "type": type_ or "discovery"}
    path = traits.route if traits else "/api/notes"
    added = daemon_client().ask("POST", path, body | more)
    if as_json:
        print_json(added)
    elif added["stored"]:
        click.echo(f"Stored: {added['record']['record_id']}")
        click.echo(f"Undo: recollect undo {added['op_id']}")
    else:
        click.echo(f"Already stored: {added['record']['record_id']}")


def _kind(kind: str | None, type_: str | None) -> str:
    """A type belongs to a kind; the first that has it, when none is named."""
    if type_ is None:
        return kind or _PLAIN
    if kind is None:
        return next(name for name, of in _TYPES.items() if type_ in of)
    if type_ not in _TYPES.get(kind, ()):
        fits = f"It has: {', '.join(_TYPES[kind])}" if kind in _TYPES else "Leave --type out"
        raise click.UsageError(f"--kind {kind} has no --type {type_}. {fits}.")
    return kind
