"""Whether both backends rank alike: `python -m tests.bench.postgres --sets NAME ... --data DIR`.

In: benchmark sets. Out: for each, any@5 of SQLite and of PostgreSQL, each filled as the product
does it, and how many questions have other first five memories; beside it what each store finds by
itself, as recall asks it while the index is being filled: by words, and on the server by meaning.
"""

import os
import pathlib
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field

from recollect.bench import datasets, ingest, metrics
from recollect.bench.ingest import Variant
from recollect.bench.product import ProductIngest, _namespace
from recollect.bench.vectors import CachedVectors, available
from recollect.core import vector_bytes as layout
from recollect.embedding.embedder import MODEL
from recollect.inject.gather import CANDIDATES, EARLY_TERMS
from tests.fakes.postgres import running

SHIPPED = str(pathlib.Path(datasets.__file__).parent / "data")
FIRST = 5
Ranking = dict[str, list[str]]  # question: messages, the best first


@dataclass
class Answers:
    """What one backend finds: by the daemon's ranking, and by its own search."""

    ranked: Ranking = field(default_factory=dict)
    words: Ranking = field(default_factory=dict)
    meaning: Ranking = field(default_factory=dict)


def ask(product: ProductIngest, one: datasets.BenchSet, vectors: CachedVectors) -> Answers:
    found = Answers()
    kept = product._runtime.store
    named = product._message
    for store, questions in one.by_store():
        product.fill(store, one.store(store))
        place = _namespace(store)
        for question in questions:
            ranked = product.ask(store, question.text, 10, Variant())
            found.ranked[question.id] = [each.id for each in ranked.results]
            hits = kept.records.search([place], question.text, CANDIDATES, most_terms=EARLY_TERMS)
            found.words[question.id] = [named[hit.record.record_id] for hit in hits]
            if kept.vectors.indexed:
                blob = layout.encode(vectors.embed([question.text])[0])
                near = kept.vectors.nearest(place, MODEL, blob, CANDIDATES)
                owners = dict.fromkeys(owner for owner, _ in near)
                found.meaning[question.id] = [named[owner] for owner in owners]
        product.forget(store)
    return found


def any_at_5(one: datasets.BenchSet, level: datasets.Level, ranking: Ranking) -> float:
    group_of = {message.id: message.session for message in one.messages}
    rows = []
    for question in one.scored(level):
        ranked = ranking[question.id]
        names = ranked if level == "doc" else metrics.groups(ranked, group_of)
        rows.append(metrics.measure(names, question.golds(level)))
    return metrics.mean(rows)["any@5"]


def run(names: list[str], directory: str | None, kept: str | None) -> None:
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as scratch, running() as server:
        vectors = CachedVectors(available(os.environ["RECOLLECT_MODEL_DIR"]), kept or scratch)
        told: Callable[[int, int], None] = lambda done, total: None  # noqa: E731
        for name in names:
            one = datasets.read(directory or SHIPPED, name)
            texts = ingest.texts(one.messages) + [each.text for each in one.questions]
            vectors.prepare(texts, told)
            database = server.database()
            answers = []
            for address in ("", server.url(database)):
                product = ProductIngest(vectors, address)
                try:
                    answers.append(ask(product, one, vectors))
                finally:
                    product.close()
            server.drop(database)
            sqlite, postgres = answers
            other = [
                question
                for question, ranked in sqlite.ranked.items()
                if ranked[:FIRST] != postgres.ranked[question][:FIRST]
            ]
            for level in one.levels():
                columns = [
                    ("SQLite", sqlite.ranked),
                    ("PostgreSQL", postgres.ranked),
                    ("words of SQLite's index", sqlite.words),
                    ("words of the server's", postgres.words),
                    ("meaning, the server's", postgres.meaning),
                ]
                shown = ", ".join(
                    f"{title} {any_at_5(one, level, ranking):.3f}" for title, ranking in columns
                )
                print(f"{name} ({level}, {len(one.scored(level))} questions): any@5 {shown}")
            print(
                f"  {len(other)} of {len(sqlite.ranked)} questions have another first {FIRST}",
                flush=True,
            )
            vectors.forget()
