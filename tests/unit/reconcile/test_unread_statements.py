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
        (
            "what new models have to beat is the forest now",
            "what new models have to beat is the forest now",
        ),
        ("which tests do I have to run before a merge is allowed", ""),
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


def states(project: Project) -> dict[str, set[str]]:
    named = ("current", "proposed", "disputed", "ended")
    return {name: found for name in named if (found := set(project.beliefs(name)))}


def test_a_rule_that_is_said_again_is_held_more_firmly_and_still_told(
    tmp_path: pathlib.Path,
) -> None:
    """Found by an audit: a rule said in two sessions disputed itself, and no start told it."""
    home = RuntimeHome(tmp_path / "home", embedding=True)
    try:
        for at, (rule, again) in enumerate(
            (
                ("From now on always write a changelog entry before merging.",) * 2,
                ("Always run ruff before you commit.", "Run ruff before every commit, always."),
            )
        ):
            project = Project(home, tmp_path / str(at))
            project.session(rule)
            project.session(again)
            assert states(project) == {"current": {rule}}
            assert rule.rstrip(".") in project.session("go on")
            held = [
                one
                for name in home.runtime.store.projects.namespaces()
                for one in home.runtime.store.records.beliefs(name, state="current", limit=9)
                if one.title == rule
            ]
            assert len(held) == 1 and len(held[0].source_event_ids) == 2
            assert held[0].confidence > 0.9
    finally:
        home.close()


BOTH_HOLD = (
    ("We no longer use Postgres 16 for billing, we moved to MySQL 8.",
     "the billing team owns the invoices table now"),
    ("Use uv for Python packages, never pip.", "The Python packages are published from CI now."),
    ("Always run the linter before committing.",
     "From now on the linter also checks the scripts folder."),
)  # fmt: skip


def test_what_is_so_now_of_the_same_subject_ends_and_disputes_nothing(
    tmp_path: pathlib.Path,
) -> None:
    home = RuntimeHome(tmp_path / "home", embedding=True)
    try:
        for at, (older, newer) in enumerate(BOTH_HOLD):
            project = Project(home, tmp_path / str(at))
            project.session(older)
            project.session(newer)
            found = states(project)
            assert older in found["current"] and not found.keys() & {"disputed", "ended"}
        project = Project(home, tmp_path / "changed")
        project.session("Feature flags live in config/flags.yaml.")
        project.session("Feature flags live in config/switches.yaml now.")
        assert states(project)["ended"] == {"Feature flags live in config/flags.yaml."}
    finally:
        home.close()


def test_an_order_to_go_on_is_no_belief(tmp_path: pathlib.Path) -> None:
    home = RuntimeHome(tmp_path / "home", embedding=True)
    try:
        for at, (held, order) in enumerate(
            (
                ("Cap the retries in src/retry.py at 5, that's our rule.",
                 "Go on with the work on the retry cap"),
                ("All timestamps are stored in UTC.",
                 "Pick up the timestamp conversion in the report again"),
                ("Always write a changelog entry before merging.",
                 "Next, write the changelog entry for the retry fix and merge it"),
            )
        ):  # fmt: skip
            project = Project(home, tmp_path / str(at))
            project.session(held)
            project.session(order)
            assert states(project) == {"current": {held}}
    finally:
        home.close()
