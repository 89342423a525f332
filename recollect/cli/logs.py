"""`recollect logs`: the end of the daemon's log, and what is added to it."""

import time

import click

from recollect.core import settings


@click.command()
@click.option("-n", "--lines", default=50, show_default=True, type=click.IntRange(1, 100_000))
@click.option("-f", "--follow", is_flag=True, help="Go on printing what is added.")
def command(lines: int, follow: bool) -> int:
    """Show the end of the log."""
    path = settings.load().path("logs", "recollect.log")
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file.readlines()[-lines:]:
                click.echo(line, nl=False)
            while follow:
                line = file.readline()
                if line:
                    click.echo(line, nl=False)
                else:
                    time.sleep(0.3)
    except FileNotFoundError:
        click.echo(f"There is no log yet ({path}). Start the daemon: recollect up")
        return 1
    except KeyboardInterrupt:
        return 0
    return 0
