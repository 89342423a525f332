"""How long the dashboard takes with many memories, beside a hundred, in one run.

In: how many. Out: milliseconds until a view can be used, of both, alternating; `make bench` prints
them for 100,000. The stores are filled directly, without vectors: the page is what is measured.
"""

import pathlib
import statistics
import sys
import tempfile
import time

from playwright.sync_api import Browser, Page

from recollect.client import Client
from recollect.core import projects
from recollect.core.projects import ProjectPlace
from recollect.core.settings import Settings
from recollect.store.sqlite import SqliteStore
from tests.browser.browsers import TOPICS, chromium, enter
from tests.fakes.daemons import RealDaemon, real_daemon
from tests.make import record

FEW = 100
INDEXED_S = 300.0
BATCH = 1000
BELIEVED = 50  # one in so many is a belief
ROUNDS = 7
# Views, the last one with a search, and what each shows when its data is there.
SHOWN = {
    "week": "section[aria-label='Told to agents']",
    "beliefs": ".beliefs",
    "projects": ".tile",
    "memories": ".virtual [role=listitem]",
}


def fill(home: pathlib.Path, memories: int) -> None:
    store = SqliteStore(Settings(home=str(home), actor="ada", reserve_mb=0))
    place = ProjectPlace(root="/work/large")
    namespace = projects.namespace("ada", store.projects.resolve(place))
    for start in range(0, memories, BATCH):
        batch = []
        for number in range(start, min(start + BATCH, memories)):
            title, summary, concepts, files = TOPICS[number % len(TOPICS)]
            held = {"kind": "knowledge", "knowledge_type": "constraint", "author": "user"}
            batch.append(
                record(
                    namespace=namespace,
                    title=f"{title} {number}",
                    summary=summary,
                    concepts=concepts,
                    files=files,
                    **(held if number % BELIEVED == 0 else {}),
                )
            )
        store.records.put(batch)
    store.close()


def opening_ms(page: Page, daemon: RealDaemon, view: str) -> float:
    """From asking for the page until nothing of the view is loading any more."""
    page.goto("about:blank")
    began = time.perf_counter()
    page.goto(f"http://127.0.0.1:{daemon.port}/#/{view}")
    page.locator("h1").wait_for()
    page.locator(SHOWN[view]).first.wait_for()
    page.locator(".loading").first.wait_for(state="detached")
    return (time.perf_counter() - began) * 1000


def search_ms(page: Page, word: str) -> float:
    began = time.perf_counter()
    with page.expect_response(lambda answer: "/api/memories/search" in answer.url):
        page.get_by_label("Search memories").fill(word)
    page.locator(".virtual").get_by_role("listitem").first.wait_for()
    return (time.perf_counter() - began) * 1000


def measure(browser: Browser, folder: pathlib.Path, many: int) -> dict[str, tuple[float, float]]:
    """Medians with few and with many: of opening each view, and of a search."""
    for name, memories in (("few", FEW), ("many", many)):
        (folder / name).mkdir(parents=True)
        fill(folder / name, memories)
    took: dict[str, tuple[list[float], list[float]]] = {one: ([], []) for one in (*SHOWN, "search")}
    with (
        real_daemon(folder / "few", embedding="false") as few,
        real_daemon(folder / "many", embedding="false") as large,
    ):
        for one in (few, large):  # until the words of all memories are indexed
            asked = Client(one.settings, timeout=INDEXED_S)
            while asked.get("/api/memories/search", query="retry storm")["confidence"] is None:
                time.sleep(1)
        pages = [enter(browser.new_context(), one) for one in (few, large)]
        for turn in range(ROUNDS):
            for at, daemon in enumerate((few, large)):
                now = {view: opening_ms(pages[at], daemon, view) for view in SHOWN}
                now["search"] = search_ms(pages[at], f"retry storm {turn}")
                if turn:  # the first round fills caches
                    for what, ms in now.items():
                        took[what][at].append(ms)
    return {
        what: (statistics.median(one), statistics.median(other))
        for what, (one, other) in took.items()
    }


if __name__ == "__main__":
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as scratch, chromium() as opened:
        for what, (one, other) in measure(opened, pathlib.Path(scratch), wanted).items():
            print(
                f"{what}: {one:.0f} ms with {FEW}, {other:.0f} ms with {wanted}: {other / one:.2f}"
            )
