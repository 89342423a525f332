"""`recollect export`: memories, or some of them, as text."""

import os
import sys
from collections.abc import Iterator
from datetime import datetime
from urllib.parse import urlencode

import click

from recollect.cli import process
from recollect.cli.date_options import iso, since_option, until_option
from recollect.cli.options import project_option, project_path
from recollect.client import Client
from recollect.core import oslayer, settings
from recollect.core.errors import CannotWrite
from recollect.core.kinds import KINDS

SLOW_S = 600.0


@click.command()
@click.argument("file", type=click.Path(dir_okay=False), required=False)
@click.option("--format", "form", type=click.Choice(["jsonl", "json", "markdown"]),
              help="Default: by the ending of FILE, else JSONL.")  # fmt: skip
@project_option("Only this project: a directory, a name, an id or `global`.")
@click.option("--kind", type=click.Choice(list(KINDS)),
              help="Only memories of this kind.")  # fmt: skip
@click.option("--rows", help="Only these kinds of rows, with commas: event,memory,fact and others.")
@since_option
@until_option
@click.option("--force", is_flag=True, help="Overwrite FILE if it exists.")
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

    JSONL and JSON can be imported again: `recollect import FILE`. Markdown is for reading. What is
    derived (vectors, indexes) is left out.
    """
    if file is not None and file != "-":
        _refuse(file, force=force)
    chosen = settings.load()
    process.start(chosen)
    by_name = {".json": "json", ".md": "markdown"}.get(os.path.splitext(file or "")[1], "jsonl")
    wanted = {
        "format": form or by_name,
        "project": project_path(project) if project else None,
        "kind": kind,
        "rows": rows,
        "since": iso(since),
        "until": iso(until),
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
    """Refuse before anything is read: no such directory, or a file that exists."""
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise CannotWrite(f"there is no directory {folder}", hint=f"mkdir -p {folder}")
    if os.path.exists(path) and not force:
        raise CannotWrite(f"{path} exists already", hint="Choose another name, or --force.")


def _write(path: str, pieces: Iterator[bytes]) -> int:
    """Write beside the target first: an unfinished export never has its name."""
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
