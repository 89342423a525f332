"""`recollect backup`: a verified copy of the running store, or the list of those that there are."""

import os
from typing import Any

import click

from recollect.cli import process
from recollect.cli.output import json_option, many, memories, print_json, print_table
from recollect.client import Client
from recollect.core import settings
from recollect.portable.backups import made_at, made_in

SLOW_S = 600.0
ON_SERVER = (
    "The store is on PostgreSQL, and its server backs it up: "
    "pg_dump --format=custom --schema=recollect"
)


@click.command()
@click.argument("what", type=click.Choice(["create", "list"]), default="create")
@json_option
def command(what: str, as_json: bool) -> int:
    """Make a backup (create, the default) or list them.

    Agents can go on working meanwhile. The daemon makes one a day by itself and keeps
    the last seven; the setting `backup_days` changes how often.
    """
    chosen = settings.load()
    if what == "list":  # without the daemon: one that will not start is when they are needed
        items = _there(chosen.path("backups"))
        if as_json:
            print_json(items)
        elif not items and chosen.store:
            click.echo(ON_SERVER)
        elif not items:
            click.echo("There is no backup yet. Make one: recollect backup")
        else:
            rows = [
                [f"{one['made_at']:%Y-%m-%d %H:%M:%S}", f"{one['bytes'] / 1e6:.1f} MB", one["path"]]
                for one in items
            ]
            print_table(["Made", "Size", "File"], rows)
            if chosen.store:
                click.echo(f"These are of the SQLite file, which is not in use. {ON_SERVER}")
        return 0
    process.start(chosen)
    made = Client(chosen, SLOW_S).ask("POST", "/api/backups")
    if as_json:
        print_json(made)
    else:
        click.echo(
            f"{made['path']}: {many(made['events'], 'event')}, {memories(made['records'])}, "
            "verified."
        )
    return 0


def _there(folder: str) -> list[dict[str, Any]]:
    return [
        {"path": path, "bytes": os.stat(path).st_size, "made_at": made_at(path)}
        for path in made_in(folder)
    ]
