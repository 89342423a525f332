"""What an attack is, and what it found.

In: a source of chance, how often to try, and a scratch directory. Out: how many tries were made,
and each failure with its kind. The same seed makes the same attack.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

Kind = Literal["lost", "doubled", "out of order", "frozen", "leaked", "wrong"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class Failure:
    """One promise broken; `what` names the input, so that it can be tried again."""

    kind: Kind
    what: str


@dataclass
class Report:
    tries: int = 0
    failures: list[Failure] = field(default_factory=list)

    def failed(self, kind: Kind, what: str) -> None:
        self.failures.append(Failure(kind, what))


Attack = Callable[[random.Random, int, Path], Report]


@dataclass(frozen=True)
class Case:
    """An attack with its name in the table and how many tries one round of torture makes."""

    name: str
    attack: Attack
    tries: int
