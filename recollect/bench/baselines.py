"""The baselines of the benchmark: grep, BM25, MiniLM alone, equal-weight RRF.

In: the messages of one store and a question. Out: message ids, best first, ties in the order of the
store. The product uses none of this.
"""

import re
from collections.abc import Sequence

import apsw
import numpy as np

from recollect.bench.datasets import BenchMessage
from recollect.bench.vectors import CachedVectors
from recollect.retrieve.score import rrf

_WORD = re.compile(r"\w+")


class Baselines:
    def __init__(self, messages: Sequence[BenchMessage], vectors: CachedVectors) -> None:
        self._ids = [message.id for message in messages]
        self._words = [frozenset(_WORD.findall(message.text.lower())) for message in messages]
        self._vectors = vectors
        self._matrix = vectors.embed([message.text for message in messages])
        self._base = apsw.Connection(":memory:")
        self._base.execute(
            "CREATE VIRTUAL TABLE notes USING fts5(text, tokenize='porter unicode61')"
        )
        self._base.executemany(
            "INSERT INTO notes(rowid, text) VALUES (?, ?)",
            [(number, message.text) for number, message in enumerate(messages)],
        )

    def rankings(self, question: str, depth: int) -> dict[str, list[str]]:
        bm25, minilm = self._bm25(question), self._minilm(question)
        fused = rrf([bm25, minilm])
        both = sorted(fused, key=lambda number: (-fused[number], number))
        lists = {"grep": self._grep(question), "bm25": bm25, "minilm": minilm, "rrf": both}
        return {
            name: [self._ids[number] for number in ranked[:depth]] for name, ranked in lists.items()
        }

    def close(self) -> None:
        self._base.close()

    def _grep(self, question: str) -> list[int]:
        asked = frozenset(_WORD.findall(question.lower()))
        shared = [len(asked & words) for words in self._words]
        return [n for n in sorted(range(len(shared)), key=lambda n: -shared[n]) if shared[n]]

    def _bm25(self, question: str) -> list[int]:
        words = dict.fromkeys(_WORD.findall(question.lower()))
        if not words:
            return []
        match = " OR ".join(f'"{word}"' for word in words)
        rows = self._base.execute(
            "SELECT rowid FROM notes WHERE notes MATCH ? ORDER BY bm25(notes), rowid", (match,)
        )
        return [int(row[0]) for row in rows]

    def _minilm(self, question: str) -> list[int]:
        near = self._matrix @ self._vectors.embed([question])[0]
        return [int(number) for number in np.argsort(-near, kind="stable")]
