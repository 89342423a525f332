"""`recollect forget`: delete memories by id."""

import click

from recollect.cli.output import daemon_client, json_option, print_json, print_memories
from recollect.core.errors import NotFound


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="MEMORY...")
@click.option("--reason", default="", help="Kept in the log.")
@click.option("--never-again", is_flag=True, help="And do not learn again what they say.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@json_option
def command(
    ids: tuple[str, ...], reason: str, never_again: bool, yes: bool, as_json: bool
) -> int:
    """Delete memories, with their vectors and index entries. `recollect undo` brings them back,
    and then they may be learned again."""
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
    body = {"ids": list(ids), "reason": reason, "never": never_again}
    gone = client.ask("POST", "/api/memories/delete", body)
    if as_json:
        print_json(gone)
        return 0
    click.echo(f"Forgotten: {', '.join(gone['record_ids'])}")
    if never_again:
        click.echo("What they say is not learned again.")
    for op_id in gone["op_ids"]:
        click.echo(f"Bring it back: recollect undo {op_id}")
    return 0
