"""Asking for the passphrase of an encrypted store, on a terminal and nowhere else.

In: settings, whose `encryption_key` is `passphrase`. Out: the key, held by this process. Without a
terminal nobody is asked; the daemon then says what to do.
"""

import sys

import click

from recollect.cli.output import waiting
from recollect.core import store_key
from recollect.core.errors import BadInput, WrongKey
from recollect.core.settings import Settings

ATTEMPTS = 3
SHORTEST = 8


def unlock(chosen: Settings) -> None:
    """Have the key of the store, or of the one that the daemon is about to make."""
    if chosen.encryption_key != "passphrase" or chosen.store or not is_terminal():
        return
    path = chosen.path(store_key.DATABASE)
    header = store_key.header_of(path)
    if header is not None:
        ask_for(header, f"Passphrase of {chosen.directory}")
    elif not store_key.is_there(path):
        choose_new()


def ask_for(header: bytes, question: str) -> None:
    if store_key.is_known(header):
        return
    for attempt in range(ATTEMPTS):
        told = click.prompt(question, hide_input=True, err=True)
        try:
            with waiting("Unlocking"):
                store_key.from_passphrase(header, told)
            return
        except WrongKey:
            if attempt == ATTEMPTS - 1:
                raise
            click.echo("That is not the passphrase. Try again.", err=True)


def choose_new() -> None:
    """Ask for a new passphrase, twice; once per process."""
    if store_key.is_fresh():
        return
    if not is_terminal():
        raise BadInput("a passphrase can only be chosen in a terminal", field="key")
    told = click.prompt("New passphrase", hide_input=True, confirmation_prompt=True, err=True)
    if len(told) < SHORTEST:
        raise BadInput(f"a passphrase needs {SHORTEST} characters or more", field="key")
    with waiting("Making the key"):
        store_key.prepare_new(told)


def is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()
