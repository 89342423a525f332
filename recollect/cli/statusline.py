"""`recollect statusline`: one line for an agent's status bar."""

import json
import os
import sys
from typing import Any

import click

from recollect.cli.output import many
from recollect.client import Client
from recollect.core import private_sessions, settings
from recollect.core.errors import RecollectError

WAIT_S = 1.0  # the agent waits for the line
SEEN = 100  # receipts of the session that are counted


@click.command()
def command() -> None:
    """Print what memory did in this session, in one line.

    For Claude Code's status bar: it gives the session as JSON on standard input. In
    ~/.claude/settings.json: "statusLine": {"type": "command", "command": "recollect statusline"}
    """
    click.echo(f"Recollect: {_told(_given())}")


def _given() -> dict[str, Any]:
    """What the agent says of its session; nothing of a person who tries the command."""
    if sys.stdin.isatty():
        return {}
    try:
        given = json.load(sys.stdin)
    except ValueError:
        return {}
    return given if isinstance(given, dict) else {}


def _told(given: dict[str, Any]) -> str:
    if private_sessions.private_environment(os.environ):
        return "off in this shell"
    workspace = given.get("workspace")
    place = workspace.get("project_dir") if isinstance(workspace, dict) else None
    try:
        page = Client(settings.load(), WAIT_S).get(
            "/api/receipts",
            project=place or given.get("cwd") or os.getcwd(),
            session_id=given.get("session_id"),
            limit=SEEN,
        )
    except RecollectError:
        return "not running"
    records = {one for receipt in page["items"] for one in receipt["injected"]}
    return many(len(records), "note") if records else "listening"
