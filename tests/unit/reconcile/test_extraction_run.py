"""One run, from claim to commit: the outcome table row by row, and what may go wrong on the way."""

import logging
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from recollect.core.clock import ManualClock
from recollect.core.errors import (
    BadInput,
    BudgetSpent,
    DiskFull,
    ProviderDown,
    ProviderRefused,
    ProviderTimeout,
)
from recollect.core.values import Checkpoint, EventSource, ExtractionRun, Record
from recollect.embedding.embedder import MODEL, vector_rows
from recollect.extract.breaker import PAUSE_S
from recollect.extract.interface import Extraction
from recollect.llm.base import ModelRequest
from recollect.reconcile.extraction_run import ExtractionOptions, ExtractionWorker
from recollect.reconcile.push import Learned
from recollect.reconcile.record_vectors import embedded
from recollect.store.interface import Batch, Transaction
from recollect.store.sqlite import SqliteStore
from recollect.store.sqlite.transaction import SqliteTransaction
from tests.fakes.extraction import Angles, EachPrompt, Scripted, memory, worker
from tests.fakes.stored import delete_records, edit_record, runs_in, set_aside_in
from tests.make import NAMESPACE, arrival

Maker = Callable[..., ExtractionWorker]
SEPARATE = "<separate/>"


def titles(store: SqliteStore) -> list[str]:
    return sorted(record.title for record in store.records.page(NAMESPACE).items)


def waiting(store: SqliteStore) -> tuple[int, int]:
    found = store.events.backlog()
    return (found[0].count, found[0].quarantined) if found else (0, 0)


def last(store: SqliteStore) -> ExtractionRun:
    return runs_in(store, NAMESPACE)[0]


def merge_all(request: ModelRequest) -> str:
    """A judge that takes everything it is shown for one thing."""
    ids = "".join(
        f"<id>{part.split(chr(34))[0]}</id>" for part in request.prompt.split('<memory id="')[1:]
    )
    return f"<merge>{ids}<title>All in one @0 </title><summary>both</summary></merge>"


@pytest.fixture
def go(store: SqliteStore, clock: ManualClock) -> Maker:
    """A worker with a model, and one event that waits."""

    def make(provider: Scripted | None = None, **more: object) -> ExtractionWorker:
        return worker(store, clock, provider=lambda: provider, **more)

    store.events.put([arrival("one @0 ")])
    return make


def stored_at(store: SqliteStore, go: Maker, *degrees: int) -> list[Record]:
    """Memories that are there already, at these angles."""
    answer = "".join(memory(f"old{angle} @{angle} ") for angle in degrees)
    go(Scripted(answer), options=ExtractionOptions(reconcile=False)).run(NAMESPACE)
    store.events.put([arrival("two")])
    return list(store.records.page(NAMESPACE).items)


# --- the outcome table (C06) ---


@pytest.mark.parametrize("answer", [ProviderDown(), ProviderTimeout(), "garbage"])
def test_extract_throws_retained_and_no_judge_breaker_touched(
    answer: str | Exception, store: SqliteStore, go: Maker
) -> None:
    after = go(Scripted(answer)).run(NAMESPACE)
    assert (after.again, after.wait_s) == (True, 30.0)
    assert waiting(store) == (1, 0) and titles(store) == []
    assert last(store).outcome == "failed" and last(store).judge_calls == 0


@pytest.mark.parametrize("answer", ["<skip/>", ""])
def test_zero_candidates_cleared(answer: str, store: SqliteStore, go: Maker) -> None:
    go(Scripted(answer)).run(NAMESPACE)
    assert waiting(store) == (0, 0) and last(store).outcome == "nothing"


def test_at_least_one_cluster_commits_cleared_and_the_other_fails_alone(
    store: SqliteStore, go: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = SqliteTransaction.put_record

    def picky(self: SqliteTransaction, record: Record, **how: Any) -> Record:
        stored = put(self, record, **how)
        if record.title.startswith("bad"):
            raise BadInput("a cluster that cannot be written")
        return stored

    monkeypatch.setattr(SqliteTransaction, "put_record", picky)
    go(Scripted(memory("bad @0 ") + memory("good @90 "))).run(NAMESPACE)
    assert titles(store) == ["good @90"] and waiting(store) == (0, 0)
    assert (last(store).outcome, last(store).failed, last(store).kept) == ("committed", 1, 1)
    assert len(list(store.vectors.knowledge(NAMESPACE, MODEL))) == 1


def test_every_cluster_fails_retained(
    store: SqliteStore, go: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: object, record: Record, **how: Any) -> Record:
        raise BadInput("no")

    monkeypatch.setattr(SqliteTransaction, "put_record", refuse)
    go(Scripted(memory("a @0 ") + memory("b @90 "))).run(NAMESPACE)
    assert titles(store) == [] and waiting(store) == (1, 0)
    assert (last(store).outcome, last(store).failed) == ("uncommitted", 2)


def test_direct_commit_cleared_and_no_judge_asked(store: SqliteStore, go: Maker) -> None:
    stored_at(store, go, 0)
    provider = Scripted(memory("new @1 "))
    go(provider, options=ExtractionOptions(reconcile=False)).run(NAMESPACE)
    assert waiting(store) == (0, 0) and provider.asked("judge") == 0
    assert last(store).outcome == "direct"
    assert titles(store) == ["new @1", "old0 @0"]


# --- judging ---


def test_no_neighbour_no_judge(store: SqliteStore, go: Maker) -> None:
    stored_at(store, go, 0)
    provider = Scripted(memory("far @60 "))
    go(provider).run(NAMESPACE)
    assert provider.asked("judge") == 0 and len(titles(store)) == 2


def test_a_merge_displaces_the_originals_and_undo_brings_back_the_exact_rows(
    store: SqliteStore, go: Maker
) -> None:
    old = stored_at(store, go, 0, 5)
    # what stands close enough to be one cluster was written by itself: no dedupe in direct mode
    assert len(old) == 2
    provider = Scripted(memory("new @2 "), judge=[merge_all])
    go(provider).run(NAMESPACE)
    (one,) = store.records.page(NAMESPACE).items
    assert (one.title, one.strategy) == ("All in one @0", "llm-reconciled")
    assert one.observation_type == "decision" and one.record_id not in {r.record_id for r in old}
    assert len(one.source_event_ids) == 2 and len(set(one.source_event_ids)) == 2
    assert store.records.search([NAMESPACE], "old0 old5 new", 10) == []
    (merge,) = [op for op in store.log.page(NAMESPACE).items if op.kind == "merge"]
    assert last(store).merged == 1
    store.log.undo(NAMESPACE, merge.op_id, "ada")
    back = {record.record_id: record for record in store.records.page(NAMESPACE).items}
    assert {record.record_id: record for record in old}.items() <= back.items()
    assert titles(store) == ["new @2", "old0 @0", "old5 @5"]


def test_what_the_judge_does_not_cite_is_kept(store: SqliteStore, go: Maker) -> None:
    (old,) = stored_at(store, go, 0)

    def cite_one(request: ModelRequest) -> str:
        new = request.prompt.split('<memory id="')[1].split('"')[0]
        return (
            f"<merge><id>{new}</id><id>{old.record_id}</id><id>mr_unknown</id>"
            "<title>Fused @0 </title></merge>"
        )

    provider = Scripted(memory("a @1 ") + memory("b @2 "), judge=[cite_one])
    go(provider).run(NAMESPACE)
    assert titles(store) == ["Fused @0", "b @2"]


@pytest.mark.parametrize("cited", ["", "<id>mr_unknown</id>", "<id>{new}</id>"])
def test_unknown_ids_are_ignored_and_too_few_keep_all_apart(
    cited: str, store: SqliteStore, go: Maker
) -> None:
    stored_at(store, go, 0)

    def answer(request: ModelRequest) -> str:
        new = request.prompt.split('<memory id="')[1].split('"')[0]
        return f"<merge>{cited.format(new=new)}<title>T</title></merge>"

    go(Scripted(memory("a @1 "), judge=[answer])).run(NAMESPACE)
    assert titles(store) == ["a @1", "old0 @0"]
    assert last(store).judge_failures == 0


@pytest.mark.parametrize(
    ("answers", "calls"),
    [([ProviderTimeout()], 1), ([ProviderDown()], 1), (["what?"], 2), (["<merge></merge>"], 2)],
)
def test_a_failing_judge_keeps_apart_timeouts_are_final(
    answers: list[str | Exception], calls: int, store: SqliteStore, go: Maker
) -> None:
    stored_at(store, go, 0)
    provider = Scripted(memory("a @1 "), judge=answers)
    go(provider).run(NAMESPACE)
    assert provider.asked("judge") == calls
    assert {request.timeout_s for request in provider.requests if request.purpose == "judge"} == {
        30.0
    }
    assert titles(store) == ["a @1", "old0 @0"] and waiting(store) == (0, 0)
    assert (last(store).outcome, last(store).judge_failures) == ("committed", 1)


def test_unparsable_once_and_then_an_answer_is_no_failure(store: SqliteStore, go: Maker) -> None:
    stored_at(store, go, 0)
    provider = Scripted(memory("a @1 "), judge=["hm", SEPARATE])
    go(provider).run(NAMESPACE)
    assert (provider.asked("judge"), last(store).judge_failures) == (2, 0)


def test_three_failures_open_the_breaker_for_exactly_one_run(store: SqliteStore, go: Maker) -> None:
    stored_at(store, go, 0, 90, 180)
    answers = [memory(f"n{run} @{run} ") for run in range(1, 6)]
    provider = Scripted(*answers, judge=[ProviderTimeout()])
    one = go(provider)
    for run in range(5):
        store.events.put([arrival(f"more {run}")])
        one.run(NAMESPACE)
    outcomes = [run.outcome for run in runs_in(store, NAMESPACE)[4::-1]]
    assert outcomes == ["committed", "committed", "committed", "direct", "committed"]
    assert provider.asked("judge") == 4


def test_a_breaker_that_opens_in_a_run_spares_the_rest_of_it(store: SqliteStore, go: Maker) -> None:
    angles = range(0, 360, 72)
    stored_at(store, go, *angles)
    provider = Scripted(
        "".join(memory(f"n @{angle + 1} ") for angle in angles), judge=[ProviderTimeout()]
    )
    go(provider).run(NAMESPACE)
    assert provider.asked("judge") == 3 and len(titles(store)) == 10


def test_a_neighbour_that_a_sibling_merged_is_skipped(store: SqliteStore, go: Maker) -> None:
    stored_at(store, go, 0)
    # 32 degrees either side: within 0.80 of the stored one, not within 0.85 of each other
    provider = Scripted(memory("a @-32 ") + memory("b @32 "), judge=[merge_all])
    go(provider).run(NAMESPACE)
    assert provider.asked("judge") == 1
    assert titles(store) == ["All in one @0", "b @32"]


def test_what_changed_while_the_judge_thought_is_not_merged(store: SqliteStore, go: Maker) -> None:
    (old,) = stored_at(store, go, 0)

    def deleted_meanwhile(request: ModelRequest) -> str:
        delete_records(store, NAMESPACE, [old.record_id], "ada")
        return merge_all(request)

    go(Scripted(memory("a @1 "), judge=[deleted_meanwhile])).run(NAMESPACE)
    assert titles(store) == ["a @1"]


def test_what_a_person_wrote_or_pinned_is_never_shown_to_the_judge(
    store: SqliteStore, go: Maker
) -> None:
    (old,) = stored_at(store, go, 0)
    edit_record(store, msgspec.structs.replace(old, pinned=True), "ada")
    store.vectors.put(vector_rows(old, embedded(old, Angles())))
    provider = Scripted(memory("a @1 "), judge=[merge_all])
    go(provider).run(NAMESPACE)
    assert provider.asked("judge") == 0 and len(titles(store)) == 2


# --- no model ---


def test_without_vectors_every_candidate_is_kept_and_gets_its_vector_later(
    store: SqliteStore, clock: ManualClock
) -> None:
    store.events.put([arrival("a"), arrival("b")])
    worker(store, clock, embedder=Angles(broken=True)).run(NAMESPACE)
    assert titles(store) == ["a", "b"]
    assert len(store.vectors.missing(NAMESPACE, "any", 10)) == 2


def test_without_a_judge_the_same_is_left_out_and_near_is_not_the_same(
    store: SqliteStore, clock: ManualClock
) -> None:
    store.events.put([arrival("Use tabs here @0 ")])
    one = worker(store, clock)
    one.run(NAMESPACE)
    for text in ("use TABS  here @0 ", "use tabs hereabouts @0 ", "use tabs never @0 ", "far @40 "):
        store.events.put([arrival(text)])
    one.run(NAMESPACE)
    assert titles(store) == ["Use tabs here @0", "far @40", "use tabs never @0"]
    assert last(store).dropped == {"known": 2}


# --- whom to ask (P04) ---


def test_a_spent_budget_goes_on_by_rules_in_the_same_run(store: SqliteStore, go: Maker) -> None:
    one = go(Scripted(BudgetSpent("enough for today")))
    one.run(NAMESPACE)
    assert titles(store) == ["one @0"] and waiting(store) == (0, 0)
    assert (last(store).provider, last(store).reason) == ("none", "enough for today")
    assert one.status()["by_rules_because"] == {NAMESPACE: "enough for today"}


def test_a_model_may_take_back_what_it_wrote_of_the_session_and_nothing_else(
    store: SqliteStore, go: Maker
) -> None:
    titled = {one.title: one for one in stored_at(store, go, 40, 80)}
    told = msgspec.structs.replace(titled["old80 @80"], summary="put right by hand")
    edit_record(store, told, "ada")
    again = memory("old40 @40 ") + f'<outdated id="{titled["old40 @40"].record_id}"/>'
    go(Scripted(again)).run(NAMESPACE)
    assert titles(store) == ["old40 @40", "old80 @80"]  # the same words again end nothing

    def answer(request: ModelRequest) -> str:
        known = request.prompt.partition("<batch")[0]
        assert titled["old40 @40"].record_id in known and "old80" not in known
        ended = "".join(f'<outdated id="{one.record_id}"/>' for one in titled.values())
        return memory("the build passes @200 ") + ended

    store.events.put([arrival("three")])
    go(Scripted(answer, judge=[SEPARATE])).run(NAMESPACE)
    assert titles(store) == ["old80 @80", "the build passes @200"]
    last_op = store.log.page(NAMESPACE, limit=1).items[0]
    assert last_op.targets == (titled["old40 @40"].record_id,) and last_op.kind == "supersede"


def test_a_budget_that_is_spent_while_judging_is_nobodys_failure(
    store: SqliteStore, go: Maker
) -> None:
    stored_at(store, go, 0, 90)
    provider = Scripted(memory("a @1 ") + memory("b @91 "), judge=[BudgetSpent("x")])
    go(provider).run(NAMESPACE)
    assert (last(store).judge_calls, last(store).judge_failures) == (0, 0)
    assert provider.asked("judge") == 1 and len(titles(store)) == 4


def test_a_missing_provider_goes_on_by_rules(store: SqliteStore, clock: ManualClock) -> None:
    def missing() -> None:
        raise ProviderRefused("there is no key")

    store.events.put([arrival("one")])
    worker(store, clock, provider=missing).run(NAMESPACE)
    assert titles(store) == ["one"] and last(store).reason == "there is no key"


def test_a_provider_that_stays_away_hands_over_to_rules_and_comes_back(
    store: SqliteStore, clock: ManualClock, go: Maker
) -> None:
    provider = Scripted(ProviderDown("gone"), ProviderDown("gone"), ProviderDown("gone"), "<skip/>")
    one = go(provider)
    for _ in range(3):
        one.run(NAMESPACE)
    assert waiting(store) == (1, 0)  # not the events' fault: nothing is set aside
    assert one.status()["breakers"] == {NAMESPACE: "open"}
    one.run(NAMESPACE)
    assert (last(store).provider, titles(store)) == ("none", ["one @0"])
    store.events.put([arrival("later")])
    clock.advance(seconds=PAUSE_S)
    one.run(NAMESPACE)
    assert last(store).provider == "scripted" and one.status()["breakers"] == {}


def test_a_batch_that_gives_garbage_three_times_is_set_aside_with_its_reason(
    store: SqliteStore, go: Maker
) -> None:
    provider = Scripted("garbage")
    one = go(provider)
    for _ in range(3):
        one.run(NAMESPACE)
    assert waiting(store) == (0, 1) and provider.asked("extract") == 9
    (aside,) = set_aside_in(store)
    assert "unreadable answers" in aside.reason
    assert store.events.retry(NAMESPACE) == 1
    one.run(NAMESPACE)  # the breaker is open: by rules
    assert titles(store) == ["one @0"]


class Broken(EachPrompt):
    def extract(self, batch: Batch) -> Extraction:
        raise ZeroDivisionError("a bug")


def test_rules_that_fail_three_times_pause_the_project(
    store: SqliteStore, clock: ManualClock
) -> None:
    store.events.put([arrival("poison")])
    one = worker(store, clock, rules=Broken())
    for _ in range(3):
        one.run(NAMESPACE)
    assert "ZeroDivisionError" in set_aside_in(store)[0].reason
    store.events.put([arrival("next")])
    paused = one.run(NAMESPACE)
    assert paused.again and paused.wait_s == pytest.approx(PAUSE_S)
    assert waiting(store) == (1, 1)


def test_a_store_that_cannot_write_keeps_the_events_and_blames_nobody(
    store: SqliteStore, go: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(work: object) -> None:
        raise DiskFull()

    one = go(Scripted(memory("a")))
    with monkeypatch.context() as patch:
        patch.setattr(store, "transaction", full)
        assert one.run(NAMESPACE).again
    assert waiting(store) == (1, 0) and last(store).outcome == "uncommitted"
    one.run(NAMESPACE)
    assert titles(store) == ["a"]


def test_a_stop_in_the_middle_counts_against_nobody(store: SqliteStore, go: Maker) -> None:
    holder: list[ExtractionWorker] = []

    def stopped(request: ModelRequest) -> str:
        holder[0].close()
        raise ProviderTimeout()

    holder.append(go(Scripted(stopped)))
    assert not holder[0].run(NAMESPACE).again
    assert waiting(store) == (1, 0) and set_aside_in(store) == []
    assert holder[0].status()["breakers"] == {}
    assert store.events.claim(NAMESPACE, 1, 1) is not None


# --- the rest ---


def test_an_oversized_backlog_is_taken_in_batches(store: SqliteStore, clock: ManualClock) -> None:
    store.events.put([arrival(f"{n} {'x' * 30_000}") for n in range(20)])
    one = worker(store, clock)
    runs = 1
    while one.run(NAMESPACE).again:
        runs += 1
    assert waiting(store) == (0, 0) and runs == 3 and len(titles(store)) == 20


def test_a_run_is_one_line_in_the_log_without_anybodys_words(
    store: SqliteStore, go: Maker, caplog: pytest.LogCaptureFixture
) -> None:
    stored_at(store, go, 0)
    caplog.clear()
    with caplog.at_level(logging.DEBUG, logger="recollect.reconcile"):
        go(Scripted(memory("secretive @1 "), judge=[SEPARATE])).run(NAMESPACE)
    told = [
        one.getMessage()
        for one in caplog.records
        if one.name == "recollect.reconcile.extraction_run"
    ]
    assert len(told) == 1 and "outcome=committed" in told[0] and "judge_calls=1" in told[0]
    for phase in ("extract", "gate", "embed", "dedupe", "push"):
        assert f"{phase}:" in told[0]
    (cluster,) = [one.getMessage() for one in caplog.records if "cluster:" in one.getMessage()]
    assert "members=1 neighbours=1" in cluster and "request=" in cluster
    assert "secretive" not in caplog.text


def test_listeners_hear_of_what_came_and_went_and_of_checkpoints(
    store: SqliteStore, clock: ManualClock
) -> None:
    class WithCheckpoint(EachPrompt):
        def extract(self, batch: Batch) -> Extraction:
            made = super().extract(batch)
            stop = Checkpoint(
                checkpoint_id="chk_1", namespace=NAMESPACE, session_id="s", task="all of it"
            )
            derived = made.candidates[0].record.record_id
            return Extraction(
                candidates=made.candidates, checkpoints=(stop,), derived=frozenset({derived})
            )

    heard: list[tuple[str, int]] = []
    store.events.put([arrival("one")])
    one = worker(
        store,
        clock,
        rules=WithCheckpoint(),
        on_run=lambda run, stops: heard.append((run.outcome, len(stops))),
    )
    one.run(NAMESPACE)
    assert heard == [("committed", 1)]
    assert store.sessions.last_checkpoint(NAMESPACE) is not None


def test_claims_are_written_in_the_same_transaction_and_fail_alone(
    store: SqliteStore, go: Maker
) -> None:
    def learned(namespace: str, claims: object, turns: object) -> Learned:
        def write(tx: Transaction) -> None:
            raise BadInput("no such entity")

        return Learned(write)

    answer = memory("kept") + '<entity name="x" type="tool">y</entity>'
    go(Scripted(answer), knowledge=learned).run(NAMESPACE)
    assert titles(store) == ["kept"] and waiting(store) == (0, 0)
    assert last(store).reason == "no such entity"


# --- what was imported ---


@pytest.mark.parametrize(("client", "asked"), [("import", 0), ("import-llm", 1), ("", 1)])
def test_imported_history_goes_to_a_model_only_when_somebody_said_so(
    store: SqliteStore, clock: ManualClock, client: str, asked: int
) -> None:
    source = EventSource(surface="claude-code", client_id=client)
    store.events.put([arrival("one @0 ", source=source)])
    provider = Scripted(memory("new @1 "))
    worker(store, clock, provider=lambda: provider).run(NAMESPACE)
    assert provider.asked("extract") == asked and waiting(store) == (0, 0)
