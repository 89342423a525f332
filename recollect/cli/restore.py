"""`recollect restore`: a backup in place of the store; what was there is kept aside."""

import os
from typing import Any

import click

from recollect.cli import process
from recollect.cli.output import agreed, json_option, many, memories, print_json, waiting
from recollect.core import safe_files, settings
from recollect.core.errors import BadInput, RecollectError
from recollect.core.settings import Settings
from recollect.portable.backups import chosen as chosen_backup
from recollect.portable.backups import refuse_server

DATABASE = b"SQLite format 3\0"  # how every backup begins
LIST = "recollect backup list"


@click.command()
@click.argument("backup", required=False)
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@json_option
def command(backup: str | None, yes: bool, as_json: bool) -> int:
    """Put BACKUP in place: a file, the beginning of a name in the list, or the newest one.

    The backup is checked first, row by row. The daemon is stopped and started again; hooks that
    fire meanwhile keep their events in the spool. The database as it was is kept in `backups/`.
    What was forgotten since the backup was made is back with it.
    """
    chosen = settings.load()
    refuse_server(chosen)
    path = chosen_backup(chosen.path("backups"), backup)
    _refuse(path)
    question = f"Put {os.path.basename(path)} in place of what is stored now?"
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
        _tell(done)
    if ran:
        _start(chosen)
    elif not as_json:
        click.echo("Recollect was not running. Start it: recollect up")
    return 0


def _tell(done: dict[str, Any]) -> None:
    click.echo(f"Restored: {many(done['events'], 'event')}, {memories(done['records'])}.")
    click.echo("What was forgotten since that backup is back with it; forget it again.")
    if done["aside"]:
        click.echo(f"What was there before is kept: {done['aside']}")


def _start(chosen: Settings) -> None:
    """The restore is done, whatever becomes of this."""
    try:
        with waiting("Starting Recollect") as bar:
            process.start(chosen, doing=bar.doing)
    except RecollectError as error:
        raise RecollectError(
            f"The backup is in place, but Recollect is not up: {error}", hint=error.hint
        ) from error


def _refuse(path: str) -> None:
    """What is no database at all is not worth stopping the daemon for."""
    try:
        begins = safe_files.read_start(path, len(DATABASE))
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}", hint=LIST) from error
    if begins != DATABASE:
        raise BadInput(f"{path} is not a backup of Recollect; nothing was changed", hint=LIST)
