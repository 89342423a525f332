"""What happens to an open dashboard when the daemon goes away, and when there is very much."""

import pathlib
import re
import time
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Route, expect

from tests.browser import scale
from tests.browser.browsers import enter
from tests.fakes.daemons import real_daemon

# `python -m tests.browser.scale` measures 100,000. A page that loads the whole table, or a question
# that reads all of it, would cost ten times as much.
MANY = 10_000
MOST = 2.5


def test_a_restart_of_the_daemon_misses_nothing(
    window: BrowserContext, tmp_path: pathlib.Path
) -> None:
    project = tmp_path / "work"
    project.mkdir()
    (project / "Makefile").touch()

    def add(text: str) -> Any:
        return daemon.client.ask("POST", "/api/notes", {"text": text, "project": str(project)})

    with real_daemon(tmp_path / "home", embedding="false") as daemon:
        add("before the restart")
        page = enter(window, daemon, "memories")
        expect(page.locator(".virtual").get_by_role("listitem")).to_have_count(1)
        daemon.environment["RECOLLECT_PORT"] = str(daemon.port)
        daemon.stop()
        expect(page.get_by_text("Disconnected; retrying")).to_be_visible()
        daemon.start()
        add("while the page was away")
        expect(page.get_by_text("Live", exact=True)).to_be_visible()
        expect(page.locator(".virtual").get_by_role("listitem")).to_have_count(2)
        add("after it came back")
        expect(page.locator(".virtual").get_by_role("listitem")).to_have_count(3)


def test_a_page_whose_stream_is_refused_looks_now_and_then_until_it_is_back(
    window: BrowserContext, tmp_path: pathlib.Path
) -> None:
    with real_daemon(tmp_path / "home", embedding="false") as daemon:
        window.route("**/api/events", lambda route: route.fulfill(status=503))
        daemon.client.ask("POST", "/api/notes", {"text": "before", "project": "global"})
        page = enter(window, daemon, "memories")
        items = page.locator(".virtual").get_by_role("listitem")
        expect(items).to_have_count(1)
        expect(page.get_by_text("Disconnected; retrying")).to_be_visible()
        for number in (2, 3):  # also after the stream was refused again
            daemon.client.ask("POST", "/api/notes", {"text": f"{number}", "project": "global"})
            expect(items).to_have_count(number)
        window.unroute("**/api/events")
        expect(page.get_by_text("Live", exact=True)).to_be_visible()


def test_what_is_stored_while_a_list_is_read_is_shown(
    window: BrowserContext, tmp_path: pathlib.Path
) -> None:
    with real_daemon(tmp_path / "home", embedding="false") as daemon:
        page = enter(window, daemon)
        expect(page.get_by_text("Live", exact=True)).to_be_visible()

        def late(route: Route) -> None:
            answer = route.fetch()
            daemon.client.ask("POST", "/api/notes", {"text": "meanwhile", "project": "global"})
            time.sleep(1)  # the page hears of it before it has the answer from before
            route.fulfill(response=answer)

        window.route(re.compile(r"/api/memories\?"), late, times=1)
        page.evaluate("location.hash = '#/memories'")
        expect(page.locator(".virtual").get_by_role("listitem")).to_have_count(1)


def test_a_first_run_says_how_to_begin_and_offers_a_sample(
    window: BrowserContext, tmp_path: pathlib.Path
) -> None:
    with real_daemon(tmp_path / "home", embedding="false") as daemon:
        page = enter(window, daemon)
        expect(page.get_by_text("recollect install").first).to_be_visible()
        page.get_by_role("button", name="Show me a sample").click()
        expect(page.get_by_text("Amounts are integers in cents").first).to_be_visible()


def test_many_memories_cost_about_as_much_as_few(browser: Browser, tmp_path: pathlib.Path) -> None:
    for what, (few, many) in scale.measure(browser, tmp_path, MANY).items():
        assert many < MOST * few, f"{what}: {few:.0f} ms of CPU with 100, {many:.0f} with {MANY}"
