"""The engine as its callers see it."""

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from recollect.core.tuning import Floor, SearchWeights
from recollect.retrieve.engine import SearchEngine
from recollect.retrieve.index import Document


class Fixed:
    """An embedder that knows a few texts by heart."""

    ready = True

    def __init__(self, **vectors: int) -> None:
        self._vectors = vectors

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array([axis(self._vectors.get(text.split()[0], 9)) for text in texts])


def axis(number: int) -> NDArray[np.float32]:
    row = np.zeros(384, dtype=np.float32)
    row[number] = 1
    return row


def found(engine: SearchEngine, text: str, *namespaces: str, limit: int = 10) -> list[str]:
    ranked = engine.search(text, namespaces or ("n",), limit=limit, floor=False)
    return [result.id for result in ranked.results]


NOTES = [
    Document(id="retry", text="The retry storm came from the billing worker without jitter."),
    Document(id="deploy", text="Deploys go through Fly; run make check first."),
    Document(id="auth", text="Refreshing expired credentials happens in getUserToken."),
]


def test_search_finds_by_stem_part_of_name_and_typo() -> None:
    engine = SearchEngine()
    engine.add("n", NOTES)
    assert found(engine, "retrying storms")[0] == "retry"
    assert found(engine, "user token")[0] == "auth"
    assert found(engine, "credentals")[0] == "auth"


def test_search_finds_by_meaning_what_shares_no_word() -> None:
    notes = [
        Document(id=note.id, text=note.text, vectors=axis(number)[None])
        for number, note in enumerate(NOTES)
    ]
    engine = SearchEngine(Fixed(ship=1))
    engine.add("n", notes)
    ranked = engine.search("ship it", ["n"])
    assert ranked.semantic
    assert ranked.results[0].id == "deploy"
    assert ranked.results[0].parts["cosine"] == 1.0


def test_a_memory_written_is_found_at_once_and_one_removed_never_again() -> None:
    engine = SearchEngine()
    engine.add("n", NOTES)
    engine.add("n", [Document(id="new", text="zebra crossing")])
    assert found(engine, "zebra") == ["new"]
    engine.add("n", [Document(id="new", text="another animal")])
    assert found(engine, "zebra") == []
    engine.remove("n", ["retry", "retry", "unknown"])
    assert "retry" not in found(engine, "retry storm")
    engine.drop("n")
    assert found(engine, "deploy") == []


def test_namespaces_are_apart_and_compare_by_common_statistics() -> None:
    engine = SearchEngine()
    engine.add("project", NOTES)
    engine.add("global", [Document(id="pref", text="The user likes the pnpm tool.")])
    assert found(engine, "pnpm", "project") == []
    assert found(engine, "retry storm in billing", "project", "global")[0] == "retry"
    assert found(engine, "pnpm", "project", "global") == ["pref"]


def test_a_question_about_something_else_gets_silence() -> None:
    engine = SearchEngine(floor=Floor(lexical=0.15))
    engine.add("n", NOTES)
    assert engine.search("retry storm billing", ["n"]).results
    ranked = engine.search("who won the football championship", ["n"])
    assert ranked.results == ()
    assert "below the floor" in ranked.left_out["all"]


def test_empty_question_and_empty_store_give_nothing() -> None:
    engine = SearchEngine(Fixed())
    assert engine.search("anything", ["n"]).results == ()
    engine.add("n", NOTES)
    assert engine.search("", ["n"]).results == ()
    assert "embed" not in engine.search("  \n", ["n"]).stages


def test_neighbours_and_session_lift_a_turn() -> None:
    talk = ["Which database do we use?", "Postgres sixteen, on Fly.", "Thanks."]
    engine = SearchEngine()
    engine.add(
        "n",
        [Document(id=f"t{n}", text=text, session="s", position=n) for n, text in enumerate(talk)],
    )
    engine.add("n", [Document(id=f"o{n}", text=f"unrelated note {n}") for n in range(20)])
    assert found(engine, "which database do we use")[:2] == ["t0", "t1"]


def test_what_is_important_or_fresh_comes_first_among_equals() -> None:
    engine = SearchEngine()
    engine.add(
        "n",
        [
            Document(id="a", text="retry storm", importance=5),
            Document(id="b", text="retry storm", importance=9),
            Document(id="c", text="retry storm", freshness="orphaned"),
            Document(id="d", text="retry storm", created=1),
        ],
    )
    assert found(engine, "retry storm") == ["b", "d", "a", "c"]


def test_date_named_in_the_question_lifts_memories_of_that_time() -> None:
    day = 86_400_000_000
    engine = SearchEngine()
    engine.add("n", [Document(id=str(n), text="we met", time=n * 31 * day) for n in range(12)])
    assert found(engine, "what was when we met in May 1970?")[0] == "4"


def test_who_said_it_is_no_match_by_itself() -> None:
    documents = [
        Document(id="storm", text="A retry storm", author="user", vectors=axis(0)[None]),
        Document(id="pnpm", text="Use pnpm for this", author="user", vectors=axis(1)[None]),
    ]
    engine = SearchEngine(Fixed(walrus=1, storm=1))
    engine.add("n", documents)
    by_words = engine.search("storm", ["n"], mode="keyword", floor=False).results
    assert [one.id for one in by_words] == ["storm"]
    # With rank fusion it has no rank by words either.
    fused = engine.search("storm", ["n"], fusion="rrf", floor=False).results
    assert {one.id: one.score for one in fused} == pytest.approx({"storm": 1 / 61, "pnpm": 1 / 61})


def test_small_words_alone_make_nobody_sure() -> None:
    engine = SearchEngine()
    engine.add("n", [Document(id="queue", text="What did we choose for the queue? Redis.")])
    assert engine.search("what did we pay for the sofa?", ["n"], floor=False).confidence == 0
    assert engine.search("what did we choose for the queue?", ["n"]).results


def test_rank_fusion_is_selectable() -> None:
    notes = [
        Document(id=note.id, text=note.text, vectors=axis(number)[None])
        for number, note in enumerate(NOTES)
    ]
    engine = SearchEngine(Fixed(retry=1), SearchWeights())
    engine.add("n", notes)
    ranked = engine.search("retry storm", ["n"], fusion="rrf", floor=False)
    assert {ranked.results[0].id, ranked.results[1].id} == {"retry", "deploy"}
    assert ranked.results[0].score <= 2 / 61


def test_what_the_graph_leads_to_gains_two_hundredths_in_rank_fusion() -> None:
    engine = SearchEngine(Fixed(retry=0))
    engine.add("n", [Document(id="retry", text="retry storm", vectors=axis(0)[None])])
    scores = [
        engine.search("retry", ["n"], fusion="rrf", floor=False, reached=reached).results[0].score
        for reached in (None, {"retry": 0.5})
    ]
    assert scores == pytest.approx([2 / 61, 2 / 61 + 0.02 * 0.5])


def test_large_store_finds_the_needle_among_many() -> None:
    engine = SearchEngine()
    engine.add(
        "n",
        (
            Document(id=str(n), text=f"note number {n} about topic{n % 50} and config")
            for n in range(2000)
        ),
    )
    engine.add("n", [Document(id="needle", text="the configuration of the quorum lease")])
    assert found(engine, "quorum leases")[0] == "needle"
    assert found(engine, "topic7 note 57")[0] == "57"
    assert sum(engine.memory()["n"].values()) < 40_000_000


def test_a_word_that_every_memory_holds_is_still_found() -> None:
    engine = SearchEngine()
    engine.add("n", (Document(id=str(n), text=f"billing item {n}", created=n) for n in range(900)))
    assert len(found(engine, "billing")) == 10
    assert found(engine, "billing 77")[0] == "77"


def test_a_prompt_is_not_embedded_where_no_memory_has_a_vector() -> None:
    class Counting(Fixed):
        calls = 0

        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            self.calls += 1
            return super().embed(texts)

    embedder = Counting(ship=1)
    engine = SearchEngine(embedder)
    engine.add("n", NOTES)
    ranked = engine.search("ship the deploys", ["n", "unknown"])
    assert ranked.results[0].id == "deploy" and embedder.calls == 0
    assert ranked.left_out["semantic"] == "no memory here has a vector yet"
    engine.add("n", [Document(id="ship", text="Release notes.", vectors=axis(1)[None])])
    assert engine.search("ship the deploys", ["n"]).semantic and embedder.calls == 1


def test_a_memory_without_a_session_is_ranked_by_meaning_not_by_its_words_twice() -> None:
    lone = Document(id="lone", text="The retry storm came from billing.", vectors=axis(0)[None])
    engine = SearchEngine(Fixed(retry=0))
    engine.add("n", [lone])
    (alone,) = engine.search("retry storm", ["n"], floor=False).results
    assert alone.parts["alone"] == 1.0 and alone.parts["session"] == 0.0
    (by_words,) = engine.search("retry storm", ["n"], mode="keyword", floor=False).results
    assert by_words.parts["session"] > 0 and "alone" not in by_words.parts
    talk = Document(id="talk", text=lone.text, session="s", vectors=axis(0)[None])
    engine.add("n", [talk, Document(id="next", text="Jitter.", session="s", position=1)])
    parts = {one.id: one.parts for one in engine.search("retry storm", ["n"]).results}
    assert parts["talk"]["alone"] == 0.0 and parts["talk"]["session"] > 0
    assert parts["lone"]["alone"] == 1.0


MANY = 900


class Anything(Fixed):
    """An embedder whose vector for any text is the first axis."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array([axis(0) for _ in texts])


def crowd() -> SearchEngine:
    """Every third document holds the word; the others come nearer in meaning with their number."""
    engine = SearchEngine(Anything())
    engine.add(
        "n",
        (
            Document(
                id=f"d{number}",
                text=f"jitter number{number}" if number % 3 == 0 else f"other number{number}",
                vectors=(axis(0) * np.float32(number / MANY) + axis(1) if number % 3 else axis(2))[
                    None
                ],
            )
            for number in range(MANY)
        ),
    )
    return engine


def test_as_many_results_as_asked_for_are_found_in_a_large_store() -> None:
    assert len(found(crowd(), "jitter", limit=250)) == 250


def test_search_by_meaning_gives_the_nearest_although_words_speak_for_others() -> None:
    ranked = crowd().search("jitter", ["n"], mode="semantic", limit=60, floor=False)
    nearest = [f"d{number}" for number in range(MANY - 1, 0, -1) if number % 3]
    # Vectors are stored in 8 bits a number: the very next ones may change places.
    assert len(ranked.results) == 60 and {one.id for one in ranked.results} <= set(nearest[:66])


def test_rank_fusion_reads_both_rankings_as_deep_as_it_is_told() -> None:
    ranked = crowd().search("jitter", ["n"], fusion="rrf", limit=20, depth=5, floor=False)
    by_words = sum(int(one.id[1:]) % 3 == 0 for one in ranked.results)
    assert (by_words, len(ranked.results)) == (10, 20)


def test_likeness_is_known_of_every_memory_asked_about() -> None:
    near = crowd().likeness("anything", ["n"], ["d1", "d899", "gone"])
    assert near.keys() == {"d1", "d899"} and near["d1"] < near["d899"]
