"""`recollect restart`: stop the daemon if it runs, then start it."""

import click

from recollect.cli import process
from recollect.cli.down import how_it_stopped
from recollect.cli.output import waiting
from recollect.cli.up import is_up
from recollect.core import settings


@click.command()
def command() -> None:
    """Restart the daemon, for instance after an upgrade or a changed setting."""
    chosen = settings.load()
    with waiting("Stopping Recollect") as bar:
        stopped = process.stop(chosen, doing=bar.doing)
    if stopped:
        click.echo(how_it_stopped(stopped))
    with waiting("Starting Recollect") as bar:
        process.start(chosen, doing=bar.doing)
    is_up(chosen)
