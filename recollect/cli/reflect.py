"""`recollect reflect`: a look back over what was learned, as proposals."""

from typing import Any

import click

from recollect.cli.options import dry_run_option, json_option, project_path
from recollect.cli.output import memories, print_json
from recollect.client import Client
from recollect.core import settings

PATIENCE_S = 600.0
_SORTS = {
    "repeats": "Came up again and again",
    "contradicts": "Contradicts something newer",
    "unused": "Never of use",
    "insight": "Insights of the language model",
}


@click.command()
@click.option("--days", default=7, show_default=True, type=click.IntRange(1, 366),
              help="How far to look back.")  # fmt: skip
@click.option("-p", "--project", help="Directory or name of a project. Default: all projects.")
@dry_run_option
@json_option
def command(days: int, project: str | None, dry_run: bool, as_json: bool) -> None:
    """Look back over what was learned, as happens once a week.

    What came up in several sessions, what contradicts something newer and what was never of use
    becomes a proposal; with a language model, insights too. Proposals are told to no agent until
    you keep them: recollect review.
    """
    body: dict[str, Any] = {"days": days, "preview": dry_run}
    body["project"] = project_path(project) if project else "all"
    found = Client(settings.load(), timeout=PATIENCE_S).ask("POST", "/api/reflection", body)
    if as_json:
        print_json(found)
        return
    for sort, heading in _SORTS.items():
        lines = [one for one in found["proposals"] if one["sort"] == sort]
        if lines:
            click.secho(heading, bold=True)
        for one in lines:
            click.echo(f"- {one['text']} ({memories(len(one['evidence']))})")
    if found["problem"]:
        click.secho(f"The language model was not asked: {found['problem']}", fg="yellow")
    if not found["proposals"]:
        click.echo("There is nothing new to propose.")
    elif not dry_run:
        click.echo("Decide: recollect review")
