"""Follows what other daemons write to the same PostgreSQL server.

In: a change that the store reports. Out: caches of this daemon that are true again, and news for
whoever watches it.
"""

from typing import TYPE_CHECKING

from recollect.ingest.messages import Notice
from recollect.store.interface import Change

if TYPE_CHECKING:
    from recollect.daemon.runtime import Runtime


def follow(runtime: "Runtime", change: Change) -> None:
    recall, store = runtime.loaded_recall, runtime.store
    if change.kind in ("all", "decisions"):
        runtime.tombstones.reload()
        if recall is not None:
            recall.feedback.forget_known()
    if change.kind == "all":
        runtime.work.drop_all()
        if recall is not None:
            recall.index_cache.drop_all()
            recall.rules.drop_all()
            recall.ended.drop_all()
    elif change.kind == "records":
        runtime.work.follow(change.namespace, change.ids)
        runtime.memories.changed(change.namespace, change.ids)
    elif change.kind == "vectors" and recall is not None:
        recall.index_cache.stored(store.records.get(change.namespace, change.ids))
    elif change.kind == "events":
        for event_id in change.ids:
            stored = store.events.get(change.namespace, event_id)
            if stored is not None:
                runtime.news.on_event(Notice(stored, stored.event.source.surface))
