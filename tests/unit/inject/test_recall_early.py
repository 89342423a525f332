"""While the daemon's own index is filled, the server's finds by meaning too."""

import os
import pathlib

import msgspec

from recollect.core import vector_bytes as layout
from recollect.core.clock import SystemClock
from recollect.core.settings import Settings
from recollect.daemon.recall import RecallParts
from recollect.daemon.runtime import Runtime
from recollect.embedding.embedder import MODEL
from recollect.ingest.messages import RecallQuestion
from recollect.store.postgres import PostgresStore
from tests.fakes.postgres import Server
from tests.make import NAMESPACE, record, vector


def test_a_memory_in_other_words_is_recalled_before_the_index_is_full(
    postgres_server: Server, tmp_path: pathlib.Path
) -> None:
    database = postgres_server.database()
    chosen = Settings(
        home=str(tmp_path / "home"), actor="ada", store=postgres_server.url(database, "ada"),
        model_dir=os.environ["RECOLLECT_MODEL_DIR"],
    )  # fmt: skip
    clock = SystemClock()
    store = PostgresStore(chosen, clock)
    recall = RecallParts(Runtime(chosen, clock, store))
    try:
        assert recall.embedder is not None
        recall.embedder.load()
        texts = ("Cats sleep for most of the day.", "The invoice is due on Friday.")
        rows = recall.embedder.embed(list(texts))
        for text, row in zip(texts, rows, strict=True):
            made = store.records.put([record(text, kind="knowledge", detail=text)])[0]
            kept = vector(made, model=MODEL, vector=layout.encode(row))
            store.vectors.put([msgspec.structs.replace(kept, part=0)])
        recall.recall_now.limit_ms = 60_000  # on a busy machine too
        text = "Do felines spend their days asleep?"
        asked = RecallQuestion("prompt", text, (NAMESPACE,), "s", None, 5000)
        recalled = recall.recall_now(asked)
        assert texts[0] in recalled.context and texts[1] not in recalled.context
    finally:
        recall.close()
        store.close()
        postgres_server.drop(database)
