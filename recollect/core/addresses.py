"""Tells whether a server is on this machine or network, or elsewhere.

In: an address such as `http://localhost:11434/v1`. Out: whether it is local, and what is wrong with
it, in words.
"""

import ipaddress
from urllib.parse import parse_qs, urlsplit

_LOCAL_NAMES = (".localhost", ".local", ".internal", ".lan")


def is_local(url: str) -> bool:
    """Whether it is a loopback or private address, or a name that is valid only here. Such servers
    do not bill, and need no key."""
    host = (urlsplit(url).hostname or "").rstrip(".").lower()
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return host == "localhost" or host.endswith(_LOCAL_NAMES)


def wrong_with(url: str) -> str:
    """Why this is not an address that a key may be sent to; empty when it is."""
    try:
        parts = urlsplit(url)
        named = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return "it is not an address such as http://localhost:11434/v1"
    if parts.scheme not in ("http", "https") or not named:
        return "it is not an address such as http://localhost:11434/v1"
    if parts.username or parts.password or parts.query or parts.fragment:
        return "it takes no user, password, query or fragment: keys come from the environment"
    if parts.scheme == "http" and not is_local(url):
        return "a server elsewhere is spoken to by https only"
    return ""


def wrong_with_store(url: str) -> str:
    """Why this is not the address of a PostgreSQL database; empty when it is."""
    like = "postgresql://user@host/database"
    try:
        parts = urlsplit(url)
        named = parts.port is None or parts.port > 0
    except ValueError:
        return f"it is not an address such as {like}"
    if parts.scheme not in ("postgresql", "postgres") or not named:
        return f"it is not an address such as {like}"
    if parts.password or "password" in parse_qs(parts.query, keep_blank_values=True):
        return "it takes no password: that comes from PGPASSWORD, ~/.pgpass or the keychain"
    return ""
