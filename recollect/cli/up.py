"""`recollect up`: start the daemon, or say that it runs."""

from typing import Any

import click

from recollect.cli import process
from recollect.cli.output import waiting
from recollect.cli.status import moved, store_problem
from recollect.client import Client
from recollect.core import settings
from recollect.core.settings import Settings


@click.command()
@click.option("--foreground", is_flag=True, help="Stay in this terminal (for service managers).")
@click.option("--quiet", is_flag=True, help="Say nothing when all is well.")
@click.option(
    "--accept-loss",
    is_flag=True,
    help="Go on with what is left of a store that lost rows; what is left of its files is kept "
    "in backups/.",
)
def command(foreground: bool, quiet: bool, accept_loss: bool) -> int:
    """Start the daemon. It keeps running when the terminal closes."""
    chosen = settings.load()
    if accept_loss:
        _accept_loss(chosen)
    if foreground:
        from recollect.cli.foreground import run

        return run()
    with waiting("Starting Recollect") as bar:
        started = process.start(chosen, doing=bar.doing)
    if not quiet:
        health = is_up(chosen, f"{'is up' if started else 'was already up'}")
        for told in filter(None, (moved(health), store_problem(health))):
            click.secho(told, fg="yellow")
    return 0


def is_up(chosen: Settings, how: str = "is up") -> dict[str, Any]:
    """Say where it runs."""
    health: dict[str, Any] = Client(chosen).get("/healthz")
    click.echo(
        f"Recollect {how}: process {health['pid']}, http://127.0.0.1:{health['port']}, "
        f"data in {chosen.directory}"
    )
    return health


def _accept_loss(chosen: Settings) -> None:
    if Client(chosen).alive():
        click.echo("Nothing is missing: Recollect is running.")
        return
    done = process.on_files(chosen, "--accept-loss")
    if done["missing"] is None:
        click.echo("Nothing is missing.")
        return
    click.echo(f"Accepted: {done['missing']}.")
    for path in done["aside"]:
        click.echo(f"Kept as it was: {path}")
    if not done["aside"]:
        click.echo("Nothing was left to keep.")
    if done["newest"]:
        click.echo(f"The newest backup is {done['newest']}: recollect restore")
