"""How every backend finds memories by words, and keeps vectors."""

import pytest

from recollect.core import errors, vector_bytes
from recollect.core.clock import ManualClock
from recollect.core.settings import MODELS
from recollect.store.interface import Store
from tests.fakes.stored import delete_records, vectors_in
from tests.make import NAMESPACE, record, vector

OTHER = "/actor/ada/project/engine2/"


class SearchContract:
    def test_words_are_found_by_their_stem_and_without_accents(self, store: Store) -> None:
        one = store.records.put([record("Migrating the café's user table")])[0]
        for query in ("migrations", "cafe", "CAFÉ tables?", "what's the migration status?"):
            assert [hit.record for hit in store.records.search([NAMESPACE], query, 5)] == [one]

    def test_every_text_field_is_searchable(self, store: Store) -> None:
        one = store.records.put([
            record("alpha", summary="bravo", detail="charlie", facts=("delta",),
                   concepts=("echo",), files=("src/foxtrot.py",)),
        ])[0]  # fmt: skip
        for word in ("alpha", "bravo", "charlie", "delta", "echo", "foxtrot"):
            assert [hit.record for hit in store.records.search([NAMESPACE], word, 5)] == [one]

    def test_a_word_of_the_title_counts_more_than_one_of_the_detail(
        self, store: Store, clock: ManualClock
    ) -> None:
        titled = store.records.put([record("alpha", detail="bravo")])[0]
        clock.advance(seconds=1)  # of equal scores the newer one is first
        store.records.put([record("bravo", detail="alpha")])
        assert store.records.search([NAMESPACE], "alpha", 5)[0].record == titled

    def test_an_empty_query_finds_nothing(self, store: Store) -> None:
        store.records.put([record()])
        for query in ("", "   \n", "\x00"):
            assert store.records.search([NAMESPACE], query, 5) == []

    def test_operators_are_words_unless_asked_for(self, store: Store) -> None:
        cat, dog = store.records.put([record("cat"), record("dog")])
        found = {hit.record.title for hit in store.records.search([NAMESPACE], "cat NOT dog", 5)}
        assert found == {"cat", "dog"}
        raw = store.records.search([NAMESPACE], "cat NOT dog", 5, raw=True)
        assert [hit.record for hit in raw] == [cat]
        prefix = store.records.search([NAMESPACE], "do*", 5, raw=True)
        assert [hit.record for hit in prefix] == [dog]

    def test_a_refused_expression_is_looked_for_literally_newest_first(
        self, store: Store, clock: ManualClock
    ) -> None:
        texts = ["50% (done", "nothing", "also 50% (done"]
        for text in texts:
            store.records.put([record(text)])
            clock.advance(seconds=1)
        hits = store.records.search([NAMESPACE], "50% (done", 5, raw=True)
        assert [hit.record.title for hit in hits] == ["also 50% (done", "50% (done"]
        assert {hit.by for hit in hits} == {"substring"}
        with pytest.raises(errors.BadInput, match="FTS5"):
            store.records.search([NAMESPACE], "AND (", 5, raw=True)
        assert store.records.search([NAMESPACE], "AND (", 5) == []

    def test_a_long_question_keeps_its_rarest_words(self, store: Store) -> None:
        store.records.put([record(f"common words here {number}") for number in range(40)])
        needle = store.records.put([record("quokka")])[0]
        noise = " ".join(f"filler{number}" for number in range(400))
        query = f"{noise} common words here quokka {noise} " + " ".join("here" for _ in range(99))
        assert store.records.search([NAMESPACE], query, 5)[0].record == needle

    def test_several_namespaces_are_searched_as_one_list(self, store: Store) -> None:
        store.records.put([record("shared word"), record("shared", namespace=OTHER)])
        hits = store.records.search([NAMESPACE, OTHER], "shared", 5)
        assert {hit.record.namespace for hit in hits} == {NAMESPACE, OTHER}
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)

    def test_the_index_can_be_made_anew_and_finds_the_same(self, store: Store) -> None:
        store.records.put([record(f"zebra {n}", facts=("stripes",)) for n in range(5)])
        delete_records(store, NAMESPACE, [store.records.page(NAMESPACE).items[0].record_id], "ada")
        before = store.records.search([NAMESPACE], "zebra stripes 3", 10)
        store.upkeep.repair("index")
        assert store.records.search([NAMESPACE], "zebra stripes 3", 10) == before
        assert store.upkeep.check() == []


class VectorsContract:
    def test_vectors_come_back_bit_for_bit(self, store: Store) -> None:
        one = store.records.put([record()])[0]
        odd = vector(one, b"\x01\x00\x80\x7f")  # a signalling NaN with a payload
        assert store.vectors.put([odd]) == 1
        assert vectors_in(store, NAMESPACE, "test-model") == [odd]
        assert store.vectors.of(NAMESPACE, "test-model", [one.record_id, "x"]) == [odd]
        assert store.vectors.of(NAMESPACE, "other-model", [one.record_id]) == []

    def test_the_nearest_are_found_by_a_backend_that_has_an_index(self, store: Store) -> None:
        made = store.records.put([record(str(number)) for number in range(3)])
        elsewhere = store.records.put([record("elsewhere", namespace=OTHER)])[0]
        axes = [b"\x00\x00\x80\x3f" + b"\x00" * 1532, b"\x00" * 4 + b"\x00\x00\x80\x3f" * 383]
        store.vectors.put([
            vector(made[0], vector=axes[0]), vector(made[1], vector=axes[1]),
            vector(made[2], vector=axes[0], model="other"), vector(elsewhere, vector=axes[0]),
        ])  # fmt: skip
        found = store.vectors.nearest(NAMESPACE, "test-model", axes[0], 5)
        if not store.vectors.indexed:
            assert found == []
            return
        assert [owner for owner, _ in found] == [made[0].record_id, made[1].record_id]
        assert found[0][1] == pytest.approx(1.0) and found[1][1] == pytest.approx(0.0)
        assert store.vectors.nearest(OTHER, "test-model", axes[0], 5)[0][0] == elsewhere.record_id

    def test_a_wrong_length_names_the_record(self, store: Store) -> None:
        one = store.records.put([record()])[0]
        with pytest.raises(errors.DamagedRow, match=one.record_id):
            store.vectors.put([vector(one, vector=b"\x00" * 1535)])
        other = vector(one, model=MODELS[0], dim=10, vector=b"\x00" * 40)
        with pytest.raises(errors.DamagedRow, match=one.record_id):
            store.vectors.put([other])  # it fits what it says of itself, and not its model

    def test_a_vector_that_does_not_fit_its_model_is_left_out_named_and_dropped(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        bad, good = store.records.put([record("bad"), record("good")])
        model = MODELS[0]
        short = vector(bad, model=model, dim=10, vector=b"\x00\x00\x80\x3f" * 10)
        with monkeypatch.context() as patch:
            patch.setattr(vector_bytes, "_OF_MODEL", {})
            right = [vector(bad, model=model, part=1), vector(good, model=model)]
            store.vectors.put([short, *right])
        both = [bad.record_id, good.record_id]
        assert {one.dim for one in store.vectors.of(NAMESPACE, model, both)} == {384}
        assert [one for one, _ in store.vectors.knowledge(NAMESPACE, model)] == [good.record_id]
        assert store.vectors.misfits(NAMESPACE, model, drop=True) == [bad.record_id]
        assert store.vectors.misfits(NAMESPACE, model) == []
        assert store.vectors.missing(NAMESPACE, model, 5) == [bad]

    def test_a_vector_of_something_that_is_gone_is_passed_over(self, store: Store) -> None:
        assert store.vectors.put([vector(record())]) == 0

    def test_memories_without_a_vector_of_the_model_are_listed_oldest_first(
        self, store: Store, clock: ManualClock
    ) -> None:
        made = []
        for number in range(3):
            made += store.records.put([record(str(number))])
            clock.advance(seconds=1)
        store.vectors.put([vector(made[1]), vector(made[2], model="old-model")])
        missing = store.vectors.missing(NAMESPACE, "test-model", 10)
        assert missing == [made[0], made[2]]
        counts = [store.vectors.count(NAMESPACE, name) for name in ("test-model", "old-model", "x")]
        assert counts == [1, 1, 0]
        store.vectors.put([vector(made[0]), vector(made[2])])
        assert store.vectors.missing(NAMESPACE, "test-model", 10) == []
        assert store.vectors.count(NAMESPACE, "test-model") == 3
