"""Which summary a new session goes on from."""

from datetime import timedelta

from recollect.core import ids
from recollect.core.values import Record, TurnWork
from recollect.work.index import ProjectWork, last_summary
from tests.make import NAMESPACE, NOON, record

WORK = ProjectWork()


def summary(session_id: str, hours: int, person: str, branch: str) -> Record:
    at = NOON + timedelta(hours=hours)
    WORK.add(
        TurnWork(
            turn_id=ids.new_ulid(int(at.timestamp() * 1000)),
            namespace=NAMESPACE,
            session_id=session_id,
            at=at,
            person=person,
            branch=branch,
        )
    )
    return record(session_id, kind="summary", session_id=session_id, valid_from=at)


ADA_LOGIN = summary("ada-login", 1, "ada", "login")
BEN_LOGIN = summary("ben-login", 2, "ben", "login")
ADA_MAIN = summary("ada-main", 3, "ada", "main")
BEN_MAIN = summary("ben-main", 4, "ben", "main")
DIGEST = record("the day", kind="summary", category="daily", valid_from=NOON + timedelta(days=1))
NOTE = record("a note", session_id="ada-login", valid_from=NOON + timedelta(days=1))
ALL = (DIGEST, NOTE, ADA_MAIN, BEN_LOGIN, BEN_MAIN, ADA_LOGIN)


def test_the_branch_counts_before_the_person() -> None:
    assert last_summary(ALL, WORK, "login", "ada") == BEN_LOGIN
    assert last_summary(ALL, WORK, "login", "eve") == BEN_LOGIN


def test_on_main_the_person_counts() -> None:
    assert last_summary(ALL, WORK, "main", "ada") == ADA_MAIN
    assert last_summary(ALL, WORK, "", "ada") == ADA_MAIN


def test_a_new_branch_goes_on_from_nothing() -> None:
    assert last_summary(ALL, WORK, "search", "ben") is None


def test_main_does_not_go_on_from_a_branch() -> None:
    assert last_summary((ADA_LOGIN,), WORK, "main", "ada") is None


def test_what_others_did_elsewhere_is_not_gone_on_with() -> None:
    assert last_summary(ALL, WORK, "main", "eve") is None
    assert last_summary((), WORK, "login", "ada") is None
