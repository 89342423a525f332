"""Finds API keys in the environment or in the system's keychain, and nowhere else.

In: the standard name of a key. Out: the key, or nothing. It is read for each call and not kept, and
no text that leaves this room contains it.
"""

import os

from recollect import privacy
from recollect.core import keychain

SHOWN = 200


def find(name: str) -> str:
    """The key of that name, or an empty text."""
    return os.environ.get(name, "").strip() or keychain.read(name).strip()


def how_to_give(name: str) -> str:
    return f"Set {name} in the environment, or run: keyring set {keychain.SERVICE} {name}"


def without(text: str, key: str) -> str:
    """The beginning of a foreign text without the key or anything that looks like one."""
    if key:
        text = text.replace(key, "…")
    text = " ".join(privacy.scrub(text).split())
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"
