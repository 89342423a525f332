"""`recollect store`: where memory lies, and how it is moved to another place."""

import dataclasses
import os
from collections.abc import Callable

import click

from recollect.cli.output import json_option, print_json, print_table
from recollect.client import Client
from recollect.core import settings
from recollect.core.addresses import wrong_with_store
from recollect.core.errors import BadInput, ReadOnlyStore, StoreBusy
from recollect.core.settings import Settings
from recollect.store import open_store
from recollect.store.copying import Copied, copy


@click.group()
def command() -> None:
    """Copy the whole store to another backend.

    The setting `store` says where memory lies: empty for a file of SQLite in the data directory,
    or postgresql://user@host/database.
    """


@command.command("copy")
@click.option(
    "--to",
    "target",
    required=True,
    help="postgresql://user@host/database, or the path of a data directory for SQLite.",
)
@json_option
def copy_command(target: str, as_json: bool) -> None:
    """Copy everything to another store, and compare every row.

    Stop the daemon first. A copy that was broken off is begun again by the same command: what is
    there already is passed over. The store that is copied is not changed, and stays the one in use
    until you change the setting `store`.
    """
    chosen = settings.load()
    if Client(chosen).alive():
        raise StoreBusy("the daemon is running and may write meanwhile", hint="recollect down")
    there = _target(chosen, target)
    source = open_store(chosen, needed=True)
    try:
        written = open_store(there, locked=False, needed=True)  # the lock is the source's
        try:
            if written.writer.problem:
                raise ReadOnlyStore(
                    f"nothing can be copied there: {written.writer.problem}",
                    hint="Name another --to.",
                )
            done = copy(source, written, chosen.actor_id, _progress(as_json))
        finally:
            written.close()
    finally:
        source.close()
    _tell(done, there, as_json)


def _target(chosen: Settings, target: str) -> Settings:
    if "://" in target:
        if problem := wrong_with_store(target):
            raise BadInput(f"--to is not valid: {problem}", field="to")
        there = dataclasses.replace(chosen, store=target)
    else:
        there = dataclasses.replace(chosen, store="", home=os.path.abspath(target), reserve_mb=0)
    same_place = there.store == chosen.store and (
        bool(chosen.store) or there.directory == chosen.directory
    )
    if same_place:
        raise BadInput("that is the store in use; name another one with --to", field="to")
    return there


def _progress(quiet: bool) -> Callable[[str, int], None]:
    def told(table: str, rows: int) -> None:
        if not quiet and rows % 10_000 == 0:
            click.echo(f"  {table}: {rows}", err=True)

    return told


def _tell(done: list[Copied], there: Settings, as_json: bool) -> None:
    if as_json:
        print_json([dataclasses.asdict(one) for one in done])
        return
    print_table(
        ["Table", "Rows", "New"], [[one.table, str(one.rows), str(one.new)] for one in done]
    )
    where = f'store = "{there.store}"' if there.store else f"RECOLLECT_HOME={there.directory}"
    click.echo(f"All rows are the same on both sides. To use the copy: {where}")
