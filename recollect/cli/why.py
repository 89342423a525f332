"""`recollect why` and `recollect receipt`: what was injected and why, and rating it."""

from typing import Any

import click

from recollect.cli.groups import Group
from recollect.cli.options import json_option, limit_option, project_option, project_path
from recollect.cli.output import (
    daemon_client,
    many,
    memories,
    minute,
    print_json,
    print_table,
    print_text,
    text_width,
)
from recollect.cli.selection_options import refuse_bad_ids
from recollect.client import Client
from recollect.core.errors import NotFound
from recollect.core.ids import short_id
from recollect.core.one_line import one_line
from recollect.core.signals import SIGNALS

STRONGEST = 2  # signals of a score that are named
LEFT_OUT = 5  # memories that were not told, listed unless all are asked for
TITLE_CHARS = 60
SILENT = "the session is a shadow session"
SEARCHED = 100  # receipts among which words or a memory are looked for
NONE = "Nothing was injected in this project yet. In another one: recollect why -p DIR"


@click.command()
@click.argument("words", nargs=-1)
@project_option(default=".")
@click.option("--useful", metavar="MEMORY", help="Rate a memory as useful.")
@click.option(
    "--wrong", metavar="MEMORY", help="Rate a memory as wrong: it stays out until it is edited."
)
@click.option("--never", metavar="MEMORY", help="Never inject this memory again, in any form.")
@json_option
def command(
    words: tuple[str, ...],
    project: str,
    useful: str | None,
    wrong: str | None,
    never: str | None,
    as_json: bool,
) -> None:
    """Explain the newest injection, or the newest whose prompt has all WORDS.

    It shows the injected text, and for each memory whether it was told or why not, its score, and
    what the score is mostly made of; `recollect receipt show` lists all of them. WORDS can also be
    the id of a receipt. MEMORY is an id, or the end of it that a brief shows in
    brackets.
    """
    client = daemon_client()
    for verdict, record_id in {"useful": useful, "wrong": wrong, "never": never}.items():
        if record_id:
            refuse_bad_ids((record_id,))
            _rate(client, project, record_id, verdict)
            return
    receipts = _receipts(client, project, SEARCHED)
    if not words and not receipts:
        print_json(None) if as_json else click.echo(NONE)
        return
    print_receipt(_chosen(receipts, " ".join(words)), as_json=as_json, most=LEFT_OUT)


@click.group(cls=Group)
def receipt() -> None:
    """List and show receipts. A receipt records what was injected with a prompt, and why."""


@receipt.command("list")
@project_option(default=".")
@limit_option(10, 100, "receipts")
@json_option
def list_command(project: str, limit: int, as_json: bool) -> None:
    """List receipts, newest first."""
    receipts = _receipts(daemon_client(), project, limit)
    if as_json:
        print_json(receipts)
    elif not receipts:
        click.echo(NONE)
    else:
        print_receipts(receipts)


@receipt.command()
@click.argument("receipt_id", metavar="RECEIPT")
@project_option(default=".")
@json_option
def show(receipt_id: str, project: str, as_json: bool) -> None:
    """Show RECEIPT: an id, or the beginning of one."""
    found = _chosen(_receipts(daemon_client(), project, SEARCHED), receipt_id)
    print_receipt(found, as_json=as_json)


def print_receipts(receipts: list[dict[str, Any]]) -> None:
    for one in receipts:
        told = f"{minute(one['created_at'])}  {one['trigger']}, {len(one['injected'])} injected, "
        click.secho(told + f"{one['latency_us'] / 1000:.0f} ms", bold=True)
        if query := one["query"].strip():
            click.echo("  " + one_line(query, text_width() - 2))
        click.secho(f"  {one['receipt_id']}", dim=True)
    click.echo("Show one: recollect receipt show RECEIPT")


def _receipts(client: Client, project: str, limit: int) -> list[dict[str, Any]]:
    found = client.get("/api/receipts", project=project_path(project), limit=limit)
    items: list[dict[str, Any]] = found["items"]
    return items


def _chosen(receipts: list[dict[str, Any]], which: str) -> dict[str, Any]:
    words = which.lower().split()
    for one in receipts:
        named = one["receipt_id"].startswith(which)
        if named or all(word in one["query"].lower() for word in words):
            return one
    raise NotFound(f"no receipt here has the id, or a prompt with the words, {which!r}",
                   hint="recollect receipt list")  # fmt: skip


def print_receipt(one: dict[str, Any], *, as_json: bool, most: int | None = None) -> None:
    """`most`: how many of the memories that were left out are listed."""
    if as_json:
        print_json(one)
        return
    detail = one["detail"]
    print_text(one["query"], label=f"{one['trigger']}:", most_lines=3, bold=True)
    told = f"{memories(len(one['injected']))} injected, {many(one['tokens'], 'token')}"
    told = told if one["injected"] or one["tokens"] else "Nothing was injected"
    click.echo(f"{told}, {one['latency_us'] / 1000:.0f} ms")
    if detail.get("shadow"):
        click.secho(
            "Shadow session: silent on purpose; it would have injected "
            f"{detail['shadow_tokens']} tokens.",
            fg="yellow",
        )
    if told := detail.get("text") or detail.get("shadow_text"):
        click.echo()
        for line in told.splitlines():
            print_text(line, indent=2, label="|")
    for what, problem in (("late", "It was late"), ("failed", "It failed")):
        if what in detail:
            click.secho(f"{problem}: {detail[what]}", fg="yellow")
    for what, reason in (detail.get("left_out") or {}).items():
        print_text(f"Left out, {what}: {reason}")
    _print_candidates(one, most)
    stages = detail.get("stages_us") or {}
    if stages and most is None:
        told = ", ".join(f"{name} {took / 1000:.1f}" for name, took in stages.items())
        print_text(f"{told}", label="CPU in ms:", dim=True)
    if detail["candidates"]:
        click.echo("Rate a memory: recollect why --useful|--wrong|--never MEMORY")


def _print_candidates(one: dict[str, Any], most: int | None) -> None:
    """The memories that were considered, what became of each, and what spoke for it most."""
    detail = one["detail"]
    otherwise = SILENT if detail.get("shadow") else "no reason was kept"
    told = [found for found in detail["candidates"] if found["injected"]]
    rest = [found for found in detail["candidates"] if not found["injected"]]
    rows = []
    for found in told + rest[:most]:
        strongest = sorted(found["parts"].items(), key=lambda part: -abs(part[1]))[:STRONGEST]
        names = ", ".join(SIGNALS.get(name, name) for name, value in strongest if value)
        rows.append(
            [
                short_id(found["record_id"]),
                one_line(found["title"], TITLE_CHARS) or "(not shown)",
                "told" if found["injected"] else found["why_not"] or otherwise,
                f"{found['score']:.2f}" + (f": {names}" if names else ""),
            ]
        )
    if rows:
        print_table(["Id", "Memory", "Outcome", "Score, mostly from"], rows)
    if len(rest) > len(rest[:most]):
        click.echo(f"{len(rest) - len(rest[:most])} more were left out. All of them:")
        click.echo(f"  recollect receipt show {one['receipt_id']}")


def _rate(client: Client, project: str, record_id: str, verdict: str) -> None:
    """The memory is looked up among those of the project, which may also be global ones."""
    body = {"record_id": record_id, "verdict": verdict, "project": project_path(project)}
    given = client.ask("POST", "/api/feedback", body)
    words = {"useful": "was useful", "wrong": "was wrong", "never": "is never injected again"}
    click.echo(f"Noted: {given['record_id']} {words[verdict]}.")
    if verdict == "wrong":
        click.echo("It is not injected until you correct it; nor are other notes of the same turn.")
        click.echo(f"Correct it: recollect edit {given['record_id']}")
    if verdict == "never":
        click.echo("Neither is anything else that was made of the same words.")
        click.echo(f"Undo: recollect undo {given['op_id']}")
