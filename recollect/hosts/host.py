"""The base of all installers: planning over the pieces that a host names.

In: a Context and the host's pieces. Out: changes, states, notes; files are read, never written.
A file that is not what its format says raises BadInput before anything is planned.
"""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass

from recollect.hosts.base import Change, Context, Found, Piece, State, digest, read
from recollect.hosts.ledger import Ledger
from recollect.hosts.pieces import OwnFile


@dataclass(frozen=True)
class Host:
    """A host; a subclass says which pieces, and what else there is to say."""

    name: str
    title: str
    verified: bool
    programs: tuple[str, ...] = ()
    places: tuple[str, ...] = ()  # directories below home whose presence gives the host away
    variables: tuple[str, ...] = ()  # environment variables that move such a directory
    aliases: tuple[str, ...] = ()

    def pieces(self, context: Context) -> list[Piece]:
        raise NotImplementedError

    def notes(self, context: Context) -> list[str]:
        return [f"Restart {self.title} so that it reads its new configuration."]

    def detect(self, home: str, env: Mapping[str, str]) -> Found | None:
        """Looks only; never starts a program."""
        how = [
            f"{variable}={env[variable]}"
            for variable in self.variables
            if env.get(variable) and os.path.isdir(os.path.expanduser(env[variable]))
        ]
        places = (os.path.join(home, place) for place in self.places)
        how += [place for place in places if os.path.isdir(place)]
        search = env.get("PATH", "")
        found = next(
            (path for program in self.programs if (path := shutil.which(program, path=search))),
            None,
        )
        if found:
            how.append(found)
        return Found(tuple(how), found) if how else None

    def plan_install(self, context: Context) -> list[Change]:
        changes = []
        for piece in self.pieces(context):
            before = read(piece.path)
            after = piece.put(before)
            if after != before:
                changes.append(Change(piece.path, before, after, piece.why, piece.mode))
        return changes

    def plan_uninstall(self, context: Context) -> list[Change]:
        """The original bytes where nobody touched the file since; else all but ours."""
        ledger = Ledger.load(context.data_dir)
        changes = []
        for piece in self.pieces(context):
            now = read(piece.path)
            record = ledger.files.get(piece.path)
            if now is None or (record and set(record.hosts) - {self.name}):
                continue  # a file that another host of ours still needs stays
            original = ledger.original(piece.path) if record else None
            if record and digest(now) == record.after:
                after = original
            else:
                after = piece.strip(now, original)
            if after != now:
                changes.append(Change(piece.path, now, after, f"remove: {piece.why}"))
        return changes

    def state(self, context: Context) -> State:
        """`partial` is also what an older version of ours gives: install again to mend it."""
        holding, wanting, foreign = 0, 0, 0
        for piece in self.pieces(context):
            now = read(piece.path)
            ours = now is not None and piece.holds(now)
            holding += ours
            if now is not None and not ours and isinstance(piece, OwnFile):
                foreign += 1
            else:
                wanting += piece.put(now) != now
        if holding and not wanting and not foreign:
            return "installed"
        return "partial" if holding else "foreign" if foreign else "absent"
