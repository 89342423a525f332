"""`recollect resume`: where work stopped."""

import click

from recollect.cli.output import daemon_client, json_option, place, print_json, project_option


@click.command()
@click.argument("session", required=False)
@project_option
@json_option
def command(session: str | None, project: str, as_json: bool) -> int:
    """Show where the last session of a project stood, or SESSION."""
    answer = daemon_client().get("/api/resume", session_id=session, project=place(project))
    if as_json:
        print_json(answer)
        return 0
    for line in answer["text"].splitlines():
        click.secho(line.removeprefix("### "), bold=line.startswith("### "))
    return 0
