"""`recollect ignore`: what is never captured, and the way back."""

import os

import click

from recollect.cli.output import json_option, print_json
from recollect.cli.settings import write_setting
from recollect.core import keepout, projects, settings
from recollect.core.errors import BadInput, NotFound


@click.command()
@click.argument("what", required=False)
@click.option("--here", is_flag=True, help="The project of the current directory.")
@click.option("--tool", metavar="NAME", help="A tool of agents; * stands for any letters.")
@click.option("--remove", is_flag=True, help="Take the rule back.")
@click.option("--list", "listed", is_flag=True, help="Show the rules, and what holds here.")
@json_option
def command(
    what: str | None, here: bool, tool: str | None, remove: bool, listed: bool, as_json: bool
) -> int:
    """Keep WHAT out of memory: a directory, or files by a pattern as in .gitignore (*.pem).

    Of a directory nothing is captured and nothing is told there. What a tool does with a file that
    fits a pattern is not captured. It holds from the next event on; what was captured before stays:
    recollect forget --path, --all. A team says it for a repository in a file .recollect.toml:
    capture = false, or ignore = ["PATTERN"]. A session is private with RECOLLECT_PRIVATE=1, or from
    a prompt on whose first or last line is `recollect: private`, until `recollect: public`.
    """
    given = [one for one in (what, tool, here or None) if one is not None]
    if listed or not given:
        return _list(as_json=as_json)
    if len(given) > 1:
        raise click.UsageError("one of WHAT, --here and --tool at a time")
    entry = f"tool:{tool}" if tool else _entry(what)
    if problem := keepout.wrong([entry]):
        raise BadInput(problem)
    known = list(settings.load().ignore)
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


def _entry(what: str | None) -> str:
    """A directory that is there is a project; everything else names files."""
    if what is None:
        place = projects.locate(os.getcwd())
        return f"project:{place.root or keepout.canonical(os.getcwd())}"
    path = os.path.abspath(os.path.expanduser(what))
    if os.path.isdir(path):
        return f"project:{keepout.canonical(path)}"
    return f"file:{path if os.path.isfile(path) else what}"


def _way_back(entry: str) -> str:
    kind, _, value = entry.partition(":")
    return f"recollect ignore --remove {'--tool ' if kind == 'tool' else ''}{value}"


def _list(*, as_json: bool) -> int:
    chosen = settings.load()
    holds = keepout.Reader().here(os.getcwd(), keepout.rules(chosen.ignore))
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
