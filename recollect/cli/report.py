"""`recollect report`: what happened in a period."""

from datetime import datetime
from typing import Any

import click

from recollect.cli.date_options import iso, time_option, until_option
from recollect.cli.options import json_option, project_option, project_path
from recollect.cli.output import daemon_client, many, memories, print_json, waiting

BAR = 24


@click.command()
@project_option(default=".")
@click.option(
    "--period",
    default="week",
    show_default=True,
    type=click.Choice(["day", "week", "month"]),
    help="How far back to look.",
)
@time_option("--since", "Report from TIME on, instead of --period.")
@until_option
@click.option("--markdown", is_flag=True, help="Print Markdown.")
@json_option
def command(
    project: str,
    period: str,
    since: datetime | None,
    until: datetime | None,
    markdown: bool,
    as_json: bool,
) -> int:
    """Summarise what was done, learned and planned in a period."""
    client = daemon_client()
    with waiting("Summing up"):
        report = client.get(
            "/api/report",
            project=project_path(project),
            period=period,
            since=iso(since),
            until=iso(until),
            format="markdown" if markdown else "json",
        )
    if as_json:
        print_json(report)
    elif markdown:
        click.echo(report["markdown"], nl=False)
    else:
        _print_report(report)
    return 0


def _print_report(report: dict[str, Any]) -> None:
    view = report["overview"]
    click.secho(f"{report['since'][:10]} to {report['until'][:10]}", bold=True)
    click.echo(
        f"{many(view['sessions'], 'session')}, {many(view['prompts'], 'prompt')}, "
        f"{memories(view['memories'])} "
        f"({view['knowledge']} of them notes, beliefs or summaries), "
        f"{view['retrievals']} retrievals, "
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
        click.echo("Nothing happened here. In every project: recollect report -p all")
