"""`recollect down`: stop the daemon."""

import click

from recollect.cli import process
from recollect.core import settings


@click.command()
def command() -> None:
    """Stop the daemon. What it acknowledged is safe; hooks keep what comes meanwhile."""
    stopped = process.stop(settings.load())
    click.echo("Recollect is down." if stopped else "Recollect was not running.")
