"""`recollect settings`: every setting and its value, and changing one."""

import os
from typing import Any

import click
from click.shell_completion import CompletionItem

from recollect.cli.groups import Group
from recollect.cli.options import json_option
from recollect.cli.output import print_json, print_text, text_width
from recollect.core import settings
from recollect.core.errors import BadInput, BadSetting
from recollect.core.one_line import one_line

HEAD_CHARS = 34  # of a name and its value, in the short list


@click.group(cls=Group)
def command() -> None:
    """List, show and change settings.

    They are kept in settings.toml in the data directory. RECOLLECT_<NAME> in the environment
    overrides one for a single run.
    """


def _complete_name(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    return [
        CompletionItem(one["name"], help=one["help"])
        for one in settings.described()
        if one["name"].startswith(incomplete)
    ]


name_argument = click.argument("name", shell_complete=_complete_name)


@command.command("list")
@click.option("--long", "long_", is_flag=True, help="With all of the help, and what each takes.")
@json_option
def list_command(long_: bool, as_json: bool) -> None:
    """List every setting with its value and what it does, one line each."""
    chosen = settings.load()
    described = [{**one, "value": getattr(chosen, one["name"])} for one in settings.described()]
    if as_json:
        print_json(described)
        return
    for one in described:
        changed = "" if one["value"] == one["default"] else " (changed)"
        head = f"{one['name']} = {_shown(one['value'])}"
        if long_:
            click.echo(click.style(head, bold=True) + click.style(changed, fg="yellow"))
            allowed = f" ({one['allowed']})" if one["allowed"] else ""
            print_text(one["help"] + allowed, indent=4)
        else:
            head = one_line(head, HEAD_CHARS - len(changed)) + changed
            help_ = one_line(one["help"], max(20, text_width() - HEAD_CHARS - 2))
            click.echo(click.style(f"{head:<{HEAD_CHARS}}  ", bold=bool(changed)) + help_)
    click.echo(f"From {chosen.path('settings.toml')} and the environment (RECOLLECT_<NAME>).")
    if not long_:
        click.echo("More about each: recollect settings list --long")
    click.echo("Change one: recollect settings set NAME VALUE")
    for sentence in settings.ignored_names():
        click.secho(sentence, fg="yellow", err=True)


@command.command()
@name_argument
@json_option
def show(name: str, as_json: bool) -> None:
    """Print the value of NAME."""
    _refuse_unknown(name)
    value = getattr(settings.load(), name)
    if as_json:
        print_json({"name": name, "value": value})
    else:
        click.echo(_shown(value))


# A negative number is a value, which the setting's range then refuses by name.
@command.command("set", context_settings={"ignore_unknown_options": True})
@name_argument
@click.argument("value")
@json_option
def set_command(name: str, value: str, as_json: bool) -> None:
    """Set NAME to VALUE in settings.toml; comments in the file stay."""
    if value.startswith("--"):
        raise click.NoSuchOption(value)
    _refuse_unknown(name)
    _write(name, value, as_json=as_json)


@command.command()
@name_argument
@json_option
def unset(name: str, as_json: bool) -> None:
    """Remove NAME from settings.toml, which restores its default."""
    if name not in settings.REMOVED:  # one of an earlier version can be cleared away
        _refuse_unknown(name)
    _write(name, None, as_json=as_json)


def _refuse_unknown(name: str) -> None:
    if name == "home":
        raise BadInput(
            "home is not a setting: it is where settings.toml is",
            hint="RECOLLECT_HOME changes it.",
        )
    if name not in {one["name"] for one in settings.described()}:
        raise BadInput(
            f"there is no setting {name!r}{settings.nearest(name)}", hint=BadSetting.hint
        )


def _write(name: str, value: str | None, *, as_json: bool) -> None:
    """Only the new value is checked: the file may hold a wrong one that this call repairs."""
    wanted, path = write_setting(name, value)
    if as_json:
        print_json({"name": name, "value": wanted, "file": path})
        return
    default = f"{name} is back at its default"
    click.echo(default if value is None else f"{name} = {_shown(wanted)}")
    variable = settings.PREFIX + name.upper()
    if os.environ.get(variable):
        click.secho(f"{variable} in the environment overrides it.", fg="yellow", err=True)
    if name != "ignore":  # which is read with every event
        click.echo("It takes effect at the next start: recollect restart")


def write_setting(name: str, value: Any) -> tuple[Any, str]:
    """Put a value, or with None the default, into the file; returns the value and the file."""
    path = settings.file_path(os.environ)
    return settings.write(path, name, value), path


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ", ".join(value) or "-"
    return str(value) if value != "" else "-"
