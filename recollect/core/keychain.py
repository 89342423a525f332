"""Reads the system's keychain, as far as there is one.

In: the name of an entry of the service `recollect`. Out: its text; empty when there is none, when
the package keyring is not installed, and when the keychain cannot be read, which is logged.
"""

import logging

log = logging.getLogger(__name__)

SERVICE = "recollect"


def read(name: str) -> str:
    try:
        import keyring
    except ImportError:
        return ""
    try:
        return keyring.get_password(SERVICE, name) or ""
    except Exception as error:  # noqa: BLE001 - each keychain fails in its own way
        log.warning("the keychain could not be read: %s", type(error).__name__)
        return ""
