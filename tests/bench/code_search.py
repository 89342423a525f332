"""Code search: `python -m tests.bench.code_search`. A docstring's first line asks for its function.

In: the interpreter's own library. Out: any@5, MRR and NDCG@10 of our ranking beside grep, BM25,
MiniLM and RRF, over function bodies without their docstrings. Nothing is kept or shipped; which
functions are taken depends on their names alone.
"""

import argparse
import ast
import os
import pathlib
import sysconfig
import tempfile
import zlib
from collections.abc import Iterator

from recollect.bench import datasets, ingest, retrieval
from recollect.bench.vectors import CachedVectors, available

MODULES = 140
ASKED = 300
_WORDS = (4, 25)  # of the docstring's first line
_LINES = (3, 60)  # of the body


def functions(path: pathlib.Path) -> Iterator[tuple[str, str, str]]:
    """Name, first line of the docstring, and the source without its docstring."""
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or len(node.body) < 2:
            continue
        said = ast.get_docstring(node)
        if not said:
            continue
        node.body = node.body[1:]
        body = ast.unparse(node)
        line = " ".join(said.split("\n\n")[0].split())
        if (
            _WORDS[0] <= len(line.split()) <= _WORDS[1]
            and _LINES[0] <= body.count("\n") <= _LINES[1]
        ):
            yield f"{path.stem}.{node.name}:{node.lineno}", line, body


def code() -> datasets.BenchSet:
    library = pathlib.Path(sysconfig.get_path("stdlib"))
    paths = [path for path in library.rglob("*.py") if not _apart(path.relative_to(library))]
    found = [one for path in _some(paths, MODULES) for one in functions(path)]
    found = list({body: (name, line, body) for name, line, body in found}.values())
    messages = tuple(
        datasets.BenchMessage(name, body, name, 0, "", None) for name, _, body in found
    )
    asked = sorted(found, key=lambda one: zlib.crc32(one[0].encode()))[:ASKED]
    questions = tuple(
        datasets.BenchQuestion(
            name, "all", line, "", frozenset({name}), frozenset({name}), False, None
        )
        for name, line, _ in asked
    )
    return datasets.BenchSet("code", messages, {"all": None}, questions)


def _apart(path: pathlib.Path) -> bool:
    return bool({"test", "tests", "site-packages", "idlelib", "lib2to3"} & set(path.parts))


def _some(paths: list[pathlib.Path], most: int) -> list[pathlib.Path]:
    return sorted(paths, key=lambda path: zlib.crc32(path.name.encode()))[:most]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.code_search", description=__doc__)
    parser.add_argument("--models", default=os.environ.get("RECOLLECT_MODEL_DIR", ".venv/models"))
    parser.add_argument("--cache", default=tempfile.gettempdir())
    chosen = parser.parse_args()
    one = code()
    vectors = CachedVectors(available(chosen.models), os.path.join(chosen.cache, "recollect-code"))
    vectors.prepare(
        ingest.texts(one.messages) + [ask.text for ask in one.questions], lambda done, total: None
    )
    print(f"{len(one.messages)} functions, {len(one.questions)} questions")
    outcomes = retrieval.run(one, ingest.DirectIngest(vectors), vectors)
    print(retrieval.table([outcome for outcome in outcomes if outcome.level == "doc"]))


if __name__ == "__main__":
    main()
