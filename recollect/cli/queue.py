"""`recollect queue`: events that wait for extraction, and those that were set aside."""

import time
from typing import Any

import click

from recollect.cli.groups import Group
from recollect.cli.options import json_option
from recollect.cli.output import many, memories, minute, print_json, print_table, print_text
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
    """Extract what waits now, wait until it is done, and say what came of it in each project."""
    client = _client()
    before = {one["namespace"]: one for one in client.get("/api/queue")["items"] if one["events"]}
    deadline = time.monotonic() + PATIENCE_S
    while not (ran := client.ask("POST", "/api/queue/run", {"wait_s": 20}))["done"]:
        if time.monotonic() > deadline:
            raise ExtractionFailed(
                f"{many(ran['waiting'], 'event')} still waiting after "
                f"{PATIENCE_S / 60:.0f} minutes."
            )
    runs = {one["namespace"]: one for one in ran["runs"]}
    for namespace, waited in before.items():
        last = runs.get(namespace)
        if last and last["outcome"] in ("failed", "uncommitted"):
            told = f"{waited['project']}: extraction failed: {last['reason']}"
            click.secho(told, fg="yellow", err=True)
        elif not as_json:
            done = many(waited["events"], "event")
            print_text(f"{waited['project']}: {done} extracted; {_last(last)}")
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
        none_yet = "" if queue["items"] else ": no agent has sent anything yet"
        click.echo(f"Nothing waits for extraction{none_yet}.")
        return
    rows = [
        [one["project"], str(one["events"]), f"{one['bytes'] / 1024:.0f} KiB",
         str(one["quarantined"]), _last(one["last_run"])]
        for one in waiting
    ]  # fmt: skip
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
    when = minute(run["started_at"])
    if run["outcome"] in ("failed", "uncommitted"):
        return f"{when}, failed: {run['reason']}"
    told = f"{when}, {memories(run['kept'])} made"
    if run["merged"]:
        told += f", {run['merged']} merged with one that was there"
    if left_out := sum(run["dropped"].values()):
        told += f", {many(left_out, 'candidate')} not worth keeping"
    return f"{told} ({run['reason']})" if run["reason"] else told
