"""`recollect up`: start the daemon, or say that it runs."""

import click

from recollect.cli import process
from recollect.cli.client import Client
from recollect.cli.output import waiting
from recollect.cli.status import moved, store_problem
from recollect.core import settings


@click.command()
@click.option("--foreground", is_flag=True, help="Stay in this terminal (for service managers).")
@click.option("--quiet", is_flag=True, help="Say nothing when all is well.")
def command(foreground: bool, quiet: bool) -> int:
    """Start the daemon. It keeps running when the terminal closes."""
    if foreground:
        from recollect.cli.foreground import run

        return run()
    chosen = settings.load()
    with waiting("Starting Recollect"):
        started = process.start(chosen)
    if not quiet:
        health = Client(chosen).get("/healthz")
        click.echo(
            f"Recollect {'is up' if started else 'was already up'}: process {health['pid']}, "
            f"http://127.0.0.1:{health['port']}, data in {chosen.directory}"
        )
        for told in filter(None, (moved(health), store_problem(health))):
            click.secho(told, fg="yellow")
    return 0
