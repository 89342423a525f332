"""`recollect move`: give a memory to another project."""

import click

from recollect.cli.output import daemon_client, json_option, place, print_json


@click.command()
@click.argument("memory")
@click.argument("project")
@click.option("--reason", default="", help="Kept in the log.")
@json_option
def command(memory: str, project: str, reason: str, as_json: bool) -> int:
    """Move MEMORY to PROJECT: a path, a name, an id, or global for what holds everywhere."""
    body = {"project": place(project), "reason": reason}
    moved = daemon_client().ask("POST", f"/api/memories/{memory}/move", body)
    if as_json:
        print_json(moved)
        return 0
    click.echo(f"Moved: {moved['record']['record_id']} is now in {moved['record']['namespace']}")
    click.echo(f"Take it back: recollect undo {moved['op_id']}")
    return 0
