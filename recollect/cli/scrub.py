"""`recollect scrub`: secrets in what was stored before its rule was known, found and taken out."""

import click

from recollect.cli import process
from recollect.cli.output import agreed, json_option, many, print_json
from recollect.cli.selection_options import counted
from recollect.client import Client
from recollect.core import settings

SLOW_S = 600.0


@click.command()
@click.option("--dry-run", is_flag=True, help="Show how many there are, and stop.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.option("--backups", is_flag=True, help="Replace the backups, which hold them too.")
@json_option
def command(dry_run: bool, yes: bool, backups: bool, as_json: bool) -> int:
    """Look through everything that is stored for secrets and private spans, with today's rules.

    What is found is replaced by a mark, in every row, the database's log and the log files, bytes
    included. Backups lose it within one rotation, or at once with --backups.
    """
    chosen = settings.load()
    process.start(chosen)
    client = Client(chosen, SLOW_S)
    found = client.ask("POST", "/api/scrub", {"dry_run": True})
    if not found["found"] or dry_run:
        if as_json:
            print_json(found)
        elif not found["found"]:
            click.echo("No secrets were found in what is stored.")
        else:
            _show(found)
        return 0
    if not as_json:
        _show(found)
    if not agreed("Take them out?", yes=yes, as_json=as_json, default=True):
        return 1
    done = client.ask("POST", "/api/scrub", {"dry_run": False, "backups": backups})
    if as_json:
        print_json(done)
    else:
        click.echo(f"Cleaned: {many(sum(done['counts'].values()), 'row')}, bytes included.")
    return 0


def _show(found: dict[str, dict[str, int]]) -> None:
    for kind, count in sorted(found["found"].items(), key=lambda pair: -pair[1]):
        click.echo(f"{count} x {kind}")
    click.echo(f"in {counted(found['counts'])}")
