"""`recollect restart`: stop the daemon if it runs, then start it."""

import click

from recollect.cli import process
from recollect.cli.client import Client
from recollect.core import settings


@click.command()
def command() -> None:
    """Restart the daemon, for instance after an upgrade or a changed setting."""
    chosen = settings.load()
    process.stop(chosen)
    process.start(chosen)
    health = Client(chosen).get("/healthz")
    click.echo(f"Recollect is up: process {health['pid']}, http://127.0.0.1:{health['port']}")
