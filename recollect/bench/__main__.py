"""`python -m recollect.bench`: the benchmark from the command line.

In: a data directory (by default the small set that ships with the package) and what to measure.
Out: tables on stdout, and files where asked for. What cannot be read ends it with a sentence.
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict

from recollect.bench import ablation, datasets, fit, ingest, latency, retrieval, silence
from recollect.bench.product import ProductIngest
from recollect.bench.vectors import CachedVectors
from recollect.core import settings
from recollect.core.errors import RecollectError
from recollect.embedding.embedder import Embedder

OWN_DATA = os.path.join(os.path.dirname(__file__), "data")


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        return bench(options)
    except RecollectError as error:
        _say(f"{error} {error.hint}".strip())
        return 1


def bench(options: argparse.Namespace) -> int:
    if options.compare:
        _say(retrieval.compare(*(_saved(path) for path in options.compare)))
        return 0
    chosen = settings.load()
    embedder = Embedder(options.models or chosen.models, chosen.embedding_model)
    embedder.load()
    names = options.sets or datasets.sets_in(options.data)
    sets = [datasets.read(options.data, name) for name in names]
    if options.latency:
        _latency(options, embedder, sets)
        return 0
    vectors = CachedVectors(embedder, options.cache)
    if options.fit:
        _fit(options, sets, vectors)
        return 0
    if options.silence:
        _silence(sets, vectors)
        return 0
    outcomes = _outcomes(options, sets, vectors)
    if options.ablate:
        _say(ablation.table(outcomes))
    else:
        _say(retrieval.table(outcomes))
        _say(retrieval.by_type(outcomes) if options.types else "")
    _write(options, outcomes)
    return 0


def _outcomes(
    options: argparse.Namespace, sets: list[datasets.BenchSet], vectors: CachedVectors
) -> list[retrieval.QuestionOutcome]:
    outcomes = []
    variants = ablation.variants() if options.ablate else None
    for one in sets:
        _learn(one, vectors)
        beside = None if options.ablate else vectors
        product = ProductIngest(vectors)
        try:
            outcomes += retrieval.run(one, product, beside, variants)
        finally:
            product.close()
        vectors.forget()
    return outcomes


def _silence(sets: list[datasets.BenchSet], vectors: CachedVectors) -> None:
    for one in sets:
        _learn(one, vectors)
    tallies = []
    for one in sets:
        others = [other for other in sets if other.name != one.name]
        tallies.append(silence.run(one, others, ingest.DirectIngest(vectors)))
    _say(silence.table(tallies))


def _fit(
    options: argparse.Namespace, sets: list[datasets.BenchSet], vectors: CachedVectors
) -> None:
    for one in sets:
        _learn(one, vectors)
    seconds = 60 * options.minutes / 2
    _say(fit.search(sets, vectors, seconds))
    folder = options.sessions or os.path.join(options.data, "sessions")
    _say("\n" + fit.files(folder, seconds))


def _latency(
    options: argparse.Namespace, embedder: Embedder, sets: list[datasets.BenchSet]
) -> None:
    texts = [message.text for one in sets for message in one.messages]
    for wanted in options.latency:
        size, _, namespaces = wanted.partition("/")
        _say(str(latency.measure(int(size), int(namespaces or 1), embedder, texts)))


def _learn(one: datasets.BenchSet, vectors: CachedVectors) -> None:
    def progress(done: int, total: int) -> None:
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{one.name}: {done} of {total} texts embedded")

    vectors.prepare(ingest.texts(one.messages) + [ask.text for ask in one.questions], progress)


def _write(options: argparse.Namespace, outcomes: list[retrieval.QuestionOutcome]) -> None:
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(retrieval.summary(outcomes), file, indent=1)
    if options.save:
        with open(options.save, "w", encoding="utf-8") as file:
            json.dump([asdict(outcome) for outcome in outcomes], file)


def _saved(path: str) -> list[retrieval.QuestionOutcome]:
    with open(path, encoding="utf-8") as file:
        return [
            retrieval.QuestionOutcome(**{**row, "found": tuple(row["found"])})
            for row in json.load(file)
        ]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="recollect bench", description="Measure retrieval.")
    parser.add_argument("--data", default=OWN_DATA, help="a directory of benchmark sets")
    parser.add_argument("--sets", nargs="*", help="run only these sets")
    parser.add_argument("--models", help="the directory with the embedding model")
    parser.add_argument(
        "--cache",
        default=os.path.expanduser("~/.cache/recollect-bench"),
        help="a directory to cache vectors in",
    )
    parser.add_argument("--json", help="write the metrics to this file")
    parser.add_argument("--save", help="write every question's result to this file")
    parser.add_argument("--compare", nargs=2, metavar="FILE", help="compare two saved runs")
    parser.add_argument(
        "--types", action="store_true", help="also print our results by type of question"
    )
    parser.add_argument("--ablate", action="store_true", help="measure without each signal in turn")
    parser.add_argument(
        "--silence", action="store_true", help="measure how often nothing is returned"
    )
    parser.add_argument(
        "--fit",
        action="store_true",
        help="fit the weights to data, judge them on what was left out, and change nothing",
    )
    parser.add_argument("--sessions", help="transcripts to fit to; else DATA/sessions")
    parser.add_argument(
        "--minutes", type=float, default=10, help="how long --fit may search (default 10)"
    )
    parser.add_argument(
        "--latency",
        nargs="+",
        metavar="N[/NAMESPACES]",
        help="measure the time with N memories, such as 500000/50",
    )
    return parser


def _say(text: str) -> None:
    sys.stdout.write(text + "\n" if text else "")


if __name__ == "__main__":
    sys.exit(main())
