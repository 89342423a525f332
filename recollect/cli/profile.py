"""`recollect profile`: who you are, told to agents at the start of every session."""

import click

from recollect.cli.groups import Group
from recollect.cli.options import json_option
from recollect.cli.output import daemon_client, print_json, print_table
from recollect.core import ids


@click.group(cls=Group)
def command() -> None:
    """Tell agents who you are: your role, your stack, how you like to be answered.

    Every session in every project starts with these lines, in at most 60 tokens. What you say of
    yourself in a prompt ("I'm a backend engineer", "I mostly write Go") is kept with them.
    """


@command.command("list")
@json_option
def list_command(as_json: bool) -> None:
    """List the lines of your profile."""
    whole = daemon_client().get("/api/profile")
    found = [{"line": one["title"], "id": one["record_id"]} for one in whole["items"]]
    found += [{"line": one["value"], "id": one["preference_id"]} for one in whole["stated"]]
    if as_json:
        print_json(found)
    elif not found:
        click.echo('Your profile is empty. Add to it: recollect profile add "backend engineer, Go"')
    else:
        print_table(["Line", "Id"], [[one["line"], one["id"]] for one in found])


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
    if line.startswith(ids.PREFERENCE):
        op_id = daemon_client().ask("DELETE", f"/api/known/{line}")["op_id"]
    else:
        op_id = daemon_client().ask("DELETE", f"/api/memories/{line}")["op_ids"][0]
    click.echo(f"Removed. Undo: recollect undo {op_id}")
