"""What of a prompt may be a statement although no rule read it."""

import pathlib

import pytest

from recollect.core import ids
from recollect.reconcile.unread_statements import as_belief, own_statement
from tests.bench.beliefs import Project
from tests.fakes.runtime import RuntimeHome
from tests.make import record

SIBLINGS = (
    (
        "Change the invoice form so that the total is rounded per line",
        "Change the order form so that the total is rounded per line",
    ),
    ("refactor the invoice module window_close", "refactor the invoice module user_close"),
    ("refactor the billing module errors", "refactor the billing module logs"),
)


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


def test_one_task_after_another_of_its_kind_puts_nothing_in_doubt(tmp_path: pathlib.Path) -> None:
    """Found by an audit: both became beliefs that dispute each other, and agents were told so."""
    home = RuntimeHome(tmp_path / "home", embedding=True)
    try:
        for at, tasks in enumerate(SIBLINGS):
            project = Project(home, tmp_path / str(at))
            told = "".join(project.session(one) for one in (*tasks, "what holds here?"))
            assert project.beliefs("current", "disputed") == [] and tasks[1] not in told
    finally:
        home.close()
