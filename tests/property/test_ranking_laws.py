"""Laws of ranking, over arbitrary memories and questions."""

import random
import time
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from recollect.core.errors import ModelUnavailable
from recollect.core.settings import Fusion
from recollect.retrieve import candidates, score
from recollect.retrieve.engine import Mode, Ranked, SearchEngine
from recollect.retrieve.index import Document
from recollect.retrieve.score import K, rrf

WORDS = [
    "retry", "storm", "billing", "deploy", "the", "of", "is", "what", "postgres", "migration",
    "migrations", "getUserName", "user_name", "src/retry.py", "v1.2.3", "E0308", "may", "日本語",
    "検索", "naïve", "token", "auth", "authentication", "2023",
]  # fmt: skip

texts = st.one_of(
    st.lists(st.sampled_from(WORDS), max_size=25).map(" ".join),
    st.text(max_size=60),
)
sessions = st.sampled_from(["", "a", "b"])


@st.composite
def corpora(draw: st.DrawFn) -> list[Document]:
    count = draw(st.integers(0, 14))
    found = []
    for number in range(count):
        vector = None
        if draw(st.booleans()):
            vector = _vector(draw(st.integers(0, 50)))[None]
        found.append(
            Document(
                id=f"m{number:02d}",
                text=draw(texts),
                title=draw(texts)[:40],
                session=draw(sessions),
                position=draw(st.integers(0, 130)),
                author=draw(st.sampled_from(["user", "assistant", "", "nobody"])),
                time=draw(st.none() | st.integers(0, 2_000_000_000_000_000)),
                created=draw(st.integers(0, 3)),
                importance=draw(st.integers(1, 10)),
                vectors=vector,
            )
        )
    return found


def _vector(seed: int) -> NDArray[np.float32]:
    row = np.random.default_rng(seed).normal(size=384).astype(np.float32)
    return np.asarray(row / np.linalg.norm(row))


class Alive:
    ready = True

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array([_vector(len(text)) for text in texts])


class Axis(Alive):
    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.eye(384, dtype=np.float32)[[0] * len(texts)]


class Unready(Alive):
    ready = False


class Failing(Alive):
    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise ModelUnavailable("too slow")


class Garbage(Alive):
    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.full((len(texts), 384), np.nan, dtype=np.float32)


@pytest.fixture(params=["whole", "chosen"], autouse=True)
def _both_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small stores are scored whole; the choice of candidates must hold to the same laws."""
    if request.param == "chosen":
        for module in (candidates, score):
            monkeypatch.setattr(module, "EXHAUSTIVE", 0)


lax = settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def _engine(documents: list[Document], embedder: Alive | None) -> SearchEngine:
    engine = SearchEngine(embedder, clock=time.perf_counter)
    engine.add("n", documents)
    return engine


def _order(ranked: Ranked) -> list[tuple[str, float]]:
    return [(result.id, result.score) for result in ranked.results]


@lax
@given(corpora(), texts, st.sampled_from(["linear", "rrf"]), st.booleans())
def test_dead_embedder_equals_words_alone(
    documents: list[Document], question: str, fusion: Fusion, floor: bool
) -> None:
    def asked(embedder: Alive | None, mode: Mode) -> Ranked:
        return _engine(documents, embedder).search(
            question,
            ["n"],
            limit=20,
            mode=mode,
            fusion=fusion,
            floor=floor,
        )

    words = asked(Alive(), "keyword")
    for embedder in (None, Unready(), Failing(), Garbage()):
        dead = asked(embedder, "hybrid")
        assert repr(dead.results) == repr(words.results)
        assert not dead.semantic


# H09
@lax
@given(corpora(), texts, st.randoms(use_true_random=False), st.integers(1, 20))
def test_rank_fusion_without_a_model_is_the_ranking_of_the_full_text(
    documents: list[Document], question: str, mix: random.Random, limit: int
) -> None:
    """Whatever the index itself would say, and wherever the graph leads."""
    listed = [one.id for one in documents]
    mix.shuffle(listed)
    listed = listed[: len(listed) // 2]
    graph = {one.id: 0.9 for one in documents}
    for embedder in (None, Unready(), Failing(), Garbage()):
        found = _engine(documents, embedder).search(
            question, ["n"], limit=limit, fusion="rrf", floor=False, listed=listed, reached=graph
        )
        assert [one.id for one in found.results] == listed[:limit]
        assert [one.score for one in found.results] == [
            1 / (K + place) for place in range(1, len(found.results) + 1)
        ]


class OtherModel(Alive):
    """Its vectors do not have the length of those in the index."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.ones((len(texts), 5), dtype=np.float32)


@lax
@given(
    corpora(), texts, st.sampled_from(["linear", "rrf"]), st.sampled_from(["hybrid", "semantic"])
)
def test_an_error_in_the_search_by_meaning_equals_words_alone(
    documents: list[Document], question: str, fusion: Fusion, mode: Mode
) -> None:
    words = _engine(documents, None).search(question, ["n"], fusion=fusion, floor=False)
    engine = _engine(documents, OtherModel())
    broken = engine.search(question, ["n"], mode=mode, fusion=fusion, floor=False)
    assert repr(broken.results) == repr(words.results)
    assert not broken.semantic
    if question.strip():
        assert broken.left_out["semantic"]


@lax
@given(corpora(), texts)
def test_store_without_vectors_equals_words_alone(documents: list[Document], question: str) -> None:
    bare = [
        Document(id=d.id, text=d.text, session=d.session, position=d.position) for d in documents
    ]
    engine = _engine(bare, Alive())
    words = engine.search(question, ["n"], mode="keyword", floor=False)
    assert repr(engine.search(question, ["n"], floor=False).results) == repr(words.results)


@lax
@given(corpora(), corpora(), texts, st.data())
def test_incremental_changes_equal_a_rebuild(
    documents: list[Document], gone: list[Document], question: str, data: st.DataObject
) -> None:
    engine = SearchEngine(Alive(), clock=time.perf_counter)
    extra = [
        Document(id=f"x{d.id}", text=d.text, session=d.session, position=d.position) for d in gone
    ]
    mixed = data.draw(st.permutations([*documents, *extra]))
    for document in mixed:
        engine.add("n", [document])
        if data.draw(st.booleans()):
            engine.search(question, ["n"])
    engine.remove("n", [document.id for document in extra])
    engine.remove("n", ["never there"])
    rebuilt = _engine(documents, Alive())
    modes: tuple[Mode, ...] = ("hybrid", "keyword", "semantic")
    for mode in modes:
        ours = engine.search(question, ["n"], limit=20, mode=mode, floor=False)
        fresh = rebuilt.search(question, ["n"], limit=20, mode=mode, floor=False)
        assert repr(ours.results) == repr(fresh.results)
        assert ours.confidence == fresh.confidence


@lax
@given(corpora(), texts)
def test_same_question_same_answer_in_order(documents: list[Document], question: str) -> None:
    engine = _engine(documents, Alive())
    first = engine.search(question, ["n"], limit=20, floor=False)
    assert repr(engine.search(question, ["n"], limit=20, floor=False).results) == repr(
        first.results
    )
    created = {document.id: document.created for document in documents}
    keys = [(-one.score, -created[one.id], one.id) for one in first.results]
    assert keys == sorted(keys)
    assert len({result.id for result in first.results}) == len(first.results)
    assert _order(engine.search(question, ["n"], limit=3, floor=False)) == _order(first)[:3]


@lax
@given(corpora(), texts)
def test_floor_only_ever_takes_away(documents: list[Document], question: str) -> None:
    engine = _engine(documents, Alive())
    free = engine.search(question, ["n"], floor=False)
    kept = engine.search(question, ["n"])
    assert kept.results in ((), free.results)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.text(max_size=200), max_size=6), st.text(max_size=400))
def test_search_never_raises_on_arbitrary_text(bodies: list[str], question: str) -> None:
    documents = [Document(id=str(n), text=body, title=body[:9]) for n, body in enumerate(bodies)]
    ranked = _engine(documents, Alive()).search(question, ["n", "elsewhere"], floor=False)
    assert all(np.isfinite(result.score) for result in ranked.results)


rankings = st.lists(st.lists(st.integers(0, 30), unique=True, max_size=20), max_size=3)


@given(rankings)
def test_rrf_follows_its_formula(lists: list[list[int]]) -> None:
    fused = rrf(lists)
    assert set(fused) == {key for ranking in lists for key in ranking}
    for key, value in fused.items():
        terms = [1 / (K + ranking.index(key) + 1) for ranking in lists if key in ranking]
        assert value == pytest.approx(sum(terms), abs=1e-15)


# H07
@pytest.mark.parametrize(("rank", "leads"), [(12, True), (13, False)])
def test_rank_fusion_reads_each_side_to_four_times_the_limit(rank: int, leads: bool) -> None:
    """One memory has the same rank by words and by meaning; twenty others are in one list each."""
    axes = np.eye(384, dtype=np.float32)
    angles = [0.07 * number for number in range(21)]
    near = [np.float32(np.cos(a)) * axes[0] + np.float32(np.sin(a)) * axes[1] for a in angles]
    documents = [Document(id=f"w{n}", text="retry", created=100 - n) for n in range(20)]
    documents += [
        Document(id=f"v{n}", text="storm", vectors=near[n if n < rank - 1 else n + 1][None])
        for n in range(20)
    ]
    both = Document(id="both", text="retry", created=101 - rank, vectors=near[rank - 1][None])
    # "both" is as new as one of the others with its words: the smaller id comes first.
    engine = _engine([*documents, both], Axis())
    first = engine.search("retry", ["n"], limit=3, fusion="rrf", floor=False).results[0]
    assert (first.id == "both") is leads
    assert first.score == pytest.approx(2 / (60 + rank) if leads else 1 / 61)


@given(st.lists(st.integers(), unique=True, max_size=30))
def test_rrf_of_one_list_keeps_its_order(ranking: list[int]) -> None:
    for lists in ([ranking], [ranking, []], [[], ranking], [ranking, ranking]):
        fused = rrf(lists)
        assert sorted(fused, key=lambda key: -fused[key]) == ranking
    assert rrf([]) == {}
