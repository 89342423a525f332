"""`recollect queue`: what waits for extraction, what was set aside and why; do it now."""

import time
from typing import Any

import click

from recollect.cli.output import json_option, many, print_json, print_table
from recollect.client import Client
from recollect.core import settings
from recollect.core.errors import ExtractionFailed

PATIENCE_S = 600.0


@click.command()
@click.option("--now", is_flag=True, help="Extract what waits now, and wait for it.")
@click.option("--retry", is_flag=True, help="Put what was set aside back in line.")
@json_option
def command(now: bool, retry: bool, as_json: bool) -> int:
    """Show what waits for extraction, and what failed and was set aside with its reason."""
    client = Client(settings.load(), timeout=60)
    if retry:
        count = client.ask("POST", "/api/queue/retry", {})["events"]
        if not as_json:
            click.echo(f"Back in line: {many(count, 'event')}.")
    if now:
        _run(client)
    queue = client.get("/api/queue")
    if as_json:
        print_json(queue)
    else:
        _show(queue)
    return 0


def _run(client: Client) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not (ran := client.ask("POST", "/api/queue/run", {"wait_s": 20}))["done"]:
        if time.monotonic() > deadline:
            raise ExtractionFailed(
                f"{many(ran['waiting'], 'event')} still waiting after "
                f"{PATIENCE_S / 60:.0f} minutes."
            )
    for run in ran["runs"]:
        if run["outcome"] in ("failed", "uncommitted"):
            click.secho(f"{run['namespace']}: {run['reason']}", fg="yellow", err=True)


def _show(queue: dict[str, Any]) -> None:
    if not queue["items"]:
        click.echo("Nothing was captured yet.")
        return
    rows = [
        [
            one["project"],
            str(one["events"]),
            f"{one['bytes'] / 1024:.0f} KiB",
            str(one["quarantined"]),
            _last(one["last_run"]),
        ]
        for one in queue["items"]
    ]
    print_table(["Project", "Events waiting", "Size", "Set aside", "Last run"], rows)
    for one in queue["items"]:
        for aside in one["set_aside"]:
            click.echo(
                f"Set aside in {one['project']}: {aside['kind']} {aside['event_id']}, "
                f"failed {aside['failures']} times: {aside['reason']}"
            )
    if any(one["quarantined"] for one in queue["items"]):
        click.echo("Try them again: recollect queue --retry --now")


def _last(run: dict[str, Any] | None) -> str:
    if run is None:
        return "never"
    when = run["started_at"][:16].replace("T", " ")
    dropped = sum(run["dropped"].values())
    told = f"{when} {run['outcome']}: {run['kept']} kept, {dropped} dropped, {run['merged']} merged"
    return f"{told} ({run['reason']})" if run["reason"] else told
