"""`recollect queue`: events that wait for extraction, and those that were set aside."""

import time
from typing import Any

import click

from recollect.cli.groups import Group
from recollect.cli.options import json_option
from recollect.cli.output import many, print_json, print_table, print_text
from recollect.client import Client
from recollect.core import settings
from recollect.core.errors import ExtractionFailed

PATIENCE_S = 600.0
REQUEST_S = 60.0


@click.group(cls=Group)
def command() -> None:
    """List, run and retry the extraction of events into memories.

    Extraction runs by itself when a project is quiet. Events whose extraction failed three times
    are set aside with the reason.
    """


@command.command("list")
@json_option
def list_command(as_json: bool) -> None:
    """List what waits for extraction, and what was set aside and why."""
    _print_queue(_client(), as_json=as_json)


@command.command()
@json_option
def run(as_json: bool) -> None:
    """Extract what waits now, and wait until it is done."""
    client = _client()
    deadline = time.monotonic() + PATIENCE_S
    while not (ran := client.ask("POST", "/api/queue/run", {"wait_s": 20}))["done"]:
        if time.monotonic() > deadline:
            raise ExtractionFailed(
                f"{many(ran['waiting'], 'event')} still waiting after "
                f"{PATIENCE_S / 60:.0f} minutes."
            )
    for one in ran["runs"]:
        if one["outcome"] in ("failed", "uncommitted"):
            click.secho(f"{one['namespace']}: {one['reason']}", fg="yellow", err=True)
    _print_queue(client, as_json=as_json)


@command.command()
@json_option
def retry(as_json: bool) -> None:
    """Put what was set aside back in line; `recollect queue run` extracts it at once."""
    client = _client()
    count = client.ask("POST", "/api/queue/retry", {})["events"]
    if as_json:
        print_json({"events": count})
    else:
        click.echo(f"Back in line: {many(count, 'event')}.")


def _client() -> Client:
    return Client(settings.load(), timeout=REQUEST_S)


def _print_queue(client: Client, *, as_json: bool) -> None:
    queue = client.get("/api/queue")
    if as_json:
        print_json(queue)
        return
    waiting = [one for one in queue["items"] if one["events"] or one["quarantined"]]
    if not waiting:
        click.echo(
            "Nothing waits for extraction." if queue["items"] else "Nothing was captured yet."
        )
        if last := [one for one in queue["items"] if one["last_run"]]:
            newest = max(last, key=lambda one: one["last_run"]["started_at"])
            print_text(f"Last run, {newest['project']}: {_last(newest['last_run'])}")
        return
    rows = [
        [
            one["project"],
            str(one["events"]),
            f"{one['bytes'] / 1024:.0f} KiB",
            str(one["quarantined"]),
            _last(one["last_run"]),
        ]
        for one in waiting
    ]
    print_table(["Project", "Events waiting", "Size", "Set aside", "Last run"], rows)
    for one in waiting:
        for aside in one["set_aside"]:
            print_text(
                f"Set aside in {one['project']}: {aside['kind']} {aside['event_id']}, "
                f"failed {aside['failures']} times: {aside['reason']}"
            )
    if any(one["quarantined"] for one in waiting):
        click.echo("Try again: recollect queue retry")


def _last(run: dict[str, Any] | None) -> str:
    if run is None:
        return "never"
    when = run["started_at"][:16].replace("T", " ")
    dropped = sum(run["dropped"].values())
    told = f"{when} {run['outcome']}: {run['kept']} kept, {dropped} dropped, {run['merged']} merged"
    return f"{told} ({run['reason']})" if run["reason"] else told
