"""`recollect context`: what would be injected now, and why."""

from datetime import datetime

import click

from recollect.cli.date_options import as_of_option, iso
from recollect.cli.options import json_option, project_option, project_path
from recollect.cli.output import (
    daemon_client,
    filled,
    memories,
    print_json,
    print_kept_out,
    print_text,
    waiting,
)


@click.command()
@click.argument("prompt", nargs=-1)
@project_option(default=".")
@click.option(
    "--tokens",
    type=click.IntRange(100, 20_000),
    help="At most so many tokens, in the form of get_context. Default: what a hook injects.",
)
@as_of_option
@click.option("--why", is_flag=True, help="Also show every candidate and its outcome.")
@json_option
def command(
    prompt: tuple[str, ...],
    project: str,
    tokens: int | None,
    as_of: datetime | None,
    why: bool,
    as_json: bool,
) -> None:
    """Show what would be injected with PROMPT, or without one at the start of a session.

    Nothing is recorded: a session can still be told the same.
    """
    client = daemon_client()
    with waiting("Choosing"):
        answer = client.get(
            "/api/context",
            query=" ".join(prompt) or None,
            project=project_path(project),
            token_budget=tokens,
            as_of=iso(as_of),
        )
    if as_json:
        print_json(answer)
        return
    if answer["context"]:
        click.echo("\n".join(map(filled, answer["context"].splitlines())))
        click.secho(
            f"{memories(len(answer['records']))}, {answer['tokens']} tokens at most, "
            f"{answer['latency_ms']:.0f} ms",
            dim=True,
            err=True,
        )
    else:
        click.echo("Nothing would be injected.")
        print_kept_out(project)
        for what, reason in (answer["notes"].get("left_out") or {}).items():
            click.echo(f"Left out, {what}: {reason}")
    if why:
        for one in answer["candidates"]:
            print_text(one["title"], label=f"{one['score']:7.3f} ")
            print_text(f"{one['record_id']}  {one['why_not'] or 'injected'}", indent=9, dim=True)
    elif answer["candidates"]:
        click.secho("Every candidate: recollect context --why", dim=True, err=True)
