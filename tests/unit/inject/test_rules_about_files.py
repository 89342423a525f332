"""A session's start tells the rules that name a product with a dot, and after them those about a
file: no host asks before the agent edits it."""

import pytest

from recollect.inject import start
from recollect.reconcile.ending_pairs import is_tool
from recollect.work.paths import is_source
from tests.fakes.project_sessions import ProjectSessions


@pytest.mark.parametrize(
    "rule",
    [
        "From now on always use Node.js 22 for the frontend, never Deno.",
        "Always deploy to Fly.io, never to Heroku.",
        "Never use moment.js, use date-fns instead.",
        "Never edit package.json by hand.",
        "Never touch config.yaml directly.",
    ],
)
def test_a_rule_with_a_dotted_name_is_told_at_the_start(
    sessions: ProjectSessions, rule: str
) -> None:
    sessions.session(rule)
    assert rule.rstrip(".") in sessions.told_at_start()


def test_rules_about_a_file_come_after_the_others(
    sessions: ProjectSessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(start, "MOST_RULES", 2)
    about = "Never edit orders.sqlx by hand."
    sessions.session("Always ask before deploying.", "Never push to main directly.", about)
    assert "orders.sqlx" in sessions.told_at_start()  # as far as we know, a product
    sessions.start()
    path = str(sessions.project / "db" / "orders.sqlx")
    given = {"tool_name": "Edit", "tool_input": {"file_path": path, "old_string": "a"}}
    sessions.hook("UserPromptSubmit", prompt="add the total to the orders")
    sessions.hook("PostToolUse", **given, tool_response={"ok": 1}, tool_use_id="t1")
    sessions.hook("Stop", last_assistant_message="Added.")
    sessions.end()
    rules = next(one for one in sessions.told_at_start().splitlines() if one.startswith("Rules"))
    assert "orders.sqlx" not in rules and "deploying" in rules and "main" in rules


@pytest.mark.parametrize(
    ("name", "is_file"),
    [
        ("package.json", True),
        ("src/app.ts", True),
        ("Makefile", True),
        ("Node.js", False),
        ("Vue.js", False),
        ("moment.js", False),
        ("D3.js", False),
        ("Fly.io", False),
        ("ASP.NET", False),
        ("socket.io", False),
        ("example.com", False),
        ("index.js", True),
    ],
)
def test_a_name_with_a_dot_is_a_file_or_a_product(name: str, is_file: bool) -> None:
    assert (is_source(name) and not is_tool(name)) is is_file
