"""`recollect store`: copying the database to another backend."""

import dataclasses
import os
from collections.abc import Callable

import click

from recollect.cli.groups import Group
from recollect.cli.options import json_option
from recollect.cli.output import print_json, print_table
from recollect.cli.passphrase import unlock
from recollect.client import Client
from recollect.core import settings
from recollect.core.addresses import wrong_with_store
from recollect.core.errors import BadInput, ReadOnlyStore, StoreBusy
from recollect.core.settings import Settings
from recollect.store import open_store
from recollect.store.copying import Copied, copy


@click.group(cls=Group)
def command() -> None:
    """Copy the database to PostgreSQL, or back to SQLite.

    The setting `store` names the database in use: empty for a SQLite file in the data directory,
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
    """Copy everything to another database, and compare every row.

    Stop the daemon first. After an interruption, run the same command again: rows that were copied
    are skipped. The source is not changed, and stays in use until you change the setting `store`.
    """
    chosen = settings.load()
    if Client(chosen).alive():
        raise StoreBusy("the daemon is running and may write meanwhile", hint="recollect down")
    there = _target(chosen, target)
    unlock(chosen)
    source = open_store(chosen, needed=True)
    try:
        written = open_store(there, locked=False, needed=True)  # the lock is the source's
        try:
            if written.writer.problem:
                raise ReadOnlyStore(
                    f"nothing can be copied there: {written.writer.problem}",
                    hint="Choose another --to.",
                )
            done = copy(source, written, chosen.actor_id, _progress(as_json))
        finally:
            written.close()
    finally:
        source.close()
    _print_copied(done, there, as_json)


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
        raise BadInput("--to is the database in use; choose another one", field="to")
    return there


def _progress(quiet: bool) -> Callable[[str, int], None]:
    def told(table: str, rows: int) -> None:
        if not quiet and rows % 10_000 == 0:
            click.echo(f"  {table}: {rows}", err=True)

    return told


def _print_copied(done: list[Copied], there: Settings, as_json: bool) -> None:
    if as_json:
        print_json([dataclasses.asdict(one) for one in done])
        return
    print_table(
        ["Table", "Rows", "New"], [[one.table, str(one.rows), str(one.new)] for one in done]
    )
    where = f'store = "{there.store}"' if there.store else f"RECOLLECT_HOME={there.directory}"
    click.echo(f"Every row is the same on both sides. To use the copy: {where}")
