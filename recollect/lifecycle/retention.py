"""How long memories are kept.

In: settings and a moment. Out: the rules as moments. Pinned, important (8 or more) and hand-written
memories, what an undo brought back, and what a checkpoint of the last thirty days of work shows are
never forgotten by rule.
"""

from datetime import datetime, timedelta

from recollect.core.kinds import KINDS, SUMMARY, Kind
from recollect.core.settings import Settings
from recollect.lifecycle.episode_compression import COMPRESSED_AGE, IMPORTANT, RAW_LEFT
from recollect.store.interface import Forgetting

SIZE_LIMIT = 1 << 30  # beyond this the stages come at once, and freed pages go back to the disk


def rules(settings: Settings, now: datetime, *, tight: bool = False) -> Forgetting:
    """What may go at this moment; `tight` when the store has grown too large."""

    def edge(kind: Kind) -> datetime | None:
        days = settings.kept_days(kind.plural)
        return now - timedelta(days=days) if days else None

    return Forgetting(
        now=now,
        replaced=now if tight else now - RAW_LEFT,
        distilled=now if tight else now - COMPRESSED_AGE,
        retained={name: at for name, kind in KINDS.items() if (at := edge(kind))},
        short_turns=edge(SUMMARY),  # what stands for old turns is kept as long as a summary
        important=IMPORTANT,
    )
