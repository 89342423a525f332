"""The server's password: libpq finds PGPASSWORD and ~/.pgpass; the keychain is asked here.

In: nothing. Out: the password, or None. It is handed to libpq and to nobody else.
"""

import logging
import os

SERVICE = "recollect"
NAME = "PGPASSWORD"

log = logging.getLogger(__name__)


def from_keychain() -> str | None:
    """What `keyring set recollect PGPASSWORD` keeps, unless the environment has one."""
    if os.environ.get(NAME):
        return None
    try:
        import keyring
    except ImportError:
        return None
    try:
        return keyring.get_password(SERVICE, NAME) or None
    except Exception as error:  # noqa: BLE001 - each keychain fails in its own way
        log.debug("the keychain could not be read: %s", type(error).__name__)
        return None
