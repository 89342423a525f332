"""Erasing for good in a real browser: a session, what is old, a project; each is counted first."""

import json
import pathlib
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.browsers import enter
from tests.browser.test_dashboard import see
from tests.fakes.daemons import RealDaemon


@pytest.fixture
def aviary(furnished: RealDaemon, tmp_path: pathlib.Path) -> str:
    """The id of a project with a session of last year and one of today."""
    place = tmp_path / "aviary"
    place.mkdir()
    (place / "Makefile").touch()
    for session, days in (("herons", 400), ("storks", 0)):
        at = datetime.now(UTC) - timedelta(days=days)
        for kind, text in (("prompt", f"where do the {session} nest?"),
                           ("session_summary", f"The {session} nest on the roof.")):  # fmt: skip
            event = {
                "session_id": session, "kind": kind, "body": {"type": "text", "content": text},
                "source": {"surface": "claude-code", "project_path": str(place)},
                "valid_time": at.isoformat(),
            }  # fmt: skip
            furnished.client.ask("POST", "/v1/events", event)
    found = furnished.client.get("/api/projects")["items"]
    return next(str(one["project_id"]) for one in found if one["name"].endswith("aviary"))


def events(daemon: RealDaemon, project: str) -> str:
    found: Any = daemon.client.get("/v1/events", project=project)["items"]
    return json.dumps([one["event"]["body"] for one in found])


def erase(page: Page, button: str) -> None:
    """As somebody does who uses no mouse: what is to go is read before."""
    page.get_by_role("button", name=button).focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("status").get_by_text("2 events")).to_be_visible()
    expect(dialog.get_by_text("This cannot be undone.")).to_be_visible()


def test_a_session_is_erased_with_all_that_was_said_in_it(
    window: BrowserContext, furnished: RealDaemon, aviary: str
) -> None:
    page = enter(window, furnished)
    see(page, furnished, "sessions/herons")
    erase(page, "Erase this session")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("button", name="Erase this session")).to_be_focused()
    assert "herons" in events(furnished, aviary)
    erase(page, "Erase this session")
    page.get_by_role("button", name="Erase for good").press("Enter")
    expect(page.get_by_role("status").get_by_text("Erased:")).to_be_visible()
    expect(page.get_by_label("One session")).to_have_count(0)
    left = events(furnished, aviary)
    assert "herons" not in left and "storks" in left
    furnished.client.ask("POST", "/api/forget", everything(aviary))


def test_what_is_old_and_then_the_whole_project_is_erased_on_its_page(
    window: BrowserContext, furnished: RealDaemon, aviary: str
) -> None:
    page = enter(window, furnished)
    see(page, furnished, f"projects/{aviary}")
    page.get_by_role("button", name="Erase…").press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("status").get_by_text("4 events")).to_be_visible()
    page.evaluate(AXE_SCRIPT)
    assert page.evaluate("axe.run(document)")["violations"] == []
    day = dialog.get_by_label("Only what is from before")
    day.fill("1999-01-01")
    expect(dialog.get_by_text("nothing matches this selection")).to_be_visible()
    expect(dialog.get_by_role("button", name="Erase for good")).to_be_disabled()
    day.fill((datetime.now(UTC) - timedelta(days=200)).date().isoformat())
    expect(dialog.get_by_role("status").get_by_text("2 events")).to_be_visible()
    dialog.get_by_role("button", name="Erase for good").press("Enter")
    expect(page.get_by_role("status").get_by_text("Erased:")).to_be_visible()
    left = events(furnished, aviary)
    assert "herons" not in left and "storks" in left
    erase(page, "Erase…")
    dialog.get_by_role("button", name="Erase for good").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Projects")
    expect(page.get_by_role("link", name="aviary")).to_have_count(0)
    assert aviary not in {
        one["project_id"] for one in furnished.client.get("/api/projects")["items"]
    }


def everything(project: str) -> dict[str, Any]:
    return {"everything": True, "project": project, "dry_run": False}
