"""Knowledge in front of the agent: sections, shares, consent, what was told, hops, and time."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from recollect.core import ids
from recollect.core.clock import ManualClock
from recollect.core.settings import Settings
from recollect.core.text_words import count_tokens
from recollect.core.values import Checkpoint, Record
from recollect.daemon.runtime import Runtime
from recollect.extract.interface import (
    Claim,
    EntityClaim,
    FactClaim,
    PreferenceClaim,
    ProcedureClaim,
)
from recollect.ingest.messages import RecallQuestion
from recollect.inject import render
from recollect.reconcile import graph_claims
from recollect.reconcile.plan import apply
from recollect.retrieve.engine import Result
from recollect.store.sqlite import SqliteStore
from tests.fakes.checkpoints import put_checkpoint
from tests.make import NAMESPACE, NOON, record

GLOBAL = "/actor/ada/"


class Setup:
    """Recall by words alone, with the real store, engine and graph."""

    def __init__(self, store: SqliteStore, clock: ManualClock, settings: Settings) -> None:
        self.store, self.clock = store, clock
        chosen = replace(settings, embedding=False)
        self.runtime = Runtime(chosen, clock, store)
        self.memories = self.runtime.memories
        self.it = self.runtime.load_recall()
        self.it.recall_now.limit_ms = 5000

    def say(self, text: str, days: int = 0, *claims: Claim) -> Record:
        event = ids.new_ulid()
        at = NOON + timedelta(days=days)
        said = record(
            text, kind="episode", detail=text, valid_from=at, source_event_ids=(event,),
            session_id=f"s{event}",
        )  # fmt: skip
        kept = self.memories.add([said])[0]
        self.learn(*(replace(claim, event_ids=(event,)) for claim in claims))
        self.it.index_cache.fill([NAMESPACE, GLOBAL])
        return kept

    def learn(self, *claims: Claim) -> None:
        plan = graph_claims.learn(self.store.graph, NAMESPACE, claims, self.clock.now())
        self.store.transaction(lambda tx: apply(tx, plan, "ada"))
        self.it.index_cache.fill([NAMESPACE, GLOBAL])

    def ask(self, text: str, session: str = "now", **fields: Any) -> str:
        return self.recalled(text, session, **fields)[0]

    def ask_on_purpose(self, text: str) -> str:
        """As a door does that names a budget."""
        question = RecallQuestion("prompt", text, (NAMESPACE, GLOBAL), "", None, 9500)
        return render.parse(self.it.recall_now.preview(question, 2000).context) or ""

    def recalled(self, text: str, session: str = "now", **fields: Any) -> tuple[str, Any]:
        question = RecallQuestion("prompt", text, (NAMESPACE, GLOBAL), session, None, 9500)
        recalled = self.it.recall_now(replace(question, **fields))
        self.it.receipts.flush()
        assert recalled.receipt_id is not None
        receipt = self.store.receipts.get(NAMESPACE, recalled.receipt_id)
        return render.parse(recalled.context) or "", receipt


@pytest.fixture
def setup(store: SqliteStore, clock: ManualClock, settings: Settings) -> Iterator[Setup]:
    made = Setup(store, clock, settings)
    yield made
    made.runtime.close()


def fact(subject: str, predicate: str, said: str, days: int = 0, **fields: Any) -> FactClaim:
    return FactClaim(subject, predicate, said, NOON + timedelta(days=days), "user", "stated", 0.9)


def wish(key: str, value: str, everywhere: bool = False) -> PreferenceClaim:
    return PreferenceClaim("tools", key, value, NOON, "stated", everywhere=everywhere)


RELEASE = ProcedureClaim("Release", "when tagging a release", ("make check", "push tag"), NOON)


def test_the_template_has_its_sections_in_order_and_none_that_is_empty(setup: Setup) -> None:
    setup.say("billing-api uses Postgres 16 for a release", 0,
              fact("billing-api", "uses_database", "Postgres 16"))  # fmt: skip
    setup.learn(wish("release_tool", "make"), RELEASE)
    asked = "which database does the Billing API release tool use, tagging?"
    _, receipt = setup.recalled(asked)
    text = setup.ask_on_purpose(asked)
    heads = [line for line in text.split("\n") if line.startswith("###")]
    assert heads == [
        "### Preferences", "### Known Context", "### Relevant History", "### Learned Procedures",
    ]  # fmt: skip
    assert "- tools.release_tool: make" in text
    assert "- billing-api uses database Postgres 16 (confidence: 0.9)" in text
    assert "- **Release** (confidence: 0.5): when tagging a release -> make check, push tag" in text
    known = {item["kind"]: item for item in receipt.detail["known"]}
    assert known["known"]["why"] == "of billing-api" and known["known"]["injected"]
    assert receipt.detail["named"] == ["Billing API"]
    setup.ask("", "other", trigger="session-start")
    assert setup.ask("what is the capital of Mongolia?", "other") == ""


def test_who_asks_on_purpose_gets_every_preference_with_the_answer(setup: Setup) -> None:
    setup.say("billing-api listens on 8443", 0)
    setup.learn(wish("package_manager", "uv"), wish("theme", "dark", everywhere=True))
    asked = "which port does billing-api listen on?"
    text = setup.ask_on_purpose(asked)
    assert (
        "8443" in text and "- tools.package_manager: uv" in text and "- tools.theme: dark" in text
    )
    setup.ask("", trigger="session-start")
    assert "uv" not in setup.ask(asked)  # a hook told them when the session began


def test_a_described_thing_is_found_by_its_description(setup: Setup) -> None:
    said = "charges credit cards for the checkout"
    described = EntityClaim("gullwing", "service", said, event_ids=("e",))
    setup.learn(fact("gullwing", "port", "8080"), described)
    text, receipt = setup.recalled("what charges credit cards here?")
    assert "- gullwing (service): charges credit cards for the checkout" in text
    (item,) = [one for one in receipt.detail["known"] if one["kind"] == "known"]
    assert item["why"] == "shares 3 words with the prompt"
    assert "gullwing" not in setup.ask("what paints the fence?", "other")


def test_what_was_told_is_not_told_again(setup: Setup) -> None:
    setup.learn(fact("billing-api", "port", "8443"))
    question = "on which port does billing-api listen?"
    assert "8443" in setup.ask(question)
    text, receipt = setup.recalled(question)
    assert text == ""
    assert receipt.detail["known"][0]["why_not"] == "told earlier in this session"
    assert "8443" in setup.ask(question, "another")


def test_a_restart_remembers_which_facts_were_told(
    setup: Setup, store: SqliteStore, clock: ManualClock, settings: Settings
) -> None:
    setup.learn(fact("billing-api", "port", "8443"))
    setup.recalled("on which port does billing-api listen?")
    again = Setup(store, clock, settings)
    assert again.ask("on which port does billing-api listen?") == ""
    again.runtime.close()


@pytest.mark.parametrize("consent", [False, True])
def test_sensitive_facts_need_consent(
    store: SqliteStore, clock: ManualClock, settings: Settings, consent: bool
) -> None:
    setup = Setup(store, clock, replace(settings, share_sensitive=consent))
    setup.learn(fact("Mateo", "salary", "90000 a year"))
    text, receipt = setup.recalled("what is the salary of Mateo?")
    assert ("90000" in text) == consent
    told = receipt.detail["known"][0]
    assert told["injected"] == consent
    assert ("90000" in receipt.detail.pop("text", "")) == consent  # the very text, if there is one
    assert "90000" not in str(receipt.detail)
    assert bool(told["why_not"]) != consent
    setup.runtime.close()


def test_the_graph_leads_to_a_memory_that_shares_no_name_with_the_question(setup: Setup) -> None:
    setup.say("Priya takes over tidewater", 0, fact("tidewater", "owned_by", "Priya"))
    wanted = setup.say("tidewater keeps its rows in CockroachDB", 1,
                       fact("tidewater", "uses_database", "CockroachDB"))  # fmt: skip
    for number in range(4):
        setup.say(f"Priya had lunch and spoke of kayaks, part {number}", number)
        setup.say(f"how to choose a database, part {number}", number)
    question = "What database is behind what Priya looks after?"
    _, bonus = setup.it.graphs.walk(question, [NAMESPACE])

    def place(reached: dict[str, float], fusion: Any = "linear") -> int:
        ranked = setup.it.engine.search(
            question, [NAMESPACE], limit=50, floor=False, fusion=fusion, reached=reached
        )
        return [one.id for one in (*ranked.results, wanted_last)].index(wanted.record_id)

    wanted_last = Result(wanted.record_id, NAMESPACE, 0.0, {})
    assert place(bonus) < place({})
    assert place(bonus, "rrf") < place({}, "rrf")
    text, receipt = setup.recalled(question)
    assert "tidewater uses database CockroachDB" in text
    related = [item for item in receipt.detail["known"] if item["kind"] == "related"]
    assert related[0]["why"] == "by way of Priya > tidewater"


def test_a_memory_of_what_no_longer_holds_says_so(setup: Setup) -> None:
    setup.say("billing uses MySQL as its database", 0, fact("billing", "uses_database", "MySQL"))
    setup.say("billing moved to the database Postgres", 9,
              fact("billing", "uses_database", "Postgres", 9))  # fmt: skip
    assert setup.ask("which database does billing use?") == "- billing uses database Postgres"
    text = setup.ask_on_purpose("which database does billing use?")
    (old,) = [line for line in text.split("\n") if "MySQL" in line]
    assert "(no longer so; now: billing uses database Postgres)" in old


def test_a_change_is_seen_at_once_and_so_is_its_undo(setup: Setup) -> None:
    setup.learn(fact("billing", "uses_database", "MySQL"))
    question = "which database does billing use?"
    assert "MySQL" in setup.ask(question, "a")
    setup.learn(fact("billing", "uses_database", "Postgres", 3))
    assert "Postgres" in setup.ask(question, "b") and "MySQL" not in setup.ask(question, "c")
    operation = setup.store.log.page(NAMESPACE).items[0]
    setup.store.log.undo(NAMESPACE, operation.op_id, "ada")
    assert "MySQL" in setup.ask(question, "d") and "Postgres" not in setup.ask(question, "e")


def test_a_session_starts_with_preferences_and_where_the_last_one_stopped(setup: Setup) -> None:
    setup.learn(wish("editor", "Zed"), wish("editor", "Vim", True), wish("shell", "fish", True))
    put_checkpoint(
        setup.store,
        Checkpoint(
            checkpoint_id="chk_1",
            namespace=NAMESPACE,
            session_id="before",
            task="Cap the retries",
            next_steps=("write the test",),
            questions=("which limit?",),
        ),
    )
    text = setup.ask("", trigger="session-start")
    rules, left_off = text.split("\n")
    assert rules == "Rules here: editor: Zed; shell: fish"
    assert left_off.startswith("Left off ")
    assert left_off.endswith("Cap the retries; next: write the test; open: which limit?")
    setup.store.records.put([record("Cap the retries.", kind="summary")])
    _, summary, left = setup.ask("", "another", trigger="session-start").split("\n")
    assert "Cap the retries" in summary and left == "next: write the test; open: which limit?"


def test_facts_cannot_crowd_out_history_nor_exceed_the_budget(setup: Setup) -> None:
    setup.say("billing retries are capped at five, see the retry note of billing", 0)
    for number in range(60):
        setup.learn(fact("billing", f"retry_rule_{number}x", f"retry rule number {number} " * 4))
    setup.say("billing retries and the retry rules were written down for billing", 1)
    question = RecallQuestion(
        "prompt", "billing retry rules", (NAMESPACE, GLOBAL), "now", None, 9500
    )
    recalled = setup.it.recall_now(question)
    assert "- billing retry rule" in recalled.context
    content = render.parse(recalled.context) or ""
    assert count_tokens(content) <= setup.runtime.settings.prompt_tokens
    asked = setup.it.recall_now.preview(question, 1200).context
    assert "### Relevant History" in asked and "### Known Context" in asked
    assert count_tokens(asked) <= 1200


def test_time_in_a_prompt_prefers_memories_of_that_time(setup: Setup, clock: ManualClock) -> None:
    days = (clock.now() - NOON).days
    for back in (30, 8, 1):
        setup.say(f"worked on the importer, round {back}", days - back)
    now = int(clock.now().timestamp() * 1_000_000)
    for asked, back in (("yesterday", 1), ("last week", 8), ("30 days ago", 30)):
        text = f"what did we do on the importer {asked}?"
        ranked = setup.it.engine.search(text, [NAMESPACE], floor=False, now=now)
        best = setup.store.records.get(NAMESPACE, [ranked.results[0].id])[0]
        assert best.title.endswith(f"round {back}"), asked


def test_before_something_is_before_what_is_remembered_of_it(
    setup: Setup, clock: ManualClock
) -> None:
    early = setup.say("the importer ran nightly", 0)
    setup.say("the great migration to Postgres was done", 10)
    late = setup.say("the importer ran hourly", 20)
    clock.advance(days=60)
    now = int(clock.now().timestamp() * 1_000_000)
    for side, wanted in (("before", early), ("after", late)):
        text = f"how did the importer run {side} the great migration?"
        ranked = setup.it.engine.search(text, [NAMESPACE], floor=False, now=now)
        ids_ = [one.id for one in ranked.results if one.id in (early.record_id, late.record_id)]
        assert ids_[0] == wanted.record_id, side


def test_a_memory_of_what_was_found_not_to_be_so_is_told_with_what_is(setup: Setup) -> None:
    setup.say(
        "audit uses Postgres for its database.", 0, fact("audit", "uses_database", "Postgres")
    )
    setup.learn(fact("audit", "uses_database", "SQLite", days=-9))  # heard late: it lost
    setup.say("A test of the audit database opens SQLite in memory.", 1)
    setup.say("The database of quota opens SQLite in memory.", 2)
    lines = setup.ask_on_purpose("which database does audit use, SQLite?").split("\n")
    (told,) = [line for line in lines if "A test of the audit" in line]
    assert "(what holds: audit uses database Postgres)" in told
    assert not any("what holds" in line for line in lines if "quota" in line)


def test_a_rule_about_one_file_waits_until_that_file_is_named(setup: Setup) -> None:
    setup.learn(wish("test_style", "literal expectations in redact/redact_test.go"))
    setup.learn(wish("package_manager", "use uv, not pip"))
    start = setup.ask("", trigger="session-start")
    assert start == "Rules here: use uv, not pip"
    assert "literal expectations" in setup.ask("add a case to redact/redact_test.go", "other")
