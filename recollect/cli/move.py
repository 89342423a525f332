"""`recollect move`: memories that belong to another project, given to it."""

from datetime import datetime

import click

from recollect.cli import process
from recollect.cli.output import agreed, daemon_client, json_option, many, place, print_json
from recollect.cli.selection_options import (
    directory,
    refuse_bad_ids,
    request_body,
    selection_options,
    show,
)
from recollect.client import Client
from recollect.core import settings

SLOW_S = 600.0


@click.command()
@selection_options
@click.option("--path", type=click.Path(), help="What was done in or below this directory.")
@click.option("--to", "target", help="The project: its directory, name or id.")
@click.option("--reason", default="", help="Of a single move; kept in the log.")
@json_option
def command(
    memories: tuple[str, ...],
    session: str | None,
    entity: str | None,
    text: str | None,
    older_than: datetime | None,
    project: str | None,
    everything: bool,
    path: str | None,
    target: str | None,
    reason: str,
    yes: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Move memories to another project, with the events they came from.

    MEMORY is the id of one; `recollect move MEMORY PROJECT` moves just that,
    and can be undone. With --all the whole of --project goes, and what happens there from
    now on belongs to the other project too. To take a move back, move again the other way.
    """
    if target is None:
        if len(memories) != 2:
            raise click.UsageError("Say where: recollect move MEMORY PROJECT, or --to PROJECT.")
        return _move_one(*memories, reason, as_json=as_json)
    body = request_body(memories, session, entity, text, older_than, project, everything, path)
    body["target"] = directory(target)
    chosen = settings.load()
    process.start(chosen)
    client = Client(chosen, SLOW_S)
    shown = client.ask("POST", "/api/move", {**body, "dry_run": True})
    if dry_run:
        print_json(shown) if as_json else show(shown)
        return 0
    if not as_json:
        show(shown)
    if not agreed(f"Move this to {target}?", yes=yes, as_json=as_json, default=True):
        return 1
    done = client.ask("POST", "/api/move", {**body, "dry_run": False})
    if as_json:
        print_json(done)
    else:
        click.echo(f"Moved: {many(sum(done['counts'].values()), 'row')}.")
    return 0


def _move_one(memory: str, project: str, reason: str, *, as_json: bool) -> int:
    refuse_bad_ids((memory,))
    body = {"project": place(project), "reason": reason}
    client = daemon_client()
    moved = client.ask("POST", f"/api/memories/{memory}/move", body)
    if as_json:
        print_json(moved)
        return 0
    target = moved["record"]["namespace"].partition("/project/")[2].rstrip("/")
    names = {one["project_id"]: one["name"] for one in client.get("/api/projects")["items"]}
    click.echo(f"Moved: {memory} is now in {names.get(target, target) or 'global'}.")
    click.echo(f"Take it back: recollect undo {moved['op_id']}")
    return 0
