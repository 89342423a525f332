"""What new statements do to the beliefs that are held: one clear candidate ends, several are
disputed, and another value for the same subject replaces the older one."""

from array import array
from datetime import datetime, timedelta
from typing import Any

import pytest

from recollect.core import ids
from recollect.core.values import Fact, Record, Vector
from recollect.core.vector_bytes import DIMENSIONS
from recollect.embedding.embedder import MODEL
from recollect.extract.interface import Claim, EndClaim, PreferenceClaim
from recollect.reconcile.belief_plan import BeliefPlan, plan_beliefs
from recollect.reconcile.dedupe import ClusterPlan, EmbeddedRecord
from recollect.store.sqlite import SqliteStore
from tests.fakes.stored import put_graph
from tests.make import NAMESPACE, NOON, record

LATER = NOON + timedelta(days=1)


def belief(title: str, at: datetime = NOON, **fields: Any) -> Record:
    given = {"kind": "knowledge", "knowledge_type": "constraint", "author": "user",
             "source_event_ids": (ids.new_ulid(),), "valid_from": at,
             "content_hash": title.casefold(), **fields}  # fmt: skip
    return record(title, **given)


def ends(said: Record, what: str = "", **fields: Any) -> EndClaim:
    return EndClaim(
        text=said.title, ends=what or said.title, subject=fields.pop("subject", ""),
        value=fields.pop("value", ""), at=said.valid_from, author=said.author,
        source_type="stated", event_ids=said.source_event_ids, **fields,
    )  # fmt: skip


def planned(store: SqliteStore, *new: Record, claims: tuple[Claim, ...] = ()) -> BeliefPlan:
    plans = [ClusterPlan((EmbeddedRecord(one),)) for one in new]
    return plan_beliefs(store, NAMESPACE, plans, claims)


def became(plan: BeliefPlan) -> dict[str, tuple[str, str]]:
    """State and successor of all beliefs that are written or changed."""
    new = [one.record for some in plan.plans for one in some.members]
    return {
        one.title: (one.state, one.ended_by)
        for one in (*new, *(row for change in plan.changes for row in change.changed))
    }


HELD = (
    "Use Jest for the frontend tests",
    "Always run the linter before a commit",
    "Deploy to Heroku from the main branch",
    "Commit messages are written in German",
    "Never touch the generated files in src/api",
    "The backend tests run with pytest",
)


@pytest.mark.parametrize(
    ("said", "what", "gone"),
    [
        ("We no longer use Jest", "Jest", HELD[0]),
        ("You need not run the linter before commits any more", "", HELD[1]),
        ("Forget what I said about German commit messages", "", HELD[3]),
        ("We moved from Heroku to Fly", "Heroku", HELD[2]),
        ("The generated files in src/api may be edited now", "", HELD[4]),
    ],
)
def test_one_clear_candidate_ends_and_the_sentence_takes_its_place(
    store: SqliteStore, said: str, what: str, gone: str
) -> None:
    store.records.put([belief(title) for title in HELD])
    new = belief(said, LATER)
    plan = planned(store, new, claims=(ends(new, what),))
    assert became(plan) == {said: ("current", ""), gone: ("ended", new.record_id)}


@pytest.mark.parametrize(
    ("held", "said", "ends_it"),
    [
        ("Use npm for packages", "From now on always use pnpm, never npm", True),
        ("Use pip to install packages", "From now on use uv, never pip", True),
        ("Always use Jest for the tests", "From now on always use Vitest, not Jest", True),
        ("Use eslint for linting", "From now on use biome for linting, not eslint", True),
        ("Use uv, never pip", "From now on always use pnpm, never npm", False),
        ("Always use pnpm, never npm", "From now on use uv, never pip", False),
        ("Use pytest, never unittest", "From now on always use Vitest, never Jest", False),
        ("Use ruff, never flake8", "From now on always use biome, never eslint", False),
        ("Use sqlalchemy, never raw SQL", "From now on always use prisma, not typeorm", False),
        ("Use poetry for the tools", "From now on use yarn for the tools", False),
    ],
)
def test_a_choice_ends_only_what_is_about_what_won_or_lost(
    store: SqliteStore, held: str, said: str, ends_it: bool
) -> None:
    old, new = belief(held), belief(said, LATER)
    store.records.put([old])
    plan = planned(store, new, claims=(ends(new),) if ends_it else ())
    if ends_it:
        assert became(plan) == {said: ("current", ""), held: ("ended", new.record_id)}
    else:
        assert became(plan) == {said: ("current", "")}


def test_a_sentence_that_was_not_kept_ends_by_its_event(store: SqliteStore) -> None:
    store.records.put([belief(title) for title in HELD])
    said = belief("No more Jest", LATER)
    plan = planned(store, claims=(ends(said, "Jest"),))
    assert became(plan) == {HELD[0]: ("ended", said.source_event_ids[0])}


def test_several_candidates_are_disputed_by_the_newer_statement(store: SqliteStore) -> None:
    held = [belief("Use Jest for the shop"), belief("Use Jest for the admin")]
    store.records.put(held)
    new = belief("We do not use Jest any more", LATER)
    plan = planned(store, new, claims=(ends(new, "Jest"),))
    assert became(plan) == {
        new.title: ("disputed", ""),
        held[0].title: ("disputed", new.record_id),
        held[1].title: ("disputed", new.record_id),
    }
    clear = belief("We do not use Jest in the shop any more", LATER)
    plan = planned(store, clear, claims=(ends(clear, "Jest"),))
    assert became(plan)[held[0].title] == ("ended", clear.record_id)
    assert held[1].title not in became(plan)


def test_nothing_that_is_only_near_or_newer_or_of_another_person_ends(store: SqliteStore) -> None:
    store.records.put([belief(title) for title in HELD])
    others: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("We no longer use Webpack", "Webpack", {}),
        ("We no longer use Jest", "Jest", {"at": NOON - timedelta(days=1)}),
        ("We no longer use Jest", "Jest", {"at": LATER, "author": "assistant"}),
        ("No Jest on this branch", "Jest", {"at": LATER, "scope": "branch", "scope_name": "x"}),
    )
    for said, what, fields in others:
        new = belief(said, **{"at": LATER, **fields})
        assert not planned(store, new, claims=(ends(new, what),)).changes, said


def test_what_may_end_a_belief_disputes_it(store: SqliteStore) -> None:
    store.records.put([belief(title) for title in HELD])
    new = belief("We no longer use Jest", LATER, state="proposed")
    plan = planned(store, new, claims=(ends(new, "Jest"),))
    assert {state for state, _ in became(plan).values()} == {"disputed"}
    assert not planned(store, new, claims=(ends(new, "Webpack"),)).changes


def about(subject: str, value: str, polarity: str = "do") -> dict[str, Any]:
    return {"subject": subject, "value": value, "polarity": polarity}


TESTS = "frontend tests"


@pytest.mark.parametrize(
    ("old", "new", "replaced"),
    [
        (("Use pnpm for the ui packages", {}), ("Always use npm for ui packages", {}), True),
        (("The timeout of the gateway is 30s", {}), ("The gateway timeout is 60s", {}), True),
        (
            ("We test with Jest", about(TESTS, "Jest")),
            ("It is Vitest", about(TESTS, "Vitest")),
            True,
        ),
        (("Use tabs", about("go", "tabs")), ("Never use tabs", about("go", "tabs", "avoid")), True),
        (("Never commit to main alone", {}), ("Never push to main alone", {}), False),
        (("Use Jest for the shop frontend", {}), ("Use pytest for the backend", {}), False),
        (("We test with Jest", about(TESTS, "Jest")), ("Jest it is", about(TESTS, "jest")), False),
        (("The ledger listens on port 8080", {}), ("The gateway listens on port 90", {}), False),
        (("Use pnpm for the ui", {}), ("Never use npm for the ui", {}), False),
    ],
)
def test_another_value_for_the_same_subject_replaces_the_older_one(
    store: SqliteStore,
    old: tuple[str, dict[str, Any]],
    new: tuple[str, dict[str, Any]],
    replaced: bool,
) -> None:
    store.records.put([belief(old[0], **old[1])])
    said = belief(new[0], LATER, **new[1])
    plan = planned(store, said)
    assert bool(plan.changes) is replaced
    if replaced:
        assert became(plan)[old[0]] == ("ended", said.record_id)


def test_what_is_said_and_withdrawn_in_one_batch_is_written_as_ended(store: SqliteStore) -> None:
    first = belief("Use Jest for the frontend tests", position=1)
    wish = PreferenceClaim("tools", "tests", first.title, NOON, "stated",
                           event_ids=first.source_event_ids)  # fmt: skip
    second = belief("Actually no Jest, we take Vitest", LATER, position=2)
    plan = planned(store, first, second, claims=(wish, ends(second, "Jest")))
    assert became(plan) == {
        first.title: ("ended", second.record_id),
        second.title: ("current", ""),
    }
    assert plan.claims == [] and plan.changes == []


def test_what_was_only_proposed_ends_without_a_dispute(store: SqliteStore) -> None:
    held = [belief("Use Jest for the shop", state="proposed"), belief("Use Jest for the admin")]
    store.records.put(held)
    new = belief("We do not use Jest any more", LATER)
    plan = planned(store, new, claims=(ends(new, "Jest"),))
    assert became(plan) == {
        new.title: ("current", ""),
        held[0].title: ("ended", new.record_id),
        held[1].title: ("ended", new.record_id),
    }


def test_what_was_proposed_is_confirmed_by_the_same_words(store: SqliteStore) -> None:
    store.records.put([belief("Use Jest for tests", state="proposed")])
    said = belief("Use Jest for tests", LATER)
    assert became(planned(store, said))["Use Jest for tests"] == ("ended", said.record_id)


def _vector(first: float, second: float) -> bytes:
    return array("f", [first, second, *[0.0] * (DIMENSIONS - 2)]).tobytes()


def _stored_vector(owner: Record, blob: bytes) -> Vector:
    return Vector(
        namespace=NAMESPACE, source_kind="record", source_id=owner.record_id, model=MODEL,
        dim=DIMENSIONS, vector=blob,
    )  # fmt: skip


PERHAPS = "had to move payments, clash with the agent. port 7025"


def test_what_the_rules_could_not_read_is_kept_only_if_it_changes_a_belief(
    store: SqliteStore,
) -> None:
    held = belief("Payments run on port 7010", knowledge_type="heuristic")
    store.records.put([held])
    unread = belief(PERHAPS, LATER, state="proposed", confidence=0.5)
    alike, unlike = _vector(1.0, 0.2), _vector(0.0, 1.0)
    store.vectors.put([_stored_vector(held, alike)])
    plan = plan_beliefs(store, NAMESPACE, [], [], [EmbeddedRecord(unread, (alike,))])
    assert became(plan) == {
        PERHAPS: ("disputed", ""),
        held.title: ("disputed", unread.record_id),
    }
    other = belief("the dashboards were green all day", LATER, state="proposed", confidence=0.5)
    plan = plan_beliefs(store, NAMESPACE, [], [], [EmbeddedRecord(other, (unlike,))])
    assert plan.plans == [] and plan.changes == []


def test_a_turn_of_which_no_belief_was_made_can_be_what_changed(store: SqliteStore) -> None:
    turn = record("logs go to loki", kind="episode", valid_from=NOON, author="user",
                  source_event_ids=(ids.new_ulid(),))  # fmt: skip
    store.records.put([turn])
    near = _vector(1.0, 0.1)
    store.vectors.put([_stored_vector(turn, near)])
    new = belief("Ops signed with datadog, ship there", LATER)
    plan = plan_beliefs(store, NAMESPACE, [ClusterPlan((EmbeddedRecord(new, (near,)),))], [])
    (change,) = plan.changes
    (lost,) = change.made
    assert lost.title == "Logs go to loki" and lost.ended_by == new.record_id
    assert not lost.stands and lost.source_event_ids == turn.source_event_ids


def test_the_facts_of_what_a_turn_said_end_with_it(store: SqliteStore) -> None:
    """E14: beliefs and facts do not disagree about what holds."""
    event = ids.new_ulid()
    turn = record("checkout uses Redis 7 and ledger uses Postgres 15", kind="episode",
                  valid_from=NOON, author="user", source_event_ids=(event,))  # fmt: skip
    store.records.put([turn])
    put_graph(store, *(
        Fact(fact_id=ids.new_id(ids.FACT), namespace=NAMESPACE, subject=subject, object=thing,
             predicate="uses_database", source_type="stated", author="user", valid_from=NOON,
             source_event_ids=(event,))
        for subject, thing in (("checkout", "Redis 7"), ("ledger", "Postgres 15"))
    ))  # fmt: skip
    near = _vector(1.0, 0.1)
    store.vectors.put([_stored_vector(turn, near)])
    new = belief("checkout uses Valkey 8, not Redis 7", LATER)
    plan = plan_beliefs(store, NAMESPACE, [ClusterPlan((EmbeddedRecord(new, (near,)),))], [])
    (change,) = plan.changes
    assert [one.state for one in change.made] == ["ended"]
    assert [(one.object, one.valid_until) for one in change.facts] == [("Redis 7", LATER)]


def test_a_rule_that_somebody_else_lifted_is_in_doubt(store: SqliteStore) -> None:
    rule = belief("Always show Dagny a new query before merge")
    store.records.put([rule])
    lifted = belief(
        "Dagny says no need to show Dagny a new query before merge any longer",
        LATER, state="proposed", confidence=0.3,
    )  # fmt: skip
    plan = planned(store, lifted, claims=(ends(lifted, lifted.title),))
    assert [one.state for change in plan.changes for one in change.changed] == ["disputed"]


def test_what_a_veto_speaks_against_changes_nothing(store: SqliteStore) -> None:
    store.records.put([belief(title) for title in HELD])
    maybe = belief("Maybe we no longer use Jest", LATER, state="proposed", confidence=0.3)
    assert not planned(store, maybe, claims=(ends(maybe, "Jest"),)).changes


def test_what_was_refused_is_not_proposed_again_in_other_words(store: SqliteStore) -> None:
    over: dict[str, Any] = {"state": "ended", "ended_by": "user", "valid_until": NOON}
    store.records.put([belief("Perhaps we should only use named exports in the ui", **over)])
    again = "Only named exports in the ui, I think"
    assert not planned(store, belief(again, LATER, state="proposed")).plans
    assert planned(store, belief(again, LATER)).plans, "what is stated holds"
    assert planned(store, belief("Only named imports, I think", LATER, state="proposed")).plans


def test_the_same_statement_again_strengthens_what_is_held(store: SqliteStore) -> None:
    held = belief("Always run ruff before you commit", confidence=0.8)
    store.records.put([held])
    again = belief("Run ruff before every commit", LATER)
    wish = PreferenceClaim("tools", "lint", again.title, LATER, "stated",
                           event_ids=again.source_event_ids)  # fmt: skip
    plan = planned(store, again, claims=(wish,))
    assert plan.plans == [] and plan.claims == []
    [change] = plan.changes
    [now] = change.changed
    assert (now.record_id, now.state) == (held.record_id, "current")
    assert now.source_event_ids == (*held.source_event_ids, *again.source_event_ids)
    assert now.confidence == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"state": "proposed"}, {}),  # it is stated now
        ({"knowledge_type": "decision"}, {}),  # a rule says more
        ({}, {"scope": "everywhere"}),
        ({"scope": "branch", "scope_name": "retry"}, {}),
        ({"author": "assistant"}, {}),
    ],
)
def test_what_says_more_than_what_is_held_is_kept(
    store: SqliteStore, old: dict[str, Any], new: dict[str, Any]
) -> None:
    store.records.put([belief("Always run ruff before you commit", **old)])
    again = belief("Run ruff before every commit", LATER, **new)
    [plan] = planned(store, again).plans
    assert [one.record.record_id for one in plan.members] == [again.record_id]


def test_a_belief_that_is_stated_again_and_again_keeps_its_first_evidence(
    store: SqliteStore,
) -> None:
    held = belief("Always run ruff before you commit")
    store.records.put([held])
    more = [
        belief("Run ruff before every commit", LATER + timedelta(hours=hour)) for hour in range(30)
    ]
    [change] = planned(store, *more).changes
    [now] = change.changed
    assert len(now.source_event_ids) == 20 and now.source_event_ids[0] == held.source_event_ids[0]
    assert now.source_event_ids[-1] == more[-1].source_event_ids[0]


def test_a_word_for_since_when_ends_only_what_said_something_else_of_the_same(
    store: SqliteStore,
) -> None:
    cache = belief("The cache lives in Redis", knowledge_type="decision")
    store.records.put([cache])
    for title, is_meant in (
        ("The cache is warmed at deploy time now", False),
        ("The cache lives in Memcached now", True),
    ):
        said = belief(title, LATER, knowledge_type="decision")
        plan = planned(store, said, claims=(ends(said, sure=False),))
        assert ("The cache lives in Redis" in became(plan)) is is_meant
