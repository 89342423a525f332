"""`recollect open`: the dashboard, signed in by a link that works once."""

import os
import sys
import webbrowser

import click

from recollect.cli.options import json_option
from recollect.cli.output import daemon_client, print_json


@click.command()
@click.option("--print", "only_print", is_flag=True, help="Print the address and open no browser.")
@json_option
def command(only_print: bool, as_json: bool) -> None:
    """Open the dashboard in your browser.

    The link works once, within a minute; the browser stays signed in. Without a terminal, or in CI,
    only the address is printed.
    """
    invited = daemon_client().ask("POST", "/api/open")
    if as_json:
        print_json(invited)
    elif only_print or not may_open() or not _opened(invited["url"]):
        click.echo(invited["url"])
        click.echo(f"The link works once, for {invited['seconds']} seconds.", err=True)
    else:
        click.echo("The dashboard is open in your browser.")


def may_open() -> bool:
    """Whether a person is at a terminal, and this is not CI."""
    return sys.stdout.isatty() and not os.environ.get("CI")


def _opened(url: str) -> bool:
    try:
        return webbrowser.open(url)
    except webbrowser.Error:
        return False
