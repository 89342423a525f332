"""`recollect status`: whether it runs, whom it heard, what waits, what went wrong."""

import os
from datetime import UTC, datetime
from typing import Any

import click

from recollect.cli.client import Client, NotRunning
from recollect.cli.output import json_option, print_json, print_table
from recollect.core import keepout, settings
from recollect.core.settings import Settings


@click.command()
@json_option
def command(as_json: bool) -> int:
    """Show whether Recollect is running and what it has seen. Exit code 1 when it is not."""
    chosen = settings.load()
    client = Client(chosen)
    try:
        health = client.get("/healthz")
    except NotRunning:
        if as_json:
            print_json({"status": "down", "home": chosen.directory})
        else:
            click.echo(f"Recollect is not running (data in {chosen.directory}).")
            click.echo("Start it: recollect up")
        return 1
    if as_json:
        print_json(health)
    else:
        _tell(health, _connected(chosen))
        if not health["store"]["problem"]:
            names = dict.fromkeys(one["name"] for one in client.get("/api/projects")["items"])
            click.echo("Projects, the latest first: " + ", ".join(names))
        if keepout.private_environment(os.environ):
            variable = keepout.PRIVATE_VARIABLE
            click.secho(f"{variable} is set: sessions begun in this shell are private.", fg="cyan")
        for stranger in settings.strangers():
            click.secho(stranger, fg="yellow")
    return 0


def _connected(chosen: Settings) -> list[str]:
    """Agents that Recollect is connected to, by our own notes."""
    from recollect.hosts import installations

    return sorted({host for host, _ in installations(chosen.directory)})


def _tell(health: dict[str, Any], connected: list[str]) -> None:
    click.echo(
        f"Recollect {health['version']} is {health['status']}: process {health['pid']}, "
        f"up {_span(health['uptime_s'])}, http://127.0.0.1:{health['port']}"
    )
    stored = health["counts"].get("events stored", 0)
    embedding = health["embedding"]
    click.echo(
        f"Events stored since start: {stored}. Memories: {embedding.get('memories', 0)}. "
        f"In the spool: {health['spool']['events']}."
    )
    _tell_extraction(health["unextracted"], health["extraction"])
    if told := moved(health):
        click.secho(told, fg="yellow")
    heard = health["hosts"]
    rows = [[name, _ago(when)] for name, when in heard.items()]
    rows += [[name, "never; use it once"] for name in connected if name not in heard]
    if rows:
        print_table(["Agent", "Last heard of"], rows)
    else:
        click.echo("No agent is connected yet. Connect one: recollect install")
    for host in health.get("private_sessions", ()):
        click.secho(f"A private session of {host} is running: nothing of it is kept.", fg="cyan")
    if kept_out := kept_out_of(health):
        click.echo(f"Kept out on purpose since start: {kept_out}. See: recollect ignore --list")
    for alarm in health.get("alarms", ()):
        if alarm["name"] == "private_session":
            continue  # told above, as it is now
        click.secho(alarm["message"], fg="red" if alarm["level"] == "error" else "yellow")
        click.echo(f"  try: {alarm['hint']}")
    if told := store_problem(health):
        click.secho(told, fg="red")
    if health["disk_full"]:
        click.secho("The disk is full: new events wait in the spool.", fg="red")
    for message in health["errors_last_hour"]["latest"]:
        if not _told_already(message, health["store"]["problem"]):
            click.secho(f"  {message}", fg="yellow")


def _tell_extraction(waiting: dict[str, Any], extraction: dict[str, Any]) -> None:
    provider = extraction["provider"]
    who = "by rules" if provider == "none" else provider
    click.echo(f"Waiting for extraction ({who}): {waiting['events']} events.")
    budget = extraction.get("budget")
    if budget and provider != "none":
        click.echo(
            f"Used today: {budget['tokens']:,} of {budget['daily_tokens']:,} tokens, "
            f"${budget['usd']:.2f} of ${budget['daily_usd']:.2f}."
        )
    if waiting["quarantined"]:
        click.secho(
            f"Set aside after failing: {waiting['quarantined']} events: recollect queue",
            fg="yellow",
        )
    for namespace, why in extraction.get("by_rules_because", {}).items():
        click.secho(f"{namespace} goes on by rules: {why}", fg="yellow")
    for namespace, state in extraction.get("breakers", {}).items():
        click.secho(f"The breaker of {namespace} is {state}.", fg="yellow")
    for namespace in extraction.get("judge_breakers", []):
        click.secho(f"The judge of {namespace} is left out of the next run.", fg="yellow")


def kept_out_of(health: dict[str, Any]) -> str:
    """What was not captured on purpose, by reason; empty when nothing was."""
    mark = "kept out: "
    counts = {name: n for name, n in health["counts"].items() if name.startswith(mark)}
    return ", ".join(f"{count} ({name.removeprefix(mark)})" for name, count in counts.items())


def _told_already(message: str, problem: str) -> bool:
    """What fails because the store is away fails for the same reason."""
    return bool(problem) and problem.startswith(message.partition(": ")[2] or message)


def store_problem(health: dict[str, Any]) -> str:
    """A server that is away or takes no writes, told; empty when all is well."""
    problem = health["store"]["problem"]
    return f"New events wait in the spool: {problem}" if problem else ""


def moved(health: dict[str, Any]) -> str:
    """A port that was taken, told; whoever knows the old one would look in vain."""
    if health["port"] == health.get("wanted_port", health["port"]):
        return ""
    return f"Port {health['wanted_port']} was taken: it listens on {health['port']} this time."


def _ago(when: str) -> str:
    seconds = (datetime.now(UTC) - datetime.fromisoformat(when)).total_seconds()
    return f"{_span(max(0.0, seconds))} ago"


def _span(seconds: float) -> str:
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
