"""Ids: ULIDs that are made once and never changed.

In: a clock reading and randomness. Out: 26-character Crockford ULIDs, with a prefix where the kind
should be visible. `parse` refuses any other text.
"""

import hashlib
import os
import time

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_VALUE = {char: index for index, char in enumerate(_ALPHABET)}

# `$` alone would let a trailing newline pass.
ULID_PATTERN = r"^[0-7][0-9A-HJKMNP-TV-Z]{25}$(?!\n)"
RECORD_PATTERN = r"^mr_[0-7][0-9A-HJKMNP-TV-Z]{25}$(?!\n)"

SHORT_ID = 5  # characters at the end of an id, by which a brief names a memory

# A record by its id, or by the end of it: five characters or more, as a brief shows them.
RECORD_NAME_PATTERN = r"^\[?(?:mr_)?[0-9A-Za-z]{5,26}\]?$(?!\n)"

RECORD = "mr_"
ENTITY = "ent_"
RELATIONSHIP = "rel_"
FACT = "fact_"
PROCEDURE = "proc_"
PREFERENCE = "pref_"
CHECKPOINT = "chk_"
RECEIPT = "rcp_"
OPERATION = "op_"
PROJECT = "prj_"
RUN = "run_"


def new_ulid(now_ms: int | None = None) -> str:
    """A fresh ULID; ids of one millisecond are in no particular order."""
    return new_id("", now_ms)


def new_id(prefix: str, now_ms: int | None = None) -> str:
    """A fresh ULID after a prefix that tells the kind."""
    if now_ms is None:
        now_ms = time.time_ns() // 1_000_000
    return prefix + join_ulid(now_ms, int.from_bytes(os.urandom(10), "big"))


def short_id(record_id: str) -> str:
    """The end of an id, by which people and agents can name a memory."""
    return record_id[-SHORT_ID:].lower()


def derive_ulid(ulid: str, index: int) -> str:
    """The id of the `index`-th event made from one frame, always the same. The first event has the
    frame's own id; later ones have its time and a hash."""
    if index == 0:
        return ulid
    digest = hashlib.blake2b(f"{ulid}/{index}".encode(), digest_size=10).digest()
    return join_ulid(ulid_ms(ulid), int.from_bytes(digest, "big"))


def join_ulid(now_ms: int, rest: int) -> str:
    """The ULID of a time and eighty bits."""
    value = (now_ms & (1 << 48) - 1) << 80 | rest & (1 << 80) - 1
    return "".join(_ALPHABET[value >> shift & 31] for shift in range(125, -1, -5))


def parse(ulid: str) -> int:
    """The 128 bits of a ULID. Raises ValueError for anything else."""
    if len(ulid) != 26 or ulid[0] > "7":
        raise ValueError(f"not a ULID: {ulid!r}")
    value = 0
    for char in ulid:
        if char not in _VALUE:
            raise ValueError(f"not a ULID: {ulid!r}")
        value = value << 5 | _VALUE[char]
    return value


def is_ulid(text: str) -> bool:
    try:
        parse(text)
    except ValueError:
        return False
    return True


def ulid_ms(ulid: str) -> int:
    """The time of a ULID in milliseconds since 1970."""
    return parse(ulid) >> 80
