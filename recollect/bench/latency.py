"""How long a search takes, by stage, in stores of growing size.

In: sizes, an embedder, and texts to take words from. Out: CPU milliseconds at p50 and p95, and
memory by purpose. Texts are synthetic: words by their real frequency, with new identifiers now and
then, in sessions of fifteen turns.
"""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recollect.embedding.chunking import parts
from recollect.retrieve.engine import QueryEmbedder, SearchEngine
from recollect.retrieve.index import Document

WORDS = 100  # of a memory, on average
TURNS = 15  # of a session
LENGTHS = (5, 10, 20, 40)  # words of a prompt
LONG = 4000

_SYLLABLES = (
    "ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "qui", "ro", "su", "ta",
    "ve", "wi", "xo", "ya", "zen", "tion", "ing", "er",
)  # fmt: skip


@dataclass(frozen=True)
class LatencyReport:
    size: int
    namespaces: int
    build: float  # CPU seconds
    total: dict[str, float]  # CPU milliseconds: p50, p95, long
    stages: dict[str, tuple[float, float]]  # p50, p95
    memory: dict[str, int]  # bytes by purpose, of one namespace

    def __str__(self) -> str:
        stages = "  ".join(f"{name} {a:.1f}/{b:.1f}" for name, (a, b) in self.stages.items())
        memory = "  ".join(f"{name} {size / 2**20:.1f}" for name, size in self.memory.items())
        return (
            f"{self.size:,} memories in {self.namespaces} namespaces: CPU p50 "
            f"{self.total['p50']:.1f} ms, p95 {self.total['p95']:.1f} ms, "
            f"{LONG:,}-word prompt {self.total['long']:.1f} ms, build {self.build:.1f} s\n"
            f"  stages p50/p95 ms: {stages}\n"
            f"  MB of a namespace: {memory} (sum {sum(self.memory.values()) / 2**20:.0f})"
        )


class TextGenerator:
    """Generates texts with the word frequencies of the given ones."""

    def __init__(self, texts: Sequence[str], seed: int = 1) -> None:
        self._random = np.random.default_rng(seed)
        counts = Counter(word for text in texts for word in text.split())
        if len(counts) < 5000:
            counts.update({word: 200 // (rank + 1) + 1 for rank, word in enumerate(self._made())})
        common = counts.most_common(60_000)
        self._words = [word for word, _ in common]
        self._until = np.cumsum([count for _, count in common]) / sum(n for _, n in common)
        self._fresh = 0

    def text(self, words: int) -> str:
        at = np.searchsorted(self._until, self._random.random(words))
        chosen = [self._words[min(number, len(self._words) - 1)] for number in at.tolist()]
        for _ in range(max(1, words // 50)):
            self._fresh += 1
            chosen[int(self._random.integers(words))] = f"{chosen[0]}_{self._fresh:x}"
        return " ".join(chosen)

    def length(self) -> int:
        return 3 + int(min(600, self._random.lognormal(np.log(WORDS) - 0.3, 0.8)))

    def vectors(self, count: int) -> NDArray[np.float32]:
        rows = self._random.normal(size=(count, 384)).astype(np.float32)
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))

    def _made(self) -> Iterator[str]:
        for _ in range(20_000):
            picked = self._random.integers(len(_SYLLABLES), size=int(self._random.integers(2, 5)))
            yield "".join(_SYLLABLES[number] for number in picked.tolist())


def measure(
    size: int,
    namespaces: int,
    embedder: QueryEmbedder | None,
    texts: Sequence[str],
    asked: int = 120,
) -> LatencyReport:
    writer = TextGenerator(texts)
    # The clock of the totals, with the threads of the model: so that the stages add up to them.
    engine = SearchEngine(embedder, clock=time.process_time)
    began = time.process_time()
    for number in range(namespaces):
        engine.add(f"n{number}", _documents(writer, size // namespaces))
    engine.search("a first question", ["n0"])
    build = time.process_time() - began
    prompts = [writer.text(LENGTHS[n % len(LENGTHS)]) for n in range(asked)]
    totals, stages = [], []
    for number, prompt in enumerate(prompts):
        began = time.process_time()
        ranked = engine.search(prompt, [f"n{number % namespaces}"], floor=False)
        totals.append(1000 * (time.process_time() - began))
        stages.append(ranked.stages)
    began = time.process_time()
    engine.search(writer.text(LONG), ["n0"], floor=False)
    long = 1000 * (time.process_time() - began)
    return LatencyReport(
        size,
        namespaces,
        build,
        {"p50": _at(totals, 50), "p95": _at(totals, 95), "long": long},
        {name: _both([1000 * one.get(name, 0) for one in stages]) for name in stages[-1]},
        engine.memory()["n0"],
    )


def _documents(writer: TextGenerator, count: int) -> Iterator[Document]:
    for number in range(count):
        text = writer.text(writer.length())
        yield Document(
            id=f"mr_{number:026d}",
            text=text,
            session=f"s{number // TURNS}",
            position=number % TURNS,
            time=number * 60_000_000,
            created=number,
            vectors=writer.vectors(len(parts(text))),
        )


def _at(values: list[float], share: int) -> float:
    return float(np.percentile(values, share))


def _both(values: list[float]) -> tuple[float, float]:
    return _at(values, 50), _at(values, 95)
