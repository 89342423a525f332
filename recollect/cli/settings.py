"""`recollect settings`: every setting, its value, where it comes from and what it may be."""

import click

from recollect.cli.output import json_option, print_json, print_table
from recollect.core import settings


@click.command()
@json_option
def command(as_json: bool) -> None:
    """Show every setting with its value, range and meaning.

    Change one in settings.toml in the data directory, or for one run by RECOLLECT_<NAME>.
    """
    chosen = settings.load()
    described = [{**one, "value": getattr(chosen, one["name"])} for one in settings.described()]
    if as_json:
        print_json(described)
        return
    print_table(
        ["Setting", "Value", "Allowed", "Meaning"],
        [
            [
                one["name"],
                _told(one["value"]) + ("" if one["value"] == one["default"] else " (changed)"),
                one["allowed"],
                one["help"],
            ]
            for one in described
        ],
    )
    click.echo(f"From {chosen.path('settings.toml')} and the environment (RECOLLECT_<NAME>).")


def _told(value: object) -> str:
    return str(value) if value != "" else "-"
