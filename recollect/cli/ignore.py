"""`recollect ignore`: what is never captured, and the way back."""

import os
import shlex
from collections.abc import Sequence

import click

from recollect.cli.output import json_option, print_json
from recollect.cli.settings import write_setting
from recollect.core import keepout, projects, settings
from recollect.core.errors import BadInput, NotFound


@click.command()
@click.argument("what", nargs=-1, metavar="[WHAT]")
@click.option("--here", is_flag=True, help="The project of the current directory.")
@click.option("--tool", metavar="NAME", help="A tool of agents; * stands for any letters.")
@click.option("--remove", is_flag=True, help="Take the rule back.")
@click.option("--list", "listed", is_flag=True, help="Show the rules, and what holds here.")
@json_option
def command(
    what: tuple[str, ...], here: bool, tool: str | None, remove: bool, listed: bool, as_json: bool
) -> int:
    """Keep WHAT out of memory: a directory, or files by a pattern as in .gitignore (*.pem).

    Of a directory nothing is captured and nothing is told there. What a tool does with a file that
    fits a pattern is not captured. It holds from the next event on; what was captured before stays
    until you erase it: recollect forget --project DIR --all, or --text WORDS. Put a pattern in
    quotes. A team says it for a repository in a file .recollect.toml:
    capture = false, or ignore = ["PATTERN"]. A session is private with RECOLLECT_PRIVATE=1, or from
    a prompt on whose first or last line is `recollect: private`, until `recollect: public`.
    """
    given = [one for one in (*what, tool, here or None) if one is not None]
    if listed or not given:
        return _list(as_json=as_json)
    if len(what) > 1:
        pattern = shlex.quote(_pattern(what))
        told = f"one WHAT at a time. Put the pattern in quotes: recollect ignore {pattern}"
        raise click.UsageError(told)
    if len(given) > 1:
        raise click.UsageError("one of WHAT, --here and --tool at a time")
    if given[0] is not True and not str(given[0]).strip():
        hint = "Name a directory or a pattern; for the project of this directory: --here"
        raise BadInput("the name is empty", hint=hint)
    known = list(settings.load().ignore)
    entry = (
        f"tool:{tool}" if tool else _here() if here else _entry(what[0], known if remove else ())
    )
    if problem := keepout.fault_in_rules([entry]):
        raise BadInput(problem)
    if not remove and not tool and not here:
        _check_there(what[0])
    if remove and entry not in known:
        raise NotFound(f"there is no rule {entry}", hint="recollect ignore --list")
    if not remove and entry in known:
        click.echo(f"{entry} is there already.")
        return 0
    wanted = [one for one in known if one != entry] if remove else [*known, entry]
    write_setting("ignore", wanted or None)
    if as_json:
        print_json({"ignore": wanted})
        return 0
    click.echo(f"No longer kept out: {entry}" if remove else f"Kept out from now on: {entry}")
    if not remove:
        click.echo(f"What is remembered already stays. The way back: {_way_back(entry)}")
    return 0


def _here() -> str:
    place = projects.locate(os.getcwd())
    return f"project:{place.root or keepout.canonical(os.getcwd())}"


def _entry(what: str, known: Sequence[str]) -> str:
    """A directory that is there is a project; everything else names files. A rule that is known is
    found again when what it names is gone, and as --list shows it."""
    path = os.path.abspath(os.path.expanduser(what))
    project = f"project:{keepout.canonical(path)}"
    for entry in (project, f"file:{path}", f"file:{what}", what):
        if entry in known:
            return entry
    if os.path.isdir(path):
        return project
    return f"file:{path if os.path.isfile(path) else what}"


def _check_there(what: str) -> None:
    """A directory that is misspelt must not become a pattern that fits nothing."""
    path = os.path.expanduser(what)
    wild = any(one in what for one in "*?[")
    if wild or os.path.exists(path) or not (os.path.isabs(path) or path.endswith("/")):
        return
    name = shlex.quote(os.path.basename(path.rstrip("/")))
    told = f"There is no directory {what}; to keep files of that name out, wherever they are"
    raise BadInput(told, hint=f"recollect ignore {name}")


def _pattern(names: Sequence[str]) -> str:
    """What a shell may have made these names of."""
    endings = {os.path.splitext(name)[1] for name in names}
    return f"*{endings.pop() or '.pem'}" if len(endings) == 1 else "*.pem"


def _way_back(entry: str) -> str:
    kind, _, value = entry.partition(":")
    option = "--tool " if kind == "tool" else "-- " if value.startswith("-") else ""
    return f"recollect ignore --remove {option}{shlex.quote(value)}"


def _list(*, as_json: bool) -> int:
    chosen = settings.load()
    holds = keepout.ProjectRulesReader().rules_for(os.getcwd(), keepout.rules(chosen.ignore))
    if as_json:
        told = {"ignore": list(chosen.ignore), "off": holds.off, "warnings": list(holds.warnings)}
        print_json({**told, "files": [one.text for one in holds.files]})
        return 0
    if not chosen.ignore:
        click.echo("Nothing is kept out by the settings.")
    for entry in chosen.ignore:
        click.echo(entry)
    theirs = [one.text for one in holds.files if one.base]
    if theirs:
        click.echo(f"Files kept out by this project: {', '.join(theirs)}")
    if holds.off:
        click.secho(f"Nothing is captured here: {holds.off}.", fg="yellow")
    for warning in holds.warnings:
        click.secho(warning, fg="yellow")
    return 0
