"""Finds API keys in the environment or in the system's keychain, and nowhere else.

In: the standard name of a key. Out: the key, or nothing. It is read for each call and not kept, and
no text that leaves this room contains it.
"""

import logging
import os

from recollect import privacy

SERVICE = "recollect"
SHOWN = 200

log = logging.getLogger("recollect.llm")


def find(name: str) -> str:
    """The key of that name, or an empty text."""
    if key := os.environ.get(name, "").strip():
        return key
    try:
        import keyring
    except ImportError:
        return ""
    try:
        return (keyring.get_password(SERVICE, name) or "").strip()
    except Exception as error:  # noqa: BLE001 - each keychain fails in its own way
        log.warning("the keychain could not be read: %s", type(error).__name__)
        return ""


def how_to_give(name: str) -> str:
    return f"Set {name} in the environment, or run: keyring set {SERVICE} {name}"


def without(text: str, key: str) -> str:
    """The beginning of a foreign text without the key or anything that looks like one."""
    if key:
        text = text.replace(key, "…")
    text = " ".join(privacy.scrub(text).split())
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"
