"""One key for all forms of a name, and who answers to it."""

import pytest

from recollect.core.entity_keys import key, object_key, says_nothing
from recollect.core.values import Entity
from recollect.reconcile.entity_names import EntityNames
from tests.make import NAMESPACE


@pytest.mark.parametrize(
    "forms",
    [
        ("billing-api", "Billing API", "billing_api", "BillingApi", "the billing-api",
         "`billing-api`"),
        ("git@github.com:acme/contracts.git", "https://github.com/acme/contracts", "acme/contracts",
         "github.com/acme/contracts", "ssh://git@github.com:22/acme/contracts.git",
         "ACME/contracts"),
        ("./src/a.py", "src/a.py", "src//a.py", "src/./a.py"),
        ("worker", "Workers", "the workers", "worker."),
        ("repository", "repositories"),
        ("payment service", "payment-service", "Payment"),
        ("Postgres", "Postgres 16", "postgres v16.2"),
        ("@scope/pkg", "@Scope/pkg"),
    ],
)  # fmt: skip
def test_forms_of_one_name_have_one_key(forms: tuple[str, ...]) -> None:
    assert len({key(form) for form in forms}) == 1, {form: key(form) for form in forms}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("src/a.py", "lib/a.py"), ("acme/web", "acme/web2"), ("@a/pkg", "@b/pkg"),
        ("billing-api", "billing-ui"), ("retry.py", "retry.ts"), ("s3", "s4"),
    ],
)  # fmt: skip
def test_different_things_have_different_keys(one: str, other: str) -> None:
    assert key(one) != key(other)


def test_versions_are_one_thing_but_not_one_object() -> None:
    assert key("Python 3.12") == key("Python 3.13")
    assert object_key("Python 3.12") != object_key("Python 3.13")
    assert object_key("Postgres v16") == object_key("postgres 16")


@pytest.mark.parametrize("name", ["it", "We", "", "  ", "42", "tests", "the code", "x" * 200])
def test_pronouns_and_words_that_name_nothing_are_no_names(name: str) -> None:
    assert says_nothing(name)


@pytest.mark.parametrize(
    "name",
    ["Always", "now", "Please", "currently", "particularly", "deliberately", "since auto_commit",
     "Both tests", "when the agent type", "original code was", "its path"],
)  # fmt: skip
def test_words_that_hold_sentences_together_are_no_names(name: str) -> None:
    assert says_nothing(name)


@pytest.mark.parametrize(
    "name",
    ["Go", "make", "uv", "ONCE", "assembly", "supply chain", "Plotly", "Grammarly", "Will",
     "All Hands", "the billing service", "notify-all", "cmd/all.go"],
)  # fmt: skip
def test_names_that_look_a_little_like_such_words_stay_names(name: str) -> None:
    assert not says_nothing(name)


def entity(name: str, *aliases: str) -> Entity:
    return Entity(
        entity_id=f"ent_{name}", namespace=NAMESPACE, name=name, type="thing", aliases=aliases
    )


def test_a_repository_is_found_by_its_short_name_while_only_one_has_it() -> None:
    names = EntityNames([entity("acme/web")])
    assert names.find("web") == entity("acme/web")
    names.add(entity("other/web"))
    assert names.find("web") is None
    assert names.find("git@github.com:other/web.git") == entity("other/web")


def test_a_long_form_is_what_the_short_one_was() -> None:
    names = EntityNames([entity("contracts")])
    assert names.find("acme/contracts") == entity("contracts")


def test_aliases_lead_to_their_entity() -> None:
    names = EntityNames([entity("gullwing", "payments gateway")])
    assert names.find("the Payments-Gateway") == entity("gullwing", "payments gateway")
