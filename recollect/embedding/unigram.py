"""Splits text into the pieces of a sentencepiece model of the unigram kind.

In: the bytes of `sp.model`, and texts. Out: numbers of pieces. The text is first normalised by the
table in the model (full-width letters become plain ones, spaces become one mark), then split so
that the pieces are together the likeliest. What no piece covers is the piece "unknown".
"""

import struct
from collections.abc import Iterator
from typing import Any

from recollect.core.errors import ModelUnavailable

UNKNOWN = 0
_SPACE = "\u2581"  # stands for a space in pieces
_UNKNOWN_PENALTY = 10.0  # less likely than the rarest piece by this much


class Unigram:
    def __init__(self, model: bytes) -> None:
        try:
            self._read(model)
        except (IndexError, KeyError, ValueError, struct.error) as error:
            raise ModelUnavailable(f"sp.model is damaged: {error}") from error

    def _read(self, model: bytes) -> None:
        pieces: dict[str, tuple[int, float]] = {}
        table = b""
        count = 0
        for number, value in _fields(model):
            if number == 1:  # a piece: its text and its logarithmic probability
                piece = dict(_fields(value))
                score = struct.unpack("<f", piece[2])[0] if 2 in piece else 0.0
                pieces[piece[1].decode()] = (count, score)
                count += 1
            elif number == 3:  # how texts are normalised
                table = dict(_fields(value)).get(2, b"")
        self._pieces = pieces
        self._unknown = min(score for _, score in pieces.values()) - _UNKNOWN_PENALTY
        self._longest: dict[str, int] = {}  # by first character, so that few lookups are in vain
        for text in pieces:
            self._longest[text[0]] = max(len(text), self._longest.get(text[0], 0))
        self._table = _CharacterTable(table)

    def __len__(self) -> int:
        return len(self._pieces)

    def encode(self, text: str, most: int) -> list[int]:
        """At most so many pieces; a text without words is one unknown piece."""
        # No piece is shorter than a character, and few texts need all of them.
        whole = self._normalised(text)
        return self._split(whole)[:most] if whole else [UNKNOWN]

    def _normalised(self, text: str) -> str:
        plain = self._table.replaced(text)
        words = [word for word in plain.split(" ") if word]
        return "".join(_SPACE + word for word in words)

    def _split(self, text: str) -> list[int]:
        """The likeliest pieces: the best way to each place is kept while going from left to
        right."""
        size = len(text)
        best = [0.0] + [float("-inf")] * size
        came: list[tuple[int, int]] = [(0, UNKNOWN)] * (size + 1)
        for at in range(size):
            here = best[at]
            alone = False
            for end in range(at + 1, min(size, at + self._longest.get(text[at], 0)) + 1):
                piece = self._pieces.get(text[at:end])
                if piece is None:
                    continue
                alone = alone or end == at + 1
                if here + piece[1] > best[end]:
                    best[end], came[end] = here + piece[1], (at, piece[0])
            if not alone and here + self._unknown > best[at + 1]:
                best[at + 1], came[at + 1] = here + self._unknown, (at, UNKNOWN)
        found = []
        while size:
            size, number = came[size]
            found.append(number)
        return found[::-1]


class _CharacterTable:
    """Replacements of characters: a trie of UTF-8 bytes in two arrays in one (darts), and the
    texts that its leaves point to."""

    def __init__(self, table: bytes) -> None:
        size = struct.unpack_from("<I", table)[0]
        self._units = struct.unpack_from(f"<{size // 4}I", table, 4)
        self._texts = table[4 + size :]

    def replaced(self, text: str) -> str:
        raw = text.encode("utf-8", "replace")
        out = bytearray()
        at = 0
        while at < len(raw):
            length, value = self._longest(raw, at)
            if length:
                out += self._texts[value : self._texts.index(b"\0", value)]
            else:
                length = _width(raw[at])
                out += raw[at : at + length]
            at += length
        return out.decode("utf-8", "replace")

    def _longest(self, raw: bytes, at: int) -> tuple[int, int]:
        """The length of the longest key at a place, and where its replacement is; (0, 0) if none
        begins there."""
        units = self._units
        place = _offset(units[0])
        found = (0, 0)
        for length, byte in enumerate(raw[at : at + 64], 1):
            place ^= byte
            unit = units[place]
            if unit & 0x800000FF != byte:
                break
            place ^= _offset(unit)
            if unit >> 8 & 1:
                found = (length, units[place] & 0x7FFFFFFF)
        return found


def _offset(unit: int) -> int:
    return (unit >> 10) << ((unit & 0x200) >> 6)


def _width(first: int) -> int:
    """Bytes of a character by its first one."""
    return 1 if first < 0xC0 else 2 if first < 0xE0 else 3 if first < 0xF0 else 4


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """The fields of a protocol buffer: numbers, and bytes for all else."""
    at = 0
    while at < len(data):
        key, at = _number(data, at)
        kind = key & 7
        if kind == 0:
            value, at = _number(data, at)
            yield key >> 3, value
            continue
        if kind == 2:
            size, at = _number(data, at)
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
        else:
            raise ValueError(f"a field of kind {kind}")
        if at + size > len(data):
            raise ValueError("it ends too early")
        yield key >> 3, data[at : at + size]
        at += size


def _number(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
