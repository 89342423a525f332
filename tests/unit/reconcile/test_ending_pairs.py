"""Which older statement a newer one changes: by meaning, by things that do the same job, by values
of one type; and what may well hold beside it."""

import re

import pytest

from recollect.core.tuning import ENDINGS
from recollect.reconcile import ending_pairs
from recollect.reconcile.ending_pairs import (
    change,
    least_share,
    may_be_about,
    may_change,
    only_orders,
    read,
    score,
    shares,
)

OTHERS = (
    "Commit messages are written in German",
    "Never touch the generated files in src/api",
    "The mobile app is in apps/mobile",
)


def taken(new: str, old: str, cosine: float, changes: float) -> tuple[float, bool]:
    """What share an older statement has among others that are unlike, and whether it is enough."""
    said = read(new)
    scores = [score(said, read(old), cosine, changes)]
    scores += [score(said, read(one), 0.1, changes) for one in OTHERS]
    share = shares(scores)[0]
    return share, share >= least_share(ENDINGS.doubt, changes)


@pytest.mark.parametrize(
    ("new", "old", "cosine"),
    [
        ("Ops signed with Datadog, we ship there now", "Logs go to Loki", 0.2),
        ("htmx is too limiting, let's switch to React", "We use htmx and server templates", 0.4),
        ("Sales won, people may send 100 megs now", "The upload limit is 25 mb", 0.3),
        (
            "The mail provider was a mess, so we switched to Postmark",
            "We send mails with SendGrid",
            0.36,
        ),
        ("You can quit asking me about packages", "Always ask me before a new dependency", 0.4),
    ],
)
def test_a_change_is_found_without_shared_words(new: str, old: str, cosine: float) -> None:
    share, enough = taken(new, old, cosine, 0.8)
    assert enough, share
    assert not taken(new, "Prices are shown with VAT", 0.1, 0.8)[1]


@pytest.mark.parametrize(
    ("new", "old", "cosine"),
    [
        ("Postgres listens on 5433 here", "Use Postgres for everything", 0.5),
        ("Every endpoint is in the openapi file", "Every endpoint has a rate limit", 0.55),
        ("Never use npm in the ui", "Use pnpm in the ui", 0.6),
        ("Use pytest for the backend", "Use Jest for the frontend", 0.45),
        ("Skip rows without a customer", "No customer data in log lines", 0.4),
    ],
)
def test_two_statements_about_one_matter_may_both_hold(new: str, old: str, cosine: float) -> None:
    assert not taken(new, old, cosine, 0.3)[1]


def test_who_tells_of_a_change_needs_less_and_among_many_more_is_needed() -> None:
    assert change("We dropped Jest, Vitest it is", None) > change("Add a test for the parser", None)
    assert least_share(0.2, 0.9) < least_share(0.2, 0.1)
    assert shares([5.0])[0] > shares([5.0, *[-5.0] * 40])[0]


def test_every_name_of_a_tool_has_a_kind_and_is_one_word() -> None:
    kinds = ending_pairs._tool_kinds()
    assert {"loki", "datadog"} <= kinds.keys() and set(kinds["loki"]) & set(kinds["datadog"])
    assert all(re.fullmatch(r"[a-z0-9.][\w.+#-]*", name) for name in kinds)


def test_tools_of_two_languages_are_no_alternatives() -> None:
    kinds = ending_pairs._tool_kinds()
    assert set(kinds["npm"]) & set(kinds["pnpm"]) and set(kinds["uv"]) & set(kinds["pip"])
    for one, other in (("npm", "pip"), ("jest", "pytest"), ("ruff", "eslint"), ("prisma", "gorm")):
        assert not set(kinds[one]) & set(kinds[other])


@pytest.mark.parametrize(
    ("new", "old", "may"),
    [
        ("Always use pnpm, never npm", "Use npm", True),
        ("Always use pnpm, never npm", "Our pnpm version is 9", True),
        ("Always use pnpm, never npm", "Use uv, never pip", False),
        ("Indent with tabs, not spaces", "Four spaces per level", True),
        ("Write tests beside the code, not in a folder", "Ask before you push", False),
        ("Use ruff instead of black", "We format with black", True),
        ("Use pnpm for the web app", "Always use mypy, never pyright", False),
        ("Use pyright from now on", "Always use mypy, never pyright", True),
        ("Never mind the types", "Always use mypy, never pyright", True),
    ],
)
def test_who_names_what_lost_speaks_of_that_choice(new: str, old: str, may: bool) -> None:
    assert may_be_about(new, old) == may


@pytest.mark.parametrize(
    ("new", "old", "changes", "may"),
    [
        ("Rename the tab of the order page", "Rename the tab of the cart page", 0.9, False),
        ("Refactor the mailer", "The mailer sends with Mailgun", 0.5, False),
        ("The retry limit of the mailer is 5", "The retry limit of the mailer is 3", 0.1, True),
        ("We test the web app with Vitest", "We test the web app with Jest", 0.1, True),
        ("We moved the mailer to Postmark last week", "The mailer sends with Mailgun", 0.9, True),
        ("On laisse tomber les vues pour le podcast", "Une vue par page du podcast", 0.2, True),
    ],
)
def test_what_may_be_a_task_changes_little(new: str, old: str, changes: float, may: bool) -> None:
    assert may_change(new, old, changes) == may


def test_an_order_is_told_from_what_is_said_of_the_older_one() -> None:
    for text, old, is_order in (
        ("Go on with the work on the retry cap", "Cap the retries at 5", True),
        ("Lena left the company.", "Ask Lena for a review on everything in auth/", False),
        ("clippy runs in the hook so save yourself that step", "always run cargo clippy", False),
        ("The cache is gone", "The cache lives in Redis", False),
    ):
        assert only_orders(text, old) is is_order
