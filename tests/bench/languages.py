"""How well each embedding model finds notes in other languages: `python -m tests.bench.languages`.

In: notes in six languages (`tests/data/languages.json`), each with a question in English and one in
its own language that avoids its words. Out: any@5 of the product's search by model, and how many
questions get a confident answer.
"""

import json
import os
import pathlib

from recollect.embedding import weights
from recollect.embedding.embedder import Embedder
from recollect.retrieve.engine import SearchEngine
from recollect.retrieve.index import Document

DATA = pathlib.Path(__file__).parent.parent / "data" / "languages.json"


def any_at_5(embedder: Embedder | None, question: int) -> tuple[float, float]:
    """With questions in English (2) or in the note's language (3): the share that finds its note
    among the first five, and the share of those above the floor."""
    notes = json.loads(DATA.read_text())
    engine = SearchEngine(embedder)
    texts = [note[1] for note in notes]
    rows = embedder.embed(texts, timeout=600)[:, None] if embedder else [None] * len(texts)
    engine.add(
        "n",
        [Document(id=text, text=text, vectors=row) for text, row in zip(texts, rows, strict=True)],
    )
    found = sure = 0
    for note in notes:
        ranked = engine.search(note[question], ["n"], limit=5, floor=False)
        hit = note[1] in [one.id for one in ranked.results]
        found += hit
        sure += hit and ranked.confidence >= engine.floor(ranked.semantic)
    return found / len(notes), sure / len(notes)


def main() -> None:
    models = os.environ["RECOLLECT_MODEL_DIR"]
    for name in ("words alone", weights.NAME, weights.MULTILINGUAL):
        embedder = None if name == "words alone" else Embedder(models, name)
        if embedder is not None:
            embedder.load()
        for at, asked in ((2, "asked in English"), (3, "asked in its language")):
            found, sure = any_at_5(embedder, at)
            print(f"{name}, {asked}: any@5 {found:.3f}, above the floor {sure:.3f}")


if __name__ == "__main__":
    main()
