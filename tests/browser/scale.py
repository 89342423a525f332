"""How long the dashboard takes with many memories, beside a hundred, in one run.

In: how many. Out: milliseconds until a view can be used, of both, alternating; `make bench` prints
them for 50,000. The stores are filled directly, without vectors: the page is what is measured.
"""

import pathlib
import statistics
import sys
import tempfile
import time

from playwright.sync_api import Browser, Page

from recollect.core import projects
from recollect.core.projects import ProjectPlace
from recollect.core.settings import Settings
from recollect.store.sqlite import SqliteStore
from tests.browser.browsers import TOPICS, chromium, enter
from tests.fakes.daemons import RealDaemon, real_daemon
from tests.make import record

FEW = 100
BATCH = 1000
ROUNDS = 7


def fill(home: pathlib.Path, memories: int) -> None:
    store = SqliteStore(Settings(home=str(home), actor="ada", reserve_mb=0))
    place = ProjectPlace(root="/work/large")
    namespace = projects.namespace("ada", store.projects.resolve(place))
    for start in range(0, memories, BATCH):
        batch = []
        for number in range(start, min(start + BATCH, memories)):
            title, summary, concepts, files = TOPICS[number % len(TOPICS)]
            batch.append(
                record(
                    namespace=namespace,
                    title=f"{title} {number}",
                    summary=summary,
                    concepts=concepts,
                    files=files,
                )
            )
        store.records.put(batch)
    store.close()


def interactive_ms(page: Page, daemon: RealDaemon) -> float:
    """From asking for the page to the first memory in the list, ready to be clicked."""
    page.goto("about:blank")
    began = time.perf_counter()
    page.goto(f"http://127.0.0.1:{daemon.port}/#/memories")
    page.locator(".virtual").get_by_role("listitem").first.wait_for()
    return (time.perf_counter() - began) * 1000


def search_ms(page: Page, word: str) -> float:
    began = time.perf_counter()
    with page.expect_response(lambda answer: "/api/memories/search" in answer.url):
        page.get_by_label("Search memories").fill(word)
    page.locator(".virtual").get_by_role("listitem").first.wait_for()
    return (time.perf_counter() - began) * 1000


def measure(browser: Browser, folder: pathlib.Path, many: int) -> dict[str, tuple[float, float]]:
    """Medians with few and with many: of opening the list, and of a search in it."""
    for name, memories in (("few", FEW), ("many", many)):
        (folder / name).mkdir(parents=True)
        fill(folder / name, memories)
    with (
        real_daemon(folder / "few", embedding="false") as few,
        real_daemon(folder / "many", embedding="false") as large,
    ):
        pages = [enter(browser.new_context(), one, "memories") for one in (few, large)]
        opened: tuple[list[float], list[float]] = ([], [])
        found: tuple[list[float], list[float]] = ([], [])
        for turn in range(ROUNDS):
            for at, daemon in enumerate((few, large)):
                took = interactive_ms(pages[at], daemon)
                searched = search_ms(pages[at], f"retry storm {turn}")
                if turn:  # the first round fills caches
                    opened[at].append(took)
                    found[at].append(searched)
    middle = statistics.median
    return {
        "open": (middle(opened[0]), middle(opened[1])),
        "search": (middle(found[0]), middle(found[1])),
    }


if __name__ == "__main__":
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 50_000
    with tempfile.TemporaryDirectory() as scratch, chromium() as opened:
        for what, (one, other) in measure(opened, pathlib.Path(scratch), wanted).items():
            print(
                f"{what}: {one:.0f} ms with {FEW}, {other:.0f} ms with {wanted}: {other / one:.2f}"
            )
