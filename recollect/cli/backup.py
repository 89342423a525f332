"""`recollect backup`: verified copies of the running store, and putting one back."""

import os
from typing import Any

import click

from recollect.cli import process
from recollect.cli.groups import Group
from recollect.cli.options import json_option, yes_option
from recollect.cli.output import (
    SLOW_S,
    agreed,
    daemon_client,
    many,
    memories,
    print_json,
    print_table,
    waiting,
)
from recollect.core import safe_files, settings, store_key
from recollect.core.errors import BadInput, RecollectError
from recollect.core.settings import Settings
from recollect.portable.backups import chosen as chosen_backup
from recollect.portable.backups import made_at, made_in, refuse_server

SQLITE_HEADER = b"SQLite format 3\0"  # how every backup that is not encrypted begins
LIST = "recollect backup list"
ON_SERVER = (
    "The store is on PostgreSQL, and its server backs it up: "
    "pg_dump --format=custom --schema=recollect"
)


@click.group(cls=Group)
def command() -> None:
    """Create, list and restore backups.

    The daemon makes one a day and keeps the last seven; the setting `backup_days` changes how
    often.
    """


@command.command()
@json_option
def create(as_json: bool) -> None:
    """Make a verified backup now. Agents can go on working meanwhile."""
    made = daemon_client(SLOW_S).ask("POST", "/api/backups")
    if as_json:
        print_json(made)
    else:
        counts = f"{many(made['events'], 'event')}, {memories(made['records'])}"
        click.echo(f"{made['path']}: {counts}, verified.")


@command.command("list")
@json_option
def list_command(as_json: bool) -> None:
    """List the backups, newest first. Works without the daemon."""
    chosen = settings.load()
    items: list[dict[str, Any]] = [
        {"path": path, "bytes": os.stat(path).st_size, "made_at": made_at(path)}
        for path in made_in(chosen.path("backups"))
    ]
    if as_json:
        print_json(items)
    elif not items:
        none = "There is no backup yet. Make one: recollect backup create"
        click.echo(ON_SERVER if chosen.store else none)
    else:
        click.echo(f"In {chosen.path('backups')}:")
        rows = [
            [f"{one['made_at']:%Y-%m-%d %H:%M:%S}", f"{one['bytes'] / 1e6:.1f} MB",
             os.path.basename(one["path"])]
            for one in items
        ]  # fmt: skip
        print_table(["Made", "Size", "File"], rows)
        if chosen.store:
            click.echo(f"These are of the SQLite file, which is not in use. {ON_SERVER}")


@command.command()
@click.argument("backup", required=False)
@yes_option
@json_option
def restore(backup: str | None, yes: bool, as_json: bool) -> int:
    """Replace the store by BACKUP: a file, the beginning of a name in the list, or the newest.

    The backup is checked row by row first. The daemon is stopped and started again; hooks that
    fire meanwhile keep their events in the spool. The database as it was is kept in `backups/`.
    What was forgotten since the backup was made comes back with it.
    """
    chosen = settings.load()
    refuse_server(chosen)
    path = chosen_backup(chosen.path("backups"), backup)
    _refuse_other_files(path)
    question = f"Replace what is stored now by {os.path.basename(path)}?"
    if not agreed(question, yes=yes, as_json=as_json):
        return 1
    with waiting("Stopping Recollect") as bar:
        ran = bool(process.stop(chosen, doing=bar.doing))
    try:
        done = process.on_files(chosen, "--restore", path)
    except RecollectError:
        if ran:
            process.start(chosen)
        raise
    if as_json:
        print_json(done)
    else:
        click.echo(f"Restored: {many(done['events'], 'event')}, {memories(done['records'])}.")
        click.echo("What was forgotten since that backup is back with it; forget it again.")
        if done["aside"]:
            click.echo(f"What was there before is kept: {done['aside']}")
    if ran:
        _start(chosen)
    elif not as_json:
        click.echo("Recollect was not running. Start it: recollect up")
    return 0


def _start(chosen: Settings) -> None:
    """A failure to start does not undo the restore, and says so."""
    try:
        with waiting("Starting Recollect") as bar:
            process.start(chosen, doing=bar.doing)
    except RecollectError as error:
        raise RecollectError(
            f"The backup is in place, but Recollect is not up: {error}", hint=error.hint
        ) from error


def _refuse_other_files(path: str) -> None:
    """What is no database is not worth stopping the daemon for."""
    try:
        header = safe_files.read_start(path, len(SQLITE_HEADER))
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}", hint=LIST) from error
    if header != SQLITE_HEADER and not header.startswith(store_key.MAGIC):
        raise BadInput(f"{path} is not a backup of Recollect; nothing was changed", hint=LIST)
