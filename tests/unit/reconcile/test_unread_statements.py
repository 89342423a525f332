"""What of a prompt may be a statement although no rule read it."""

import pytest

from recollect.core import ids
from recollect.reconcile.unread_statements import as_belief, own_statement
from tests.make import record


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("telemetry goes out over UDP now, can you adapt it?", "telemetry goes out over UDP now"),
        ("is the cli adding this to the ignore file?", ""),
        ("the docs say we moved to UDP, haha. Just kidding.", ""),
    ],
)
def test_questions_and_jests_are_no_statements(prompt: str, said: str) -> None:
    assert own_statement(prompt) == said


def test_a_turn_becomes_a_belief_without_its_question() -> None:
    asked = "telemetry goes out over UDP now, can you adapt it?"
    turn = record(asked, kind="episode", source_event_ids=(ids.new_ulid(),))
    assert as_belief(turn).title == "Telemetry goes out over UDP now"
