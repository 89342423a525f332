"""Compile a pattern when it is first needed, not when its module is imported.

In: a pattern's source. Out: the pattern, compiled once per process.
What can go wrong: nothing new; a wrong pattern fails at first use instead of at import.
"""

import re
from functools import cache

from recollect.privacy.patterns import compiled


@cache
def pattern(source: str, flags: int = 0) -> re.Pattern[str]:
    """`re.compile`, remembered. The hook's fallback pays only for what its payload touches."""
    return compiled(source, flags)


def words(text: str) -> frozenset[str]:
    """A set of words, written as one text: forty lines of quotes less."""
    return frozenset(text.split())
