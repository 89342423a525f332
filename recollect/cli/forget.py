"""`recollect forget`: gone everywhere, after showing what goes."""

from datetime import datetime

import click

from recollect.cli import process
from recollect.cli.aims import aim, aim_options, show
from recollect.cli.client import Client
from recollect.cli.output import json_option, print_json
from recollect.core import settings

SLOW_S = 600.0


@click.command()
@aim_options
@click.option("--backups", is_flag=True, help="In the backups at once, not within one rotation.")
@click.option("--never-again", is_flag=True, help="And do not learn it again.")
@json_option
def command(
    memories: tuple[str, ...],
    session: str | None,
    entity: str | None,
    text: str | None,
    older_than: datetime | None,
    project: str | None,
    everything: bool,
    yes: bool,
    dry_run: bool,
    backups: bool,
    never_again: bool,
    as_json: bool,
) -> int:
    """Erase memories, with all that they were made from and that was made from them.

    MEMORY is the id of one. Nothing of it stays in the database, its log, the spool or the log
    files; backups lose it within one rotation, or at once with --backups. This cannot be undone.
    """
    body = aim(memories, session, entity, text, older_than, project, everything)
    chosen = settings.load()
    process.start(chosen)
    client = Client(chosen, SLOW_S)
    shown = client.ask("POST", "/api/forget", {**body, "dry_run": True})
    if dry_run:
        print_json(shown) if as_json else show(shown)
        return 0
    if not as_json:
        show(shown)
    if not yes and not click.confirm("Erase this for good?", default=False):
        return 1
    wanted = {**body, "dry_run": False, "backups": backups, "never_again": never_again}
    done = client.ask("POST", "/api/forget", wanted)
    if as_json:
        print_json(done)
        return 0
    click.echo(f"Erased: {sum(done['counts'].values())} rows, and their bytes.")
    if done["backups"]:
        click.echo(f"Also in {done['backups']} backups.")
    elif not backups and client.get("/api/backups")["items"]:
        click.echo("Backups still hold it until they are rotated out; --backups does it at once.")
    return 0
