"""`recollect today`: what was done, learned and told today, on one screen."""

from typing import Any

import click

from recollect.cli.date_options import TIME
from recollect.cli.options import json_option, project_option, project_path
from recollect.cli.output import daemon_client, many, print_json, print_text
from recollect.core.ids import RECORD, short_id

SHOWN = 8


@click.command()
@project_option(default="all")
@json_option
def command(project: str, as_json: bool) -> None:
    """Show what was done, learned and told since midnight, and what waits for a decision.

    Every project is shown unless you name one.
    """
    client = daemon_client()
    midnight = TIME.convert("today", None, None)
    where = project_path(project)
    report = client.get("/api/report", project=where, since=midnight.isoformat())
    week = client.get("/api/week", project=where, since=midnight.isoformat())
    if as_json:
        print_json({"report": report, "beliefs": week})
        return
    view = report["overview"]
    click.secho(f"{midnight:%A, %Y-%m-%d}", bold=True)
    tokens = view["injected_tokens"]
    click.echo(
        f"{many(view['sessions'], 'session')}, {many(view['prompts'], 'prompt')}; agents were told "
        f"{many(tokens, 'token') if tokens else 'nothing'} in {many(view['retrievals'], 'look-up')}"
    )
    _print_list("Learned", [(one["title"], one["record_id"]) for one in week["learned"]])
    _print_list("No longer holds", [(one["title"], one["record_id"]) for one in week["ended"]])
    _print_list("Done", _items(report["tasks"]))
    _print_list("Next", _items(report["next_steps"]))
    if not (view["events"] or week["learned"] or week["ended"]):
        click.echo("Nothing happened yet today. Earlier: recollect report --period week")
    if waiting := len(week["waiting"]):
        click.echo(f"\n{many(waiting, 'belief')} to decide about: recollect review")


def _items(items: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(one["text"], one["record_id"]) for one in items]


def _print_list(heading: str, lines: list[tuple[str, str]]) -> None:
    if not lines:
        return
    click.secho(f"\n{heading}", bold=True)
    for text, record_id in lines[:SHOWN]:
        name = f" [{short_id(record_id)}]" if record_id.startswith(RECORD) else ""
        print_text(text + name, label="-", most_lines=2)
    if len(lines) > SHOWN:
        click.echo(f"  and {len(lines) - SHOWN} more")
