"""`recollect context`: what an agent would be given now, and why."""

from typing import Any

import click

from recollect.cli.date_options import AGES
from recollect.cli.output import (
    daemon_client,
    json_option,
    place,
    print_json,
    project_option,
    tell_kept_out,
    waiting,
)
from recollect.cli.search import moment


@click.command()
@click.argument("prompt", nargs=-1)
@project_option
@click.option("--tokens", type=click.IntRange(100, 20_000), help="At most so many tokens.")
@click.option(
    "--as-of",
    metavar="TIME",
    help=f"What would have been injected at that moment: a date, or an age: {AGES}.",
)
@click.option("--why", is_flag=True, help="Also show every candidate and why not.")
@json_option
def command(
    prompt: tuple[str, ...],
    project: str,
    tokens: int | None,
    as_of: str | None,
    why: bool,
    as_json: bool,
) -> int:
    """Show what would be injected with PROMPT, or, without one, when a session starts.

    Nothing is written: no session counts it as said.
    """
    client = daemon_client()
    with waiting("Choosing"):
        answer = client.get(
            "/api/context",
            query=" ".join(prompt) or None,
            project=place(project),
            token_budget=tokens,
            as_of=moment(as_of, "--as-of"),
        )
    if as_json:
        print_json(answer)
        return 0
    if answer["context"]:
        click.echo(answer["context"])
        count = len(answer["records"])
        click.secho(
            f"{count} {'memory' if count == 1 else 'memories'}, {answer['tokens']} tokens at most, "
            f"{answer['latency_ms']:.0f} ms",
            dim=True,
            err=True,
        )
    else:
        click.echo("Nothing would be injected.")
        tell_kept_out(project)
        for what, reason in (answer["notes"].get("left_out") or {}).items():
            click.echo(f"Left out, {what}: {reason}")
    if why:
        _candidates(answer["candidates"])
    elif answer["candidates"]:
        click.secho("Every candidate: recollect context --why", dim=True, err=True)
    return 0


def _candidates(candidates: list[dict[str, Any]]) -> None:
    for one in candidates:
        click.echo(f"{one['score']:7.3f}  {' '.join(one['title'].split())[:90]}")
        click.secho(f"         {one['record_id']}  {one['why_not'] or 'injected'}", dim=True)
