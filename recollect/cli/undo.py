"""`recollect undo` and `recollect change`: changes to memories, listed and taken back."""

from typing import Any

import click

from recollect.cli.groups import Group
from recollect.cli.options import (
    json_option,
    limit_option,
    project_option,
    project_path,
    yes_option,
)
from recollect.cli.output import confirmed, daemon_client, minute, print_json, print_table
from recollect.core.one_line import one_line

TITLE_CHARS = 60


@click.command()
@click.argument("change", required=False)
@project_option(default=".")
@yes_option
@json_option
def command(change: str | None, project: str, yes: bool, as_json: bool) -> int:
    """Undo CHANGE (an id), or the newest change in the project, which is shown first.

    What was removed comes back, and what was added goes. `recollect change list` shows the ids.
    """
    client = daemon_client()
    if not change:
        newest = client.get("/api/undo", project=project_path(project))
        change = newest["op_id"]
        if not as_json:
            click.echo(f"{minute(newest['at'])}  {newest['kind']}: {_titles(newest)}")
        if not (yes or as_json or confirmed("Undo this?", default=True)):
            return 1
    done = client.ask("POST", f"/api/operations/{change}/undo")
    if as_json:
        print_json(done)
        return 0
    click.echo(f"Undone: {done['undoes']}")
    for word, key in (("Back again", "restored"), ("Gone again", "removed")):
        if done[key]:
            click.echo(f"{word}: {', '.join(done[key])}")
    click.echo(f"Undo that: recollect undo {done['op_id']}")
    return 0


def _titles(operation: dict[str, Any]) -> str:
    """What a change touched, in words."""
    touched = len({*operation["targets"], *operation["created"]})
    named = [one_line(one, TITLE_CHARS) for one in operation["titles"]]
    more = touched - len(named)
    if more > 0:
        named.append(f"{more} more" if named else str(touched))
    return "; ".join(named) or operation["reason"] or "-"


@click.group(cls=Group)
def change() -> None:
    """List the changes to memories that can be undone."""


@change.command("list")
@project_option(default=".")
@limit_option(50, 200, "changes")
@json_option
def list_command(project: str, limit: int, as_json: bool) -> None:
    """List the changes that can be undone, newest first."""
    found = daemon_client().get(
        "/api/operations", project=project_path(project), undoable=True, limit=limit
    )
    if as_json:
        print_json(found)
    elif not found["items"]:
        click.echo("Nothing can be undone here. In every project: recollect change list -p all")
    else:
        rows = [
            [minute(one["at"]), one["kind"], _titles(one), one["op_id"]] for one in found["items"]
        ]
        print_table(["When", "Change", "Memories", "Id"], rows)
        if any(one["undoes"] for one in found["items"]):
            click.echo("Undoing an undo repeats the change.")
