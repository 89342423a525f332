"""`recollect relay`: an event of a forge, from standard input, becomes a note."""

import json
import os
import sys

import click

from recollect.cli.options import json_option, project_path
from recollect.cli.output import daemon_client, print_json
from recollect.core import safe_files
from recollect.core.errors import BadInput
from recollect.portable import forge_events

MOST_BYTES = 26 << 20  # what GitHub sends at the most


@click.command()
@click.argument("event", metavar="EVENT")
@click.option(
    "-p", "--project",
    help="Directory or name of the project. Default: the project with the repository's name.",
)  # fmt: skip
@click.option("--secret-file", metavar="FILE", help="The webhook's secret, to check --signature.")
@click.option("--signature", metavar="TEXT", help="The X-Hub-Signature-256 of the request.")
@json_option
def command(
    event: str, project: str | None, secret_file: str | None, signature: str | None, as_json: bool
) -> None:
    """Store an event of a forge, read from standard input, as a note.

    EVENT is the X-GitHub-Event, X-Gitea-Event or X-Gitlab-Event of the request. Issues, changes,
    pushes, releases and failed checks become a line; other events are left out. The daemon listens
    on this machine only: whatever receives the webhook pipes its body into this command
    (docs/howto/forge.md).
    """
    body = sys.stdin.buffer.read(MOST_BYTES + 1)
    if len(body) > MOST_BYTES:
        raise BadInput(f"the event is larger than {MOST_BYTES >> 20} MiB")
    if secret_file or signature:
        _check(body, secret_file, signature)
    try:
        payload = json.loads(body)
    except ValueError as error:
        raise BadInput(f"standard input is not valid JSON: {error}") from error
    found = forge_events.note(event, payload) if isinstance(payload, dict) else None
    if found is None:
        print_json({"stored": False}) if as_json else click.echo("Nothing worth a note.")
        return
    client = daemon_client()
    where = project_path(project) if project else None
    if where is None:
        names = {one["name"] for one in client.get("/api/projects")["items"]}
        where = found.repository if found.repository in names else "global"
    added = client.ask(
        "POST",
        "/api/observations",
        {"title": found.title, "content": found.content, "concepts": list(found.concepts),
         "author": "web", "project": where},
    )  # fmt: skip
    if as_json:
        print_json({"stored": added["stored"], "record_id": added["record"]["record_id"]})
    else:
        click.echo(found.title if added["stored"] else "It is there already.")


def _check(body: bytes, secret_file: str | None, signature: str | None) -> None:
    if not secret_file or not signature:
        raise BadInput("--secret-file and --signature must be given together")
    secret = safe_files.read_whole(os.path.expanduser(secret_file), 4096).decode().strip()
    if not secret or not forge_events.verified(secret, body, signature):
        raise BadInput("the signature does not match the event; nothing was stored")
