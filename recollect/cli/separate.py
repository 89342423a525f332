"""`recollect separate`: a folder that is a project of its own, whatever it was taken for."""

import os

import click

from recollect.cli.output import daemon_client, json_option, print_json
from recollect.cli.selection_options import counted


@click.command()
@click.argument("directory", type=click.Path(exists=True, file_okay=False), default=".")
@json_option
def command(directory: str, as_json: bool) -> int:
    """Make the project around DIRECTORY (or around where you are) one of its own.

    For a second clone that was joined with the first, and for one that `recollect status`
    offers to join. What was captured in it goes along; memories that were added by hand stay
    where they are. It is not joined again by itself; `recollect move --all` joins it.
    """
    body = {"path": os.path.abspath(directory)}
    done = daemon_client().ask("POST", "/api/separate", body)
    if as_json:
        print_json(done)
        return 0
    told = counted(done["counts"])
    click.echo(f"{done['root']} is a project of its own: {done['project_id']}.")
    if told:
        click.echo(f"With it went: {told}.")
    return 0
