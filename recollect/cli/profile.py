"""`recollect profile`: who you are, told to agents at the start of every session."""

import click

from recollect.cli.groups import Group
from recollect.cli.options import json_option
from recollect.cli.output import daemon_client, print_json, print_table


@click.group(cls=Group)
def command() -> None:
    """Tell agents who you are: your role, your stack, how you like to be answered.

    Every session in every project starts with these lines, in at most 60 tokens.
    """


@command.command("list")
@json_option
def list_command(as_json: bool) -> None:
    """List the lines of your profile."""
    found = daemon_client().get("/api/profile")["items"]
    if as_json:
        print_json(found)
    elif not found:
        click.echo('Your profile is empty. Add to it: recollect profile add "backend engineer, Go"')
    else:
        print_table(["Line", "Id"], [[one["title"], one["record_id"]] for one in found])


@command.command()
@click.argument("text", nargs=-1, required=True)
def add(text: tuple[str, ...]) -> None:
    """Add a line, such as "backend engineer, Go and PostgreSQL"."""
    added = daemon_client().ask("POST", "/api/profile", {"text": " ".join(text)})
    told = "Added" if added["stored"] else "It is there already"
    click.echo(f"{told}: {added['record']['title']}")


@command.command()
@click.argument("line", metavar="ID")
def remove(line: str) -> None:
    """Remove a line by its id."""
    done = daemon_client().ask("DELETE", f"/api/memories/{line}")
    click.echo(f"Removed. Undo: recollect undo {done['op_ids'][0]}")
