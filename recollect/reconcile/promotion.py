"""Makes a rule that the user stated in two projects one that holds everywhere.

In: a belief that was just written. Out: nothing, or one belief in the actor's namespace: the new
one moves there, and the one of the other project ends by it. Both can be undone.
"""

import msgspec

from recollect.core.projects import everywhere
from recollect.core.values import Record
from recollect.ingest.memories import Memories
from recollect.reconcile.belief_changes import apply, ending
from recollect.reconcile.push import ACTOR
from recollect.store.interface import Store, with_content

REASON = "stated in two projects"


def promote(store: Store, memories: Memories, record: Record) -> None:
    if not _is_rule(record):
        return
    there = everywhere(record.namespace)
    for namespace in store.projects.namespaces():
        if namespace in (there, record.namespace) or everywhere(namespace) != there:
            continue
        other = with_content(store.records, namespace, record.content_hash)
        if other is None or not _is_rule(other):
            continue
        change = ending(store.graph, other, record.record_id, record.valid_from, REASON)
        store.transaction(lambda tx, change=change: apply(tx, change, ACTOR))  # type: ignore[misc]
        memories.changed(namespace, [other.record_id])
        wider = msgspec.structs.replace(record, scope="everywhere")
        memories.move(wider, there, ACTOR, REASON)
        return


def _is_rule(record: Record) -> bool:
    return (
        record.traits.is_belief
        and record.author == "user"
        and record.state == "current"
        and record.scope == "project"
        and bool(record.content_hash)
        and record.is_rule
    )
