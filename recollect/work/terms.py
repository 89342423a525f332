"""Text and names as terms: words, parts of names, stems.

In: any text. Out: terms in order, lower case, without the commonest words.
"""

import functools
import re

from recollect.core import text_words
from recollect.core.porter import stem

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_")


@functools.lru_cache(maxsize=20_000)
def _term(word: str) -> str:
    return "" if word in text_words.STOP_WORDS or len(word) < 2 else stem(word)


def terms(text: str) -> list[str]:
    """The terms of a text; `parseHTTPHeader` and `parse_http_header` give the same ones."""
    found = map(_term, text_words.words(_HUMP.sub(" ", text)))
    return [term for term in found if term]
