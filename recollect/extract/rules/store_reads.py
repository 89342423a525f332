"""What rules read beyond their batch, and nothing else of the store.

In: the store. Out: nine questions. They are a seam: in the daemon the rules run in a process of
their own, which asks them over its line.
"""

from collections.abc import Callable, Sequence

from recollect.core.values import Record, StoredEvent
from recollect.extract.rules.sentence_ranker import Meanings
from recollect.store.interface import RecordFilter, Store, with_content

QUESTIONS = (
    *("around", "beginning", "latest", "calls", "by_hash", "observed", "own_notes"),
    *("refused", "meanings"),
)
OURSELVES = "recollect"  # who an operation of learning is logged as
MOST_NOTES = 200  # of one session


class StoreReads:
    def __init__(
        self,
        store: Store,
        refused: Callable[[str, str], bool] = lambda namespace, value: False,
        meanings: Meanings = lambda texts: (),
    ) -> None:
        """`refused` tells whether a value has a tombstone, `meanings` what the meaning of each text
        says about it: nothing where there is no model."""
        self._store = store
        self.refused = refused
        self.meanings = meanings

    def around(
        self, namespace: str, session_id: str, seqs: Sequence[int], before: int, after: int
    ) -> Sequence[StoredEvent]:
        """The events of a session around some of its events, as `Events.session`."""
        read = self._store.events.session
        return read(namespace, session_id, around=seqs, before=before, after=after)

    def beginning(self, namespace: str, session_id: str, limit: int) -> Sequence[StoredEvent]:
        """The first events of a session."""
        return self._store.events.session(namespace, session_id, limit)

    def latest(self, namespace: str, session_id: str, limit: int) -> Sequence[StoredEvent]:
        """The last events of a session, in their order."""
        page = self._store.events.page(namespace, session_id=session_id, limit=limit)
        return page.items[::-1]

    def calls(self, namespace: str, limit: int) -> Sequence[StoredEvent]:
        """The newest tool calls of a project, newest first."""
        return self._store.events.page(namespace, kind="tool_use", limit=limit).items

    def by_hash(self, namespace: str, content_hash: str) -> Record | None:
        """The stored memory with the same content."""
        return with_content(self._store.records, namespace, content_hash)

    def observed(self, namespace: str, session_id: str, limit: int) -> Sequence[Record]:
        """The notes of a session, newest first."""
        where = RecordFilter(kind="observation", session_id=session_id)
        return self._store.records.page(namespace, where, limit=limit).items

    def own_notes(self, namespace: str, session_id: str) -> Sequence[Record]:
        """The notes of a session that rules made and nobody else has changed since."""
        notes = self.observed(namespace, session_id, MOST_NOTES)
        own = (one for one in notes if one.strategy == "rules" and not one.pinned)
        return [one for one in own if self._untouched(one)]

    def _untouched(self, note: Record) -> bool:
        """Whether its words are the rules', and nobody has taken a change of theirs back."""
        versions = self._store.log.versions(note.namespace, note.record_id)
        if not versions:
            return note.version == 1
        last = self._store.log.get(note.namespace, versions[0].op_id)
        return note.version > 1 and last is not None and last.actor == OURSELVES
