"""An older statement is told with the user's later words about the same matter."""

import pathlib
from collections.abc import Iterator

import pytest

from tests.bench.beliefs import ACTOR, Project
from tests.fakes.runtime import RuntimeHome

LIMIT = "Uploads in the patient portal are limited to 20 MB."
RAISED = "the hospital's security office insists on 5 MB for uploads in the patient portal"
ASKED = "what is the upload limit of the patient portal?"


@pytest.fixture
def home(tmp_path: pathlib.Path) -> Iterator[RuntimeHome]:
    made = RuntimeHome(tmp_path / "home", actor=ACTOR, embedding=True)
    yield made
    made.close()


def lines(told: str, words: str) -> list[str]:
    return [one for one in told.splitlines() if words in one]


def test_what_somebody_else_decided_is_told_with_what_it_may_change(
    home: RuntimeHome, tmp_path: pathlib.Path
) -> None:
    project = Project(home, tmp_path / "project")
    project.session(LIMIT)
    project.session(RAISED)
    (line,) = lines(project.session(ASKED), "20 MB")
    assert "since then the user said" in line and "5 MB" in line


@pytest.mark.parametrize(
    "later",
    [
        "should we limit uploads in the patient portal to 5 MB?",
        "the hospital's security office insists on 5 MB for uploads in the patient portal, lol",
        "maybe we should lower the limit for uploads in the patient portal to 5 MB",
        "Write the release notes for the scheduler.",
    ],
)
def test_a_question_a_joke_and_another_matter_change_nothing(
    home: RuntimeHome, tmp_path: pathlib.Path, later: str
) -> None:
    project = Project(home, tmp_path / "project")
    project.session(LIMIT)
    project.session(later)
    told = project.session(ASKED)
    assert lines(told, "20 MB") and "since then the user said" not in told


def test_words_that_may_not_be_told_are_not_told_with_others_either(
    home: RuntimeHome, tmp_path: pathlib.Path
) -> None:
    project = Project(home, tmp_path / "project")
    project.session(LIMIT)
    project.session(RAISED)
    store = home.runtime.store
    for name in store.projects.namespaces():
        for one in store.records.page(name, limit=50).items:
            if "security office" in one.title:
                home.runtime.recall().feedback.give(name, one.record_id, "never", ACTOR)
    told = project.session(ASKED)
    assert lines(told, "20 MB") and "security office" not in told
