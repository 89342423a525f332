"""`recollect search`: find memories, once or in a conversation with the prompt."""

import sys
from typing import Any

import click

from recollect.cli.date_options import AGES, TIME
from recollect.cli.output import (
    daemon_client,
    json_option,
    place,
    print_json,
    print_memories,
    project_option,
    tell_kept_out,
    waiting,
)
from recollect.client import Refused
from recollect.core.kinds import KINDS, TYPES


@click.command()
@click.argument("query", nargs=-1)
@project_option
@click.option("-n", "--limit", default=10, show_default=True, type=click.IntRange(1, 100))
@click.option(
    "--mode", default="hybrid", show_default=True,
    type=click.Choice(["hybrid", "keyword", "semantic"]), help="By words, meaning, or both.",
)  # fmt: skip
@click.option(
    "--kind", type=click.Choice(list(KINDS)),
    help="Only memories of this kind.",
)  # fmt: skip
@click.option("--type", "type_", type=click.Choice(list(TYPES)), help="Only of this type.")
@click.option("--concept", help="Only with this concept.")
@click.option("--file", "file_", help="Only about this file; its end is enough.")
@click.option("--session", "session_id", help="Only of this session.")
@click.option("--since", metavar="TIME", help=f"Made at or after: 2026-11-01, or an age: {AGES}.")
@click.option("--until", metavar="TIME", help="Made before.")
@click.option("--as-of", metavar="TIME", help="As memory was at that moment.")
@click.option("--raw", is_flag=True, help="Take QUERY as an FTS5 expression.")
@click.option("-i", "--interactive", is_flag=True, help="Ask again and again.")
@json_option
def command(
    query: tuple[str, ...],
    project: str,
    type_: str | None,
    file_: str | None,
    since: str | None,
    until: str | None,
    as_of: str | None,
    raw: bool,
    interactive: bool,
    as_json: bool,
    **narrow: Any,
) -> int:
    """Search memories. Without QUERY: the newest ones; on a terminal with -i: ask as you go."""
    client = daemon_client()
    narrow |= {
        "project": place(project),
        "type": type_,
        "file": file_,
        "since": moment(since, "--since"),
        "until": moment(until, "--until"),
        "as_of": moment(as_of, "--as-of"),
    }
    if interactive:
        return _converse(client, narrow)
    if not query:
        narrow.pop("mode")
        found = client.get("/api/memories", **narrow)
        if as_json:
            print_json(found)
        else:
            print_memories(found["items"])
            if not found["items"]:
                _nothing(project)
        return 0
    with waiting("Searching"):
        answer = client.get("/api/search", query=" ".join(query), raw=raw or None, **narrow)
    if as_json:
        print_json(answer)
    else:
        _tell(answer, project)
    return 0


def moment(text: str | None, name: str) -> str | None:
    """A day, a time or an age as people write it, in local time unless it says otherwise."""
    if text is None:
        return None
    try:
        return TIME.convert(text, None, None).isoformat()
    except click.BadParameter as error:
        raise click.BadParameter(error.message, param_hint=name) from None


def _tell(answer: dict[str, Any], project: str) -> None:
    items = answer["items"]
    if not items:
        _nothing(project)
        return
    if (answer["confidence"] or 0) < (answer["floor"] or 0):
        click.secho("Nothing fits well; these are the nearest.", fg="yellow")
    print_memories([one["record"] for one in items], [one["score"] for one in items])
    for what, why in answer["left_out"].items():
        if not (what == "semantic" and answer["mode"] == "keyword"):
            click.secho(f"Left out, {what}: {why}", fg="yellow", err=True)


def _nothing(project: str) -> None:
    click.echo("Nothing was found.")
    tell_kept_out(project)
    if project != "all":
        click.echo("In every project: recollect search --project all QUERY")


def _converse(client: Any, narrow: dict[str, Any]) -> int:
    click.echo("Type what you look for; a number shows that memory in full; empty ends.")
    shown: list[dict[str, Any]] = []
    while True:
        try:
            line = input("search> " if sys.stdin.isatty() else "").strip()
        except EOFError:
            return 0
        if not line:
            return 0
        try:
            if line.isdecimal() and 1 <= int(line) <= len(shown):
                _whole(client.get(f"/api/memories/{shown[int(line) - 1]['record_id']}"))
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


def _whole(record: dict[str, Any]) -> None:
    print_memories([record])
    for part in (record["detail"], *(f"- {fact}" for fact in record["facts"])):
        if part:
            click.echo(part)
