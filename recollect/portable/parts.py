"""What the doors need of this room, in one value; made by the daemon's wiring."""

from dataclasses import dataclass

from recollect.portable.backups import Backups
from recollect.portable.erasure import Erasure
from recollect.portable.importing import Importer


@dataclass(frozen=True)
class Portable:
    importing: Importer
    erasure: Erasure
    backups: Backups
