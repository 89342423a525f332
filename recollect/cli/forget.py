"""`recollect forget`: delete memories by id."""

import click

from recollect.cli.output import daemon_client, json_option, print_json, print_memories
from recollect.core.errors import NotFound


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="MEMORY...")
@click.option("--reason", default="", help="Kept in the log.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@json_option
def command(ids: tuple[str, ...], reason: str, yes: bool, as_json: bool) -> int:
    """Delete memories, with their vectors and index entries. `recollect undo` brings them back."""
    client = daemon_client()
    found = client.ask("POST", "/api/memories/batch", {"ids": list(ids)})
    if not found["items"]:
        raise NotFound(f"there is no memory {', '.join(ids)}", hint="recollect search")
    if not yes and not as_json:
        print_memories(found["items"])
        count = len(found["items"])
        what = "this memory" if count == 1 else f"these {count} memories"
        if not click.confirm(f"Forget {what}?"):
            click.echo("Kept.")
            return 1
    gone = client.ask("POST", "/api/memories/delete", {"ids": list(ids), "reason": reason})
    if as_json:
        print_json(gone)
        return 0
    click.echo(f"Forgotten: {', '.join(gone['record_ids'])}")
    for op_id in gone["op_ids"]:
        click.echo(f"Bring it back: recollect undo {op_id}")
    return 0
