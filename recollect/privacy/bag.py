"""Which of many words a text holds, in one pass instead of a search for each.

In: a text in lower case, and words of ASCII letters, digits, `_` and `-`. Out: those that it holds.
What can go wrong: a word of the text with other letters in it falls into pieces.
"""

_KEPT = b"abcdefghijklmnopqrstuvwxyz0123456789_-"
_TABLE = bytes(byte if byte in _KEPT else 32 for byte in range(256))


def held(low: str, wanted: frozenset[bytes]) -> frozenset[bytes]:
    return wanted.intersection(low.encode("ascii", "replace").translate(_TABLE).split())
