"""`recollect why`: what was injected, with every candidate's score and what was left out."""

import os
from typing import Any
from urllib.parse import quote

import click

from recollect.cli.output import cut, daemon_client, json_option, print_json, text_width
from recollect.client import Client
from recollect.core.errors import NotFound

SIGNALS = 3


@click.command()
@click.argument("which", required=False)
@click.option("--project", default=".", type=click.Path(), help="Of this project (default: here).")
@click.option("--last", default=10, show_default=True, type=click.IntRange(1, 100))
@click.option("--useful", metavar="MEMORY", help="Say that a memory was useful.")
@click.option("--wrong", metavar="MEMORY", help="Say that a memory was wrong.")
@click.option("--never", metavar="MEMORY", help="Never tell this again, in any form.")
@json_option
def command(
    which: str | None,
    project: str,
    last: int,
    useful: str | None,
    wrong: str | None,
    never: str | None,
    as_json: bool,
) -> int:
    """Explain an injection.

    WHICH is a receipt's id, or words of the prompt; without it the newest ones are listed.
    """
    client = daemon_client()
    place = quote(os.path.abspath(project))
    receipts = client.get(f"/api/receipts?project_path={place}&limit={100 if which else last}")
    given = {"useful": useful, "wrong": wrong, "never": never}
    for verdict, record_id in given.items():
        if record_id:
            _judge(client, receipts["items"], record_id, verdict)
            return 0
    if which is None:
        _list(receipts["items"], as_json=as_json)
        return 0
    receipt = _chosen(receipts["items"], which)
    if as_json:
        print_json(receipt)
    else:
        _explain(receipt)
    return 0


def _chosen(receipts: list[dict[str, Any]], which: str) -> dict[str, Any]:
    words = which.lower().split()
    for receipt in receipts:
        named = receipt["receipt_id"].startswith(which)
        if named or all(word in receipt["query"].lower() for word in words):
            return receipt
    raise NotFound(f"no receipt here has the id, or a prompt with the words, {which!r}",
                   hint="recollect why")  # fmt: skip


def _list(receipts: list[dict[str, Any]], *, as_json: bool) -> None:
    if as_json:
        print_json(receipts)
    elif not receipts:
        click.echo(
            "Nothing was asked in this project yet. Another one: recollect why --project DIR"
        )
    else:
        for receipt in receipts:
            when = receipt["created_at"][:16].replace("T", " ")
            told = f"{when}  {receipt['trigger']}, {len(receipt['injected'])} injected, "
            click.secho(told + f"{receipt['latency_us'] / 1000:.0f} ms", bold=True)
            if query := receipt["query"].strip():
                click.echo("  " + cut(query, text_width() - 2))
            click.secho(f"  {receipt['receipt_id']}", dim=True)
        click.echo("More of one: recollect why RECEIPT")


def _explain(receipt: dict[str, Any]) -> None:
    detail = receipt["detail"]
    asked = " ".join(receipt["query"].split())[:200]
    click.secho(f"{receipt['trigger']}: {asked}", bold=True)
    click.echo(
        f"Memories injected: {len(receipt['injected'])}, {receipt['tokens']} tokens, "
        f"{receipt['latency_us'] / 1000:.1f} ms"
    )
    for what in ("late", "failed"):
        if what in detail:
            click.secho(f"It {what}: {detail[what]}", fg="yellow")
    for what, reason in (detail.get("left_out") or {}).items():
        click.echo(f"Left out, {what}: {reason}")
    candidates = detail["candidates"]
    for one in candidates:
        click.echo()
        click.secho(cut(one["title"], text_width()), bold=one["injected"])
        fate = "injected" if one["injected"] else f"not injected: {one['why_not'] or 'no reason'}"
        click.echo(f"  {fate}")
        click.secho(f"  score {one['score']:.3f}: {_signals(one['parts'])}", dim=True)
        click.secho(f"  {one['record_id']}", dim=True)
    if candidates:
        click.echo()
    stages = detail.get("stages_us") or {}
    if stages:
        click.echo("CPU: " + ", ".join(f"{name} {took} µs" for name, took in stages.items()))
    if candidates:
        click.echo("Say what you think: recollect why --useful|--wrong|--never MEMORY")


def _signals(parts: dict[str, float]) -> str:
    strongest = sorted(parts.items(), key=lambda part: -abs(part[1]))[:SIGNALS]
    return ", ".join(f"{name} {value:.2f}" for name, value in strongest)


def _judge(client: Client, receipts: list[dict[str, Any]], record_id: str, verdict: str) -> None:
    """A memory is named by the beginning of its id, as the receipts show it."""
    shown = [one for receipt in receipts for one in receipt["detail"]["candidates"]]
    found = {one["record_id"] for one in shown if one["record_id"].startswith(record_id)}
    if len(found) != 1:
        many = "several memories in this project's receipts begin"
        none = "no memory in this project's receipts begins"
        raise NotFound(f"{many if found else none} with {record_id!r}",
                       hint="recollect why RECEIPT, or --project DIR")  # fmt: skip
    body = {"record_id": found.pop(), "verdict": verdict, "namespace": receipts[0]["namespace"]}
    given = client.ask("POST", "/api/feedback", body)
    words = {"useful": "was useful", "wrong": "was wrong", "never": "is never told again"}
    click.echo(f"Noted: {body['record_id']} {words[verdict]}.")
    if verdict == "never":
        click.echo("Nor is what else was made of the same words.")
        click.echo(f"Take it back: recollect undo {given['op_id']}")
