"""From a prompt to fenced text or to nothing, with the real store, engine and model."""

import os
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import msgspec
import pytest

from recollect.core import errors, ids
from recollect.core.clock import ManualClock
from recollect.core.settings import Settings
from recollect.core.text_words import count_tokens
from recollect.core.tuning import MATCHING
from recollect.core.values import JsonBody, Preference, Record
from recollect.daemon.runtime import Runtime
from recollect.embedding.embedder import MODEL
from recollect.ingest.messages import Notice, RecallQuestion
from recollect.inject import gather, recall, render
from recollect.inject.draft import BriefLine, memory_line
from recollect.inject.render import allot, forms
from recollect.retrieve import index_cache
from recollect.store.sqlite import SqliteStore
from tests.fakes.stored import put_graph
from tests.fakes.waiting import PATIENCE_S, wait_until
from tests.make import NAMESPACE, arrival, record

GLOBAL = "/actor/ada/"


class Setup:
    def __init__(self, store: SqliteStore, clock: ManualClock, settings: Settings) -> None:
        self.store = store
        self.runtime = Runtime(settings, clock, store)
        self.counters, self.memories = self.runtime.counters, self.runtime.memories
        self.it = self.runtime.load_recall()
        self.it.recall_now.limit_ms = 5000

    def settle(self) -> None:
        """Until everything has its vector and the shelves are full."""
        backfill = self.it._backfill
        if backfill is not None:
            backfill.wake()
            wait_until(
                lambda: not self.store.vectors.missing(NAMESPACE, MODEL, 1),
                lambda: (backfill.state, backfill.problem),
            )
        self.it.index_cache.fill([NAMESPACE, GLOBAL])

    def ask(self, text: str, session: str = "now", **fields: Any) -> Any:
        question = RecallQuestion("prompt", text, (NAMESPACE, GLOBAL), session, None, 9500)
        return self.it.recall_now(replace(question, **fields))

    def receipt(self, recalled: Any) -> Any:
        self.it.receipts.flush()
        return self.store.receipts.get(NAMESPACE, recalled.receipt_id)


@pytest.fixture
def chosen(settings: Settings) -> Settings:
    return replace(settings, model_dir=os.environ["RECOLLECT_MODEL_DIR"])


@pytest.fixture
def setup(store: SqliteStore, clock: ManualClock, chosen: Settings) -> Iterator[Setup]:
    made = Setup(store, clock, chosen)
    yield made
    made.runtime.close()


def episode(title: str, detail: str = "", **fields: Any) -> Record:
    return record(
        title, kind="episode", detail=detail or title, session_id=fields.pop("session_id", "old"),
        **fields,
    )  # fmt: skip


def note(title: str, detail: str = "", **fields: Any) -> Record:
    """What came of a turn of an earlier session."""
    fields.setdefault("session_id", "old")
    return record(title, kind="observation", detail=detail, **fields)


WORK = [
    note("Cap the retries of the billing API", "Retries of the billing API are capped at five "
            "with exponential backoff and jitter, in src/retry.py.", summary="Capped at five."),
    note("Move the database to Postgres", "The orders database moved from MySQL to Postgres 16; "
            "the migration script is scripts/migrate.sql.", summary="Moved to Postgres 16."),
    note("Dark mode for the settings page", "Added a dark theme switch to the settings page and "
            "stored the choice in local storage.", summary="Dark theme added."),
    note("Flaky login test", "The login test was flaky because the clock was mocked twice; "
            "removed one mock.", summary="Removed a mock."),
]  # fmt: skip


def test_a_question_brings_back_what_answers_it(setup: Setup) -> None:
    made = setup.memories.add(WORK)
    setup.settle()
    recalled = setup.ask("how are retries of the billing api capped?")
    assert recalled.records[0] == made[0].record_id
    content = render.parse(recalled.context)
    assert content is not None and content.startswith("- 2026-01-01 Cap the")
    receipt = setup.receipt(recalled)
    assert receipt.injected == recalled.records and receipt.tokens == count_tokens(recalled.context)
    assert receipt.detail["text"] == recalled.context
    first = receipt.detail["candidates"][0]
    assert first["injected"] and first["parts"] and first["why_not"] == ""
    assert receipt.detail["semantic"] is True and receipt.detail["stages_us"]
    touched = setup.store.records.get(NAMESPACE, [made[0].record_id])[0]
    assert touched.access_count == 1


def test_it_says_nothing_when_nothing_fits(setup: Setup) -> None:
    setup.memories.add(WORK)
    setup.settle()
    for text in ("", "   ", "what is the capital of Mongolia?", "bake a chocolate cake recipe"):
        recalled = setup.ask(text)
        assert (recalled.context, recalled.records) == ("", ()), text


def test_a_prompt_that_names_nothing_gets_nothing_and_the_receipt_says_why(setup: Setup) -> None:
    setup.memories.add([*WORK, episode("ok, continue", "yes please continue with it, go ahead")])
    setup.settle()
    for text in ("ok", "yes please", "continue", "go ahead"):
        recalled = setup.ask(text)
        assert (recalled.context, recalled.records) == ("", ()), text
        detail = setup.receipt(recalled).detail
        assert detail["idle"] > 0.5
        assert all(one["why_not"] for one in detail["candidates"])


def test_a_name_that_few_memories_hold_tells_which_one_is_meant(setup: Setup) -> None:
    ask = "wobblen sits idle half the day, can i reimage it as a normal linux runner?"
    agent = (
        "Build agent wobblen has the only console licence, so all release builds are queued there"
    )
    (made,) = setup.memories.add([note(agent)])
    setup.memories.add(WORK)
    setup.settle()
    recalled = setup.ask(ask)
    assert recalled.records == (made.record_id,)
    candidates = setup.receipt(recalled).detail["candidates"]
    assert [one["record_id"] for one in candidates if "names" in one["parts"]] == [made.record_id]
    # A name that many memories hold says nothing, and a word that many use is no name.
    setup.memories.add([note(f"Paint of wobblen, layer {n}") for n in range(3)])
    setup.memories.add([note("Docker images are built on Sundays")])
    setup.settle()
    for text in (ask, "slim our docker image down"):
        recalled = setup.ask(text, session=text)
        detail = setup.receipt(recalled).detail
        assert not any("names" in one["parts"] for one in detail["candidates"])
        assert made.record_id not in recalled.records


def test_where_were_we_is_answered_with_the_last_work(setup: Setup) -> None:
    made = setup.memories.add([*WORK, record("Session: retries capped", kind="summary")])
    setup.settle()
    recalled = setup.ask("where were we?")
    assert recalled.records[0] == made[-1].record_id
    assert setup.receipt(recalled).detail["explicit"]


RULE = record("Never run terraform apply by hand", kind="knowledge", knowledge_type="constraint")
STATE = record("Session: retries capped, staging still at 10", kind="summary")


@pytest.mark.parametrize("text", ["where were we?", "Continue where we stopped"])
def test_what_the_start_told_is_not_told_again_to_who_asks_where_we_were(
    setup: Setup, text: str
) -> None:
    setup.memories.add([*WORK, RULE, STATE])
    setup.settle()
    start = setup.ask("", trigger="session-start")
    assert {RULE.record_id, STATE.record_id} <= set(start.records)
    again = setup.ask(text)
    assert again.context == "" and again.records == ()
    why = {one["record_id"]: one["why_not"] for one in setup.receipt(again).detail["candidates"]}
    assert why[STATE.record_id] == "told earlier in this session"
    assert set(setup.ask(text, session="other").records) == {RULE.record_id, STATE.record_id}


def test_the_first_prompt_brings_rules_and_state_where_no_start_was_answered(
    setup: Setup, store: SqliteStore, clock: ManualClock, chosen: Settings
) -> None:
    setup.memories.add([*WORK, RULE, STATE])
    setup.settle()
    both = {RULE.record_id, STATE.record_id}
    question = "how are retries of the billing api capped?"
    first = setup.ask(question)
    assert both < set(first.records)  # and what answers the prompt
    assert count_tokens(render.parse(first.context) or "") <= 550
    assert not both & set(setup.ask("and the dark mode of the settings page?").records)
    idle = setup.ask("ok, go on", session="idle")
    assert set(idle.records) == both
    setup.it.receipts.flush()
    again = Setup(store, clock, chosen)  # after a restart of the daemon
    again.settle()
    assert not both & set(again.ask("ok, go on", session="idle").records)
    again.runtime.close()
    compacted = arrival(kind="note", session_id="now", body=JsonBody(data={"signal": "compaction"}))
    setup.it.on_event(Notice(compacted, "cursor", "compaction"))
    assert both < set(setup.ask(question).records)


def test_a_start_that_was_late_was_not_answered(
    setup: Setup, monkeypatch: pytest.MonkeyPatch
) -> None:
    setup.memories.add([RULE, STATE])
    setup.settle()
    free = threading.Event()
    with monkeypatch.context() as patched:
        patched.setattr(setup.it.recall_now, "limit_ms", 1)
        patched.setattr(recall, "gather", lambda *_: free.wait(PATIENCE_S))
        assert setup.ask("", trigger="session-start").context == ""
    free.set()
    assert set(setup.ask("ok, go on").records) == {RULE.record_id, STATE.record_id}


def test_a_session_that_was_told_its_start_pays_the_first_prompt_from_what_is_left(
    setup: Setup, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lines(*_: object) -> list[Any]:
        key = f"branch {len(given)}"
        return [BriefLine(key, "place", 1.0, "earlier work", line="word " * 80)]

    rooms: list[int] = []
    given: list[int] = []

    def watched(total: int, wanted: Any, **most: int) -> Any:
        rooms.append(total)
        return allot(total, wanted, **most)

    setup.ask("", trigger="session-start")
    monkeypatch.setattr(gather, "_work_lines", lines)
    monkeypatch.setattr(recall, "allot", watched)
    told = setup.it.recall_now._told.in_session(NAMESPACE, "now")
    for spent in (0, 360, 400, 500):
        told.start = spent
        rooms.clear()
        setup.ask("cap the retries")
        given.append(rooms[0])
    free, tight, none, beyond = given
    assert free > tight > none == beyond
    assert tight - none <= 40 and none <= 150


def test_a_chore_is_told_what_holds_in_general_and_no_turns(setup: Setup) -> None:
    turn = episode("Run the tests", "I ran the tests and they passed.")
    rule = record("Run the tests with make check, never pytest itself.", kind="knowledge")
    note = record("The tests need Docker to run.", strategy="user", author="user")
    made = setup.memories.add([turn, rule, note])
    setup.settle()
    recalled = setup.ask("run the tests")
    assert set(recalled.records) == {made[1].record_id, made[2].record_id}
    why = {one["record_id"]: one["why_not"] for one in setup.receipt(recalled).detail["candidates"]}
    assert why[made[0].record_id] == "a note or a belief already answers"


def test_nothing_is_repeated_in_a_session_until_its_context_is_gone(setup: Setup) -> None:
    setup.memories.add(WORK)
    setup.settle()
    question = "how are retries of the billing api capped?"
    first = setup.ask(question)
    assert first.records
    again = setup.ask(question)
    assert not set(again.records) & set(first.records)
    told = [one["why_not"] for one in setup.receipt(again).detail["candidates"]]
    assert "told earlier in this session" in told
    assert setup.ask(question, session="other").records == first.records
    compacted = arrival(kind="note", session_id="now", body=JsonBody(data={"signal": "compaction"}))
    setup.it.on_event(Notice(compacted, "claude-code", "compaction"))
    assert setup.ask(question).records == first.records


def test_a_restart_remembers_what_a_session_was_told(
    setup: Setup, store: SqliteStore, clock: ManualClock, chosen: Settings
) -> None:
    setup.memories.add(WORK)
    setup.settle()
    question = "how are retries of the billing api capped?"
    first = setup.ask(question)
    setup.it.receipts.flush()
    again = Setup(store, clock, chosen)
    again.settle()
    assert not set(again.ask(question).records) & set(first.records)
    again.runtime.close()


def test_the_session_itself_is_not_told_what_it_just_said(setup: Setup) -> None:
    setup.memories.add([episode("Cap the retries of the billing API", session_id="now")])
    setup.settle()
    assert setup.ask("how are retries of the billing api capped?").records == ()


def test_new_memories_are_found_at_once_and_deleted_ones_no_more(setup: Setup) -> None:
    setup.memories.add(WORK)
    setup.settle()
    (fresh,) = setup.memories.add([note("The staging cluster is called quokka")])
    assert setup.ask("what is the staging cluster called quokka?").records == (fresh.record_id,)
    operation = setup.memories.delete(NAMESPACE, [fresh.record_id], "ada")
    assert operation is not None
    assert fresh.record_id not in setup.ask("staging cluster quokka?", session="b").records
    setup.memories.undo(NAMESPACE, operation.op_id, "ada")
    assert setup.ask("staging cluster quokka?", session="c").records == (fresh.record_id,)


def test_never_again_means_never_again(setup: Setup) -> None:
    made = setup.memories.add(WORK)
    setup.settle()
    question = "how are retries of the billing api capped?"
    setup.it.feedback.give(NAMESPACE, made[0].record_id, "never", "ada")
    recalled = setup.ask(question)
    assert made[0].record_id not in recalled.records
    why = {one["record_id"]: one["why_not"] for one in setup.receipt(recalled).detail["candidates"]}
    assert why[made[0].record_id] == "you said: never again"
    setup.it.feedback.give(NAMESPACE, made[0].record_id, "useful", "ada")
    assert made[0].record_id in setup.ask(question, session="b").records
    with pytest.raises(errors.NotFound):
        setup.it.feedback.give(NAMESPACE, "mr_unknown", "wrong", "ada")


def test_what_was_rated_wrong_stays_out_with_its_turn_until_it_is_edited(setup: Setup) -> None:
    turn = WORK[0].source_event_ids or (ids.new_ulid(),)
    note, sibling, other = (
        msgspec.structs.replace(one, source_event_ids=events)
        for one, events in zip(WORK, (turn, turn, ()), strict=False)
    )
    note, sibling, other = setup.memories.add([note, sibling, other])
    setup.settle()
    setup.it.feedback.give(NAMESPACE, note.record_id, "wrong", "ada")
    verdicts = setup.it.feedback.of(NAMESPACE)
    assert set(verdicts.wrong) == {note.record_id}
    assert set(verdicts.wrong_events) == set(turn)
    recalled = setup.ask("how are retries of the billing api capped?")
    assert note.record_id not in recalled.records
    why = {one["record_id"]: one["why_not"] for one in setup.receipt(recalled).detail["candidates"]}
    assert "as wrong" in why[note.record_id]
    setup.memories.edit(
        msgspec.structs.replace(note, summary="Retries are capped at 7."), "ada", ""
    )
    setup.it.feedback.forget_known()
    verdicts = setup.it.feedback.of(NAMESPACE)
    assert not verdicts.wrong and not verdicts.wrong_events
    assert note.record_id in setup.ask("how are retries of the billing api capped?", "b").records


def test_verdicts_survive_a_restart(
    setup: Setup, store: SqliteStore, clock: ManualClock, chosen: Settings
) -> None:
    made = setup.memories.add(WORK)
    setup.settle()
    setup.it.feedback.give(NAMESPACE, made[0].record_id, "never", "ada")
    again = Setup(store, clock, chosen)
    again.settle()
    assert made[0].record_id not in again.ask("retries of the billing api capped?").records
    again.runtime.close()


def test_a_session_starts_with_preferences_and_recent_work(
    setup: Setup, clock: ManualClock
) -> None:
    setup.memories.add([*WORK, record("Last week's summary", kind="summary", summary="All done.")])
    put_graph(setup.store,
        Preference(preference_id="pref_1", namespace=GLOBAL, category="tools",
                   key="package_manager", value="pnpm")
    )  # fmt: skip
    recalled = setup.ask("", trigger="session-start")
    content = render.parse(recalled.context)
    assert content is not None
    lines = content.splitlines()
    assert lines[0] == "Rules here: package manager: pnpm"
    assert "Last week's summary" in lines[1] and len(lines) == 2
    assert count_tokens(recalled.context) <= 400


def test_a_start_tells_rules_and_profile_behind_any_number_of_newer_memories(
    setup: Setup, clock: ManualClock
) -> None:
    rule = record("Never run terraform apply by hand", kind="knowledge",
                  knowledge_type="constraint")  # fmt: skip
    person = record("Is new to Rust", namespace=GLOBAL, kind="knowledge",
                    knowledge_type="heuristic", category="profile")  # fmt: skip
    setup.memories.add([rule, person, record("Retries are capped", kind="summary")])
    clock.advance(seconds=3600)
    for namespace in (NAMESPACE, GLOBAL):
        setup.memories.add([
            record(f"{kind} {number}", namespace=namespace, kind=kind, **{type_: "decision"})
            for number in range(300)
            for kind, type_ in (("observation", "observation_type"),
                                ("knowledge", "knowledge_type"))
        ])  # fmt: skip
    told = setup.ask("", trigger="session-start").context
    assert "Never run terraform apply" in told and "Is new to Rust" in told
    assert "Retries are capped" in told
    told = setup.ask("terraform apply -auto-approve", session="b", trigger="tool").context
    assert "Never run terraform apply" in told  # by the action, too
    question = RecallQuestion("session-start", "", (NAMESPACE, GLOBAL), "x", None, 40_000)
    told = setup.it.recall_now.preview(question, 2000).context
    assert "Never run terraform apply" in told and "Is new to Rust" in told


def test_rules_near_what_is_worked_on_come_first_at_a_start(setup: Setup) -> None:
    rules = [f"Name the {thing} in lower case" for thing in ("logs", "queues", "hosts", "topics")]
    rules += [f"Keep {thing} in one folder" for thing in ("icons", "fonts", "mocks", "dumps")]
    near = "Round every invoice amount to cents"
    setup.memories.add(
        [record(one, kind="knowledge", knowledge_type="constraint") for one in (near, *rules)]
    )
    setup.settle()

    def told(branch: str) -> list[str]:
        asked = setup.ask("", trigger="session-start", branch=branch, session=branch)
        lines = setup.receipt(asked).detail["candidates"]
        return [one["title"] for one in lines]

    assert told("fix/invoice-rounding")[0] == near
    assert told("fix/font-loading")[0] == "Keep fonts in one folder"


def test_a_twentieth_of_the_budget_is_left_free(
    setup: Setup, monkeypatch: pytest.MonkeyPatch
) -> None:
    setup.memories.add([note("Retries of the billing API are capped", "at five")])
    setup.settle()
    rooms: list[int] = []

    def watched(total: int, wanted: Any, **most: int) -> Any:
        rooms.append(total)
        return allot(total, wanted, **most)

    monkeypatch.setattr(recall, "allot", watched)
    question = RecallQuestion("prompt", "billing retries", (NAMESPACE, GLOBAL), "x", None, 40_000)
    for budget in (1000, 3000):
        text = setup.it.recall_now.preview(question, budget).context
        assert "capped" in text
    # Of tokens; the others are of characters. The fence's mark is random, some cost a token more.
    assert abs(rooms[2] - rooms[0] - 0.95 * 2000) < 20


def test_the_smallest_budget_has_room_for_a_memory(setup: Setup) -> None:
    """Headings of sections without content cost nothing."""
    made = setup.memories.add(WORK)
    setup.settle()
    text = "how are retries of the billing api capped?"
    asked = RecallQuestion("prompt", text, (NAMESPACE, GLOBAL), "", None, 9500)
    for tokens in (100, 110, 120):
        told = setup.it.recall_now.preview(asked, tokens)
        assert told.records == (made[0].record_id,)
        assert count_tokens(told.context) <= 0.95 * tokens


def test_the_budget_holds_whatever_there_is(setup: Setup, store: SqliteStore, clock: ManualClock,
                                            chosen: Settings) -> None:  # fmt: skip
    setup.memories.add([
        episode(f"Retry {n} of the billing API", "billing API retry " * 200, summary="s " * 900)
        for n in range(30)
    ])  # fmt: skip
    setup.settle()
    for session, limit in (("a", 9500), ("b", 1500), ("c", 400)):
        recalled = setup.ask("retry of the billing API", session=session, limit_chars=limit)
        assert len(recalled.context) <= limit
        assert count_tokens(render.parse(recalled.context) or "") <= chosen.prompt_tokens
    left = [one["why_not"] for one in setup.receipt(recalled).detail["candidates"]]
    assert set(left) - {""} <= {
        "no room left in the budget",
        "enough was found that is more likely to be of use",
    }


def test_what_is_late_or_fails_is_answered_with_nothing(
    store: SqliteStore, clock: ManualClock, chosen: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Setup(store, clock, chosen)
    made.it.recall_now.limit_ms = 30
    made.memories.add(WORK)
    made.settle()
    go_on = threading.Event()

    def late_search(*_: object, **__: object) -> None:
        go_on.wait(PATIENCE_S)
        raise ValueError("too late for anybody")

    made.it.recall_now.limit_ms = 50
    with monkeypatch.context() as patched:
        patched.setattr(made.it.engine, "search", late_search)
        late = made.ask("how are retries capped?")
        go_on.set()
    assert late.context == "" and "late" in made.receipt(late).detail
    made.it.recall_now.limit_ms = int(1000 * PATIENCE_S)
    with monkeypatch.context() as patched:
        patched.setattr(made.it.engine, "search", lambda *a, **k: 1 / 0)
        failed = made.ask("how are retries capped?")
    assert failed.context == ""
    assert made.receipt(failed).detail["failed"] == "ZeroDivisionError"
    assert made.counters.errors_last_hour()
    made.runtime.close()


def test_while_the_index_is_filled_words_are_searched_in_the_store(
    setup: Setup, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = setup.memories.add(WORK)
    monkeypatch.setattr(setup.it.index_cache, "soon_ready", lambda namespaces: False)
    recalled = setup.ask("retries of the billing API capped with exponential backoff")
    assert recalled.records == (made[0].record_id,)
    past = setup.ask("what did we decide last time about the retries of billing?", session="past")
    assert past.records == (made[0].record_id,)
    assert "index" in setup.receipt(recalled).detail["left_out"]
    assert setup.ask("what is the capital of Mongolia?", session="b").records == ()


def test_the_first_prompt_after_a_start_waits_for_a_small_index_and_no_large_one(
    store: SqliteStore, clock: ManualClock, chosen: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Setup(store, clock, replace(chosen, embedding=False))
    kept = made.memories.add(WORK)
    text = "what did we decide last time about billing?"
    assert not made.it.index_cache.ready([NAMESPACE, GLOBAL])
    with monkeypatch.context() as patched:
        patched.setattr(index_cache, "SMALL", len(WORK) - 1)
        filled = made.it.index_cache.soon_ready([NAMESPACE, GLOBAL], PATIENCE_S)
        assert not filled and not made.it.index_cache.filling([NAMESPACE, GLOBAL])
    patient = partial(made.it.index_cache.soon_ready, seconds=PATIENCE_S)
    monkeypatch.setattr(made.it.index_cache, "soon_ready", patient)
    recalled = made.ask(text)
    assert "index" not in made.receipt(recalled).detail["left_out"]
    assert recalled.records == (kept[0].record_id,)
    made.runtime.close()


def test_without_a_model_recall_goes_by_words(
    store: SqliteStore, clock: ManualClock, chosen: Settings
) -> None:
    for changed in ({"embedding": False}, {"model_dir": "/nonexistent"}):
        made = Setup(store, clock, replace(chosen, **changed))
        if not store.records.page(NAMESPACE).items:
            made.memories.add(WORK)
        made.it.index_cache.fill([NAMESPACE, GLOBAL])
        recalled = made.ask("how are retries of the billing api capped?", session=str(changed))
        assert recalled.records, changed
        assert made.receipt(recalled).detail["semantic"] is False
        made.runtime.close()


PAST = {  # questions about the past, and which memory of WORK answers
    "do you remember when we chose a colour for the bicycle?": None,
    "when did we launch the moon rocket?": None,
    "what did we pay for the sofa?": None,
    "when did we visit the volcano?": None,
    "what did we decide about the retries of the billing api?": 0,
    "why did we move the database?": 1,
    "what did we do about dark mode?": 2,
    "do you remember the flaky test?": 3,
}


def test_without_a_model_a_question_about_the_past_gets_only_what_shares_its_words(
    store: SqliteStore, clock: ManualClock, chosen: Settings
) -> None:
    made = Setup(store, clock, replace(chosen, embedding=False))
    kept = made.memories.add([msgspec.structs.replace(one, author="user") for one in WORK])
    made.it.index_cache.fill([NAMESPACE, GLOBAL])
    for text, answer in PAST.items():
        wanted = () if answer is None else (kept[answer].record_id,)
        assert made.ask(text, session=text).records == wanted, text
        asked = RecallQuestion("prompt", text, (NAMESPACE, GLOBAL), "", None, 9500)
        assert made.it.recall_now.preview(asked, 2000).records == wanted, text
    made.runtime.close()


def test_a_memory_that_has_no_vector_yet_is_told_only_for_its_words(
    setup: Setup, monkeypatch: pytest.MonkeyPatch
) -> None:
    setup.memories.add(WORK)
    setup.settle()
    assert setup.it._backfill is not None
    monkeypatch.setattr(setup.it._backfill, "wake", lambda: None)
    late = setup.memories.add([note("Lunch is at noon", "The kitchen closes at two.")])[0]
    recalled = setup.ask("when did we launch the moon rocket?")
    parts = {one["record_id"]: one["parts"] for one in setup.receipt(recalled).detail["candidates"]}
    assert parts[late.record_id]["cosine"] == MATCHING.unknown_cosine
    assert recalled.records == ()
    assert setup.ask("when did we say is lunch?", session="b").records == (late.record_id,)


def test_explicit_recall_says_it_again_only_where_nothing_else_answers(setup: Setup) -> None:
    setup.memories.add(WORK)
    setup.settle()
    first = setup.ask("how are retries of the billing api capped?")
    asked = "do you remember how the retries of the billing api are capped?"
    assert set(first.records) <= set(setup.ask(asked).records)
    more = note("Retries of the billing API wait for a second", "capped at a minute in retry.py")
    setup.memories.add([more])
    setup.settle()
    again = setup.ask(asked)
    assert more.record_id in again.records and not set(first.records) & set(again.records)


def test_a_note_is_told_without_its_request_which_a_dot_in_a_name_does_not_end() -> None:
    def told(summary: str) -> str:
        said = record("Retries capped", strategy="user", summary=summary)
        return forms(memory_line(said, 1.0), as_sections=False)[0]

    whole = "Asked: Fix src/retry.py: cap retries at 5"
    assert f": {whole} [" in told(whole)
    assert ": The cap is 5. [" in told(f"{whole}. The cap is 5.")
    assert ": The cap is 5. [" in told("Asked: is v1.2 out? The cap is 5.")


def test_a_drifted_memory_says_so() -> None:
    drifted = record("Retries", files=("src/retry.py",), freshness="drifted", summary="Capped.")
    line = memory_line(drifted, 1.0)
    says = "(drifted: src/retry.py changed since)"
    assert forms(line, as_sections=True)[0] == f"- [2026-01-01] Retries: Capped. {says}"
    assert forms(line, as_sections=False)[0].startswith(f"- 2026-01-01 Retries {says} [")


def test_memories_of_other_projects_are_never_injected(setup: Setup) -> None:
    foreign = msgspec.structs.replace(WORK[0], namespace="/actor/ada/project/other/")
    setup.memories.add([foreign])
    setup.it.index_cache.fill(["/actor/ada/project/other/"])
    setup.settle()
    assert setup.ask("how are retries of the billing api capped?").records == ()


def test_a_new_topic_does_not_let_a_memory_be_told_again(setup: Setup) -> None:
    setup.memories.add(WORK)
    setup.settle()
    question = "how are retries of the billing api capped?"
    first = setup.ask(question)
    assert first.records
    setup.ask("retry limits and backoff of the billing service")
    setup.ask("bake a chocolate cake with cherries")  # something else altogether
    assert not set(setup.ask(question).records) & set(first.records)


def test_a_turn_is_told_to_a_question_about_the_past_and_not_to_a_task(setup: Setup) -> None:
    (made,) = setup.memories.add([
        episode("Why do the orders arrive twice in the warehouse?", summary="The queue resends.")
    ])  # fmt: skip
    setup.settle()
    assert setup.ask("make the list of orders sortable by price").records == ()
    recalled = setup.ask("what did we find out about orders that arrive twice in the warehouse?")
    assert recalled.records == (made.record_id,)
    assert 'asked: "Why do the orders arrive twice in the warehouse?"' in recalled.context
    assert 'answered: "The queue resends."' in recalled.context


def test_a_turn_without_a_prompt_is_not_told_as_what_the_user_asked(setup: Setup) -> None:
    setup.memories.add([episode("The orders arrive twice in the warehouse.", author="assistant")])
    setup.settle()
    told = setup.ask(
        "what did we find out about orders that arrive twice in the warehouse?"
    ).context
    assert 'answered: "The orders arrive twice in the warehouse."' in told and "asked" not in told


def test_injected_words_that_an_agent_repeats_are_not_captured(setup: Setup) -> None:
    setup.memories.add([note("Retries of the billing API are capped at five, with backoff")])
    setup.settle()
    recalled = setup.ask("how are retries of the billing api capped?", session="s")
    line = recalled.context.splitlines()[2]
    said = f"As noted:\n{line}\nSo I did it."
    assert setup.it.recall_now.own_text.without("s", said) == "As noted:\nSo I did it."
    assert setup.it.recall_now.own_text.without("another", said) == said


def test_the_same_question_is_answered_from_the_cache_until_something_changes(
    setup: Setup, monkeypatch: pytest.MonkeyPatch
) -> None:
    setup.memories.add(WORK)
    setup.settle()
    asked: list[str] = []
    search = setup.it.engine.search

    def counted(text: str, *rest: Any, **more: Any) -> Any:
        asked.append(text)
        return search(text, *rest, **more)

    monkeypatch.setattr(setup.it.engine, "search", counted)
    for session in ("a", "b", "c"):
        setup.ask("how are retries of the billing api capped?", session=session)
    assert len(asked) == 1
    setup.memories.add([episode("Something new")])
    setup.ask("how are retries of the billing api capped?", session="d")
    assert len(asked) == 2


def test_a_question_that_nobody_answered_does_not_hide_the_answer(setup: Setup) -> None:
    """Somebody asked the same before and was interrupted: the echo helps nobody."""
    echo = episode("How are retries of the billing api capped?", category="unanswered")
    made = setup.memories.add([echo, *WORK])
    setup.settle()
    recalled = setup.ask("How are retries of the billing api capped?")
    assert recalled.records == (made[1].record_id,)
    why = {one["record_id"]: one["why_not"] for one in setup.receipt(recalled).detail["candidates"]}
    assert why[made[0].record_id] == "a question that got no answer"
    assert made[0].record_id not in setup.ask("", session="b", trigger="session-start").records


def test_a_prompt_that_states_nothing_and_got_no_answer_is_not_told(setup: Setup) -> None:
    """Without a question mark it is no statement either."""
    setup.memories.add(
        [
            episode("retry storm", category="unanswered"),
            episode("what is the weather like in Lisbon tomorrow", category="unanswered"),
        ]
    )
    setup.settle()
    for text in ("what did we say about the retry storm?", "what did we say about Lisbon?"):
        assert setup.ask(text, session=text).records == ()


def test_what_was_said_in_an_interrupted_turn_is_not_hidden_by_an_unrelated_note(
    setup: Setup,
) -> None:
    said = episode("The word of the day is xylophone-quartz", category="unanswered")
    made = setup.memories.add([said, episode("Deployments happen on Fridays")])
    setup.settle()
    recalled = setup.ask("what is the word of the day, xylophone-quartz?")
    assert recalled.records == (made[0].record_id,)


def test_the_same_answer_of_two_sessions_is_said_once(setup: Setup) -> None:
    again = msgspec.structs.replace(
        WORK[0], record_id="mr_01M7H0000000000000000000ZZ", session_id="older"
    )
    setup.memories.add([*WORK, again])
    setup.settle()
    recalled = setup.ask("how are the retries of the billing API capped?")
    assert recalled.context.count("Cap the retries of the billing API") == 1
    left_out = [one["why_not"] for one in setup.receipt(recalled).detail["candidates"]]
    assert "says the same as another one" in left_out


def test_a_memory_that_may_not_be_said_does_not_make_others_weak(setup: Setup) -> None:
    exact = episode("How are retries of the billing api capped?", "How are retries of the billing "
                    "api capped? At five, with exponential backoff.")  # fmt: skip
    made = setup.memories.add([exact, *WORK])
    setup.settle()
    setup.it.feedback.give(NAMESPACE, made[0].record_id, "never", "ada")
    assert setup.ask("How are retries of the billing api capped?").records == (made[1].record_id,)
