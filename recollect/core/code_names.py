"""Names that code defines, found by the words with which languages begin a definition.

In: a piece of code, also as an editor or a diff shows it, with line numbers or plus signs. Out: the
names of the functions, classes and types that begin there.
"""

import re

MOST_NAMES = 60
MOST_CHARS = 100_000
_DEFINITION = re.compile(
    r"^[ \t+]{0,40}(?:\d{1,7}[→\t:|])?[ \t]{0,40}"
    r"(?:(?:export|default|pub(?:\([a-z]{1,20}\))?|public|private|protected|internal|static|final|"
    r"abstract|async|override|virtual|unsafe|inline|extern|open|data|sealed|const)[ \t]{1,8}){0,4}"
    r"(?:func(?:[ \t]{0,4}\([^()\n]{0,80}\))?|def|class|type|fn|function\*?|interface|struct|enum|"
    r"trait|impl|module|object|record|protocol|const)[ \t]{1,8}"
    r"(?P<name>[A-Za-z_$][\w$]{3,79})",
    re.MULTILINE,
)


def defined_in(code: str) -> list[str]:
    """Names that are defined at the beginning of a line, each once, in their order."""
    found: dict[str, None] = {}
    for match in _DEFINITION.finditer(code[:MOST_CHARS]):
        found.setdefault(match["name"])
        if len(found) == MOST_NAMES:
            break
    return list(found)
