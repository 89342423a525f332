"""The first screen in a real browser: what was learned, what waits, what agents were told."""

from datetime import UTC, datetime, timedelta

from playwright.sync_api import BrowserContext, expect

from tests.browser.browsers import enter
from tests.browser.test_beliefs import believe, row
from tests.fakes.daemons import RealDaemon


def test_the_first_screen_answers_the_weekly_questions(
    window: BrowserContext, furnished: RealDaemon
) -> None:
    page = enter(window, furnished)
    expect(page.get_by_role("heading", level=1)).to_have_text("This week")
    waiting = page.get_by_label("Waiting for you", exact=True)
    expect(waiting.get_by_role("button", name="This one holds")).to_have_count(2)
    expect(page.get_by_label("storefront").get_by_text("1 ended")).to_be_visible()
    expect(page.get_by_text("Recollect itself spent nothing on models")).to_be_visible()
    use = page.get_by_label("Used and never used")
    use.get_by_role("button", name="Never used").click()
    expect(use.get_by_role("listitem").first).to_be_visible()
    told = page.get_by_label("Told to agents")
    told.get_by_role("listitem").first.get_by_role("link").click()
    expect(page.get_by_label("One receipt")).to_be_visible()


def test_what_was_learned_appears_live_is_kept_and_corrected_in_two_clicks(
    window: BrowserContext, furnished: RealDaemon
) -> None:
    page = enter(window, furnished)
    expect(page.get_by_text("Live", exact=True).first).to_be_visible()
    believe(furnished, "Invoices are numbered per year")
    learned = row(page, "Invoices are numbered per year")
    learned.get_by_role("button", name="Keep", exact=True).click()
    expect(learned.get_by_role("button", name="Kept")).to_be_visible()
    page.reload()
    expect(learned.get_by_role("button", name="Kept")).to_be_visible()
    learned.get_by_role("button", name="Correct").click()
    page.get_by_label("What holds instead").fill("Invoices are numbered per month")
    page.get_by_role("button", name="Save").click()
    expect(row(page, "Invoices are numbered per month")).to_contain_text("corrected by you")
    expect(row(page, "Invoices are numbered per year")).to_contain_text("Ended")


def test_what_is_old_waits_in_one_line_and_only_what_goes_on_is_called_now(
    window: BrowserContext, furnished: RealDaemon
) -> None:
    page = enter(window, furnished)
    older = page.get_by_role("link", name="older than 30 days")
    expect(page.get_by_label("Happening now").get_by_role("listitem").first).to_be_visible()
    expect(older).to_have_count(0)
    page.clock.set_fixed_time(datetime.now(UTC) + timedelta(minutes=15))
    page.reload()
    expect(page.get_by_label("Recent sessions").get_by_role("listitem").first).to_be_visible()
    page.clock.set_fixed_time(datetime.now(UTC) + timedelta(days=31))
    page.reload()
    expect(older).to_be_visible()
    waiting = page.get_by_label("Waiting for you", exact=True)
    expect(waiting.locator("[data-belief]")).to_have_count(0)
    older.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Beliefs")


def test_the_figures_are_read_when_they_are_opened(
    window: BrowserContext, furnished: RealDaemon
) -> None:
    page = enter(window, furnished)
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url))
    page.reload()
    expect(page.get_by_label("Told to agents").get_by_role("listitem").first).to_be_visible()
    assert not [url for url in asked if "/api/analytics" in url]
    page.get_by_text("Figures", exact=True).click()
    expect(page.get_by_label("Recall latency", exact=True).get_by_text("median")).to_be_visible()
    expect(page.locator(".loading")).to_have_count(0)
    expect(page.locator(".state.error")).to_have_count(0)


def test_the_skip_link_leads_to_the_content(window: BrowserContext, furnished: RealDaemon) -> None:
    page = enter(window, furnished)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    expect(page.get_by_role("heading", level=1)).to_have_text("This week")


def test_the_palette_closes_when_the_address_changes(
    window: BrowserContext, furnished: RealDaemon
) -> None:
    page = enter(window, furnished, "memories")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.evaluate("location.hash = '#/sessions'")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("heading", level=1)).to_have_text("Sessions")
