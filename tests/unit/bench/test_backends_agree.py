"""The same ranking on both backends: it is made in the daemon, of rows that are the same."""

import os
import pathlib

from recollect.bench import datasets
from recollect.bench.ingest import Variant
from recollect.bench.product import ProductIngest
from recollect.bench.vectors import CachedVectors
from recollect.embedding.embedder import Embedder
from tests.fakes.postgres import Server

SETS = str(pathlib.Path(datasets.__file__).parent / "data")


def test_postgresql_ranks_the_shipped_notes_exactly_as_sqlite_does(
    postgres_server: Server, tmp_path: pathlib.Path
) -> None:
    notes = datasets.read(SETS, "notes")
    embedder = Embedder(os.environ["RECOLLECT_MODEL_DIR"])
    embedder.load()
    vectors = CachedVectors(embedder, str(tmp_path))
    database = postgres_server.database()
    found: list[dict[str, list[str]]] = []
    for address in ("", postgres_server.url(database)):
        product = ProductIngest(vectors, address)
        try:
            answers: dict[str, list[str]] = {}
            for store, questions in notes.by_store():
                product.fill(store, notes.store(store))
                for question in questions:
                    ranked = product.ask(store, question.text, 10, Variant())
                    answers[f"{store} {question.text}"] = [one.id for one in ranked.results]
            found.append(answers)
        finally:
            product.close()
    postgres_server.drop(database)
    sqlite, postgres = found
    assert len(sqlite) > 10 and all(sqlite.values())
    assert postgres == sqlite
