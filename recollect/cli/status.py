"""`recollect status`: whether the daemon runs, which agents send events, what waits and fails."""

import os
import shlex
from datetime import UTC, datetime
from typing import Any

import click

from recollect.cli import process
from recollect.cli.options import json_option
from recollect.cli.output import many, print_json, print_table, print_text
from recollect.client import Client, NotRunning
from recollect.core import private_sessions, settings, store_key
from recollect.core.projects import is_staged
from recollect.core.settings import Settings

ANSWER_S = 5.0


@click.command()
@json_option
def command(as_json: bool) -> int:
    """Show whether the daemon runs and what it received. Exit code 1 when it does not run."""
    chosen = settings.load()
    client = Client(chosen)
    try:
        health = health_of(chosen)
    except NotRunning as error:
        down = not_answering(chosen, error)
        if as_json:
            print_json({**down, "home": chosen.directory})
        else:
            click.echo(f"Recollect {down['told']} (data in {chosen.directory}).")
            click.echo(f"  try: {down['hint']}")
        return 1
    if as_json:
        if not health["store"]["problem"]:
            health["memories"] = client.get("/api/memories/counts", project="all")["kinds"]
        print_json(health)
    else:
        projects: list[dict[str, Any]] = []
        agents: list[dict[str, Any]] = []
        if not health["store"]["problem"]:
            projects, agents = _projects(client, chosen), client.get("/api/hosts")["items"]
        _print_health(health, projects, agents)
        if projects:
            names = dict.fromkeys(one["name"] for one in projects)
            print_text("Projects, the latest first: " + ", ".join(names))
        _print_clones(health.get("clones", {}))
        if not chosen.store and chosen.encryption_key:
            on = store_key.header_of(chosen.path(store_key.DATABASE)) is not None
            told = f"The store is encrypted; its key is from {chosen.encryption_key}."
            other = "encryption_key is set, but the store is not encrypted yet: recollect encrypt"
            click.secho(told if on else other, fg=None if on else "yellow")
        if private_sessions.private_environment(os.environ):
            variable = private_sessions.PRIVATE_VARIABLE
            click.secho(f"{variable} is set: sessions begun in this shell are private.", fg="cyan")
        for sentence in settings.ignored_names():
            click.secho(sentence, fg="yellow")
    return 0


def health_of(chosen: Settings) -> Any:
    """What the daemon says of itself; NotRunning also when it does not answer within seconds."""
    return Client(chosen, ANSWER_S).get("/healthz")


def not_answering(chosen: Settings, error: NotRunning) -> dict[str, Any]:
    """Whether it is down, starting, stopping or silent; why, and what to do."""
    pid, known = process.running(chosen), process.last_stage(chosen)
    if pid is None:
        problem = known.problem if known is not None else ""
        told = f"is not running: {problem}" if problem else "is not running"
        hint = known.hint if known is not None and known.hint else "recollect up"
        return {"status": "down", "told": told, "hint": hint, "problem": problem}
    if known is not None and known.life != "ready":
        told = f"is {known.life}: process {pid}, {known.doing}, for {_span(known.seconds)}"
        hint = "Wait a moment; recollect logs says more."
        return {"status": known.life, "told": told, "hint": hint, "pid": pid, "doing": known.doing}
    told = f"does not answer: process {pid} has the data directory. {error}"
    return {"status": "silent", "told": told, "hint": "recollect logs; recollect restart",
            "pid": pid}  # fmt: skip


def _projects(client: Client, chosen: Settings) -> list[dict[str, Any]]:
    """Those that were worked in: the demonstration is not one."""
    return [
        one
        for one in client.get("/api/projects")["items"]
        if not any(is_staged(mark["value"], chosen.directory) for mark in one["marks"])
    ]


def _print_health(
    health: dict[str, Any], projects: list[dict[str, Any]], agents: list[dict[str, Any]]
) -> None:
    memories = sum(one["records"] for one in projects)
    click.echo(
        f"Recollect {health['version']} is {health['status']}: process {health['pid']}, "
        f"up {_span(health['uptime_s'])}, http://127.0.0.1:{health['port']}"
    )
    stored = health["counts"].get("events stored", 0)
    click.echo(
        f"Events stored since start: {stored}. "
        + (f"Memories: {memories}. " if not health["store"]["problem"] else "")
        + f"In the spool: {health['spool']['events']}."
    )
    names = {one["namespace"]: one["name"] for one in projects if one["project_id"]}
    _print_extraction(health["unextracted"], health["extraction"], names)
    if told := port_taken(health):
        click.secho(told, fg="yellow")
    rows = [
        [
            one["title"],
            "connected" if one["connected"] else "not connected",
            _ago(one["last_heard"]) if one["last_heard"] else "never; use it once",
        ]
        for one in agents
        if one["connected"] or one["last_heard"]
    ]
    if rows:
        print_table(["Agent", "State", "Last event"], rows)
    if not health["store"]["problem"] and not any(one["connected"] for one in agents):
        click.echo("No agent is connected. Connect one: recollect install")
    if private := private_sessions_in(health):
        told, hint = private_sessions.describe(private)
        click.secho(told, fg="cyan")
        click.echo(f"  {hint}")
    if kept_out := kept_out_of(health):
        click.echo(f"Kept out on purpose since start: {kept_out}. See: recollect ignore list")
    for alarm in health.get("alarms", ()):
        if alarm["name"] == "private_session":
            continue  # told above, as it is now
        click.secho(alarm["message"], fg="red" if alarm["level"] == "error" else "yellow")
        click.echo(f"  try: {alarm['hint']}")
    if told := store_problem(health):
        click.secho(told, fg="red")
    for name, door in health.get("doors", {}).items():
        if not door["answers"]:
            noticed = f"{door['problem']}, noticed {_ago(door['since'])}"
            click.secho(f"The door {name} does not answer: {noticed}.", fg="red")
    if health["disk_full"]:
        click.secho("The disk is full: new events wait in the spool.", fg="red")
    for message in health["errors_last_hour"]["latest"]:
        if message == health.get("token_renewed"):
            click.secho(message, fg="yellow")
        elif not _told_already(message, health["store"]["problem"]):
            click.secho(f"  {message}", fg="yellow")


def _print_clones(clones: dict[str, Any]) -> None:
    """Folders that were joined with a project, and those that only say that they belong to it."""
    for root, name in clones.get("joined", {}).items():
        click.echo(f"{_printable(root)} is a clone of {_printable(name)} and was joined with it.")
        click.echo(f"  to keep them apart: recollect separate {_quoted(root)}")
    for one in clones.get("offers", ()):
        root, name, at = (_printable(one[key]) for key in ("root", "claims_name", "claims_root"))
        click.secho(f"{root} says that it is {name} ({at}), but {one['why']}.", fg="yellow")
        click.echo(
            f"  to join them: recollect move --all --project {one['project_id']} "
            f"--to {one['claims']}"
        )
        click.echo(f"  to keep them apart: recollect separate {_quoted(one['root'])}")


def _printable(text: str) -> str:
    """A name that somebody else chose, without what would move the cursor."""
    return "".join(char if char.isprintable() else "?" for char in text)


def _quoted(path: str) -> str:
    return shlex.quote(_printable(path))


def _print_extraction(
    waiting: dict[str, Any], extraction: dict[str, Any], names: dict[str, str]
) -> None:
    """`names`: what the projects are called, by their namespaces."""
    provider = extraction["provider"]
    who = "by rules" if provider == "none" else provider
    click.echo(f"Waiting for extraction ({who}): {many(waiting['events'], 'event')}.")
    budget = extraction.get("budget")
    if budget and provider != "none":
        click.echo(
            f"Used today: {budget['tokens']:,} of {budget['daily_tokens']:,} tokens, "
            f"${budget['usd']:.2f} of ${budget['daily_usd']:.2f}."
        )
    if waiting["quarantined"]:
        click.secho(
            f"Set aside after failing: {many(waiting['quarantined'], 'event')}. "
            "See: recollect queue list",
            fg="yellow",
        )
    for namespace, why in extraction.get("by_rules_because", {}).items():
        click.secho(f"{_named(namespace, names)} goes on by rules: {why}", fg="yellow")
    for namespace, state in extraction.get("breakers", {}).items():
        told = (
            f"The breaker of {_named(namespace, names)} is {state}: the model failed several times."
        )
        click.secho(told, fg="yellow")
    for namespace in extraction.get("judge_breakers", []):
        told = f"The judge of {_named(namespace, names)} is left out of the next run."
        click.secho(told, fg="yellow")


def _named(namespace: str, names: dict[str, str]) -> str:
    """A project as its user knows it."""
    return _printable(names.get(namespace, "what belongs to no project"))


def private_sessions_in(health: dict[str, Any]) -> list[private_sessions.PrivateSession]:
    """Those that go on; a daemon that was not restarted since an update tells only the hosts."""
    given = health.get("private_sessions", ())
    known = [one if isinstance(one, dict) else {"host": one} for one in given]
    return [
        private_sessions.PrivateSession(one["host"], one.get("by", private_sessions.WORD))
        for one in known
    ]


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
    problem, since = health["store"]["problem"], health["store"].get("since")
    if not problem:
        return ""
    noticed = f" (noticed {_ago(since)})" if since else ""
    return f"New events wait in the spool: {problem}{noticed}"


def port_taken(health: dict[str, Any]) -> str:
    """A warning when the daemon listens on another port than the settings say; else empty."""
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
