"""`recollect logs`: the end of the daemon's log, and new lines as they come."""

import time

import click

from recollect.cli.options import limit_option
from recollect.cli.output import filled
from recollect.core import settings

INDENT = 4  # of the second line of an entry that does not fit the terminal


@click.command()
@limit_option(50, 100_000, "lines")
@click.option("-f", "--follow", is_flag=True, help="Keep printing new lines.")
def command(limit: int, follow: bool) -> int:
    """Print the end of the daemon's log."""
    path = settings.load().path("logs", "recollect.log")
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file.readlines()[-limit:]:
                click.echo(filled(line.rstrip("\n"), hang=INDENT))
            while follow:
                line = file.readline()
                if line:
                    click.echo(filled(line.rstrip("\n"), hang=INDENT))
                else:
                    time.sleep(0.3)
    except FileNotFoundError:
        click.echo(f"There is no log yet ({path}). Start the daemon: recollect up")
        return 1
    except KeyboardInterrupt:
        return 0
    return 0
