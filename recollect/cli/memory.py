"""`recollect show`, `edit` and `pin`: one memory, by its id or the end of it that a brief shows."""

import sys
from typing import Any

import click

from recollect.cli.options import json_option
from recollect.cli.output import (
    daemon_client,
    many,
    memories,
    minute,
    print_json,
    print_text,
    text_width,
)
from recollect.cli.selection_options import refuse_bad_ids
from recollect.core.errors import BadInput
from recollect.core.kinds import KINDS, TYPES
from recollect.core.one_line import one_line

EVENTS_SHOWN = 5
EDITOR_HEAD = "# The first line is the title; what follows the empty line is the text.\n"


@click.command()
@click.argument("memory", metavar="MEMORY")
@json_option
def show(memory: str, as_json: bool) -> None:
    """Show one memory in full: its text, its state, where it comes from, what changed it.

    MEMORY is an id, or the end of it that a brief shows in brackets.
    """
    refuse_bad_ids((memory,))
    client = daemon_client()
    history = client.get(f"/api/memories/{memory}/history")
    record = history["record"] or history["versions"][0]["record"]
    made_from = client.get(f"/api/memories/{memory}/provenance") if history["record"] else None
    if as_json:
        print_json({**history, "provenance": made_from})
        return
    _print_record(record, deleted=not history["record"])
    if made_from is not None:
        _print_sources(made_from)
    _print_versions(history)
    name = record["record_id"]
    click.echo()
    if history["record"]:
        print_text(f"Change it: recollect edit {name}; recollect forget {name}", dim=True)
    else:
        click.secho(f"Bring it back: recollect undo {history['versions'][0]['op_id']}", dim=True)


def _print_record(record: dict[str, Any], *, deleted: bool) -> None:
    print_text(record["title"], bold=True)
    kind = record["knowledge_type"] or record["observation_type"] or record["kind"]
    label = TYPES[kind].label if kind in TYPES else KINDS[kind].label
    facts = {
        "Id": record["record_id"],
        "Kind": label + (", pinned" if record["pinned"] else ""),
        "State": "deleted" if deleted else _state(record),
        "Held since": minute(record["valid_from"]),
        "Said by": record["author"],
        "Session": record["session_id"] or "",
        "Branch": record.get("branch") or "",
        "Told": _told(record),
        "Files": ", ".join(record["files"]),
        "Freshness": record["freshness"],
        "Concepts": ", ".join(record["concepts"]),
    }
    for name, value in facts.items():
        if value:
            print_text(value, label=f"{name}:", indent=2)
    texts = [record["detail"] or record["summary"]] if _repeats(record) else []
    texts = texts or [record["summary"], record["detail"]]
    for part in texts:
        if part and part.strip() != record["title"].strip():
            click.echo()
            for line in part.splitlines():
                print_text(line, indent=2)
    for one in record["facts"]:
        print_text(one, label="-", indent=2)


def _repeats(record: dict[str, Any]) -> bool:
    """Whether the detail holds the summary again."""
    return bool(record["summary"]) and record["summary"][:80] in (record["detail"] or "")


def _state(record: dict[str, Any]) -> str:
    """Only beliefs have a life worth telling."""
    if not KINDS[record["kind"]].is_belief:
        return ""
    reach = f"{record['scope']} {record['scope_name']}".strip()
    ended = record.get("valid_until")
    until = f", until {minute(ended)}" if ended else ""
    by = f", by {record['ended_by']}" if record.get("ended_by") else ""
    return f"{record['state']} ({reach}){until}{by}"


def _told(record: dict[str, Any]) -> str:
    count, last = record["access_count"], record["last_accessed"]
    return f"{many(count, 'time')}, last {minute(last)}" if count and last else "never"


def _print_sources(made_from: dict[str, Any]) -> None:
    if not made_from["events"]:
        return
    click.secho("\nMade from", bold=True)
    for row in made_from["events"][:EVENTS_SHOWN]:
        event = row["event"]
        said = _said(event["body"])
        line = f"{minute(event['valid_time'])}  {event['kind']}  {said}"
        click.echo("  " + one_line(line, text_width() - 2))
    more = len(made_from["events"]) - EVENTS_SHOWN
    if more > 0:
        click.echo(f"  and {more} more")


def _said(body: dict[str, Any]) -> str:
    """What an event says, on one line: its text, its last turn, or the values of its data."""
    if turns := body.get("turns"):
        return str(turns[-1]["content"])
    if isinstance(data := body.get("data"), dict):
        return "  ".join(str(one) for one in data.values() if isinstance(one, str | int))
    return str(body.get("content") or data or "")


def _print_versions(history: dict[str, Any]) -> None:
    for one in history["operations"]:
        if one["kind"] == "merge" and history["record_id"] in one["created"]:
            click.secho(f"\nMerged from {memories(len(one['targets']))}", bold=True)
            for name in one["targets"]:
                print_text(name, indent=2)
            print_text(f"Take them apart: recollect undo {one['op_id']}", indent=2, dim=True)
    if not history["versions"]:
        return
    click.secho("\nEarlier versions", bold=True)
    for one in history["versions"]:
        why = f": {one['reason']}" if one["reason"] else ""
        print_text(f"until {minute(one['until'])}, {one['ended_by']}{why}", indent=2)
        print_text(one["record"]["title"], indent=4)


@click.command()
@click.argument("memory", metavar="MEMORY")
@click.option("--title", help="The new title.")
@click.option("--text", "summary", help="The new text.")
@click.option("--reason", default="", help="Why; kept in the log of changes.")
@json_option
def edit(memory: str, title: str | None, summary: str | None, reason: str, as_json: bool) -> int:
    """Change the title or the text of a memory; without options, in your editor ($EDITOR).

    The old version is kept, and `recollect undo` brings it back.
    """
    refuse_bad_ids((memory,))
    client = daemon_client()
    record = client.get(f"/api/memories/{memory}")
    if title is None and summary is None:
        if as_json:
            raise click.UsageError("--json also needs --title or --text")
        if not sys.stdin.isatty():
            raise click.UsageError("no terminal for an editor: give --title or --text")
        title, summary = _edited(record)
        if (title, summary) == (record["title"], record["summary"]):
            click.echo("Nothing was changed.")
            return 1
    change = {"title": title, "summary": summary, "version": record["version"], "reason": reason}
    given = {name: value for name, value in change.items() if value is not None}
    done = client.ask("PATCH", f"/api/memories/{memory}", given)
    if as_json:
        print_json(done)
        return 0
    click.echo(f"Changed: {one_line(done['record']['title'], text_width() - 9)}")
    click.echo(f"Undo: recollect undo {done['op_id']}")
    return 0


def _edited(record: dict[str, Any]) -> tuple[str, str]:
    """Title and text as the person leaves them in the editor."""
    before = f"{EDITOR_HEAD}{record['title']}\n\n{record['summary']}\n"
    after = click.edit(before)
    if after is None:
        return record["title"], record["summary"]
    lines = [line for line in after.splitlines() if not line.startswith("# The first line")]
    while lines and not lines[0].strip():
        lines.pop(0)
    if not lines:
        raise BadInput(
            "the memory would be empty", hint=f"recollect forget {record['record_id']} deletes it."
        )
    return lines[0].strip(), "\n".join(lines[1:]).strip()


@click.command()
@click.argument("memory", metavar="MEMORY")
@click.option("--off", is_flag=True, help="Take the pin off again.")
@json_option
def pin(memory: str, off: bool, as_json: bool) -> None:
    """Pin a memory: it is not shortened, merged or deleted because of its age."""
    refuse_bad_ids((memory,))
    done = daemon_client().ask("POST", f"/api/memories/{memory}/pin", {"pinned": not off})
    if as_json:
        print_json(done)
        return
    what = "No longer pinned" if off else "Pinned"
    click.echo(f"{what}: {one_line(done['record']['title'], text_width() - len(what) - 2)}")
    click.echo(f"Undo: recollect undo {done['op_id']}")
