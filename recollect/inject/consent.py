"""Which memories are not for an agent to read without consent.

In: a memory. Out: whether any part of it is sensitive; it is then left out whole, for the rest of a
turn often says the same in other words. Judged when it is about to be told and not when it is
stored, so that what is stored already counts too. The judgement is kept by the text's hash, for
the same memories come up prompt after prompt.
"""

from recollect.core.values import Record
from recollect.privacy.sensitive import is_sensitive

SENSITIVE = "sensitive, and share_sensitive is off"  # why something was left out
KEPT = 16_384
DETAIL_CHARS = 4_000


class Consent:
    def __init__(self) -> None:
        self._known: dict[int, bool] = {}

    def needed(self, record: Record) -> bool:
        text = told(record)
        mark = hash(text)
        judged = self._known.get(mark)
        if judged is None:
            if len(self._known) >= KEPT:
                self._known.clear()
            judged = self._known[mark] = is_sensitive(text)
        return judged


def told(record: Record) -> str:
    """All that a memory says, as far as an agent may come to read it."""
    detail = record.detail[:DETAIL_CHARS]
    return "\n".join((record.title, record.summary, detail, *record.facts))
