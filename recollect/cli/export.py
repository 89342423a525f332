"""`recollect export`: everything that is stored, or some of it, as text."""

import os
import sys
from collections.abc import Iterator
from datetime import datetime
from urllib.parse import urlencode

import click

from recollect.cli import process
from recollect.cli.date_options import AGES, TIME
from recollect.client import Client
from recollect.core import oslayer, settings
from recollect.core.errors import CannotWrite
from recollect.core.kinds import KINDS

SLOW_S = 600.0


@click.command()
@click.argument("file", type=click.Path(dir_okay=False), required=False)
@click.option("--format", "form", type=click.Choice(["jsonl", "json", "markdown"]),
              help="By default what the file's name says, else JSONL.")  # fmt: skip
@click.option("--project", help="Only this project: its directory, name or id.")
@click.option("--kind", type=click.Choice(list(KINDS)),
              help="Only memories of this kind.")  # fmt: skip
@click.option("--rows", help="Only these kinds of rows: event,memory,fact,…")
@click.option("--since", type=TIME, help=f"Not before: a date, or an age: {AGES}.")
@click.option("--until", type=TIME, help="Not after: a date, or an age.")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
def command(
    file: str | None,
    form: str | None,
    project: str | None,
    kind: str | None,
    rows: str | None,
    since: datetime | None,
    until: datetime | None,
    force: bool,
) -> int:
    """Export to FILE, or to standard output.

    JSONL and JSON can be imported again, here or elsewhere: `recollect import FILE`. Markdown is
    for reading. What is derived (vectors, indexes) is left out.
    """
    if file is not None and file != "-":
        _refuse(file, force=force)
    chosen = settings.load()
    process.start(chosen)
    by_name = {".json": "json", ".md": "markdown"}.get(os.path.splitext(file or "")[1], "jsonl")
    wanted = {
        "format": form or by_name,
        "project": _project(project),
        "kind": kind,
        "rows": rows,
        "since": since.isoformat() if since else None,
        "until": until.isoformat() if until else None,
    }
    query = urlencode({name: value for name, value in wanted.items() if value})
    pieces = Client(chosen, SLOW_S).stream(f"/api/export?{query}")
    if file is None or file == "-":
        for piece in pieces:
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
        return 0
    size = _write(file, pieces)
    click.echo(f"{file}: {size / 1e6:.1f} MB, readable by you alone.")
    return 0


def _refuse(path: str, *, force: bool) -> None:
    """Before anything is read: nowhere to write to, or something that is there already."""
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise CannotWrite(f"there is no directory {folder}", hint=f"mkdir -p {folder}")
    if os.path.exists(path) and not force:
        raise CannotWrite(f"{path} is there already", hint="Another name, or --force.")


def _write(path: str, pieces: Iterator[bytes]) -> int:
    """Beside the target first: an export that broke off never has its name."""
    part = f"{path}.part"
    size = 0
    try:
        oslayer.private_file(part)
        with open(part, "wb") as out:
            for piece in pieces:
                out.write(piece)
                size += len(piece)
        oslayer.put_in_place(part, path)
    except OSError as error:
        raise CannotWrite(f"{path} cannot be written: {error.strerror}") from error
    finally:
        if os.path.exists(part):
            os.unlink(part)
    return size


def _project(given: str | None) -> str | None:
    return os.path.abspath(given) if given and os.path.isdir(given) else given
