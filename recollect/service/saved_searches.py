"""Searches that a person gave a name, kept beside the settings.

In: a name, and the filters as they stand in the dashboard's address. Out: all of them, in the order
of their names. The file of an encrypted store is sealed. One that cannot be read counts as none,
and is written anew with the next search.
"""

import os
import threading
from typing import Annotated
from urllib.parse import parse_qsl, urlencode

import msgspec
from msgspec import Meta, structs

from recollect import privacy
from recollect.core import sealing, store_key
from recollect.core.errors import BadInput, NotFound, RecollectError
from recollect.core.oslayer import replace_file
from recollect.core.safe_files import SMALL, read_whole
from recollect.core.values import Name, Value
from recollect.service.runtime import ServiceRuntime

FILE = "searches.json"
MOST = 100
NAME_CHARS = 100
FILTER_CHARS = 2000
_lock = threading.Lock()


class SavedSearch(Value, frozen=True, kw_only=True):
    name: Annotated[str, Meta(min_length=1, max_length=NAME_CHARS)]
    filters: Annotated[str, Meta(max_length=FILTER_CHARS)]


def searches(runtime: ServiceRuntime) -> tuple[SavedSearch, ...]:
    return tuple(sorted(_read(runtime.settings.directory), key=lambda one: one.name.casefold()))


def save(runtime: ServiceRuntime, new: SavedSearch) -> tuple[SavedSearch, ...]:
    """Keep a search; one of the same name is replaced. Its words are spelled as in an address, so
    that no door recognises what is private in them."""
    new = structs.replace(new, filters=_scrubbed(new.filters))
    with _lock:
        others = [one for one in _read(runtime.settings.directory) if one.name != new.name]
        if len(others) >= MOST:
            raise BadInput(f"there are {MOST} searches already", hint="Delete one first.")
        _write(runtime.settings.directory, [*others, new])
    return searches(runtime)


def delete(runtime: ServiceRuntime, name: Name) -> tuple[SavedSearch, ...]:
    with _lock:
        known = _read(runtime.settings.directory)
        left = [one for one in known if one.name != name]
        if len(left) == len(known):
            raise NotFound(f"there is no search {name!r}")
        _write(runtime.settings.directory, left)
    return searches(runtime)


def scrub(runtime: ServiceRuntime, *, apply: bool) -> tuple[int, dict[str, int]]:
    """How many searches hold something private or a secret, and how much of what; with `apply`
    they hold it no longer."""
    found: dict[str, int] = {}
    with _lock:
        known = _read(runtime.settings.directory)
        clean = [
            SavedSearch(
                name=privacy.scrub(one.name, removed=found)[:NAME_CHARS],
                filters=_scrubbed(one.filters, found),
            )
            for one in known
        ]
        dirty = sum(one != other for one, other in zip(known, clean, strict=True))
        if apply and dirty:
            _write(runtime.settings.directory, clean)
    return dirty, found


def _scrubbed(filters: str, removed: dict[str, int] | None = None) -> str:
    words = parse_qsl(filters, keep_blank_values=True)
    clean = [(name, privacy.scrub(text, removed=removed)) for name, text in words]
    return filters if clean == words else urlencode(clean)[:FILTER_CHARS]


def recode(directory: str, *, sealed: bool) -> None:
    """Seal the file with the store's public key, or write it as text again."""
    found = _read(directory)
    if found:
        _write(directory, found, sealed=sealed)


def _read(directory: str) -> list[SavedSearch]:
    try:
        data = read_whole(os.path.join(directory, FILE), SMALL)
        if (label := sealing.label_of(data)) is not None:
            data = sealing.unseal(store_key.find(label, FILE).sealing, data)
        return msgspec.json.decode(data, type=list[SavedSearch])
    except (msgspec.DecodeError, OSError, RecollectError, sealing.NotSealed):
        return []


def _write(directory: str, found: list[SavedSearch], *, sealed: bool = True) -> None:
    data = msgspec.json.encode(found)
    key = store_key.read_public_key(directory)
    if key is not None and sealed:
        header, public = key
        data = b"".join(sealing.seal(public, header, [data]))
    replace_file(os.path.join(directory, FILE), data)
