"""`recollect search`: memories by words and meaning, once or interactively."""

import sys
from datetime import datetime
from typing import Any

import click

from recollect.cli.date_options import as_of_option, iso, since_option, until_option
from recollect.cli.options import json_option, limit_option, project_option, project_path
from recollect.cli.output import (
    daemon_client,
    memories,
    print_json,
    print_kept_out,
    print_memories,
    waiting,
)
from recollect.client import Refused
from recollect.core.kinds import KINDS, TYPES


@click.command()
@click.argument("query", nargs=-1)
@project_option(default=".")
@limit_option(10, 100, "memories")
@click.option(
    "--mode", default="hybrid", show_default=True,
    type=click.Choice(["hybrid", "keyword", "semantic"]), help="By words, by meaning, or both.",
)  # fmt: skip
@click.option(
    "--fusion",
    type=click.Choice(["linear", "rrf"]),
    help="How the rankings by words and by meaning become one, instead of the setting.",
)
@click.option(
    "--kind", type=click.Choice(list(KINDS)),
    help="Only memories of this kind.",
)  # fmt: skip
@click.option(
    "--type", "type_", type=click.Choice(list(TYPES)), metavar="TYPE",
    help=f"Only of this type: {', '.join(TYPES)}.",
)  # fmt: skip
@click.option("--concept", help="Only with this concept.")
@click.option("--file", "file_", help="Only about this file; the end of its path is enough.")
@click.option("--session", "session_id", help="Only of this session.")
@since_option
@until_option
@as_of_option
@click.option("--raw", is_flag=True, help="Take QUERY as an FTS5 expression.")
@click.option(
    "--closest", is_flag=True, help="Show the closest memories too, even if they fit less well."
)
@click.option("-i", "--interactive", is_flag=True, help="Keep asking for queries.")
@json_option
def command(
    query: tuple[str, ...],
    project: str,
    type_: str | None,
    file_: str | None,
    since: datetime | None,
    until: datetime | None,
    as_of: datetime | None,
    raw: bool,
    closest: bool,
    interactive: bool,
    as_json: bool,
    **narrow: Any,
) -> None:
    """Search memories for QUERY; without one, list the newest."""
    client = daemon_client()
    narrow |= {
        "project": project_path(project),
        "type": type_,
        "file": file_,
        "since": iso(since),
        "until": iso(until),
        "as_of": iso(as_of),
    }
    if interactive:
        _interactive(client, narrow)
        return
    if not query:
        del narrow["mode"], narrow["fusion"]
        found = client.get("/api/memories", **narrow)
        if as_json:
            print_json(found)
        else:
            print_memories(found["items"])
            if not found["items"]:
                _nothing(project)
        return
    with waiting("Searching"):
        answer = client.get("/api/search", query=" ".join(query), raw=raw or None, **narrow)
    if as_json:
        print_json(answer)
    else:
        _print_found(answer, project, closest=closest)


_NONE = "Nothing fits well; these are the closest."
_LESS = "These fit less well."


def _marked(hit: dict[str, Any]) -> dict[str, Any]:
    ended = {"state": "says what no longer holds"} if hit.get("says_ended") else {}
    return {**hit["record"], **ended}


def _print_found(answer: dict[str, Any], project: str, *, closest: bool) -> None:
    items, good = answer["items"], answer["good"]
    if not items:
        _nothing(project)
        return
    if not (good or closest):
        verb = "comes" if len(items) == 1 else "come"
        click.echo(f"Nothing fits. {memories(len(items)).capitalize()} {verb} closest: --closest")
        return
    for head, some in (("", items[:good]), (_LESS if good else _NONE, items[good:])):
        if some and head:
            click.secho(head, fg="yellow")
        print_memories([_marked(one) for one in some], [one["score"] for one in some])
        if not closest and len(items) > good:
            click.echo(f"\n{memories(len(items) - good).capitalize()} fit less well: --closest")
            break
    for what, why in answer["left_out"].items():
        if not (what == "semantic" and answer["mode"] == "keyword"):
            click.secho(f"Left out, {what}: {why}", fg="yellow", err=True)


def _nothing(project: str) -> None:
    click.echo("Nothing was found.")
    print_kept_out(project)
    if project != "all":
        click.echo("In every project: recollect search -p all QUERY")


def _interactive(client: Any, narrow: dict[str, Any]) -> None:
    click.echo("Type a query; a number shows that memory in full; an empty line ends.")
    shown: list[dict[str, Any]] = []
    while True:
        try:
            line = input("search> " if sys.stdin.isatty() else "").strip()
        except EOFError:
            return
        if not line:
            return
        try:
            if line.isdecimal() and 1 <= int(line) <= len(shown):
                _print_whole(client.get(f"/api/memories/{shown[int(line) - 1]['record_id']}"))
                continue
            answer = client.get("/api/search", query=line[:1000], **narrow)
        except Refused as error:
            click.echo(f"recollect: {error}", err=True)
            continue
        shown = [one["record"] for one in answer["items"]]
        for number, record in enumerate(shown, 1):
            click.secho(f"{number}. ", nl=False, bold=True)
            print_memories([record])
        if not shown:
            click.echo("Nothing was found.")


def _print_whole(record: dict[str, Any]) -> None:
    print_memories([record])
    for part in (record["detail"], *(f"- {fact}" for fact in record["facts"])):
        if part:
            click.echo(part)
