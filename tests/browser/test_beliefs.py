"""Deciding about beliefs in a real browser: keep, correct, forget, where they hold, undo."""

import re
from typing import Any

from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.browsers import enter, propose
from tests.fakes.daemons import RealDaemon


def believe(daemon: RealDaemon, title: str) -> str:
    body = {"project": "billing-api", "title": title, "type": "constraint"}
    return str(daemon.client.ask("POST", "/api/knowledge", body)["record"]["record_id"])


def stored(daemon: RealDaemon, record_id: str) -> dict[str, Any]:
    found: dict[str, Any] = daemon.client.get(f"/api/memories/{record_id}")
    return found


def row(page: Page, title: str) -> Locator:
    whole = re.compile(rf"^\s*{re.escape(title)}\s*$")
    return page.locator("[data-belief]").filter(has=page.locator(".title").filter(has_text=whole))


def test_beliefs_are_grouped_by_project_and_what_holds_everywhere_comes_first(
    window: BrowserContext, furnished: RealDaemon
) -> None:
    page = enter(window, furnished, "beliefs")
    expect(page.get_by_role("heading", level=2).first).to_have_text("Everywhere")
    group = page.get_by_label("billing-api", exact=True)
    expect(group.get_by_text("branch importer-2")).to_be_visible()
    expect(group.get_by_text("Deploys happen on Tuesdays")).to_be_visible()
    expect(page.get_by_text("Deploys happen on Fridays")).to_have_count(0)
    page.get_by_role("button", name="Ended").click()
    over = row(page, "Deploys happen on Fridays")
    expect(over.get_by_role("link", name="Deploys happen on Tuesdays")).to_be_visible()
    expect(row(page, "Mock the payment provider in every test")).to_contain_text("by you")
    page.get_by_role("link", name="Changes").click()
    expect(page.get_by_label("Changes", exact=True).get_by_role("table")).to_be_visible()


def test_correct_forget_and_undo_with_the_keyboard_alone(
    window: BrowserContext, furnished: RealDaemon
) -> None:
    first = believe(furnished, "Ports start at 7000")
    page = enter(window, furnished, "beliefs")
    row(page, "Ports start at 7000").get_by_role("button", name="Correct").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_label("What holds instead")).to_have_value("Ports start at 7000")
    page.get_by_label("What holds instead").fill("Ports start at 8000")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(row(page, "Ports start at 8000")).to_contain_text("corrected by you")
    assert stored(furnished, first)["state"] == "ended"
    row(page, "Ports start at 8000").get_by_role("button", name="Forget").focus()
    page.keyboard.press("Enter")
    expect(row(page, "Ports start at 8000")).to_have_count(0)
    assert page.evaluate("document.activeElement.closest('[data-belief]') !== null")
    page.get_by_role("button", name="Undo", exact=True).last.focus()
    page.keyboard.press("Enter")
    expect(row(page, "Ports start at 8000")).to_be_visible()


def test_a_proposal_holds_once_it_is_kept(window: BrowserContext, furnished: RealDaemon) -> None:
    project = furnished.client.get("/api/projects")["items"][0]["project_id"]
    propose(furnished, project, "Name test files after the module")
    page = enter(window, furnished, "beliefs")
    expect(row(page, "Name test files after the module")).to_have_count(0)
    page.get_by_role("button", name="Waiting").click()
    row(page, "Name test files after the module").get_by_role("button", name="Keep").click()
    expect(row(page, "Name test files after the module")).to_have_count(0)
    page.get_by_role("button", name="Hold now").click()
    expect(row(page, "Name test files after the module")).to_be_visible()


def test_a_proposal_is_kept_and_a_dispute_decided_where_the_memory_is_read(
    window: BrowserContext, furnished: RealDaemon
) -> None:
    project = furnished.client.get("/api/projects")["items"][0]["project_id"]
    propose(furnished, project, "Keep fixtures beside their tests")
    waiting = furnished.client.get("/api/beliefs?show=waiting&project=all")["items"]
    proposed = next(one for one in waiting if one["title"] == "Keep fixtures beside their tests")
    page = enter(window, furnished, f"memories/{proposed['record_id']}")
    one = page.get_by_label("One memory")
    expect(one.get_by_text("Agents are not told this yet.")).to_be_visible()
    one.get_by_role("button", name="Keep").click()
    expect(one.get_by_text("Agents are not told this yet.")).to_have_count(0)
    assert stored(furnished, proposed["record_id"])["state"] == "current"
    older = next(one for one in waiting if one["state"] == "disputed" and one["ended_by"])
    page.goto(f"http://127.0.0.1:{furnished.port}/#/memories/{older['record_id']}")
    expect(one.get_by_text("Agents are told the other one.")).to_be_visible()
    one.get_by_role("link", name="Decide…").click()
    expect(page.get_by_role("group", name="These contradict each other")).to_be_visible()


def test_of_two_that_contradict_each_other_both_hold_or_one_is_chosen(
    window: BrowserContext, furnished: RealDaemon
) -> None:
    page = enter(window, furnished, "beliefs?show=waiting")
    pair = page.get_by_role("group", name="These contradict each other")
    expect(pair.get_by_role("button", name="This one holds")).to_have_count(2)
    told = pair.locator("[data-belief]").filter(has_text="Agents are told this one")
    expect(told.locator(".title")).to_have_text("Indent with spaces in every language")
    page.get_by_role("button", name="Both hold").click()
    expect(pair).to_have_count(0)
    page.get_by_role("button", name="Undo", exact=True).last.click()
    expect(pair).to_have_count(1)
    kept = row(page, "Indent with tabs, as gofmt does")
    kept.get_by_role("button", name="This one holds").click()
    expect(pair).to_have_count(0)
    page.get_by_role("button", name="Ended").click()
    expect(row(page, "Indent with spaces in every language")).to_be_visible()
    page.get_by_role("button", name="Undo", exact=True).last.click()
    expect(row(page, "Indent with spaces in every language")).to_have_count(0)


def test_where_a_belief_holds_is_changed_and_changed_back(
    window: BrowserContext, furnished: RealDaemon
) -> None:
    record = believe(furnished, "Logs are JSON lines")
    page = enter(window, furnished, "beliefs")
    choices = page.get_by_role("dialog").get_by_role("combobox")
    row(page, "Logs are JSON lines").get_by_role("button", name="Move…").click()
    choices.first.select_option("everywhere")
    page.get_by_role("button", name="Save").click()
    group = page.get_by_label("Everywhere", exact=True)
    expect(group.get_by_text("Logs are JSON lines")).to_be_visible()
    row(page, "Logs are JSON lines").get_by_role("button", name="Move…").click()
    choices.first.select_option("branch")
    page.get_by_label("Name of the branch").fill("json")
    choices.last.select_option(label="billing-api")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_label("billing-api", exact=True).get_by_text("branch json")).to_be_visible()
    now = stored(furnished, record)
    assert (now["scope"], now["scope_name"]) == ("branch", "json")
