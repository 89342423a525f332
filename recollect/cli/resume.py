"""`recollect resume`: where the last session stopped."""

import click

from recollect.cli.options import json_option, project_option, project_path
from recollect.cli.output import daemon_client, print_json, print_text


@click.command()
@click.argument("session", required=False)
@project_option(default=".")
@json_option
def command(session: str | None, project: str, as_json: bool) -> None:
    """Show where SESSION stopped, or the last session of the project."""
    answer = daemon_client().get("/api/resume", session_id=session, project=project_path(project))
    if as_json:
        print_json(answer)
        return
    for line in answer["text"].splitlines():
        label = "-" if line.startswith("- ") else ""
        text = line.removeprefix("### ").removeprefix("- ")
        print_text(text, label=label, bold=line.startswith("### "))
