"""The line that says what went wrong.

In: what a command printed. Out: its first line that reads like an error, shortened.
"""

import re
from typing import Any

from recollect.work.commands import printed

MOST_CHARS = 120
_ERROR = re.compile(
    r"\b(?:errors?|fail(?:ed|ure|ures)?|fatal|panic|exception|cannot|undefined|unresolved|"
    r"not found|no such|denied|traceback|assert\w*)\b",
    re.I,
)
_NONE = re.compile(r"\b(?:0|no) (?:errors?|fail\w*)\b", re.I)
_ESCAPE = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")


def first_error(output: Any) -> str:
    for line in printed(output)[:40_000].splitlines():
        plain = " ".join(_ESCAPE.sub("", line).split())
        if plain and _ERROR.search(plain) and not _NONE.search(plain):
            return plain[:MOST_CHARS]
    return ""
