"""Text that must never be found again, and the search for it.

In: a seed. Out: private spans and secrets that look real and are unique; where they stand on disk.
"""

import os
import pathlib
import random
from collections.abc import Iterator
from typing import Any

ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789"


class Canaries:
    """Text that must never be found again, each planted once."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.planted: list[str] = []

    def private(self) -> str:
        bird = "canary" + "".join(self._random.choices(ALPHABET, k=18))
        self.planted.append(bird)
        opened = self._random.choice(
            ["<private>", "<PRIVATE >", '<private why="x>y">', "<private\n>"]
        )
        closed = self._random.choice(["</private>", "</ Private>", ""])
        return f"{opened}{bird}{closed}"

    def open(self) -> str:
        """A private span without an end, for texts that can hold no slash."""
        bird = "canary" + "".join(self._random.choices(ALPHABET, k=18))
        self.planted.append(bird)
        return f"<private>{bird}"

    def secret(self) -> str:
        bird = "gh" + "p_" + "".join(self._random.choices(ALPHABET, k=36))
        self.planted.append(bird)
        return bird


def found_on_disk(home: pathlib.Path, birds: list[str]) -> list[tuple[str, str]]:
    """Every canary that stands in some file or in its name, whatever the case of its letters;
    compressed forms aside: there are none."""
    hits = []
    for folder, _, names in os.walk(home):
        for name in names:
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                content = (path.encode() + pathlib.Path(path).read_bytes()).lower()
                hits += [(path, bird) for bird in birds if bird.lower().encode() in content]
    return hits


def leaves(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where the strings of a tree are."""
    if isinstance(tree, str):
        yield path
    elif isinstance(tree, dict):
        for key, value in tree.items():
            yield from leaves(value, (*path, key))
    elif isinstance(tree, list):
        for index, value in enumerate(tree):
            yield from leaves(value, (*path, index))


def planted(tree: Any, path: tuple[Any, ...], text: str) -> Any:
    """The tree with this text in one place."""
    if not path:
        return text
    if isinstance(tree, dict):
        return {
            key: planted(value, path[1:], text) if key == path[0] else value
            for key, value in tree.items()
        }
    return [
        planted(value, path[1:], text) if index == path[0] else value
        for index, value in enumerate(tree)
    ]
