"""Files that a repository ignores: neither a brief nor the graph names them.

In: the roots of a project on this machine. Out: whether a path inside the repository is ignored, by
the `.gitignore` in a root; the last pattern that matches decides, as in git. Read when a project is
loaded and not kept: old work is told or not by what is ignored today. Files of `.gitignore` in
other folders are not read.
"""

import os
from collections.abc import Callable, Iterable

from recollect.core import safe_files
from recollect.core.keepout_rules import Pattern, file_pattern

MOST_BYTES = 1 << 16
MOST_PATTERNS = 500
_BASE = "/repository"


IsIgnored = Callable[[str], bool]  # of a path inside the repository


def nothing_ignored(path: str) -> bool:
    return False


def ignored_in(roots: Iterable[str]) -> IsIgnored:
    rules = [rule for root in roots for rule in _rules(os.path.join(root, ".gitignore"))]
    if not rules:
        return nothing_ignored
    known: dict[str, bool] = {}

    def is_ignored(path: str) -> bool:
        if path not in known:
            whole = f"{_BASE}/{path}"
            known[path] = next((not back for back, one in reversed(rules) if one.matches(whole)),
                               False)  # fmt: skip
        return known[path]

    return is_ignored


def _rules(path: str) -> Iterable[tuple[bool, Pattern]]:
    """Each pattern, and whether it takes earlier ones back."""
    for line in safe_files.text_or_nothing(path, MOST_BYTES).splitlines()[:MOST_PATTERNS]:
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        back = text.startswith("!")
        try:
            yield back, file_pattern(text.removeprefix("!"), _BASE)
        except ValueError:
            continue  # too long or too wild for us
