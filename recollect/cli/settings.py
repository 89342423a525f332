"""`recollect settings`: every setting, its value, where it comes from; get and set one."""

import os
from typing import Any

import click

from recollect.cli.output import json_option, print_json, print_table
from recollect.core import oslayer, safe_files, settings
from recollect.core.errors import BadInput, BadSetting, CannotWrite


@click.command()
@click.argument("action", required=False, type=click.Choice(["list", "get", "set", "unset"]))
@click.argument("name", required=False)
@click.argument("value", required=False)
@json_option
def command(action: str | None, name: str | None, value: str | None, as_json: bool) -> int:
    """Show every setting with its value, range and meaning.

    `get NAME` prints one value, `set NAME VALUE` writes it to settings.toml in the data directory
    (comments stay), `unset NAME` goes back to the default. For one run: RECOLLECT_<NAME>.
    """
    if action in (None, "list"):
        return _list(as_json=as_json)
    if name is None or (action == "set") != (value is not None):
        raise click.UsageError("it is: settings get NAME, set NAME VALUE, or unset NAME")
    if name not in {one["name"] for one in settings.described()}:
        raise BadInput(
            f"there is no setting {name!r}{settings.nearest(name)}", hint=BadSetting.hint
        )
    if action == "get":
        found = getattr(settings.load(), name)
        if as_json:
            print_json({"name": name, "value": found})
        else:
            click.echo(str(found).lower() if isinstance(found, bool) else _told(found))
        return 0
    return _write(name, value, as_json=as_json)


def _list(*, as_json: bool) -> int:
    chosen = settings.load()
    described = [{**one, "value": getattr(chosen, one["name"])} for one in settings.described()]
    if as_json:
        print_json(described)
        return 0
    print_table(
        ["Setting", "Value", "Allowed", "Meaning"],
        [
            [
                one["name"],
                _told(one["value"]) + ("" if one["value"] == one["default"] else " (changed)"),
                one["allowed"],
                one["help"],
            ]
            for one in described
        ],
    )
    click.echo(f"From {chosen.path('settings.toml')} and the environment (RECOLLECT_<NAME>).")
    click.echo("Change one: recollect settings set NAME VALUE")
    for sentence in settings.ignored_names():
        click.secho(sentence, fg="yellow", err=True)
    return 0


def _write(name: str, value: str | None, *, as_json: bool) -> int:
    """The file may hold what is wrong at the moment, so only the new value is checked."""
    if name == "home":
        raise BadInput("the data directory cannot name itself", hint="RECOLLECT_HOME moves it.")
    wanted, path = write_setting(name, value)
    told: dict[str, Any] = {"name": name, "value": wanted, "file": path}
    if as_json:
        print_json(told)
        return 0
    shown = _told(wanted)
    click.echo(f"{name} = {shown}" if value is not None else f"{name} is back at its default")
    variable = settings.PREFIX + name.upper()
    if os.environ.get(variable):
        click.secho(f"{variable} is set in the environment and wins.", fg="yellow", err=True)
    if name != "ignore":  # which is looked at with every event
        click.echo("It holds from the next start: recollect restart")
    return 0


def write_setting(name: str, value: Any) -> tuple[Any, str]:
    """Put a value, or with None the default, into the file; the value as it stands there, and the
    file."""
    try:
        wanted = None if value is None else settings.checked(name, value)
    except BadSetting as error:
        raise BadInput(str(error), hint=error.hint) from error
    environment = os.environ.get(settings.PREFIX + "HOME") or settings.Settings.home
    directory = os.path.abspath(os.path.expanduser(environment))
    path = os.path.join(directory, "settings.toml")
    try:
        oslayer.private_directory(directory)
        try:
            before = safe_files.read_whole(path, settings.FILE_BYTES).decode()
        except FileNotFoundError:
            before = ""
        # Never of 0 bytes: that is how a file looks that was lost, and doctor says so.
        after = settings.written(before, name, wanted) or "# Every setting is at its default.\n"
        oslayer.replace_file(path, after.encode())
    except UnicodeDecodeError as error:
        raise CannotWrite(f"{path} is not UTF-8 text", hint=f"Mend {path}.") from error
    except OSError as error:
        raise CannotWrite(f"{path} cannot be written: {error.strerror}") from error
    return wanted, path


def _told(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(value) or "-"
    return str(value) if value != "" else "-"
