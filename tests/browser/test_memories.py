"""Many memories in a real browser: filters, selection, keys, searches that have a name."""

import json
from typing import Any

from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.browsers import enter
from tests.browser.test_dashboard import add, see
from tests.fakes.daemons import RealDaemon


def rows(page: Page) -> Locator:
    return page.locator(".virtual").get_by_role("listitem")


def found(page: Page, daemon: RealDaemon, address: str, number: int) -> None:
    see(page, daemon, address)
    expect(rows(page)).to_have_count(number)


def there(daemon: RealDaemon, ids: list[str]) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = daemon.client.ask("POST", "/api/memories/batch", {"ids": ids})[
        "items"
    ]
    return items


def test_filters_say_how_many_each_would_show_and_narrow_the_list(
    window: BrowserContext, furnished: RealDaemon
) -> None:
    for number in range(3):
        add(
            furnished,
            f"Otters {number}",
            concepts=["otters"],
            type="error" if number else "discovery",
        )
    page = enter(window, furnished)
    found(page, furnished, "memories?concept=otters", 3)
    expect(page.get_by_role("status").get_by_text("3 match")).to_be_visible()
    types = page.get_by_role("group", name="Type")
    errors = types.get_by_role("button", name="Errors and fixes")
    expect(errors).to_contain_text("2")
    errors.click()
    expect(rows(page)).to_have_count(2)
    assert "type=error" in page.url
    expect(types.get_by_role("button", name="Discoveries")).to_contain_text("1")
    page.get_by_role("group", name="Use").get_by_role("button", name="Never used").click()
    expect(rows(page)).to_have_count(2)
    see(page, furnished, "memories?concept=otters&mode=keyword&q=otters")
    expect(page.get_by_role("status").get_by_text("3 found")).to_be_visible()
    kinds = page.get_by_role("group", name="Kind")
    expect(kinds.get_by_role("button", name="Notes")).to_contain_text("3")
    expect(kinds.get_by_role("button")).to_have_count(1)
    expect(page.get_by_label("Project").first).to_contain_text("(3)")
    page.get_by_role("button", name="Clear filters").click()
    page.get_by_label("Search memories").fill("")
    expect(rows(page).nth(4)).to_be_visible()


# M12
def test_a_range_of_days_narrows_the_list_and_is_in_the_address(
    window: BrowserContext, furnished: RealDaemon
) -> None:
    for number in range(2):
        add(furnished, f"Herons {number}", concepts=["herons"])
    page = enter(window, furnished)
    found(page, furnished, "memories?concept=herons&days=7", 2)
    today = page.evaluate("new Date().toLocaleDateString('sv')")
    page.get_by_label("From", exact=True).fill("2020-02-01")
    page.get_by_label("To", exact=True).fill("2020-02-29")
    expect(rows(page)).to_have_count(0)
    assert "since=2020-02-01" in page.url and "until=2020-02-29" in page.url
    assert "days" not in page.url
    # Both days count, from their first moment to their last.
    page.get_by_label("To", exact=True).fill(today)
    expect(rows(page)).to_have_count(2)
    page.get_by_label("From", exact=True).fill(today)
    expect(page.get_by_role("status").get_by_text("2 match")).to_be_visible()
    expect(rows(page)).to_have_count(2)
    page.get_by_role("button", name="This week").click()
    assert "since" not in page.url and "days=7" in page.url
    expect(page.get_by_label("From", exact=True)).to_have_value("")


def test_some_are_chosen_by_keys_and_forgotten_and_undone(
    window: BrowserContext, furnished: RealDaemon
) -> None:
    ids = [add(furnished, f"Badgers {number}", concepts=["badgers"]) for number in range(4)]
    page = enter(window, furnished)
    found(page, furnished, "memories?concept=badgers", 4)
    for key in "jxjjx":
        page.keyboard.press(key)
        page.wait_for_timeout(60)
    bar = page.get_by_role("toolbar", name="Selected")
    expect(bar.get_by_text("2 selected")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_label("One memory").get_by_role("heading", level=2)).to_have_text(
        "Badgers 1"
    )
    page.keyboard.press("k")
    expect(rows(page).nth(1).get_by_role("link")).to_be_focused()
    bar.get_by_role("button", name="Forget").click()
    page.get_by_role("dialog").get_by_role("button", name="Forget").click()
    expect(rows(page)).to_have_count(2)
    assert {one["record_id"] for one in there(furnished, ids)} == {ids[0], ids[2]}
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(rows(page)).to_have_count(4)
    assert len(there(furnished, ids)) == 4
    page.keyboard.press("Escape")
    expect(page.get_by_label("One memory")).to_have_count(0)
    page.keyboard.press("/")
    expect(page.get_by_label("Search memories")).to_be_focused()


def test_all_that_are_shown_get_another_type_another_project_and_are_exported(
    window: BrowserContext, furnished: RealDaemon
) -> None:
    ids = [add(furnished, f"Herons {number}", concepts=["herons"]) for number in range(3)]
    page = enter(window, furnished)
    found(page, furnished, "memories?concept=herons", 3)
    bar = page.get_by_role("toolbar", name="Selected")
    rows(page).first.get_by_role("checkbox").check()
    bar.get_by_role("button", name="Select all 3").click()
    bar.get_by_role("button", name="Change type…").click()
    page.get_by_role("dialog").get_by_label("Type").select_option(label="Pattern")
    page.get_by_role("dialog").get_by_role("button", name="Change").click()
    expect(page.get_by_text("Changed 3 memories.")).to_be_visible()
    assert {one["observation_type"] for one in there(furnished, ids)} == {"pattern"}
    rows(page).first.get_by_role("checkbox").check()
    bar.get_by_role("button", name="Select all 3").click()
    with page.expect_download() as saved:
        bar.get_by_role("button", name="Export").click()
    lines = saved.value.path().read_text().splitlines()
    assert {json.loads(line)["record_id"] for line in lines} == set(ids)
    bar.get_by_role("button", name="Move…").click()
    page.get_by_role("dialog").get_by_label("Project").select_option(label="storefront")
    page.get_by_role("dialog").get_by_role("button", name="Move").click()
    expect(page.get_by_text("Moved 3 memories.")).to_be_visible()
    assert len({one["namespace"] for one in there(furnished, ids)}) == 1
    page.get_by_role("button", name="Undo", exact=True).last.click()
    expect(page.get_by_text("Undone.")).to_be_visible()


def test_a_memory_is_edited_with_its_type_and_save_is_in_sight(
    window: BrowserContext, furnished: RealDaemon
) -> None:
    record = add(furnished, "Swallows nest in March", type="discovery", facts=["One"] * 1)
    page = enter(window, furnished)
    page.set_viewport_size({"width": 1024, "height": 600})
    see(page, furnished, f"memories/{record}")
    page.get_by_label("One memory").get_by_role("button", name="Edit").click()
    expect(page.get_by_role("button", name="Save")).to_be_in_viewport()
    page.get_by_role("dialog").get_by_label("Type").select_option(label="Pattern")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_label("One memory").get_by_text("Pattern")).to_be_visible()
    assert there(furnished, [record])[0]["observation_type"] == "pattern"


def test_a_search_is_saved_under_a_name_opened_and_deleted(
    window: BrowserContext, furnished: RealDaemon
) -> None:
    page = enter(window, furnished, "memories?kind=knowledge&used=false")
    page.get_by_role("button", name="Save this search…").click()
    page.get_by_label("Name", exact=True).fill("Unused beliefs")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    saved = page.get_by_role("group", name="Saved searches")
    expect(saved.get_by_role("link", name="Unused beliefs")).to_be_visible()
    see(page, furnished, "memories")
    saved.get_by_role("link", name="Unused beliefs").click()
    expect(page.get_by_role("button", name="Beliefs", pressed=True)).to_be_visible()
    assert "used=false" in page.url and "kind=knowledge" in page.url
    saved.get_by_role("button", name="Delete the search Unused beliefs").click()
    expect(saved.get_by_role("link", name="Unused beliefs")).to_have_count(0)
    assert furnished.client.get("/api/searches")["items"] == []
