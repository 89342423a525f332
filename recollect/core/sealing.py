"""Sealing what only the holder of a store's key can read: spooled events and exports.

In: a public key and bytes, in pieces. Out: a sealed text, from which only the private key gives the
pieces back, in order and complete. NotSealed when it was changed, cut off or sealed for another.

The hook seals and must not hold a key, and the standard library has no cipher. So: X25519 (RFC
7748) with a new key for every text; BLAKE2b makes two keys of what was agreed; the stream is
SHAKE-256 over one of them and the number of the piece; BLAKE2b keyed with the other marks each
piece.
"""

import os
from collections.abc import Iterable, Iterator
from hashlib import blake2b, shake_256
from hmac import compare_digest

MAGIC = b"RCS1"
LABEL_BYTES = 16  # which key opens it: the header of the store's file
PREFIX_BYTES = len(MAGIC) + LABEL_BYTES + 32
PIECE_BYTES = 1 << 18
_PRIME = 2**255 - 19
_BASE = bytes((9,)) + bytes(31)
_MARK_BYTES = 32
_PIECE_HEADER = 5 + _MARK_BYTES
_LARGEST = 1 << 26


class NotSealed(ValueError):
    """The text was not sealed so, or was changed since."""


def public_key(private: bytes) -> bytes:
    return x25519(private, _BASE)


def seal(
    public: bytes, label: bytes, pieces: Iterable[bytes], context: bytes = b""
) -> Iterator[bytes]:
    """The sealed text of the pieces. `label` says which key opens it; it and `context` can be read
    by anyone and changed by nobody."""
    once = os.urandom(32)
    mine = public_key(once)
    keys = _keys(x25519(once, public), mine, public, label, context)
    yield MAGIC + label + mine
    number = 0
    for piece in _cut(pieces):
        yield _closed(keys, number, 0, piece)
        number += 1
    yield _closed(keys, number, 1, b"")


def label_of(start: bytes) -> bytes | None:
    """The label of a sealed text by its first bytes; None when it is none."""
    if len(start) < PREFIX_BYTES or not start.startswith(MAGIC):
        return None
    return start[len(MAGIC) : len(MAGIC) + LABEL_BYTES]


class Unsealer:
    """Opens a sealed text as it is read: `feed` gives what can be read so far, and `close` makes
    sure that nothing is missing."""

    def __init__(self, private: bytes, start: bytes, context: bytes = b"") -> None:
        label, theirs = label_of(start), start[PREFIX_BYTES - 32 : PREFIX_BYTES]
        if label is None:
            raise NotSealed("it does not begin as a sealed text does")
        shared = x25519(private, theirs)
        self._keys = _keys(shared, theirs, public_key(private), label, context)
        self._waiting = bytearray(start[PREFIX_BYTES:])
        self._number = 0
        self._complete = False

    def feed(self, data: bytes = b"") -> bytes:
        self._waiting += data
        opened = []
        while len(self._waiting) >= _PIECE_HEADER:
            length = int.from_bytes(self._waiting[1:5], "little")
            if self._complete or length > _LARGEST:
                raise NotSealed("there is more than was sealed")
            end = _PIECE_HEADER + length
            if len(self._waiting) < end:
                break
            opened.append(self._opened(bytes(self._waiting[:end])))
            del self._waiting[:end]
        return b"".join(opened)

    def close(self) -> None:
        if self._waiting or not self._complete:
            raise NotSealed("its end is missing")

    def _opened(self, closed: bytes) -> bytes:
        stream, mark = self._keys
        data = closed[_PIECE_HEADER:]
        if not compare_digest(closed[5:_PIECE_HEADER], _mark(mark, self._number, closed[0], data)):
            raise NotSealed("it was changed, or sealed for another key")
        self._complete = closed[0] == 1
        self._number += 1
        return _mixed(stream, self._number - 1, data)


def unseal(private: bytes, sealed: bytes, context: bytes = b"") -> bytes:
    """A short text at once."""
    opening = Unsealer(private, sealed, context)
    data = opening.feed()
    opening.close()
    return data


def x25519(scalar: bytes, point: bytes) -> bytes:
    """RFC 7748. Not in constant time, which matters only to one who can measure this process."""
    k = int.from_bytes(scalar, "little") & (2**255 - 8) | 2**254
    x1 = int.from_bytes(point, "little") & (2**255 - 1)
    x2, z2, x3, z3, swap = 1, 0, x1, 1, 0
    for at in range(254, -1, -1):
        bit = k >> at & 1
        if swap != bit:
            x2, x3, z2, z3 = x3, x2, z3, z2
        swap = bit
        a, b = x2 + z2, x2 - z2
        aa, bb = a * a % _PRIME, b * b % _PRIME
        da, cb = (x3 - z3) * a % _PRIME, (x3 + z3) * b % _PRIME
        x3, z3 = (da + cb) ** 2 % _PRIME, x1 * (da - cb) ** 2 % _PRIME
        x2, z2 = aa * bb % _PRIME, (aa - bb) * (aa + 121665 * (aa - bb)) % _PRIME
    if swap:
        x2, z2 = x3, z3
    return (x2 * pow(z2, _PRIME - 2, _PRIME) % _PRIME).to_bytes(32, "little")


def _keys(
    shared: bytes, once: bytes, public: bytes, label: bytes, context: bytes
) -> tuple[bytes, bytes]:
    if not any(shared):
        raise NotSealed("its key is not one")
    both = blake2b(shared + once + public + label + context, person=b"recollect seal").digest()
    return both[:32], both[32:]


def _cut(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """All of them in pieces of one size, but for the last."""
    waiting = bytearray()
    for piece in pieces:
        waiting += piece
        while len(waiting) >= PIECE_BYTES:
            yield bytes(waiting[:PIECE_BYTES])
            del waiting[:PIECE_BYTES]
    if waiting:
        yield bytes(waiting)


def _closed(keys: tuple[bytes, bytes], number: int, last: int, piece: bytes) -> bytes:
    data = _mixed(keys[0], number, piece)
    length = len(data).to_bytes(4, "little")
    return bytes((last,)) + length + _mark(keys[1], number, last, data) + data


def _mixed(key: bytes, number: int, data: bytes) -> bytes:
    stream = shake_256(key + number.to_bytes(8, "little")).digest(len(data))
    both = int.from_bytes(data, "little") ^ int.from_bytes(stream, "little")
    return both.to_bytes(len(data), "little")


def _mark(key: bytes, number: int, last: int, data: bytes) -> bytes:
    place = number.to_bytes(8, "little") + bytes((last,))
    return blake2b(place + data, key=key, digest_size=_MARK_BYTES).digest()
