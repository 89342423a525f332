"""Names in texts that only erased work knew.

In: the work of a project before and after something was erased. Out: whether a text names a file, a
command, an error, a commit, a branch or a symbol that only the erased turns contained.
"""

import re
from collections.abc import Iterable, Iterator

from recollect.core.values import TurnWork

_PATH = re.compile(r"[\w.+@/-]+")


class LostNames:
    def __init__(self, before: Iterable[TurnWork], after: Iterable[TurnWork]) -> None:
        paths, texts = _names(before)
        kept_paths, kept_texts = _names(after)
        # A brief names a file by as much of the end of its path as is needed.
        kept = {tail for path in kept_paths for tail in _tails(path)}
        self._tails = {tail for path in paths - kept_paths for tail in _tails(path)} - kept
        self._texts = texts - kept_texts

    def __bool__(self) -> bool:
        return bool(self._tails or self._texts)

    def named_in(self, text: str) -> bool:
        words = {word.rstrip(".") for word in _PATH.findall(text)}
        if not self._tails.isdisjoint(words):
            return True
        return any(_holds(text, one) for one in self._texts)


def _names(works: Iterable[TurnWork]) -> tuple[set[str], set[str]]:
    paths: set[str] = set()
    texts: set[str] = set()
    for work in works:
        texts.update((work.branch, *work.commits))
        for action in work.actions:
            paths.update((action.path.rstrip("/"), action.was.rstrip("/")))
            texts.update((action.command, action.error))
        for name, path in work.defines:
            paths.add(path)
            texts.add(name)
        for path, names in work.edited.items():
            paths.add(path)
            texts.update(names)
    return paths - {""}, texts - {""}


def _holds(text: str, part: str) -> bool:
    """Whether a text has another one as whole words."""
    at = text.find(part)
    while at >= 0:
        around = text[max(0, at - 1) : at] + text[at + len(part) : at + len(part) + 1]
        if not any(one.isalnum() or one == "_" for one in around):
            return True
        at = text.find(part, at + 1)
    return False


def _tails(path: str) -> Iterator[str]:
    parts = path.split("/")
    for start in range(len(parts)):
        yield "/".join(parts[start:])
