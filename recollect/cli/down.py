"""`recollect down`: stop the daemon."""

import os

import click

from recollect.cli import process
from recollect.core import settings
from recollect.core.errors import BadSetting


@click.command()
def command() -> None:
    """Stop the daemon. What it acknowledged is safe; hooks keep what comes meanwhile.

    The next session or prompt of a connected agent starts it again.
    """
    try:
        chosen = settings.load()
    except BadSetting:
        # A bad setting must not keep a daemon running; where it runs is all that is needed.
        home = os.environ.get(settings.PREFIX + "HOME") or settings.Settings.home
        chosen = settings.Settings(home=home)
    stopped = process.stop(chosen)
    click.echo("Recollect is down." if stopped else "Recollect was not running.")
