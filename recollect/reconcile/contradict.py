"""Decides between facts that cannot both hold: pure functions, nothing is written here.

In: the facts of one subject and predicate. Out: the fact that holds, and for each other one until
when it held and what replaced it. Source rank decides first (corrected > stated > observed >
inferred), then, for predicates that change with time, recency, then confidence.

A user's statement about something that changes counts like a correction: people who say today that
they moved to Fly need not add that they were right before. All facts are compared by one total
order, so the result does not depend on the order in which they arrived, and no chain of
supersession can form a cycle.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import msgspec

from recollect.core.entity_keys import object_key
from recollect.core.values import Fact, SourceType

Cardinality = Literal["single", "multi", "temporal"]

GUESS = 0.4  # an inference that is less sure than this is a guess
AGAIN = 0.05  # the same fact, seen again
MOST_EVENTS = 50  # of one fact
RANK: dict[SourceType, int] = {"inferred": 0, "observed": 1, "stated": 2, "corrected": 3}

# Predicates by how many objects may hold at once. `temporal`: one at a time, and it may change;
# `single`: one for ever. All others are `multi`.
_TEMPORAL = """
uses_database database message_broker broker deployed_on deployed_to hosted_on runs_on
test_framework package_manager framework owned_by owner maintained_by port default_branch branch ci
cache formatter linter region located_in lives_in path moved_to repository remote cli_name
check_command test_command build_command start_command lint_command staging_url url
version written_in timeout status deadline default editor model config_value license_now uses_port
listens_on build_tool orm queue scheduler is_named renamed_to stored_in entry_point
"""
_SINGLE = "license created_by created_on author based_on forked_from born_in birthday"
TABLE: dict[str, Cardinality] = dict.fromkeys(_TEMPORAL.split(), "temporal")
TABLE |= dict.fromkeys(_SINGLE.split(), "single")
# One at a time seen from the other side: a thing has one owner, an owner many things.
INVERSE = {"owns": "owned_by", "maintains": "owned_by", "hosts": "deployed_on"}
# What ends a fact instead of stating one.
ENDS = ("no_longer_", "stopped_", "not_")
_SAME = {
    "deployed_to": "deployed_on", "hosted_on": "deployed_on", "maintained_by": "owned_by",
    "owner": "owned_by", "lives_in": "located_in", "path": "located_in", "moved_to": "located_in",
    "database": "uses_database", "broker": "message_broker", "remote": "repository",
    "is_written_in": "written_in", "listens_on": "port", "uses_port": "port",
    "branch": "default_branch",
}  # fmt: skip


@dataclass(frozen=True)
class EndedFact:
    """What became of a fact that lost."""

    valid_until: datetime
    superseded_by: str


def predicate(text: str) -> str:
    """One spelling for each predicate."""
    name = "_".join(text.casefold().replace("-", " ").replace("_", " ").split())
    for article in ("is_", "are_", "was_", "has_"):
        if name.removeprefix(article) in TABLE or name.removeprefix(article) in _SAME:
            name = name.removeprefix(article)
    return _SAME.get(name, name)


def cardinality(name: str) -> Cardinality:
    if name.endswith("_version"):
        return "temporal"
    return TABLE.get(name, "multi")


def strength(fact: Fact, kind: Cardinality) -> int:
    if kind == "temporal" and fact.author == "user" and fact.source_type == "stated":
        return RANK["corrected"]
    if fact.source_type == "inferred" and fact.confidence < GUESS:
        return RANK["inferred"] - 1  # "may be" does not take the place of "is"
    return RANK[fact.source_type]


def order(fact: Fact, kind: Cardinality) -> tuple[int, float, float, str]:
    """The total order of precedence of facts."""
    said = (fact.confirmed_at or fact.valid_from).timestamp()
    return (
        strength(fact, kind),
        said if kind == "temporal" else 0.0,
        fact.confidence,
        object_key(fact.object),
    )


def resolve(facts: Sequence[Fact], kind: Cardinality) -> tuple[Fact | None, dict[str, EndedFact]]:
    """Of facts with one subject and predicate: the one that holds, and what became of the others.
    Facts of a predicate that takes many objects all hold."""
    if kind == "multi" or not facts:
        return None, {}
    ranked = sorted(facts, key=lambda fact: (order(fact, kind), fact.fact_id))
    standing = ranked[-1]
    # One that is weaker than what stands held until then, or never.
    return standing, {
        fact.fact_id: EndedFact(max(fact.valid_from, standing.valid_from), standing.fact_id)
        for fact in ranked[:-1]
    }


def ended(fact: Fact, end: EndedFact) -> Fact:
    return msgspec.structs.replace(
        fact, valid_until=end.valid_until, superseded_by=end.superseded_by
    )


def confirmed(known: Fact, again: Fact, kind: Cardinality) -> Fact:
    """The same fact seen again: more confident, and with the stronger source of the two. The same
    source twice changes nothing."""
    if again.source_event_ids and set(again.source_event_ids) <= set(known.source_event_ids):
        return known
    stronger = order(again, kind)[:2] > order(known, kind)[:2]
    said = again if stronger else known
    return msgspec.structs.replace(
        known,
        confidence=round(min(1.0, max(known.confidence, again.confidence) + AGAIN), 4),
        source_type=said.source_type,
        author=said.author,
        sensitive=known.sensitive or again.sensitive,
        valid_from=min(known.valid_from, again.valid_from),
        confirmed_at=said.confirmed_at or said.valid_from,
        source_event_ids=(
            *known.source_event_ids,
            *(one for one in again.source_event_ids if one not in known.source_event_ids),
        )[-MOST_EVENTS:],
    )
