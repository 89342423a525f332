"""`recollect ignore`: rules for what is never captured."""

import os
import shlex
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from recollect.cli.groups import Group
from recollect.cli.options import json_option
from recollect.cli.output import print_json
from recollect.cli.settings import write_setting
from recollect.core import keepout_rules, projects, settings
from recollect.core.errors import BadInput, NotFound

F = TypeVar("F", bound=Callable[..., Any])


@click.group(cls=Group)
def command() -> None:
    """Keep directories, files and tools out of memory.

    A rule holds from the next event on; what was captured before stays until you erase it:
    recollect forget --project DIR --all, or --text WORDS. A team sets rules for a repository in a
    file .recollect.toml: capture = false, or ignore = ["PATTERN"]. A session is private with
    RECOLLECT_PRIVATE=1, or from a prompt whose first or last line is `recollect: private`, until
    `recollect: public`.
    """


def _rule_arguments(function: F) -> F:
    for option in (
        click.option("--tool", metavar="NAME", help="A tool of agents; * stands for any letters."),
        click.option("--here", is_flag=True, help="The project of the current directory."),
        click.argument("what", nargs=-1, metavar="[WHAT]"),
    ):
        function = option(function)
    return function


@command.command("list")
@json_option
def list_command(as_json: bool) -> None:
    """List the rules, and what holds in the current directory."""
    chosen = settings.load()
    holds = keepout_rules.rules_in(os.getcwd(), chosen.ignore)
    if as_json:
        told = {"ignore": list(chosen.ignore), "off": holds.off, "warnings": list(holds.warnings)}
        print_json({**told, "files": [one.text for one in holds.files]})
        return
    if not chosen.ignore:
        click.echo("There are no rules in the settings.")
    for entry in chosen.ignore:
        click.echo(entry)
    theirs = [one.text for one in holds.files if one.base]
    if theirs:
        click.echo(f"Files kept out by this project: {', '.join(theirs)}")
    if holds.off:
        click.secho(f"Nothing is captured here: {holds.off}.", fg="yellow")
    for warning in holds.warnings:
        click.secho(warning, fg="yellow")


@command.command()
@_rule_arguments
@json_option
def add(what: tuple[str, ...], here: bool, tool: str | None, as_json: bool) -> None:
    """Keep WHAT out of memory: a directory, or files by a pattern as in .gitignore ('*.pem').
    WHAT may also be a rule as the list shows it: file:PATTERN, project:DIR or tool:NAME.

    In such a directory nothing is captured and nothing is injected. What a tool does with a file
    that matches a pattern is not captured. Put a pattern in quotes.
    """
    known = list(settings.load().ignore)
    entry = _entry(what, here, tool, known=())
    if what and not what[0].startswith(("file:", "tool:")):
        _refuse_missing_directory(what[0].removeprefix("project:"))
    if entry in known:
        click.echo(f"{entry} is there already.")
        return
    wanted = [*known, entry]
    write_setting("ignore", wanted)
    if as_json:
        print_json({"ignore": wanted})
        return
    click.echo(f"Kept out from now on: {entry}")
    click.echo(f"What is stored already stays. Remove the rule: {_removal(entry)}")


@command.command()
@_rule_arguments
@json_option
def remove(what: tuple[str, ...], here: bool, tool: str | None, as_json: bool) -> None:
    """Remove a rule: WHAT as it was given, or as the list shows it."""
    known = list(settings.load().ignore)
    entry = _entry(what, here, tool, known=known)
    if entry not in known:
        raise NotFound(f"there is no rule {entry}", hint="recollect ignore list")
    wanted = [one for one in known if one != entry]
    write_setting("ignore", wanted or None)
    if as_json:
        print_json({"ignore": wanted})
    else:
        click.echo(f"No longer kept out: {entry}")


def _entry(what: tuple[str, ...], here: bool, tool: str | None, known: Sequence[str]) -> str:
    """The rule that the arguments name."""
    if len(what) > 1:
        pattern = shlex.quote(_pattern(what))
        raise click.UsageError(
            f"one WHAT at a time. Put the pattern in quotes: recollect ignore add {pattern}"
        )
    if (len(what) + here + (tool is not None)) != 1:
        raise click.UsageError("name exactly one of WHAT, --here and --tool")
    if any(not one.strip() for one in (*what, *([tool] if tool is not None else []))):
        hint = "Name a directory or a pattern; for the project of this directory: --here"
        raise BadInput("the name is empty", hint=hint)
    if tool:
        entry = f"tool:{tool.removeprefix('tool:')}"
    elif here:
        place = projects.locate(os.getcwd())
        entry = f"project:{place.root or keepout_rules.canonical(os.getcwd())}"
    else:
        entry = _rule_named(what[0], known)
    if problem := keepout_rules.fault_in_rules([entry]):
        raise BadInput(problem)
    return entry


def _rule_named(what: str, known: Sequence[str]) -> str:
    """A directory that exists is a project; everything else names files, unless the kind is given
    as the list shows it (file:PATTERN). A known rule is found also when what it names is gone."""
    if what in known:
        return what
    try:
        kind, name = keepout_rules.split_kind(what)
    except ValueError as error:
        raise BadInput(str(error)) from None
    path = os.path.abspath(os.path.expanduser(name))
    project = f"project:{keepout_rules.canonical(path)}"
    for entry in () if kind else (project, f"file:{path}", f"file:{name}"):
        if entry in known:
            return entry
    if kind == "tool":
        return what
    if kind == "project" or (not kind and os.path.isdir(path)):
        return project
    return f"file:{path if os.path.isfile(path) else name}"


def _refuse_missing_directory(what: str) -> None:
    """A misspelt directory must not become a pattern that matches nothing."""
    path = os.path.expanduser(what)
    wild = any(one in what for one in "*?[")
    if wild or os.path.exists(path) or not (os.path.isabs(path) or path.endswith("/")):
        return
    name = shlex.quote(os.path.basename(path.rstrip("/")))
    told = f"There is no directory {what}; to keep files of that name out, wherever they are"
    raise BadInput(told, hint=f"recollect ignore add {name}")


def _pattern(names: Sequence[str]) -> str:
    """The pattern that a shell may have expanded to these names."""
    endings = {os.path.splitext(name)[1] for name in names}
    return f"*{endings.pop() or '.pem'}" if len(endings) == 1 else "*.pem"


def _removal(entry: str) -> str:
    kind, _, value = entry.partition(":")
    option = "--tool " if kind == "tool" else "-- " if value.startswith("-") else ""
    return f"recollect ignore remove {option}{shlex.quote(value)}"
