"""Pictures of every view, in light and dark and at three widths: `make screenshots`.

In: a folder. Out: PNG files in it, of a real daemon in a real browser.
"""

import pathlib
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

from tests.browser.browsers import VIEWS, chromium, contradict, enter, furnish
from tests.fakes.daemons import RealDaemon, real_daemon

MEMORIES = 20  # each about something else
SHAPES: dict[str, Any] = {
    "light": {"viewport": {"width": 1440, "height": 900}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1440, "height": 900}, "color_scheme": "dark"},
    "tablet": {"viewport": {"width": 1024, "height": 800}, "color_scheme": "light"},
    "phone": {"viewport": {"width": 390, "height": 844}, "color_scheme": "light"},
}


def main(folder: pathlib.Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, chromium() as browser:
        home = pathlib.Path(scratch)
        contradict(home / "home")
        with real_daemon(home / "home") as daemon:
            furnish(daemon, home / "projects", MEMORIES)
            for shape, options in SHAPES.items():
                context = browser.new_context(**options)
                page = enter(context, daemon)
                for view in VIEWS:
                    for name, address in _addresses(daemon, view):
                        page.goto(f"http://127.0.0.1:{daemon.port}/#/{address}")
                        page.wait_for_timeout(900)
                        if name == "project":
                            page.locator(".filemap").scroll_into_view_if_needed()
                        page.screenshot(path=str(folder / f"{name}-{shape}.png"))
                        print(f"{name}-{shape}.png")
                context.close()


def _addresses(daemon: RealDaemon, view: str) -> Iterator[tuple[str, str]]:
    yield view, view
    if view == "memories":
        record = daemon.client.get("/api/memories?limit=1&kind=knowledge")["items"][0]["record_id"]
        yield "memory", f"memories/{record}?q=retry"
    if view == "why":
        receipts = daemon.client.get("/api/receipts?limit=50&project=all")["items"]
        spoken = max(receipts, key=lambda one: len(one["injected"]))
        yield "receipt", f"why/{spoken['receipt_id']}"
        yield "try", "why?try=1&q=why%20did%20retries%20storm"
    if view == "sessions":
        yield "session", "sessions/session-0"
    if view == "projects":
        first = daemon.client.get("/api/projects")["items"][0]["project_id"]
        yield "project", f"projects/{first}"


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "docs/images/all"))
