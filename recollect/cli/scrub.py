"""`recollect scrub`: secrets that were stored before a rule for them existed, found and removed."""

import click

from recollect.cli.options import dry_run_option, json_option, yes_option
from recollect.cli.output import SLOW_S, agreed, daemon_client, many, print_json
from recollect.cli.selection_options import count_rows


@click.command()
@dry_run_option
@yes_option
@click.option("--backups", is_flag=True, help="Also replace the backups, which contain them too.")
@json_option
def command(dry_run: bool, yes: bool, backups: bool, as_json: bool) -> int:
    """Find secrets and private spans in everything that is stored, with today's rules.

    What is found is replaced by a mark in every row, in the database's log and in the log files.
    Backups lose it within one rotation, or at once with --backups.
    """
    client = daemon_client(SLOW_S)
    found = client.ask("POST", "/api/scrub", {"dry_run": True})
    done = dry_run or not found["found"]
    if as_json and done:
        print_json(found)
    elif not as_json:
        _show(found)
    if done:
        return 0
    if not agreed("Remove them?", yes=yes, as_json=as_json, default=True):
        return 1
    done = client.ask("POST", "/api/scrub", {"dry_run": False, "backups": backups})
    if as_json:
        print_json(done)
    else:
        click.echo(f"Cleaned: {many(sum(done['counts'].values()), 'row')}, bytes included.")
    return 0


def _show(found: dict[str, dict[str, int]]) -> None:
    if not found["found"]:
        click.echo("No secrets were found in what is stored.")
        return
    for kind, count in sorted(found["found"].items(), key=lambda pair: -pair[1]):
        click.echo(f"{count} x {kind}")
    click.echo(f"in {count_rows(found['counts'])}")
