"""Every door searches with the same inputs, so that a receipt can be reproduced."""

import os
import time
from collections.abc import Iterator
from datetime import timedelta

import pytest
from msgspec import structs

from recollect.core.clock import ManualClock
from recollect.core.values import Entity, Fact
from recollect.daemon.runtime import Runtime
from recollect.service.context import ContextQuery, ExplainQuery, context, explain
from recollect.service.search import Mode, SearchQuery, search
from tests.fakes.stored import put_graph
from tests.make import NAMESPACE, record

ASK = "who looks after the ledger, and what is its retry cap?"


@pytest.fixture
def utc() -> Iterator[None]:
    before = os.environ.get("TZ")
    os.environ["TZ"] = "UTC"
    time.tzset()
    yield
    os.environ.pop("TZ") if before is None else os.environ.update(TZ=before)
    time.tzset()


def _learn(runtime: Runtime, clock: ManualClock) -> str:
    """A memory that only the graph leads to; returns its id."""
    hidden = record("Mateo was on call all week", source_event_ids=("e1",), valid_from=clock.now())
    near = record("The retry cap of ledger is seven attempts", valid_from=clock.now())
    runtime.memories.add([hidden, near])
    ledger = Entity(entity_id="ent_1", namespace=NAMESPACE, name="ledger", type="service")
    owner = Fact(
        fact_id="fact_1", namespace=NAMESPACE, entity_id="ent_1", subject="ledger",
        predicate="owned_by", object="Mateo", valid_from=clock.now(), source_event_ids=("e1",),
    )  # fmt: skip
    put_graph(runtime.store, ledger, owner)
    return hidden.record_id


def test_search_and_explain_give_the_scores_of_a_receipt(
    runtime: Runtime, clock: ManualClock
) -> None:
    hidden = _learn(runtime, clock)
    told = context(runtime, ContextQuery(query=ASK, namespace=NAMESPACE)).candidates
    clock.advance(hours=5)  # the same day
    searched = search(runtime, SearchQuery(query=ASK, namespace=NAMESPACE)).items
    explained = explain(runtime, ExplainQuery(query=ASK, namespace=NAMESPACE)).items
    receipt = {one.record_id: one.parts for one in told}
    assert receipt[hidden]["graph"] > 0
    assert {one.record.record_id: one.parts for one in searched} == receipt
    assert {one.record.record_id: one.parts for one in explained} == receipt
    assert [one.score for one in searched] == [one.score for one in explained]


def test_search_as_of_walks_the_graph_of_that_time(runtime: Runtime, clock: ManualClock) -> None:
    hidden = _learn(runtime, clock)
    clock.advance(days=1)
    then = clock.now()
    clock.advance(days=1)
    fact = runtime.store.graph.facts(NAMESPACE)[0]
    put_graph(runtime.store, structs.replace(fact, valid_until=clock.now()))
    past = search(runtime, SearchQuery(query=ASK, namespace=NAMESPACE, as_of=then)).items
    assert {one.record.record_id: one.parts for one in past}[hidden]["graph"] > 0
    now = search(runtime, SearchQuery(query=ASK, namespace=NAMESPACE)).items
    assert now and all("graph" not in one.parts for one in now)


def test_yesterday_is_the_day_before_the_question(
    runtime: Runtime, clock: ManualClock, utc: None
) -> None:
    today = record("We moved the cache to Redis", valid_from=clock.now())
    before = record("We moved the cache to disk", valid_from=clock.now() - timedelta(days=1))
    runtime.memories.add([today, before])
    asked = SearchQuery(query="what did we do with the cache yesterday?", namespace=NAMESPACE)
    dated = {one.record.record_id: one.parts["date"] for one in search(runtime, asked).items}
    assert dated == {today.record_id: 0.0, before.record_id: 1.0}


def test_a_search_says_where_its_good_results_end(runtime: Runtime, clock: ManualClock) -> None:
    runtime.memories.add(
        [
            record("The retry cap of the ledger is seven attempts", valid_from=clock.now()),
            record("The office plants are watered on Mondays", valid_from=clock.now()),
        ]
    )

    def good(query: str) -> tuple[int, int]:
        answer = search(runtime, SearchQuery(query=query, namespace=NAMESPACE))
        return answer.good, len(answer.items)

    assert good("what is the retry cap of the ledger?") == (1, 2)
    assert good("which of the kubernetes clusters is the newest?") == (0, 2)


# H09
@pytest.mark.parametrize(
    "query",
    [
        "what is flaky",
        "retry storm",
        "billing",
        "the api",
        "walrus",
        "is the login retried (twice)?",
    ],
)
def test_rank_fusion_without_a_model_ranks_as_the_full_text_of_the_store(
    runtime: Runtime, query: str
) -> None:
    said = {"strategy": "user", "author": "user"}
    runtime.memories.add(
        [
            record("The login test is flaky", detail="It is retried twice.", **said),
            record("Retries", detail="The billing API is retried: a flaky network, a retry storm."),
            record("What is retried", detail="Only reads. The retry storm came from writes."),
            record("Use pnpm", detail="In the web app.", **said),
            record("A storm of mails", detail="Billing sent every invoice twice.", **said),
            record("The api is versioned by header", detail="Billing asked for it."),
        ]
    )
    asked = SearchQuery(query=query, namespace=NAMESPACE, fusion="rrf")
    wanted = [hit.record.record_id for hit in runtime.store.records.search([NAMESPACE], query, 10)]
    assert [one.record.record_id for one in search(runtime, asked).items] == wanted
    told = explain(runtime, ExplainQuery(query=query, namespace=NAMESPACE, fusion="rrf"))
    assert [one.record.record_id for one in told.items] == wanted


def test_without_a_model_only_what_has_words_of_the_query_is_listed_as_good(
    runtime: Runtime, clock: ManualClock
) -> None:
    said = {"strategy": "user", "author": "user", "valid_from": clock.now()}
    runtime.memories.add(
        [record("A capybara sleeps in the pond", **said)]
        + [record(f"Invoice {n} was paid in full", **said) for n in range(6)]
    )
    modes: tuple[Mode, ...] = ("keyword", "hybrid")
    for mode in modes:
        asked = SearchQuery(query="capybara", namespace=NAMESPACE, mode=mode)
        answer = search(runtime, asked)
        assert [one.record.title for one in answer.items] == ["A capybara sleeps in the pond"]
        assert answer.good == 1
    asked = SearchQuery(query="was the capybara full?", namespace=NAMESPACE)
    assert search(runtime, asked).good == 1
