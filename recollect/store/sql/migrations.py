"""What a schema's history is, on either engine.

In: the steps that a database says were applied to it. Out: the same, when they are how ours begin;
MigrationDrift or NewerDatabase when they are not.
"""

import hashlib
from dataclasses import dataclass

from recollect.core.errors import MigrationDrift, NewerDatabase

Step = tuple[int, str, str]  # version, name and digest of one that was applied


@dataclass(frozen=True)
class Migration:
    version: int
    name: str
    sql: str

    @property
    def digest(self) -> str:
        return hashlib.blake2b(self.sql.encode(), digest_size=16).hexdigest()


def a_beginning(history: list[Step], migrations: tuple[Migration, ...]) -> list[Step]:
    """The history, when it is how these migrations begin; for every backend."""
    for index, (version, name, digest) in enumerate(history):
        if index >= len(migrations):
            raise NewerDatabase(
                f"the database is at schema {history[-1][0]}, this version knows "
                f"{migrations[-1].version}"
            )
        known = migrations[index]
        if (version, name, digest) != (known.version, known.name, known.digest):
            raise MigrationDrift(
                f"migration {version} is recorded as {name!r} ({digest[:8]}), "
                f"the code has {known.version} {known.name!r} ({known.digest[:8]})"
            )
    return history
