"""Sentences that are understood by what is known, and those that must change nothing."""

import pytest

from recollect.core.values import Entity, Fact
from recollect.extract.rules import patterns
from recollect.reconcile.change_sentences import meanings, named
from recollect.reconcile.entity_names import EntityNames
from tests.make import NAMESPACE, NOON

HELD = {
    "admin server": {"port": "8000", "timeout": "20 seconds"},
    "billing": {"uses_database": "Postgres", "deployed_on": "Fly"},
    "ledger": {"owned_by": "Ines", "located_in": "src/ledger/main.py", "region": "us-east-1"},
    "docs": {"default_branch": "main", "python_version": "3.11"},
}
THINGS = [Entity(entity_id=f"ent_{name}", namespace=NAMESPACE, name=name, type="thing")
          for name in HELD]  # fmt: skip


def read(sentence: str) -> list[str]:
    """What rules and graph together make of a sentence of the user's."""
    if patterns.OPEN.search(sentence) or patterns.REQUEST.search(sentence):
        return []
    held = [
        (entity, Fact(fact_id=f"fact_{name}", namespace=NAMESPACE, entity_id=entity.entity_id,
                      subject=entity.name, predicate=name, object=said, valid_from=NOON))
        for entity in named(EntityNames(THINGS), sentence)
        for name, said in HELD[entity.name].items()
    ]  # fmt: skip
    plain = patterns.CHANGED.search(sentence) is not None
    found = meanings(sentence, held, plain=plain)
    return [f"{one.fact.predicate}: {one.value}" for one in found]


@pytest.mark.parametrize(
    ("sentence", "change"),
    [
        ("actually it's 8081 for the admin server", "port: 8081"),
        ("we gave the admin server 45 seconds instead", "timeout: 45 seconds"),
        ("The admin server waits 45 secs now", "timeout: 45 secs"),
        ("8000 clashed with Grafana, so the admin server sits on 9000 now.", "port: 9000"),
        ("billing went with MySQL these days", "uses_database: MySQL"),
        ("Since June billing's home is Hetzner.", "deployed_on: Hetzner"),
        ("Ines handed ledger to Omar", "owned_by: Omar"),
        ("ledger's entry is now in src/core/ledger.py", "located_in: src/core/ledger.py"),
        ("These days ledger lives in eu-north-1.", "region: eu-north-1"),
        ("docs has trunk these days", "default_branch: trunk"),
        ("Today docs asks for Python 3.13", "python_version: 3.13"),
    ],
)
def test_one_reading_is_a_change(sentence: str, change: str) -> None:
    assert read(sentence) == [change]


@pytest.mark.parametrize(
    "sentence",
    [
        "billing still uses Postgres.",
        "Now add MySQL to billing.",
        "Please look at ledger again and fix src/api/errors.py",
        "We might move billing to MySQL.",
        "We are trying MySQL for billing.",
        "the billing tests open MySQL now",
        "The admin server answered 3 requests today.",
        "the admin server has 12 workers now",
        "MySQL did not work out, billing is on Postgres again.",
        "ledger was fixed on 2026-02-03, thanks",
        "the new release of docs is great",
        "Ines asked about ledger again",
        "something else is now on MySQL",
    ],
)
def test_what_says_nothing_of_what_is_held_changes_nothing(sentence: str) -> None:
    assert read(sentence) == []


def test_a_reading_that_is_not_sure_keeps_what_held_beside_what_was_said() -> None:
    (doubt,) = read("For billing we settled on ClickHouse after all.")
    assert doubt == (
        'uses_database: Postgres; since then: "For billing we settled on ClickHouse after all."'
    )
    HELD["billing"]["uses_database"] = doubt.removeprefix("uses_database: ")
    try:
        (again,) = read("billing outgrew Postgres; ClickHouse does the job")
        assert again.count("since then") == 1 and again.startswith("uses_database: Postgres; ")
        assert read("billing moved on to ClickHouse") == ["uses_database: ClickHouse"]
    finally:
        HELD["billing"]["uses_database"] = "Postgres"
