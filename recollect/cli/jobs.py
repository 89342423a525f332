"""`recollect jobs`: background work: imports, exports, maintenance, extraction, embedding."""

from typing import Any

import click

from recollect.cli.groups import Group
from recollect.cli.options import json_option
from recollect.cli.output import print_json, print_text
from recollect.client import Client
from recollect.core import settings


@click.group(cls=Group)
def command() -> None:
    """List background work, cancel it, or try it again.

    Imports, exports, maintenance and reflection are jobs from their start to their end. Extraction
    and embedding are listed while something waits for them; they go on by themselves.
    """


@command.command("list")
@json_option
def list_command(as_json: bool) -> None:
    """List what runs, what waits, and what ended since the daemon started."""
    _print(Client(settings.load()).get("/api/jobs"), as_json)


@command.command()
@click.argument("job", metavar="JOB")
@json_option
def cancel(job: str, as_json: bool) -> None:
    """End a job at its next safe place; what it did so far stays."""
    _act(job, "cancel", as_json)


@command.command()
@click.argument("job", metavar="JOB")
@json_option
def retry(job: str, as_json: bool) -> None:
    """Start a job again that failed or was cancelled, or extraction and embedding at once."""
    _act(job, "retry", as_json)


def _act(job: str, act: str, as_json: bool) -> None:
    client = Client(settings.load())
    _print(client.ask("POST", "/api/jobs", {"job_id": job, "act": act}), as_json)


def _print(found: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    if not found["items"]:
        click.echo("There is no background work.")
        return
    for one in found["items"]:
        click.secho(
            ", ".join(filter(None, (one["job_id"], one["state"], _progress(one)))), bold=True
        )
        print_text(one["what"], indent=2, most_lines=2)
        if one["problem"]:
            print_text(one["problem"], indent=2, fg="yellow")


def _progress(job: dict[str, Any]) -> str:
    if job["total"]:
        return f"{job['done']:,} of {job['total']:,}"
    return f"{job['done']:,}" if job["done"] else ""
