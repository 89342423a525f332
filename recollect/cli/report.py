"""`recollect report`: what happened in a period, and what memory changed in it."""

from datetime import datetime
from typing import Any

import click

from recollect.cli.date_options import iso, time_option, until_option
from recollect.cli.options import json_option, project_option, project_path
from recollect.cli.output import daemon_client, many, memories, print_json, print_text, waiting

BAR = 24


@click.command()
@project_option(default=".")
@click.option(
    "--period",
    type=click.Choice(["day", "week", "month"]),
    help="How far back to look: a week by default, with --effect all that is kept.",
)
@time_option("--since", "Report from TIME on, instead of --period.")
@until_option
@click.option("--markdown", is_flag=True, help="Print Markdown.")
@click.option(
    "--effect",
    is_flag=True,
    help="Compare sessions with memory and those that the setting `shadow` kept silent.",
)
@json_option
def command(
    project: str,
    period: str | None,
    since: datetime | None,
    until: datetime | None,
    markdown: bool,
    effect: bool,
    as_json: bool,
) -> None:
    """Summarise what was done, learned and planned in a period."""
    if effect and markdown:
        raise click.UsageError("--effect is not available as Markdown; use --json")
    client = daemon_client()
    asked = {"project": project_path(project), "since": iso(since), "until": iso(until)}
    with waiting("Summing up"):
        if effect:
            report = client.get("/api/report/effect", period=period, **asked)
        else:
            form = "markdown" if markdown else "json"
            report = client.get("/api/report", period=period or "week", format=form, **asked)
    if as_json:
        print_json(report)
    elif effect:
        _print_effect(report)
    elif markdown:
        click.echo(report["markdown"], nl=False)
    else:
        _print_report(report)


def _print_report(report: dict[str, Any]) -> None:
    view = report["overview"]
    click.secho(f"{report['since'][:10]} to {report['until'][:10]}", bold=True)
    print_text(
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
                print_text(one["text"], label="-")
    if report["hotspots"]:
        click.secho("\nFiles", bold=True)
        for one in report["hotspots"]:
            click.echo(f"{one['memories']:5}  {one['path']}")
    if waits := report["waiting"]:
        click.echo(f"\n{many(waits, 'belief')} to decide about: recollect review")
    if not view["events"] and not view["memories"]:
        click.echo("Nothing happened here. In every project: recollect report -p all")


def _print_effect(effect: dict[str, Any]) -> None:
    arms = effect["memory_sessions"], effect["silent_sessions"]
    if sum(arms):
        click.secho(f"{effect['since'][:10]} to {effect['until'][:10]}", bold=True)
        click.echo(f"{many(arms[0], 'session')} with memory, {arms[1]} silent (shadow mode)\n")
        _print_effect_table(effect["measures"])
        click.echo("\nMeans per session, with 95 % intervals in brackets.")
        click.echo()
    for sentence in effect["conclusions"]:
        print_text(sentence)
    left_out = {
        "without_shadow": "began or ran while shadow mode was off",
        "changed_arm": "changed arm with the setting",
        "without_prompt": "had no prompt",
    }
    found = effect["left_out"]
    told = [f"{found[name]} {words}" for name, words in left_out.items() if found[name]]
    if told:
        print_text(f"Sessions not counted: {', '.join(told)}.")


def _print_effect_table(measures: list[dict[str, Any]]) -> None:
    rows = [("", "with memory", "silent", "difference")]
    for one in measures:
        found = one["comparison"]
        arms = _estimate(found["memory"]), _estimate(found["silent"])
        rows.append((one["label"], *arms, _estimate(found["difference"], sign="+")))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for number, row in enumerate(rows):
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        click.secho(line.rstrip(), bold=number == 0)


def _estimate(one: dict[str, Any] | None, sign: str = "") -> str:
    """A value with its interval, in few characters."""
    if one is None:
        return "-"
    told = _number(one["value"], sign)
    if one["low"] is None:
        return told
    return f"{told} [{_number(one['low'], sign)} {_number(one['high'], sign)}]"


def _number(value: float, sign: str) -> str:
    if abs(value) >= 10_000:
        return f"{value / 1000:{sign}.0f}k"
    places = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:{sign}.{places}f}"
