"""`recollect move` and `recollect separate`: memories and the project they belong to."""

import os
from typing import Any

import click

from recollect.cli.options import json_option, project_path
from recollect.cli.output import SLOW_S, daemon_client, many, print_json
from recollect.cli.selection_options import (
    count_rows,
    go_on,
    refuse_bad_ids,
    request_body,
    selection_options,
)


@click.command()
@selection_options
@click.option("--path", type=click.Path(), help="What was done in or below this directory.")
@click.option("--to", "target", metavar="PROJECT", help="The project: a directory, name or id.")
@click.option("--reason", default="", help="Why; kept in the log of a single move.")
@json_option
def command(
    memories: tuple[str, ...],
    path: str | None,
    target: str | None,
    reason: str,
    yes: bool,
    dry_run: bool,
    as_json: bool,
    **selection: Any,
) -> int:
    """Move memories to another project, with the events they came from.

    MEMORY is an id, or the end of it that a brief shows; `recollect move MEMORY PROJECT` moves just
    that one and can be undone. With --all everything in --project is moved, and what happens there
    from now on belongs to the other project too. To take a move back, move again the other way.
    """
    if target is None:
        if len(memories) != 2:
            raise click.UsageError(
                "name the target: recollect move MEMORY PROJECT, or --to PROJECT."
            )
        return _move_one(*memories, reason, as_json=as_json)
    body = request_body(memories, path=path, **selection)
    body["target"] = project_path(target)
    client = daemon_client(SLOW_S)
    shown = client.ask("POST", "/api/move", {**body, "dry_run": True})
    question = f"Move this to {target}?"
    if not go_on(question, shown, dry_run=dry_run, yes=yes, as_json=as_json, default=True):
        return 0 if dry_run else 1
    done = client.ask("POST", "/api/move", {**body, "dry_run": False})
    if as_json:
        print_json(done)
    else:
        click.echo(f"Moved: {many(sum(done['counts'].values()), 'row')}.")
    return 0


def _move_one(memory: str, project: str, reason: str, *, as_json: bool) -> int:
    refuse_bad_ids((memory,))
    body = {"project": project_path(project), "reason": reason}
    client = daemon_client()
    moved = client.ask("POST", f"/api/memories/{memory}/move", body)
    if as_json:
        print_json(moved)
        return 0
    target = moved["record"]["namespace"].partition("/project/")[2].rstrip("/")
    names = {one["project_id"]: one["name"] for one in client.get("/api/projects")["items"]}
    click.echo(f"Moved: {memory} is now in {names.get(target, target) or 'global'}.")
    click.echo(f"Undo: recollect undo {moved['op_id']}")
    return 0


@click.command()
@click.argument("directory", type=click.Path(exists=True, file_okay=False), default=".")
@json_option
def separate(directory: str, as_json: bool) -> None:
    """Make the project around DIRECTORY (default: the current one) a project of its own.

    For a second clone that was joined with the first, or that `recollect status` offers to join.
    What was captured in it goes along; memories that were added by hand stay where they are. It is
    not joined again by itself; `recollect move --all` joins it.
    """
    body = {"path": os.path.abspath(directory)}
    done = daemon_client().ask("POST", "/api/separate", body)
    if as_json:
        print_json(done)
        return
    click.echo(f"{done['root']} is a project of its own: {done['project_id']}.")
    if done["counts"]:
        click.echo(f"Moved along: {count_rows(done['counts'])}.")
