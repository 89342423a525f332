"""A statement that only says again what is held, and what looks like one and is none."""

import pytest

from recollect.reconcile.restatements import restates


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Never push to main directly.", "never push to main directly"),
        ("Run ruff before every commit, always.", "Always run ruff before you commit."),
        ("We store every timestamp in UTC.", "All timestamps are stored in UTC."),
        ("As decided, retries are capped at 5.", "We decided to cap retries at 5."),
        ("This repo uses pnpm instead of npm.", "We use pnpm in this repo, not npm."),
        ("Don't ever commit to the release branch directly.",
         "Never commit directly to the release branch."),
        ("We moved from Postgres to MySQL.", "We moved from Postgres to MySQL"),
    ],
)  # fmt: skip
def test_the_same_statement_in_other_words_is_recognised(new: str, old: str) -> None:
    assert restates(new, old) and restates(old, new)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Use npm in this repo, not pnpm.", "Use pnpm in this repo, not npm."),
        ("Retries are capped at 6.", "Retries are capped at 5."),
        ("Run the tests after a commit.", "Run the tests before a commit."),
        ("We moved from MySQL to Postgres.", "We moved from Postgres to MySQL."),
        ("Push to main directly.", "Never push to main directly."),
        ("Prices are shown with tax.", "Prices are shown without tax."),
        ("Tests may use the network.", "Tests must not use the network."),
        ("The default theme is dark from now on.", "The default theme is light."),
        ("Deploys go out on Tuesdays and Thursdays.", "Deploys go out on Tuesdays."),
        ("Never push to main.", "Never push to main on Fridays."),
        ("Kim is on call.", "Lee is on call."),
        ("Use uv.", "Use pip."),
        ("", ""),
    ],
)
def test_what_says_more_less_or_something_else_is_none(new: str, old: str) -> None:
    assert not restates(new, old) and not restates(old, new)
