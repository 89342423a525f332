"""Pictures of every view, in light and dark and at three widths: `make screenshots`.

In: a folder. Out: PNG files in it, of a real daemon in a real browser.
"""

import pathlib
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

from tests.browser.browsers import (
    RULES,
    TOPICS,
    TYPES,
    VIEWS,
    chromium,
    contradict,
    enter,
    furnish,
)
from tests.fakes.daemons import RealDaemon, real_daemon

MORE = (
    ("Webhooks arrived twice after a timeout", "The sender repeats; event ids are kept now.",
     ("webhooks", "queue"), ("src/webhooks.py",)),
    ("Totals differ by a cent", "Each line was rounded before the sum; now the sum is.",
     ("invoices",), ("src/totals.py", "tests/test_totals.py")),
    ("The deploy waits for a lock", "A long migration held it; it runs in two steps now.",
     ("deploy", "database"), ("deploy/migrate.sh",)),
    ("Images of the shop load slowly", "They were sent in full size; the CDN scales them.",
     ("performance",), ("web/src/image.tsx",)),
    ("Mails to customers end up as spam", "The DKIM record of the new domain was missing.",
     ("mail", "deploy"), ("deploy/dns.tf",)),
    ("Sessions are lost on a restart", "The key was made anew at each start; it is a secret now.",
     ("auth",), ("src/session.py",)),
    ("The report of January has no refunds", "They were stored with the wrong sign until March.",
     ("reports", "invoices"), ("src/reports.py",)),
    ("Type checks take two minutes", "Only changed packages are checked before a commit.",
     ("tooling", "tests"), ("Makefile",)),
    ("Search finds nothing with an umlaut", "The index folded letters, the query did not.",
     ("search", "i18n"), ("src/index.py", "tests/test_search.py")),
    ("A worker uses two gigabytes", "It read the whole export; it reads line by line now.",
     ("performance", "queue"), ("src/importer/reader.py",)),
)  # fmt: skip
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
            paths = furnish(daemon, home / "projects", len(TOPICS))
            for number, (title, content, concepts, files) in enumerate(MORE):
                note = {
                    "project": paths[number % 2], "title": title, "content": content,
                    "concepts": concepts, "files": files, "type": TYPES[number % len(TYPES)],
                }  # fmt: skip
                daemon.client.ask("POST", "/api/observations", note)
            for number, (kind, title) in enumerate(RULES):
                rule = {"project": paths[number % 2], "title": title, "type": kind}
                daemon.client.ask("POST", "/api/knowledge", rule)
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
