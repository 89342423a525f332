"""Deciding about beliefs in a terminal, and showing what holds."""

import json
import pathlib
from collections.abc import Iterable
from typing import Any

import pytest

from recollect.core.values import Record
from tests.fakes.runtime import RuntimeHome
from tests.make import record
from tests.unit.cli.conftest import Terminal


@pytest.fixture
def place(tmp_path: pathlib.Path) -> str:
    made = tmp_path / "shop"
    made.mkdir()
    (made / "Makefile").touch()
    return str(made)


def believe(home: RuntimeHome, place: str, *texts: str, state: Any = "proposed") -> list[str]:
    """Beliefs of a project in this state, oldest first; their ids."""
    namespace = home.runtime.namespaces.of(place)
    made = [
        record(text, kind="knowledge", knowledge_type="constraint", namespace=namespace,
               state=state, valid_from=home.clock.now())
        for text in texts
    ]  # fmt: skip
    home.runtime.store.transaction(lambda tx: [tx.put_record(one) for one in made])
    return [one.record_id for one in made]


def states(home: RuntimeHome, place: str) -> dict[str, str]:
    namespace = home.runtime.namespaces.of(place)
    found: Iterable[Record] = home.runtime.store.records.page(namespace, limit=100).items
    return {one.title: one.state for one in found}


def test_what_waits_is_kept_dropped_corrected_or_left(
    terminal: Terminal, runtime_home: RuntimeHome, place: str
) -> None:
    believe(runtime_home, place, "Use uv", "Use tabs", "Deploy on Friday", "Squash commits")
    waiting = json.loads(terminal("review", "-p", place, "--json").stdout)
    keys = {"Use uv": "k\n", "Use tabs": "d\n", "Deploy on Friday": "c\nDeploy on Monday\n"}
    typed = "".join(keys.get(one["title"], "x\ns\n") for one in waiting)
    done = terminal("review", "-p", place, typed=typed)
    assert "3 decisions, 1 left" in done.stdout and "One letter is enough" in done.stdout
    assert states(runtime_home, place) == {
        "Use uv": "current",
        "Use tabs": "ended",
        "Deploy on Friday": "ended",
        "Deploy on Monday": "current",
        "Squash commits": "proposed",
    }


def test_both_sides_of_a_dispute_may_hold(
    terminal: Terminal, runtime_home: RuntimeHome, place: str
) -> None:
    namespace = runtime_home.runtime.namespaces.of(place)
    (new,) = believe(runtime_home, place, "Deploy on Friday", state="disputed")
    old = record("Deploy on Monday", kind="knowledge", knowledge_type="constraint",
                 namespace=namespace, state="disputed", ended_by=new)  # fmt: skip
    runtime_home.runtime.store.records.put([old])
    believe(runtime_home, place, "Use uv")
    waiting = json.loads(terminal("review", "-p", place, "--json").stdout)
    # "b" is no answer to a proposal; after it the other side of the dispute is not asked about.
    first = next(one["title"] for one in waiting if one["state"] == "disputed")
    keys = {"Use uv": "b\ns\n", first: "b\n"}
    done = terminal(
        "review", "-p", place, typed="".join(keys.get(one["title"], "") for one in waiting)
    )
    assert "2 decisions, 1 left" in done.stdout and "both hold" in done.stdout
    assert states(runtime_home, place) == {
        "Deploy on Friday": "current", "Deploy on Monday": "current", "Use uv": "proposed",
    }  # fmt: skip


def test_a_decision_can_be_taken_back(
    terminal: Terminal, runtime_home: RuntimeHome, place: str
) -> None:
    believe(runtime_home, place, "Use uv")
    terminal("review", "-p", place, typed="d\n")
    assert terminal("review", "-p", place).stdout == "Nothing waits for a decision.\n"
    assert terminal("undo", "-p", place, typed="n\n").returncode == 1
    assert states(runtime_home, place) == {"Use uv": "ended"}
    asked = terminal("undo", "-p", place, typed="y\n")
    assert "supersede: Use uv" in asked.stdout and asked.returncode == 0
    assert states(runtime_home, place) == {"Use uv": "proposed"}


def test_leaving_a_review_decides_nothing_more(
    terminal: Terminal, runtime_home: RuntimeHome, place: str
) -> None:
    believe(runtime_home, place, "Use uv", "Use tabs")
    assert "0 decisions, 2 left" in terminal("review", "-p", place, typed="q\n").stdout
    assert set(states(runtime_home, place).values()) == {"proposed"}


def test_rules_shows_what_holds_and_nothing_that_waits(
    terminal: Terminal, runtime_home: RuntimeHome, place: str
) -> None:
    assert "Nothing is held" in terminal("rules", "-p", place).stdout
    believe(runtime_home, place, "Use uv", state="current")
    believe(runtime_home, place, "Use tabs")
    shown = terminal("rules", "-p", place).stdout
    assert shown.startswith("Rules\n  Use uv\n") and "Use tabs" not in shown


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("keep", {}, 400),  # it holds already
        ("correct", {"text": ""}, 400),
        ("scope", {"scope": "branch"}, 400),
        ("scope", {"scope": "branch", "name": "retry"}, 200),
        ("drop", {"reason": "not so"}, 200),
    ],
)
def test_what_cannot_be_decided_is_refused_in_words(
    runtime_home: RuntimeHome, place: str, path: str, body: dict[str, str], status: int
) -> None:
    (made,) = believe(runtime_home, place, "Use uv", state="current")
    sent = json.dumps(body).encode()
    short = made[-5:].lower()  # as a brief names it
    got, _, answer = runtime_home.http("POST", f"/api/beliefs/{short}/{path}", sent)
    assert got == status, answer
    assert status == 200 or json.loads(answer)["error"]["message"]
