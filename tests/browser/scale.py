"""What the views of the dashboard cost with many memories, beside a hundred, in one run.

In: how many. Out: milliseconds of CPU, of the page and the daemon together, alternating; `make
bench` prints them for 100,000. The stores are filled directly, without vectors.
"""

import pathlib
import statistics
import sys
import tempfile
import time

from playwright.sync_api import Browser

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
BELIEVED = 50  # one in so many is a belief, and one in three of the first, which fill a screen
ROUNDS = 4
SETTLED_MS = 300
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
                    **(held if number % (3 if number < FEW else BELIEVED) == 0 else {}),
                )
            )
        store.records.put(batch)
    store.close()


def cpu_ms(pid: int) -> float:
    """What all threads of a process have used so far."""
    tasks = pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(one.read_text().split()[0]) for one in tasks) / 1e6


class Visitor:
    """A page in a window of its own, and the CPU that it and its daemon use."""

    def __init__(self, browser: Browser, daemon: RealDaemon) -> None:
        self.page = enter(browser.new_context(), daemon)
        self.pid = int(daemon.client.get("/healthz")["pid"])
        self.session = self.page.context.new_cdp_session(self.page)
        self.session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def used_ms(self) -> float:
        metrics = self.session.send("Performance.getMetrics")["metrics"]
        tasks = next(one["value"] for one in metrics if one["name"] == "TaskDuration")
        return cpu_ms(self.pid) + 1000 * float(tasks)

    def open_ms(self, view: str) -> float:
        """The cost of a view, until nothing of it is loading any more."""
        before = self.used_ms()
        self.page.evaluate(f"location.hash = '#/{view}'")
        self.page.locator(SHOWN[view]).first.wait_for()
        self.page.locator(".loading").first.wait_for(state="detached")
        self.page.wait_for_timeout(SETTLED_MS)
        return self.used_ms() - before

    def search_ms(self, word: str) -> float:
        before = self.used_ms()
        with self.page.expect_response(lambda answer: "/api/memories/search" in answer.url):
            self.page.get_by_label("Search memories").fill(word)
        self.page.locator(".virtual").get_by_role("listitem").first.wait_for()
        self.page.wait_for_timeout(SETTLED_MS)
        return self.used_ms() - before


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
        visitors = [Visitor(browser, one) for one in (few, large)]
        for turn in range(ROUNDS):
            for at, visitor in enumerate(visitors):
                now = {view: visitor.open_ms(view) for view in SHOWN}
                now["search"] = visitor.search_ms(f"retry storm {turn}")
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
