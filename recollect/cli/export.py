"""`recollect export`: memories, or some of them, as text."""

import os
import sys
from collections.abc import Iterator
from datetime import datetime

import click

from recollect.cli.date_options import iso, since_option, until_option
from recollect.cli.options import project_option, project_path
from recollect.cli.output import SLOW_S, daemon_client
from recollect.core import oslayer, sealing, settings, store_key
from recollect.core.errors import BadInput, CannotWrite, StoreError
from recollect.core.kinds import KINDS
from recollect.core.settings import Settings


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
@click.option("--plain", is_flag=True,
              help="Write FILE unencrypted though the store is encrypted.")  # fmt: skip
def command(
    file: str | None,
    form: str | None,
    project: str | None,
    kind: str | None,
    rows: str | None,
    since: datetime | None,
    until: datetime | None,
    force: bool,
    plain: bool,
) -> None:
    """Export to FILE, or to standard output.

    JSONL and JSON can be imported again: `recollect import FILE`. Markdown is for reading. What is
    derived (vectors, indexes) is left out.

    When the store is encrypted, FILE is encrypted with the same key, and only
    `recollect import` can read it.
    """
    if file is not None and file != "-":
        _refuse(file, force=force)
    chosen, client = settings.load(), daemon_client(SLOW_S)
    by_name = {".json": "json", ".md": "markdown"}.get(os.path.splitext(file or "")[1], "jsonl")
    form = form or by_name
    public = _public_key(chosen, file, form) if not plain else None
    wanted = {
        "format": form, "project": project_path(project) if project else None, "kind": kind,
        "rows": rows or None, "since": iso(since), "until": iso(until),
    }  # fmt: skip
    pieces = client.stream(client.path("/api/export", wanted))
    if file is None or file == "-":
        for piece in pieces:
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
        return
    size = _write(file, sealing.seal(public[1], public[0], pieces) if public else pieces)
    how = "encrypted with the key of the store" if public else "readable by you alone"
    click.echo(f"{file}: {size / 1e6:.1f} MB, {how}.")


def _public_key(chosen: Settings, file: str | None, form: str) -> tuple[bytes, bytes] | None:
    """What a file is encrypted with: the store's key. Only who holds it can read the export."""
    if file in (None, "-") or chosen.store:
        return None
    if store_key.header_of(chosen.path(store_key.DATABASE)) is None:
        return None
    if form == "markdown":
        raise BadInput(
            "the store is encrypted, and Markdown is to be read",
            field="format",
            hint="--plain writes it unencrypted; JSONL can be encrypted.",
        )
    found = store_key.read_public_key(chosen.directory)
    if found is None:
        raise StoreError("the key to encrypt with is missing", hint="recollect restart")
    return found


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
