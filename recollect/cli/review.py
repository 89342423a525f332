"""`recollect review` and `recollect rules`: what waits for a decision, and what holds."""

from typing import Any

import click

from recollect.cli.options import json_option, project_option, project_path
from recollect.cli.output import daemon_client, many, print_json, print_text
from recollect.client import Client
from recollect.core.kinds import PROFILE, TYPES

KEYS = "k keep, d drop, c correct, s skip, q quit"
BOTH = "b both hold, "  # of a dispute
GROUPS = ("constraint", "decision", "rejected", "heuristic")


@click.command()
@project_option(default="all")
@json_option
def command(project: str, as_json: bool) -> None:
    """Decide about beliefs that wait: proposed, or in dispute with another one.

    A proposed belief is told to no agent until you keep it. Of a dispute the newer belief is told,
    marked as disputed; the one that you keep ends the other, or both hold. Every decision can be
    undone.
    """
    client = daemon_client()
    found = client.get("/api/beliefs", project=project_path(project), show="waiting")["items"]
    if as_json:
        print_json(found)
        return
    if not found:
        click.echo("Nothing waits for a decision.")
        return
    decided, names = 0, _project_names(client)
    settled: set[str] = set()  # disputes of which both sides hold
    for number, one in enumerate(found, 1):
        if _dispute(one) in settled:
            continue
        where = names.get(one["namespace"], "everywhere")
        _print_belief(one, label=f"{number} of {len(found)}:", project=where)
        key = _key(disputed=one["state"] == "disputed")
        if key == "q":
            break
        if key == "b":
            settled.add(_dispute(one))
            decided += sum(_dispute(other) == _dispute(one) for other in found)
            client.ask("POST", f"/api/beliefs/{one['record_id']}/keep", {"both": True})
            continue
        decided += _decide(client, one, key)
    click.echo(f"{many(decided, 'decision')}, {len(found) - decided} left.")
    if decided:
        click.echo("Take one back: recollect change list -p all")


def _dispute(one: dict[str, Any]) -> str:
    """What the sides of a dispute share: the id of the newest; empty without a dispute."""
    return (one["ended_by"] or one["record_id"]) if one["state"] == "disputed" else ""


def _key(*, disputed: bool) -> str:
    while True:
        keys = BOTH * disputed + KEYS
        key: str = click.prompt(f"  [{keys}]", default="s", show_default=False)
        if (chosen := key.strip().lower()[:1]) in "kdcsq" + "b" * disputed:
            return chosen
        click.echo("  One letter is enough.")


def _decide(client: Client, one: dict[str, Any], key: str) -> bool:
    path = f"/api/beliefs/{one['record_id']}"
    if key == "k":
        client.ask("POST", f"{path}/keep", {})
    elif key == "d":
        client.ask("POST", f"{path}/drop", {})
    elif key == "c":
        text = click.prompt("  What holds", default=one["title"])
        client.ask("POST", f"{path}/correct", {"text": text})
    return key != "s"


@click.command()
@project_option(default=".")
@json_option
def rules(project: str, as_json: bool) -> None:
    """Show what holds here: rules, decisions, rejected options and facts."""
    client = daemon_client()
    found = client.get("/api/beliefs", project=project_path(project))["items"]
    if as_json:
        print_json(found)
        return
    names = _project_names(client) if project == "all" else {}
    for group in GROUPS:
        some = [one for one in found if one["knowledge_type"] == group]
        if some:
            click.secho(TYPES[group].plural, bold=True)
        for one in some:
            _print_belief(one, indent=2, project=names.get(one["namespace"], ""))
    if not found:
        click.echo("Nothing is held about this project yet. Store a rule, for example:")
        click.echo('  recollect add --type constraint "Use uv, never pip"')


def _project_names(client: Client) -> dict[str, str]:
    """What each project is called, by its namespace."""
    found = client.get("/api/projects")["items"]
    return {one["namespace"]: one["name"] for one in found if one["project_id"]}


def _print_belief(
    one: dict[str, Any], *, indent: int = 0, label: str = "", project: str = ""
) -> None:
    """Its text, then its id, since when it is held, how far, and what is odd about it."""
    said = " ".join(one["title"].split())
    more = " ".join(one["summary"].split())
    body = f"{said} ({more})" if more and not more.startswith(said[:40]) else said
    print_text(body, indent=indent, label=label)
    held = "everywhere" if "/project/" not in one["namespace"] else one["scope"]
    held = "your profile" if one["category"] == PROFILE else held
    where = held + (f" {one['scope_name']}" if one["scope_name"] else "")
    where = project if project and held == "project" else f"{project} {where}".strip()
    said_by = "imported" if one["strategy"] == "import" else f"said by {one['author']}"
    marks = [one["record_id"], one["valid_from"][:10], where, said_by]
    marks += [one["state"]] if one["state"] != "current" else []
    print_text("  ".join(marks), indent=indent + 2, dim=True)
