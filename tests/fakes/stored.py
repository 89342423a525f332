"""What tests ask of a store and the product does not: rows as they lie there, and short ways to
write.

In: a real store of either engine. Out: values of `core`.
"""

from collections.abc import Sequence
from typing import Any

from recollect.core.values import (
    Entity,
    ExtractionRun,
    Fact,
    Operation,
    Preference,
    Procedure,
    Record,
    Relationship,
    Usage,
    Vector,
)
from recollect.ingest.memories import Memories
from recollect.store.interface import SetAside, Store, Transaction
from recollect.store.sql import rows
from recollect.store.sql.engine import IF_NAMESPACE, Statement, both, column_list, filtered

_VECTORS = both(f"""
SELECT {column_list(rows.VECTOR.columns)} FROM embeddings
 WHERE namespace = $namespace AND model = $model ORDER BY source_kind, source_id, part
""")
_RUNS = both(f"""
SELECT {column_list(rows.RUN.columns)} FROM extraction_runs
 WHERE namespace = $namespace ORDER BY started_at DESC, run_id DESC
""")
_MARKS = both("""
SELECT source_id, into_id FROM compacted WHERE namespace = $namespace ORDER BY source_id
""")
_USAGE = filtered(
    f"SELECT {column_list(rows.USAGE.columns)} FROM llm_usage WHERE day >= $since",
    IF_NAMESPACE,
    "ORDER BY day, namespace, provider, model, purpose",
)


_MISCOUNT = both("UPDATE record_counts SET count = count + 1")


def miscount(store: Any) -> None:
    """As a row that somebody changed by hand."""
    store.engine.write(lambda db: db.run(_MISCOUNT))


def marks_in(store: Any, namespace: str) -> dict[str, str]:
    """What stands for what."""
    return dict(store.engine.rows(_MARKS, {"namespace": namespace}))


def set_aside_in(store: Store) -> list[SetAside]:
    """The events whose runs failed too often, in all namespaces."""
    return [aside for one in store.events.backlog(reasons=100) for aside in one.set_aside]


def vectors_in(store: Store, namespace: str, model: str) -> list[Vector]:
    """All vectors of a model, whether what they belong to exists or not."""
    return _decoded(store, rows.VECTOR, _VECTORS, namespace=namespace, model=model)


def runs_in(store: Store, namespace: str) -> list[ExtractionRun]:
    """All that is kept, newest first."""
    return _decoded(store, rows.RUN, _RUNS, namespace=namespace)


def usage_since(store: Store, day: str, namespace: str | None = None) -> list[Usage]:
    """By day, then namespace, provider, model and purpose."""
    return _decoded(store, rows.USAGE, _USAGE, since=day, namespace=namespace)


def delete_records(
    store: Store, namespace: str, record_ids: Sequence[str], actor: str, reason: str = ""
) -> Operation | None:
    return Memories(store).delete(namespace, record_ids, actor, reason)


def edit_record(store: Store, record: Record, actor: str, reason: str = "") -> Operation:
    return Memories(store).edit(record, actor, reason)


def put_graph(store: Store, *things: Entity | Relationship | Fact | Procedure | Preference) -> None:
    store.transaction(lambda tx: tx.put_graph(*things))


def delete_things(store: Store, namespace: str, ids: Sequence[str]) -> None:
    def work(tx: Transaction) -> None:
        tx.put_graph(operation=tx.log("delete", namespace, "ada", targets=ids))

    store.transaction(work)


def _decoded(store: Any, codec: Any, statement: Statement, **values: Any) -> list[Any]:
    return [codec.decode(row) for row in store.engine.rows(statement, values)]
