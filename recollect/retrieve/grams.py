"""Words as hashed 4-grams of characters, so that words that share a part are alike.

In: words. Out: the numbers of their 4-grams, with boundary marks. Nothing here raises.
"""

import numpy as np
from numpy.typing import NDArray

GRAM_BITS = 20

_ODD = np.array(
    [0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93],
    dtype=np.uint64,
)


def grams_of(batch: list[str]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """The hashed 4-grams of many words, concatenated, and where those of each word begin.

    A word shorter than two letters has one gram: itself between its marks.
    """
    marked = [f"\x02{word}\x03" if len(word) > 1 else f"\x02{word}\x03\x03" for word in batch]
    codes = np.frombuffer("".join(marked).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    lengths = np.fromiter(map(len, marked), dtype=np.int64, count=len(marked))
    counts = lengths - 3
    starts = np.zeros(len(batch) + 1, dtype=np.int64)
    np.cumsum(counts, out=starts[1:])
    if not batch:
        return np.zeros(0, dtype=np.uint32), starts
    text_starts = np.cumsum(lengths) - lengths
    at = np.arange(starts[-1]) + np.repeat(text_starts - starts[:-1], counts)
    mixed = np.zeros(len(at), dtype=np.uint64)
    for step, odd in enumerate(_ODD):
        mixed += codes[at + step] * odd
    # Sums of small codes fill few bits: fold the high half in before taking the top ones.
    mixed ^= mixed >> np.uint64(29)
    mixed *= _ODD[0]
    return (mixed >> np.uint64(64 - GRAM_BITS)).astype(np.uint32), starts
