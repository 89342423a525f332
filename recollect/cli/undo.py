"""`recollect undo` and `recollect change`: changes to memories, listed and taken back."""

import click

from recollect.cli.groups import Group
from recollect.cli.options import json_option, limit_option, project_option, project_path
from recollect.cli.output import daemon_client, print_json, print_table


@click.command()
@click.argument("change", required=False)
@project_option(default=".")
@json_option
def command(change: str | None, project: str, as_json: bool) -> int:
    """Undo CHANGE (an id), or the newest change in the project.

    What was removed comes back, and what was added goes. `recollect change list` shows the ids.
    """
    client = daemon_client()
    if change:
        path = f"/api/operations/{change}/undo"
    else:
        path = client.path("/api/undo", {"project": project_path(project)})
    done = client.ask("POST", path)
    if as_json:
        print_json(done)
        return 0
    click.echo(f"Undone: {done['undoes']}")
    for word, key in (("Back again", "restored"), ("Gone again", "removed")):
        if done[key]:
            click.echo(f"{word}: {', '.join(done[key])}")
    click.echo(f"Undo that: recollect undo {done['op_id']}")
    return 0


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
            [
                one["at"][:16].replace("T", " "),
                one["kind"],
                str(len({*one["targets"], *one["created"]}) or "-"),
                one["op_id"],
            ]
            for one in found["items"]
        ]
        print_table(["When", "Change", "Memories", "Id"], rows)
        if any(one["undoes"] for one in found["items"]):
            click.echo("Undoing an undo repeats the change.")
