"""No preference without a belief: what the gate keeps out is told nowhere, and a rule of the user's
is not kept out for words that are empty elsewhere."""

import pytest

from recollect.extract import quality_gate
from recollect.extract.interface import PreferenceClaim
from recollect.store.sqlite import SqliteStore
from tests.unit.extract.session import Told, extract, records

RULE = "From now on use pnpm in this repository, not npm."


def test_a_rule_about_phrases_of_every_session_is_held(store: SqliteStore) -> None:
    said = "Never add Co-Authored-By lines to commit messages."
    (rule,) = records(extract(store, Told().ask(said).answer("Okay.")), kind="knowledge")
    assert (rule.title, rule.state) == (said, "current")


@pytest.mark.parametrize("kept", [True, False])
def test_a_rule_that_is_kept_out_leaves_no_preference(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, kept: bool
) -> None:
    if not kept:
        monkeypatch.setattr(quality_gate, "FEWEST_WORDS", 99)
    found = extract(store, Told().ask(RULE).answer("Okay."))
    assert bool(records(found, kind="knowledge")) is kept
    assert any(isinstance(one, PreferenceClaim) for one in found.claims) is kept
