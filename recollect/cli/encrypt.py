"""`recollect encrypt` and `recollect decrypt`: the store, its backups and its spool, in place."""

import os
from typing import Any

import click

from recollect.cli import passphrase, process
from recollect.cli.options import dry_run_option, json_option, yes_option
from recollect.cli.output import agreed, confirmed, many, print_json, waiting
from recollect.cli.settings import write_setting
from recollect.core import settings, store_key
from recollect.core.errors import BadInput, Conflict, RecollectError, StoreError
from recollect.core.settings import Settings
from recollect.portable.backups import database_files

SETTING = "encryption_key"
KEPT = {
    "keychain": "in your keychain",
    "passphrase": "made from a passphrase that you type",
}


@click.command()
@click.option(
    "--key",
    "source",
    metavar="keychain|file:PATH|passphrase",
    help="Where the key is kept; the keychain unless you choose another.",
)
@dry_run_option
@yes_option
@json_option
def encrypt(source: str | None, dry_run: bool, yes: bool, as_json: bool) -> int:
    """Encrypt the store, its backups and its spool.

    Agents can go on working: their events wait in the spool meanwhile. If it is interrupted, run it
    again. Whoever loses the key loses the memories: keep a copy of the key file, or remember the
    passphrase.
    """
    chosen = settings.load()
    _refuse_server(chosen)
    wanted = source or chosen.encryption_key or "keychain"
    if problem := store_key.wrong_source(wanted):
        raise BadInput(f"--key {wanted!r} is not valid: {problem}", field="key")
    store_key.refuse_inside(wanted, chosen.directory)
    path = chosen.path(store_key.DATABASE)
    is_encrypted = store_key.header_of(path) is not None
    if is_encrypted and wanted != chosen.encryption_key:
        raise Conflict(
            f"the store is encrypted already, with the key from {chosen.encryption_key or '?'}",
            hint=f"recollect decrypt, then: recollect encrypt --key {wanted}",
        )
    todo = [one for one in _databases(chosen) if store_key.header_of(one) is None]
    if dry_run:
        return _say_plan("encrypted", todo, wanted, as_json=as_json)
    kept = KEPT.get(wanted, f"in {wanted.removeprefix(store_key.FILE)}")
    question = f"Encrypt {many(len(todo), 'file')} with a key that is {kept}? Without it nothing "
    if not agreed(f"{question}can be read again.", yes=yes, as_json=as_json):
        return 1
    if wanted == "passphrase" and not is_encrypted:
        passphrase.choose_new()
    done = _changed(chosen, "--encrypt", wanted)
    if as_json:
        print_json(done)
    else:
        click.echo(f"Encrypted: {many(len(done['changed']), 'file')}. The key is {kept}.")
        _offer_removal(done["plain"], yes=yes)
        click.echo("Exports, and copies that you made elsewhere, are as they were.")
    return 0


@click.command()
@dry_run_option
@yes_option
@json_option
def decrypt(dry_run: bool, yes: bool, as_json: bool) -> int:
    """Decrypt the store, its backups and its spool.

    If it is interrupted, run it again. The key stays where it is: older copies may need it.
    """
    chosen = settings.load()
    _refuse_server(chosen)
    todo = [one for one in _databases(chosen) if store_key.header_of(one) is not None]
    if dry_run:
        return _say_plan("decrypted", todo, "", as_json=as_json)
    if not todo and not chosen.encryption_key:
        click.echo("The store is not encrypted.")
        return 0
    question = f"Decrypt {many(len(todo), 'file')}, readable by anyone who can read your files?"
    if not agreed(question, yes=yes, as_json=as_json):
        return 1
    passphrase.unlock(chosen)
    done = _changed(chosen, "--decrypt", None)
    if as_json:
        print_json(done)
    else:
        click.echo(f"Decrypted: {many(len(done['changed']), 'file')}.")
        for left in done["left"]:
            click.secho(f"Still encrypted, as its key is not there: {left}", fg="yellow")
    return 0


def _changed(chosen: Settings, what: str, source: str | None) -> dict[str, Any]:
    """The setting names the key before a file needs it, and until no file needs it any more."""
    with waiting("Stopping Recollect") as bar:
        ran = bool(process.stop(chosen, doing=bar.doing))
    before = chosen.encryption_key or None
    try:
        if source:
            write_setting(SETTING, source)
        with waiting("Rewriting the files"):
            done = process.on_files(settings.load(), what)
        if not source and not done["left"]:
            write_setting(SETTING, None)
    except RecollectError:
        if source and store_key.header_of(chosen.path(store_key.DATABASE)) is None:
            write_setting(SETTING, before)
        if ran:
            process.start(settings.load())
        raise
    if ran:
        process.start(settings.load())
    return done


def _offer_removal(plain: list[str], *, yes: bool) -> None:
    if not plain:
        return
    click.secho(
        "These could not be encrypted, because they cannot be read as a store:", fg="yellow"
    )
    for path in plain:
        click.echo(f"  {path}")
    if not yes and passphrase.is_terminal() and confirmed("Delete them?"):
        for path in plain:
            os.unlink(path)
        click.echo("Deleted.")
    else:
        click.echo("Delete them when you do not need them any more.")


def _databases(chosen: Settings) -> list[str]:
    path = chosen.path(store_key.DATABASE)
    return [path] * store_key.is_there(path) + database_files(chosen.path("backups"))


def _say_plan(how: str, todo: list[str], source: str, *, as_json: bool) -> int:
    if as_json:
        print_json({how: todo, "key": source})
        return 0
    click.echo(f"{many(len(todo), 'file')} would be {how}; nothing was changed.")
    for path in todo:
        click.echo(f"  {path}")
    return 0


def _refuse_server(chosen: Settings) -> None:
    if chosen.store:
        raise StoreError(
            "the store is on PostgreSQL, which encrypts its files or its disk itself; nothing was "
            "changed",
            hint="Ask whoever runs the server.",
        )
