"""Laws of names, contradictions and budgets."""

from datetime import timedelta
from typing import Any, cast

from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.core.entity_keys import key, object_key
from recollect.core.values import Entity, Fact
from recollect.extract.interface import EntityClaim, FactClaim
from recollect.inject.draft import Section
from recollect.inject.render import SHARES, allot
from recollect.reconcile.contradict import cardinality, confirmed, order, resolve
from recollect.reconcile.entity_names import EntityNames
from recollect.reconcile.graph_claims import learn
from recollect.reconcile.plan import Put
from recollect.retrieve.query import anchors_in, spans_in
from recollect.store.interface import Graph, Waiting
from tests.make import NAMESPACE, NOON

NAMES = st.text(alphabet="abcXYZ-_ ./@s'0", min_size=1, max_size=24)
SOURCES = st.sampled_from(["corrected", "stated", "observed", "inferred"])


class Memory:
    """A graph that is only a list, so that a thousand histories are quick."""

    def __init__(self) -> None:
        self.things: dict[str, Any] = {}
        self.wait: dict[str, Waiting] = {}

    def run(self, *claims: Any) -> None:
        plan = learn(cast(Graph, self), NAMESPACE, claims, NOON)
        for step in plan.steps:
            if not isinstance(step, Put):
                for gone in step.displaced:
                    self.things.pop(gone, None)
            for thing in step.things:
                self.things[getattr(thing, thing.__struct_fields__[0])] = thing
        for name in plan.no_longer_waits:
            self.wait.pop(name, None)
        self.wait |= {one.key: one for one in plan.wait}

    def all(self, namespace: str, kind: type[Any], *, of: str | None = None) -> list[Any]:
        return [
            one
            for one in self.things.values()
            if type(one) is kind and (of is None or of in (one.source_id, one.target_id))
        ]

    def facts(self, namespace: str, entity_ids: Any = None, *, ended: bool = False) -> list[Fact]:
        if ended:
            return [one for one in self.all(namespace, Fact) if one.entity_id in entity_ids]
        return [one for one in self.all(namespace, Fact) if one.valid_until is None]

    def waiting(self, namespace: str, keys: Any = None) -> list[Waiting]:
        return [one for one in self.wait.values() if keys is None or one.key in keys]


@given(NAMES)
def test_a_key_is_its_own_key(name: str) -> None:
    assert key(key(name)) == key(name) or len(key(key(name))) < len(key(name))
    assert key(name.upper()) == key(name) == key(f"  {name}  ")


@given(st.lists(NAMES, min_size=1, max_size=8), st.randoms())
@settings(deadline=None)
def test_which_names_are_one_does_not_depend_on_their_order(names: list[str], random: Any) -> None:
    # Short forms lead to the one owner known when they are heard, so they are left out here.
    plain = [name for name in names if "/" not in name]
    groups = []
    for _ in range(2):
        random.shuffle(plain)
        graph = Memory()
        for number, name in enumerate([*plain, *plain]):
            graph.run(EntityClaim(name, "thing", event_ids=(f"{number:026d}",)))
        known = EntityNames(graph.all(NAMESPACE, Entity))
        found = [known.find(name) for name in sorted(plain)]
        groups.append([one and sorted(map(key, (one.name, *one.aliases))) for one in found])
    assert groups[0] == groups[1]


STATEMENTS = st.lists(
    st.tuples(
        st.sampled_from(["Postgres", "MySQL", "Redis"]),
        st.integers(0, 30),
        SOURCES,
        st.sampled_from(["user", "tool"]),
    ),
    min_size=1,
    max_size=8,
    unique_by=lambda one: one[1],
)


def claims(said: Any, predicate: str) -> list[FactClaim]:
    return [
        FactClaim(
            "web", predicate, what, NOON + timedelta(days=day), who, how, 0.7, (f"{day:026d}",)
        )
        for what, day, how, who in said
    ]


@given(STATEMENTS, st.randoms())
@settings(deadline=None, max_examples=200)
def test_what_stands_does_not_depend_on_the_order_of_hearing(said: Any, random: Any) -> None:
    standing = []
    heard = claims(said, "uses_database")
    for _ in range(3):
        graph = Memory()
        graph.run(FactClaim("web", "port", "1", NOON, "user", "stated", 0.7, ("x" * 26,)))
        for claim in heard:
            graph.run(claim)
        live = [one for one in graph.facts(NAMESPACE) if one.predicate == "uses_database"]
        assert len(live) == 1
        standing.append(object_key(live[0].object))
        random.shuffle(heard)
    assert len(set(standing)) == 1, standing


@given(STATEMENTS)
@settings(deadline=None, max_examples=200)
def test_chains_of_supersession_end_in_what_stands(said: Any) -> None:
    for predicate in ("uses_database", "license"):
        graph = Memory()
        for claim in claims(said, predicate):
            graph.run(claim)
        facts = {one.fact_id: one for one in graph.all(NAMESPACE, Fact)}
        for fact in facts.values():
            seen = set()
            while fact.superseded_by is not None:
                assert fact.fact_id not in seen, "a circle"
                assert fact.valid_until is not None and fact.valid_until >= fact.valid_from
                seen.add(fact.fact_id)
                fact = facts[fact.superseded_by]
            assert fact.valid_until is None


def one_fact(number: int, what: str, day: int, how: Any, who: Any) -> Fact:
    return Fact(
        fact_id=f"fact_{number}", namespace=NAMESPACE, subject="web", predicate="license",
        object=what, source_type=how, author=who, valid_from=NOON + timedelta(days=day),
    )  # fmt: skip


@given(STATEMENTS, st.sampled_from(["single", "temporal"]))
def test_resolution_is_a_total_order(said: Any, kind: Any) -> None:
    facts = [one_fact(number, *one) for number, one in enumerate(said)]
    standing, ended = resolve(facts, kind)
    assert standing is not None and standing.fact_id not in ended
    assert len(ended) == len(facts) - 1
    assert all(order(standing, kind) >= order(one, kind) for one in facts)
    assert resolve(facts[::-1], kind) == (standing, ended)
    assert resolve(facts, "multi") == (None, {})


@given(STATEMENTS)
def test_seen_again_is_never_less_sure_and_never_above_one(said: Any) -> None:
    facts = [one_fact(number, *one) for number, one in enumerate(said)]
    known = facts[0]
    for again in facts[1:]:
        before, known = known, confirmed(known, again, cardinality(known.predicate))
        assert before.confidence <= known.confidence <= 1


@given(
    st.integers(-5, 5000),
    st.dictionaries(st.sampled_from(sorted(SHARES)), st.integers(0, 4000)),
)
def test_shares_never_exceed_the_budget_and_leave_nothing_idle(
    total: int, wanted: dict[Section, int]
) -> None:
    given_out = allot(total, wanted)
    room = max(0, total)
    assert sum(given_out.values()) == min(room, sum(wanted.values()))
    for kind, most in wanted.items():
        assert min(most, int(room * SHARES[kind])) <= given_out[kind] <= most


@given(st.text(max_size=300), st.integers(0, 4_000_000_000_000_000))
def test_times_in_any_text_are_spans(text: str, now: int) -> None:
    assert all(span.start < span.end for span in spans_in(text, now))
    assert len(anchors_in(text)) <= 2
