"""`recollect report`: what happened in a period."""

from typing import Any

import click

from recollect.cli.date_options import AGES
from recollect.cli.output import (
    daemon_client,
    json_option,
    many,
    memories,
    place,
    print_json,
    project_option,
    waiting,
)
from recollect.cli.search import moment

BAR = 24


@click.command()
@project_option
@click.option(
    "--period", default="week", show_default=True, type=click.Choice(["day", "week", "month"])
)
@click.option(
    "--since", metavar="TIME", help=f"From then on, instead of a period: a date, or an age: {AGES}."
)
@click.option("--until", metavar="TIME", help="Until then; now by default.")
@click.option("--markdown", is_flag=True, help="Print Markdown.")
@json_option
def command(
    project: str,
    period: str,
    since: str | None,
    until: str | None,
    markdown: bool,
    as_json: bool,
) -> int:
    """Show what was done, learned and planned."""
    client = daemon_client()
    with waiting("Summing up"):
        report = client.get(
            "/api/report",
            project=place(project),
            period=period,
            since=moment(since, "--since"),
            until=moment(until, "--until"),
            format="markdown" if markdown else "json",
        )
    if as_json:
        print_json(report)
    elif markdown:
        click.echo(report["markdown"], nl=False)
    else:
        _tell(report)
    return 0


def _tell(report: dict[str, Any]) -> None:
    view = report["overview"]
    click.secho(f"{report['since'][:10]} to {report['until'][:10]}", bold=True)
    click.echo(
        f"{many(view['sessions'], 'session')}, {many(view['prompts'], 'prompt')}, "
        f"{memories(view['memories'])} "
        f"({view['knowledge']} of them knowledge), {view['retrievals']} retrievals, "
        f"{view['injected_tokens']} tokens injected"
    )
    most = max((day["events"] for day in report["timeline"]), default=0)
    for day in report["timeline"]:
        bar = "#" * max(1, round(BAR * day["events"] / most)) if day["events"] else ""
        click.echo(f"  {day['day']}  {click.style(bar, fg='cyan')} {many(day['events'], 'event')}")
    for title, key in (("Learned", "learnings"), ("Done", "tasks"), ("Next steps", "next_steps")):
        if report[key]:
            click.secho(f"\n{title}", bold=True)
            for one in report[key]:
                click.echo(f"- {' '.join(one['text'].split())}")
    if report["hotspots"]:
        click.secho("\nFiles", bold=True)
        for one in report["hotspots"]:
            click.echo(f"{one['memories']:5}  {one['path']}")
    if not view["events"] and not view["memories"]:
        click.echo("Nothing happened here. In every project: recollect report --project all")
