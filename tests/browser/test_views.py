"""Sessions, projects and what changes while they are open, in a real browser."""

import json
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.browsers import enter
from tests.browser.test_beliefs import believe, row
from tests.browser.test_dashboard import see
from tests.fakes.daemons import RealDaemon

# The longest task while 2,000 files are mapped, beside the longest while the first 20 are, about 10
# ms of CPU: milliseconds depend on the machine, the ratio less. The bar is 200 ms.
FEW_FILES = 20
MAPPED = 2000
MOST_TASK = 8
EVENTS = 40
MOST_REQUESTS = 0.3  # for each event, while a page is open
FIRST_LOAD_KB = 400


def project_id(daemon: RealDaemon, name: str = "billing-api") -> str:
    found = daemon.client.get("/api/projects")["items"]
    return next(str(one["project_id"]) for one in found if one["name"] == name)


def prompt(daemon: RealDaemon, text: str, session: str = "session-0") -> None:
    event = {
        "session_id": session, "kind": "prompt", "body": {"type": "text", "content": text},
        "source": {"surface": "claude-code", "project_path": path(daemon)},
    }  # fmt: skip
    daemon.client.ask("POST", "/v1/events?retrieve=true", event)


def path(daemon: RealDaemon) -> str:
    found = daemon.client.get("/api/projects")["items"]
    marks = next(one["marks"] for one in found if one["name"] == "billing-api")
    return str(next(one["value"] for one in marks if one["kind"] == "root"))


def test_a_session_is_one_trace_with_the_very_text_that_was_injected(
    window: BrowserContext, furnished: RealDaemon
) -> None:
    receipts = furnished.client.get("/api/receipts?limit=50&project=all")["items"]
    told = next(one for one in receipts if one["injected"] and one["trigger"] == "prompt")
    page = enter(window, furnished)
    see(page, furnished, f"sessions/{told['session_id']}")
    session = page.get_by_label("One session")
    turn = session.locator(".trace > li").filter(has_text=told["query"]).first
    expect(turn.locator(".said.answer").first).to_be_visible()
    turn.locator(".said.told summary").first.click()
    expect(turn.locator(".said.told pre").first).to_contain_text(
        told["detail"]["text"].splitlines()[1]
    )
    raw = session.get_by_role("link", name="Raw events as JSON").get_attribute("href")
    assert told["session_id"] in str(raw)
    turn.get_by_role("link", name="Why this").first.click()
    expect(page.get_by_label("One receipt")).to_be_visible()


def test_old_addresses_lead_to_where_it_is_now(
    window: BrowserContext, furnished: RealDaemon
) -> None:
    page = enter(window, furnished)
    entity = furnished.client.get("/api/entities?limit=1")["items"][0]
    for address, title in (
        ("timeline", "Sessions"),
        ("timeline?log=changes", "Sessions"),
        ("graph", "Projects"),
        (f"graph/{entity['entity_id']}", entity["name"]),
    ):
        see(page, furnished, address)
        expect(page.get_by_role("heading", level=1)).to_have_text(title)
    see(page, furnished, "timeline?log=events")
    expect(page.get_by_role("button", name="Events", pressed=True)).to_be_visible()


def test_a_project_has_a_page_and_a_file_shows_what_is_known(
    window: BrowserContext, furnished: RealDaemon
) -> None:
    page = enter(window, furnished)
    see(page, furnished, "projects")
    page.locator(".tile").filter(has_text="billing-api").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("billing-api")
    rules = page.get_by_label("What holds here")
    expect(rules.get_by_role("listitem").first).to_be_visible()
    expect(rules.get_by_role("button", name="Correct").first).to_be_visible()
    expect(page.get_by_label("Branches").get_by_text("feature/retries")).to_be_visible()
    expect(page.get_by_label("Commands").get_by_text("make test")).to_be_visible()
    expect(page.get_by_label("Open ends").get_by_text("Load test with 500")).to_be_visible()
    files = page.get_by_label("Files", exact=True)
    files.get_by_role("button", name="src/retry.py").click()
    one = page.get_by_label("One file")
    expect(one.get_by_text("Retry storm").first).to_be_visible()
    one.get_by_role("link", name="What it is related to").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("src/retry.py")
    see(page, furnished, "projects/global")
    disputed = page.get_by_label("What holds here").locator("[data-belief]")
    expect(disputed.get_by_text("Disputed").first).to_be_visible()


def busiest_ms(trace: bytes) -> float:
    """The longest task of the page's main thread, in milliseconds of CPU."""
    events: list[dict[str, Any]] = json.loads(trace)["traceEvents"]
    threads = {
        (one["pid"], one["tid"])
        for one in events
        if one["name"] == "thread_name" and one["args"]["name"] == "CrRendererMain"
    }
    tasks = [
        one["tdur"] / 1000
        for one in events
        if one["name"] == "RunTask" and "tdur" in one and (one["pid"], one["tid"]) in threads
    ]
    assert tasks
    return float(max(tasks))


def mapping_ms(browser: Browser, page: Page, daemon: RealDaemon, files: int) -> float:
    """The longest task while a map of so many files is opened, pointed at and clicked."""
    items = [
        {"path": f"src/area{number % 37}/part{number % 11}/file{number}.py",
         "sessions": number % 17, "last": None, "people": ["ada"], "memories": number % 5,
         "stale": number % 3 if number % 5 else 0}
        for number in range(files)
    ]  # fmt: skip
    page.route(
        "**/api/projects/*/files*",
        lambda route: route.fulfill(json={"items": items, "total": files}),
    )
    see(page, daemon, "week")
    browser.start_tracing(page=page)
    see(page, daemon, f"projects/{project_id(daemon)}")
    canvas = page.get_by_role("img", name=f"A map of {files:,} files")
    expect(canvas).to_be_visible()
    canvas.scroll_into_view_if_needed()
    for x in range(20, 400, 20):
        canvas.hover(position={"x": x, "y": 60})
    canvas.click(position={"x": 40, "y": 60})
    expect(page.get_by_label("One file")).to_be_visible()
    return busiest_ms(browser.stop_tracing())


def test_a_map_of_2000_files_does_not_block_the_page(
    browser: Browser, window: BrowserContext, furnished: RealDaemon
) -> None:
    page = enter(window, furnished, f"projects/{project_id(furnished)}")
    expect(page.locator(".filemap canvas")).to_be_visible()  # what runs first is compiled first
    browser.start_tracing(page=page)
    browser.stop_tracing()  # and so is what traces
    few, many = (mapping_ms(browser, page, furnished, files) for files in (FEW_FILES, MAPPED))
    assert many < MOST_TASK * few, f"a task of {many:.0f} ms; of {few:.0f} ms with {FEW_FILES}"


def test_what_happens_is_pushed_not_read_again(
    window: BrowserContext, furnished: RealDaemon
) -> None:
    page = enter(window, furnished)
    expect(page.get_by_label("Told to agents").get_by_role("listitem").first).to_be_visible()
    page.wait_for_timeout(500)
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url))
    for number in range(EVENTS):
        prompt(furnished, f"What about the retry storm, part {number}?", "pushed")
    shown = page.get_by_label("Told to agents").get_by_text(f"part {EVENTS - 1}?")
    expect(shown.first).to_be_visible()
    page.wait_for_timeout(4000)
    assert len(asked) <= MOST_REQUESTS * EVENTS, asked


def test_the_first_load_is_small(window: BrowserContext, furnished: RealDaemon) -> None:
    sizes: list[int] = []
    page = enter(window, furnished)
    page.on("requestfinished", lambda one: sizes.append(one.sizes()["responseBodySize"]))
    page.reload()
    expect(page.get_by_label("Told to agents").get_by_role("listitem").first).to_be_visible()
    page.wait_for_timeout(500)
    assert sum(sizes) < FIRST_LOAD_KB * 1000, f"{sum(sizes) / 1000:.0f} KB"


def test_beliefs_that_say_the_same_are_merged_and_several_are_forgotten(
    window: BrowserContext, furnished: RealDaemon
) -> None:
    names = ("Dates are ISO 8601", "Use ISO dates", "Write dates as ISO")
    ids = [believe(furnished, name) for name in names]
    page = enter(window, furnished, "beliefs")
    for name in names:
        row(page, name).get_by_role("checkbox").check()
    bar = page.get_by_role("toolbar", name="Selected")
    bar.get_by_role("button", name="Merge…").click()
    page.get_by_role("dialog").get_by_label("Use ISO dates").check()
    page.get_by_role("dialog").get_by_role("button", name="Merge").click()
    expect(row(page, names[0])).to_have_count(0)
    expect(row(page, names[1])).to_be_visible()
    ended = furnished.client.get(f"/api/memories/{ids[0]}")
    assert (ended["state"], ended["ended_by"]) == ("ended", ids[1])
    page.get_by_role("button", name="Undo", exact=True).last.click()
    expect(row(page, names[0])).to_be_visible()
    for name in names[:2]:
        row(page, name).get_by_role("checkbox").check()
    bar.get_by_role("button", name="Change type…").click()
    page.get_by_role("dialog").get_by_label("Type").select_option(label="Decision")
    page.get_by_role("dialog").get_by_role("button", name="Change").click()
    expect(row(page, names[0]).get_by_text("Decision")).to_be_visible()
    for name in names[:2]:
        row(page, name).get_by_role("checkbox").check()
    bar.get_by_role("button", name="Forget").click()
    expect(row(page, names[0])).to_have_count(0)
    expect(row(page, names[2])).to_be_visible()


def test_settings_show_background_work_and_export_with_progress(
    window: BrowserContext, furnished: RealDaemon
) -> None:
    page = enter(window, furnished, "settings")
    expect(page.get_by_label("Plugins and webhooks").get_by_text("webhooks")).to_be_visible()
    expect(page.get_by_label("Background work")).to_be_visible()
    box = page.get_by_label("Export", exact=True)
    box.get_by_label("What").select_option(label="storefront")
    box.get_by_label("Format").select_option("markdown")
    with page.expect_download() as saved:
        box.get_by_role("button", name="Export").click()
    assert "storefront" in saved.value.path().read_text() or saved.value.path().stat().st_size > 200
    expect(page.get_by_label("Background work").get_by_text("markdown of")).to_have_count(0)
    page.get_by_label("Import", exact=True).get_by_role("button", name="Look for history").click()
    expect(page.get_by_label("Import", exact=True).get_by_text("Looking…")).to_have_count(0)


def test_a_phone_shows_four_views_and_the_others_behind_a_button(
    window: BrowserContext, furnished: RealDaemon
) -> None:
    page = enter(window, furnished)
    page.set_viewport_size({"width": 390, "height": 844})
    nav = page.get_by_role("navigation", name="Views")
    expect(nav.get_by_role("link")).to_have_count(4)
    nav.get_by_role("button", name="More").click()
    expect(nav.get_by_role("link")).to_have_count(7)
    nav.get_by_role("link", name="Settings").click()
    expect(page.get_by_role("heading", name="Settings and health")).to_be_visible()
    expect(nav.get_by_role("link")).to_have_count(4)


def test_a_setting_is_changed_in_the_page_and_what_does_not_fit_is_said(
    window: BrowserContext, furnished: RealDaemon
) -> None:
    page = enter(window, furnished, "settings")
    row = page.get_by_role("row").filter(has_text="prompt_tokens")
    row.get_by_role("button", name="Change prompt_tokens").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Value").fill("-5")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert")).to_contain_text("it takes 0 to 8000")
    dialog.get_by_label("Value").fill("90")
    dialog.get_by_role("button", name="Save").click()
    expect(row.get_by_text("after restart: 90")).to_be_visible()
    page.get_by_role("status").get_by_role("button", name="Undo").click()
    expect(row.get_by_text("after restart")).to_have_count(0)


# --- how many clicks a question costs, from the first screen -------------------------------------


class Clicks:
    def __init__(self, page: Page) -> None:
        self.page = page
        page.evaluate(
            "addEventListener('click', () => (window.clicks = (window.clicks ?? 0) + 1), true)"
        )

    @property
    def number(self) -> int:
        return int(self.page.evaluate("window.clicks ?? 0"))


def test_the_questions_of_a_week_cost_few_clicks(
    window: BrowserContext, furnished: RealDaemon
) -> None:
    believe(furnished, "Invoices carry the customer's tax number")
    doomed = furnished.client.ask(
        "POST", "/api/notes", {"text": "The quokka cluster is slow", "project": "billing-api"}
    )["record"]["record_id"]
    page = enter(window, furnished)
    clicks = Clicks(page)
    # What was learned today, and what does it cost?
    expect(row(page, "Invoices carry the customer's tax number")).to_be_visible()
    expect(page.get_by_text("Recollect itself spent nothing on models")).to_be_visible()
    assert clicks.number == 0
    # Correct a belief.
    row(page, "Invoices carry the customer's tax number").get_by_role(
        "button", name="Correct"
    ).click()
    page.get_by_label("What holds instead").fill("Invoices carry both tax numbers")
    page.get_by_role("button", name="Save").click()
    expect(row(page, "Invoices carry both tax numbers")).to_be_visible()
    assert clicks.number == 2
    # Forget all about something.
    page.get_by_role("button", name="Search").first.click()
    page.get_by_label("Search everywhere", exact=True).last.fill("quokka")
    page.get_by_role("option").filter(has_text="Forget all about").click()
    page.get_by_role("dialog").get_by_role("button", name="Forget").click()
    expect(page.get_by_text("Forgot 1 memory.")).to_be_visible()
    assert clicks.number == 5
    assert not furnished.client.ask("POST", "/api/memories/batch", {"ids": [doomed]})["items"]
    # Why did the agent say this?
    page.get_by_label("Told to agents").get_by_role("listitem").first.get_by_role("link").click()
    expect(page.get_by_label("One receipt")).to_be_visible()
    assert clicks.number == 6
    # Which memories are stale?
    page.go_back()
    page.get_by_role("link", name="stale memor").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Memories")
    assert clicks.number == 7 and "freshness=" in page.url


def tab_to(page: Page, name: str) -> None:
    """Press Tab until the control that has this name is reached."""
    for _ in range(200):
        page.keyboard.press("Tab")
        here = page.evaluate(
            """() => { const one = document.activeElement;
               return [one.textContent.trim(), one.getAttribute('aria-label') ?? '',
                       one.tagName] }"""
        )
        if name in here[:2]:
            return
    raise AssertionError(f"{name} cannot be reached by Tab")


def test_a_belief_is_reviewed_corrected_forgotten_and_brought_back_by_keyboard_alone(
    window: BrowserContext, furnished: RealDaemon
) -> None:
    believe(furnished, "Ports are odd numbers")
    page = enter(window, furnished)
    mine = row(page, "Ports are odd numbers")
    expect(mine).to_be_visible()
    tab_to(page, "Ports are odd numbers")
    tab_to(page, "Correct")
    page.keyboard.press("Enter")
    expect(page.get_by_label("What holds instead")).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type("Ports are even numbers")
    tab_to(page, "Save")
    page.keyboard.press("Enter")
    expect(row(page, "Ports are even numbers")).to_be_visible()
    page.keyboard.press("Control+Home")
    page.reload()
    expect(row(page, "Ports are even numbers")).to_be_visible()
    tab_to(page, "Ports are even numbers")
    tab_to(page, "Forget")
    page.keyboard.press("Enter")
    expect(row(page, "Ports are even numbers").get_by_role("button", name="Forget")).to_have_count(
        0
    )
    tab_to(page, "Undo")
    page.keyboard.press("Enter")
    expect(row(page, "Ports are even numbers").get_by_role("button", name="Forget")).to_be_visible()
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Search everywhere")).to_be_focused()
    page.keyboard.type("Why")
    expect(page.get_by_role("option", name="View Settings")).to_have_count(0)
    while not page.get_by_role("option", name="View Why", selected=True).count():
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Why")
