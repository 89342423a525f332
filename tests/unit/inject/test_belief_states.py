"""What is told of beliefs: only what holds, where it holds; what ended takes everything along that
repeats it, and undo brings it back."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from recollect.core import ids
from recollect.core.clock import ManualClock
from recollect.core.settings import Settings
from recollect.core.values import Checkpoint, Preference, Record
from recollect.daemon.runtime import Runtime
from recollect.ingest.messages import RecallQuestion
from recollect.service import beliefs, context, search, sessions, tools, write
from recollect.service.scope import Scope
from recollect.service.undo import undo_operation
from recollect.store.interface import Transaction
from recollect.store.sqlite import SqliteStore
from tests.fakes.checkpoints import put_checkpoint
from tests.make import NAMESPACE, arrival, record

GLOBAL = "/actor/ada/"
PNPM = "Always use pnpm for the ui packages"


@pytest.fixture
def runtime(store: SqliteStore, clock: ManualClock, settings: Settings) -> Iterator[Runtime]:
    made = Runtime(replace(settings, embedding=False), clock, store)
    made.load_recall()
    yield made
    made.close()


def belief(runtime: Runtime, title: str, **fields: Any) -> Record:
    given = {"kind": "knowledge", "knowledge_type": "constraint", "author": "user",
             "valid_from": runtime.clock.now(), **fields}  # fmt: skip
    (stored,) = runtime.memories.add([record(title, **given)])
    return stored


def told(runtime: Runtime, text: str = "", *, branch: str = "", session: str = "now") -> str:
    namespaces = (NAMESPACE, GLOBAL)
    runtime.recall().index_cache.fill(namespaces)
    runtime.recall().graphs.fill(namespaces)
    trigger = "prompt" if text else "session-start"
    question = RecallQuestion(trigger, text, namespaces, session, None, 20_000, branch=branch)
    return runtime.recall().recall_now.preview(question, None if not text else 4000).context


def test_only_what_holds_is_told_and_the_newer_of_a_dispute_is_marked(runtime: Runtime) -> None:
    belief(runtime, "Never push to main")
    belief(runtime, "Never use tabs in yaml", state="proposed")
    belief(runtime, "Never use spaces in go", state="ended", ended_by="user")
    newer = belief(runtime, "Always use npm in the shop", state="disputed")
    belief(runtime, "Always use pnpm in the shop", state="disputed", ended_by=newer.record_id)
    short = newer.record_id[-5:].lower()
    question = "Should I use tabs, spaces, npm or push to main?"
    for text, mark in (
        (told(runtime), f"[{short}] (disputed)"),
        (told(runtime, question), f"(disputed [{short}])"),
    ):
        assert "Never push to main" in text
        assert "Always use npm in the shop" in text and mark in text
        assert "tabs in yaml" not in text and "spaces in go" not in text and "pnpm" not in text


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("which package manager is used in the shop?", True),
        ("can you add the package manager of the shop to the readme?", False),
        ("install the package manager in the shop", False),
    ],
)
def test_an_unsure_belief_answers_questions_and_instructs_nobody(
    runtime: Runtime, prompt: str, expected: bool
) -> None:
    newer = belief(
        runtime, "The package manager in the shop is npm", state="disputed", confidence=0.5
    )
    belief(runtime, "The shop's package manager is pnpm", state="disputed",
           ended_by=newer.record_id)  # fmt: skip
    assert "is npm" not in told(runtime)
    question = RecallQuestion("prompt", prompt, (NAMESPACE,), "now", None, 9500)
    assert ("is npm" in runtime.recall().recall_now.preview(question).context) is expected


def test_what_took_the_place_of_a_belief_answers_its_questions(runtime: Runtime) -> None:
    newer = belief(runtime, "Ops signed with Datadog, ship there", knowledge_type="decision")
    belief(runtime, "The shop sends its logs to Loki", state="ended", ended_by=newer.record_id)
    text = told(runtime, "Where does the shop send its logs?")
    assert "Datadog" in text and "Loki" not in text


def test_a_doubtful_statement_is_told_to_a_question_and_at_no_start(runtime: Runtime) -> None:
    newer = belief(runtime, "Sales won, people may send 100 megs", state="disputed", confidence=0.5)
    belief(runtime, "Uploads may have 25 mb", state="disputed", ended_by=newer.record_id)
    assert "100 megs" not in told(runtime)
    assert "100 megs" in told(runtime, "How large may uploads be?")


def test_a_belief_is_told_where_it_holds(runtime: Runtime) -> None:
    belief(runtime, "Never change the schema", scope="branch", scope_name="release")
    belief(runtime, "Never run the slow suite", scope="session", scope_name="now")
    belief(runtime, "Never mind the linter", scope="turn")
    there, elsewhere = told(runtime, branch="release"), told(runtime, branch="main", session="new")
    assert "schema" in there and "slow suite" in there and "linter" not in there
    assert "schema" not in elsewhere and "slow suite" not in elsewhere
    asked = told(runtime, "May I change the schema?", branch="main")
    assert "Never change the schema" in asked and "(on branch release)" in asked


def one_statement(runtime: Runtime, clock: ManualClock) -> Record:
    """A rule, and all that a session made of it."""
    said = arrival(PNPM, session_id="old")
    runtime.store.events.put([said])
    same: dict[str, Any] = {
        "session_id": "old",
        "source_event_ids": (said.event.event_id,),
        "valid_from": clock.now(),
        "author": "assistant",
    }
    rule = belief(runtime, PNPM, session_id="old", source_event_ids=same["source_event_ids"])
    runtime.memories.add(
        [
            record(PNPM, kind="episode", summary="Noted.", detail=PNPM, **same),
            record("Edited rules.md", kind="summary", observation_type="session_summary",
                   summary=f"Decided: {PNPM}. Next: write the release notes.", **same),
            record("Set up the lockfile", facts=(PNPM,), **same),
        ]
    )  # fmt: skip
    wish = Preference(
        preference_id="pref_1", namespace=NAMESPACE, category="tools", key="package_manager",
        value=PNPM, source_event_ids=same["source_event_ids"],
    )  # fmt: skip

    def put(tx: Transaction) -> None:
        tx.put_graph(wish)

    runtime.store.transaction(put)
    put_checkpoint(
        runtime.store,
        Checkpoint(
            checkpoint_id=ids.new_id(ids.CHECKPOINT), namespace=NAMESPACE, session_id="old",
            task="Rules of the ui", next_steps=(PNPM, "Write the release notes"),
            created_at=clock.now(),
        ),
    )  # fmt: skip
    return rule


def everywhere(runtime: Runtime) -> str:
    resumed = sessions.resume(runtime, Scope(namespace=NAMESPACE)).text
    asked = "Which package manager for the ui packages, pnpm?"
    text = "\n".join((told(runtime), told(runtime, asked), resumed))
    return re.sub(r"\[/?recollect \w+\]", "", text)


def test_what_ends_takes_along_what_repeats_it_and_undo_brings_all_back(
    runtime: Runtime, clock: ManualClock
) -> None:
    rule = one_statement(runtime, clock)
    before, then = everywhere(runtime), clock.now()
    assert before.count("pnpm") >= 4
    clock.advance(hours=1)
    operation = beliefs.end(runtime, rule.record_id)
    after = everywhere(runtime)
    assert "pnpm" not in after and "release notes" in after
    hits = search.search(runtime, search.SearchQuery(query="pnpm ui", namespace=NAMESPACE)).items
    (found,) = (one.record for one in hits if one.record.record_id == rule.record_id)
    assert "ended on" in tools.memory_line(found) and "ended on" in tools.memory_text(found)
    others = [one for one in hits if "pnpm" in one.record.title and one.record != found]
    assert others and all(one.says_ended for one in others)
    past = context.ContextQuery(
        query="pnpm for the ui packages?", namespace=NAMESPACE, as_of=then + timedelta(minutes=1)
    )
    assert "pnpm" in context.context(runtime, past).context
    undo_operation(runtime, operation.op_id)
    assert everywhere(runtime) == before


def test_the_current_value_alone_is_told_after_a_changed_mind(
    runtime: Runtime, clock: ManualClock
) -> None:
    rule = one_statement(runtime, clock)
    clock.advance(hours=1)
    beliefs.replace(runtime, rule.record_id, "Always use npm for the ui packages, not pnpm")
    later = record("Moved the ui packages to npm and dropped pnpm-lock.yaml",
                   valid_from=clock.now(), author="assistant")  # fmt: skip
    runtime.memories.add([later])
    text = everywhere(runtime)
    assert "Always use npm" in text and PNPM not in text
    assert later.title in text, "what was done since is not what ended"


def test_notes_that_only_share_words_with_what_ended_stay(
    runtime: Runtime, clock: ManualClock
) -> None:
    rule = belief(runtime, "Use Jest for the frontend tests", session_id="old")
    runtime.memories.add(
        [
            record("Fixed the frontend tests", session_id="old", author="assistant"),
            record("The frontend tests run in CI on every push", author="assistant"),
        ]
    )
    beliefs.end(runtime, rule.record_id)
    text = told(runtime, "How do the frontend tests run, and were they fixed?")
    assert "Fixed the frontend tests" in text and "run in CI" in text and "Jest" not in text


def test_what_the_user_corrected_next_is_told_with_its_correction(runtime: Runtime) -> None:
    same: dict[str, Any] = {"session_id": "old", "author": "assistant"}
    runtime.memories.add(
        [
            record("Why does the export fail?", kind="episode", position=1,
                   summary="The export fails because the disk is full.", **same),
            record("The export fails because the disk is full", position=1, **same),
            record("No, that's wrong: the token of the bucket had expired", kind="episode",
                   position=2, summary="Renewed the token.", **same),
            record("What is left to do on the export?", kind="episode", position=3,
                   summary="Nothing.", **same),
        ]
    )  # fmt: skip
    text = told(runtime, "Why did the export fail, was the disk full?")
    lines = [line for line in text.splitlines() if "disk is full" in line]
    assert lines and all("token of the bucket had expired" in line for line in lines)
    assert text.count("then corrected") == len(lines)


def test_a_belief_that_is_rated_wrong_ends_until_undo(runtime: Runtime, clock: ManualClock) -> None:
    rule = one_statement(runtime, clock)
    before = everywhere(runtime)
    clock.advance(hours=1)
    operation = write.judge(runtime, rule.record_id, "wrong")
    assert "pnpm" not in everywhere(runtime)
    undo_operation(runtime, operation.op_id)
    assert everywhere(runtime) == before
