"""`recollect plugins`: what plugins there are, and switching them on and off."""

from typing import Any

import click

from recollect.cli.groups import Group
from recollect.cli.options import json_option
from recollect.cli.output import print_json, print_table
from recollect.cli.settings import write_setting
from recollect.client import Client, NotRunning
from recollect.core import settings
from recollect.core.errors import NotFound
from recollect.plugins.available import available


@click.group(cls=Group)
def command() -> None:
    """List plugins, and switch them on and off.

    A plugin is a program that other packages bring, or that comes with Recollect (vault, webhooks).
    It runs with your rights in a process of its own and may read your memories: switch on only what
    you trust. Its options are in plugins/NAME.toml in the data directory.
    """


@command.command("list")
@json_option
def list_command(as_json: bool) -> None:
    """List the plugins, whether they run, and what went wrong."""
    chosen = settings.load()
    items: list[dict[str, Any]]
    try:
        items = Client(chosen).get("/api/plugins")["items"]
    except NotRunning:
        items = [
            {"name": one.name, "package": one.package, "version": one.version, "hooks": [],
             "state": "enabled" if one.name in chosen.plugins else "disabled", "problem": ""}
            for one in available().values()
        ]  # fmt: skip
    if as_json:
        print_json({"items": items})
        return
    rows = [
        [one["name"], one["state"], f"{one['package']} {one['version']}", ", ".join(one["hooks"])]
        for one in items
    ]
    print_table(["Plugin", "State", "Package", "Hooks"], rows)
    for one in items:
        if one["problem"]:
            click.secho(f"{one['name']}: {one['problem']}", fg="yellow")


@command.command()
@click.argument("name")
@json_option
def enable(name: str, as_json: bool) -> None:
    """Switch a plugin on, or start one anew that failed."""
    if name not in available():
        raise NotFound(f"there is no plugin {name!r}", hint="recollect plugins list")
    _switch(name, True, as_json)


@command.command()
@click.argument("name")
@json_option
def disable(name: str, as_json: bool) -> None:
    """Switch a plugin off."""
    _switch(name, False, as_json)


def _switch(name: str, enabled: bool, as_json: bool) -> None:
    chosen = settings.load()
    wanted = [one for one in chosen.plugins if one != name] + [name] * enabled
    write_setting("plugins", wanted or None)
    try:
        Client(chosen).ask("PUT", f"/api/plugins/{name}", {"enabled": enabled})
        when = "now"
    except NotRunning:
        when = "when the daemon starts"
    if as_json:
        print_json({"plugins": wanted, "daemon": when})
        return
    click.echo(f"The plugin {name} is switched {'on' if enabled else 'off'}, {when}.")
    if enabled:
        click.echo(f"Its options, if it has any: {chosen.path('plugins', name + '.toml')}")
