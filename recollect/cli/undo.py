"""`recollect undo`: take back what was decided about memories."""

import click

from recollect.cli.output import (
    daemon_client,
    json_option,
    place,
    print_json,
    print_table,
    project_option,
)


@click.command()
@click.argument("operation", required=False)
@click.option("--list", "listed", is_flag=True, help="Show what can be undone.")
@project_option
@json_option
def command(operation: str | None, listed: bool, project: str, as_json: bool) -> int:
    """Undo OPERATION, or the newest one of the project: what was displaced comes back, what was
    made goes."""
    client = daemon_client()
    if listed:
        found = client.get("/api/operations", project=place(project), undoable=True, limit=200)
        if as_json:
            print_json(found)
        elif not found["items"]:
            click.echo("Nothing here can be undone. Elsewhere: recollect undo --list -p all")
        else:
            print_table(
                ["When", "What", "Memories", "Id"],
                [
                    [
                        one["at"][:16].replace("T", " "),
                        one["kind"],
                        str(len({*one["targets"], *one["created"]}) or "-"),
                        one["op_id"],
                    ]
                    for one in found["items"]
                ],
            )
            if any(one["undoes"] for one in found["items"]):
                click.echo("Undoing an undo repeats the change.")
        return 0
    if operation:
        path = f"/api/operations/{operation}/undo"
    else:
        path = client.path("/api/undo", {"project": place(project)})
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
