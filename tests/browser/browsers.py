"""A real Chromium, driven by playwright, and a store with something to look at."""

import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

import recollect.server
from recollect.core.settings import Settings
from recollect.store.sqlite import SqliteStore
from tests.fakes.daemons import RealDaemon
from tests.fakes.waiting import PATIENCE_S
from tests.make import record

# In the order of the navigation, with their titles: those that the page lists.
VIEWS = dict(
    re.findall(
        r'\[\s*"(\w+)",\s*"([^"]+)",\s*\w+,\s*"M',
        (pathlib.Path(recollect.server.__file__).parent / "static/js/views.js").read_text(),
    )
)
assert len(VIEWS) == 7, VIEWS
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
# Without these a browser tries to reach its maker from a machine that has no way out.
QUIET = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
    "--disable-gpu",
)


def program() -> str:
    for name in NAMES:
        found = shutil.which(name)
        if found:
            return found
    raise RuntimeError("no Chromium here: `make test` as root installs Debian's, or install one")


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    sandbox = ["--no-sandbox"] if os.getuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program(), args=[*QUIET, *sandbox], env=_environment()
        )
        try:
            yield browser
        finally:
            browser.close()


def _environment() -> dict[str, str | float | bool]:
    return {name: value for name, value in os.environ.items() if name != "DBUS_SESSION_BUS_ADDRESS"}


def enter(context: BrowserContext, daemon: RealDaemon, view: str = "week") -> Page:
    """A page that came in through the one-time link, as `recollect open` does it."""
    page = context.new_page()
    page.goto(daemon.client.ask("POST", "/api/open")["url"])
    page.wait_for_selector("nav")
    if view != "week":
        page.goto(f"http://127.0.0.1:{daemon.port}/#/{view}")
    return page


# --- something to look at -------------------------------------------------------------------------

TOPICS: tuple[tuple[str, str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("Retry storm after deploy", "Workers retried without jitter; a queue with backoff mended it.",
     ("retries", "queue"), ("src/retry.py", "src/queue.py")),
    ("Invoices show the wrong currency", "The template read the locale of the server.",
     ("invoices", "i18n"), ("src/render.py",)),
    ("Use pnpm in the web package", "npm resolved two versions of React.", ("tooling",),
     ("web/package.json",)),
    ("Postgres 16 for the billing store", "Needed for MERGE and the new JSON functions.",
     ("database",), ("deploy/db.tf",)),
    ("Flaky login test", "The clock was read twice around midnight.", ("tests", "auth"),
     ("tests/test_login.py",)),
    ("Search index grew without bound", "Deleted rows were never compacted.",
     ("search", "database"), ("src/index.py",)),
)  # fmt: skip
RULES = (
    ("constraint", "Amounts are integers in cents, never floats"),
    ("decision", "Webhooks go through the queue, not through the request"),
    ("constraint", "Migrations may only add columns; removal waits for the next release"),
    ("heuristic", "Look at the slow query log before adding an index"),
    ("rejected", "GraphQL for the public API: clients wanted plain REST"),
    ("decision", "Feature flags live in the database, with an owner and an end date"),
    ("constraint", "Every outgoing call has a timeout of at most ten seconds"),
    ("heuristic", "Run one worker locally when a test of the queue hangs"),
    ("decision", "Prices are stored without tax; tax is added when they are shown"),
    ("constraint", "No customer data in log lines"),
    ("rejected", "Redis for sessions: the database is fast enough"),
    ("decision", "The storefront renders on the server"),
    ("heuristic", "Compare with last week's export when totals look wrong"),
)
TYPES = ("error", "discovery", "tool_use", "decision", "pattern")


def furnish(daemon: RealDaemon, home: pathlib.Path, memories: int = 60) -> list[str]:
    """Two projects with sessions, memories and receipts; returns the projects' paths."""
    dice = random.Random(7)
    paths = []
    for name in ("billing-api", "storefront"):
        path = home / name
        path.mkdir(parents=True, exist_ok=True)
        (path / "Makefile").touch()
        paths.append(str(path))
    for number in range(memories):
        title, content, concepts, files = TOPICS[number % len(TOPICS)]
        body: dict[str, Any] = {
            "project": paths[number % 2],
            "title": title if number < len(TOPICS) else f"{title}, seen again in week {number}",
            "content": content,
            "concepts": list(concepts),
            "files": list(files),
        }
        if number % 4 == 0:
            kind = dice.choice(("constraint", "decision", "heuristic", "rejected"))
            if number >= len(TOPICS):
                kind, body["title"] = RULES[number // 4 % len(RULES)]
                body["content"] = ""
            daemon.client.ask("POST", "/api/knowledge", {**body, "type": kind})
        else:
            kind = TYPES[number % len(TYPES)]
            daemon.client.ask("POST", "/api/observations", {**body, "type": kind})
    daemon.client.ask(
        "POST",
        "/api/summaries",
        {
            "project": paths[0],
            "session_id": "session-0",
            "request": "Make webhooks reliable",
            "completed": ["Retries go through a queue with jitter", "Alarm on queue length"],
            "learned": ["The database was the bottleneck, not the network"],
            "next_steps": ["Load test with 500 webhooks a second"],
            "files": ["src/retry.py", "src/queue.py"],
        },
    )
    settle(daemon)
    work(daemon, paths[0])
    converse(daemon, paths)
    believe(daemon, paths)
    return paths


WORK = (
    ("feature/retries", "Give the retry queue some jitter", "make test",
     ("src/retry.py", "src/queue.py", "tests/test_retry.py")),
    ("feature/retries", "Alarm when the queue is long", "pytest -q tests/test_queue.py",
     ("src/queue.py", "src/alarms.py", "tests/test_queue.py", "deploy/alarms.tf")),
    ("main", "Show the currency of the customer on invoices", "make test",
     ("src/render.py", "src/i18n/currency.py", "templates/invoice.html", "tests/test_render.py")),
    ("importer-2", "Read the new export format", "make lint",
     ("src/importer/reader.py", "src/importer/columns.py", "tests/test_reader.py")),
    ("importer-2", "Skip rows without a customer", "pytest -q tests/test_reader.py",
     ("src/importer/reader.py", "src/importer/rows.py", "docs/importer.md")),
)  # fmt: skip


def work(daemon: RealDaemon, path: str) -> None:
    """Sessions in which an agent read, edited and ran things, as its hooks report them."""
    git = pathlib.Path(path) / ".git"
    git.mkdir(exist_ok=True)
    for number, (branch, asked, command, files) in enumerate(WORK):
        (git / "HEAD").write_text(f"ref: refs/heads/{branch}\n")
        common = {"session_id": f"work-{number}", "cwd": path}

        def tell(event: str, common: dict[str, Any] = common, **more: Any) -> None:
            daemon.run_hook("claude-code", event, {**common, **more})

        def tool(name: str, fails: bool = False, tell: Any = tell, **given: Any) -> None:
            answer = {"error": "2 failed"} if fails else {"tool_response": {"stdout": "ok"}}
            event = "PostToolUseFailure" if fails else "PostToolUse"
            tell(event, tool_name=name, tool_use_id=f"t{time.monotonic_ns()}", tool_input=given,
                 **answer)  # fmt: skip

        tell("UserPromptSubmit", prompt=asked)
        tool("Read", file_path=f"{path}/{files[0]}")
        tool("Bash", fails=number % 2 == 1, command=command)
        for name in files:
            tool("Edit", file_path=f"{path}/{name}", old_string="a", new_string="b")
        tool("Bash", command=command)
        tell("Stop", last_assistant_message=f"Done: {asked.lower()}. All tests pass.")


def settle(daemon: RealDaemon) -> None:
    """Until every memory has its vector."""
    deadline = time.monotonic() + PATIENCE_S
    while daemon.client.get("/api/embeddings/stats")["missing"]:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def converse(daemon: RealDaemon, paths: list[str]) -> None:
    """A few sessions over some weeks, with prompts that recall."""
    said = (
        ("Why did the retry storm happen after the deploy?", "Workers retried without jitter."),
        ("Which package manager does the web package use?", "pnpm, since npm doubled React."),
        ("The login test is flaky again, what was it?", "The clock was read twice at midnight."),
    )
    now = datetime.now(UTC)
    for number in range(6):
        for turn, (asked, answered) in enumerate(said):
            moment = now - timedelta(days=3 * number, hours=5 * number, minutes=40 - 10 * turn)
            for kind, body in (
                ("prompt", {"type": "text", "content": asked}),
                ("session_summary", {"type": "text", "content": answered}),
            ):
                event = {
                    "session_id": f"session-{number}",
                    "kind": kind,
                    "body": body,
                    "valid_time": moment.isoformat(),
                    "source": {
                        "surface": ("claude-code", "codex", "gemini")[number % 3],
                        "project_path": paths[number % 2],
                    },
                }
                query = "?retrieve=true" if kind == "prompt" else ""
                daemon.client.ask("POST", f"/v1/events{query}", event)


def contradict(home: pathlib.Path) -> None:
    """Two beliefs in dispute, in the store of a daemon that does not run yet."""
    store = SqliteStore(Settings(home=str(home), actor="ada", reserve_mb=0))
    common: dict[str, Any] = {
        "kind": "knowledge", "knowledge_type": "constraint", "namespace": "/actor/ada/",
        "scope": "everywhere", "author": "user", "state": "disputed",
    }  # fmt: skip
    now = datetime.now(UTC)
    newer = record("Indent with spaces in every language", valid_from=now, **common)
    older = record(
        "Indent with tabs, as gofmt does",
        valid_from=now - timedelta(days=40), ended_by=newer.record_id, **common,
    )  # fmt: skip
    store.records.put([older, newer])
    store.close()


def say(daemon: RealDaemon, path: str, *prompts: str) -> None:
    """What a user told an agent in one session, extracted."""
    for number, text in enumerate(prompts):
        for kind, content in (("prompt", text), ("session_summary", "Understood.")):
            event = {
                "session_id": f"rules-{prompts[0][:20]}",
                "kind": kind,
                "body": {"type": "text", "content": content},
                "source": {"surface": "claude-code", "project_path": path},
                "valid_time": (
                    datetime.now(UTC) - timedelta(minutes=len(prompts) - number)
                ).isoformat(),
            }
            daemon.client.ask("POST", "/v1/events", event)
    daemon.client.ask("POST", "/api/queue/run", {})


def propose(daemon: RealDaemon, path: str, text: str) -> None:
    """An agent wants a rule to hold that the user did not state."""
    arguments = {"text": text, "type": "constraint", "project": path}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "remember", "arguments": arguments}}  # fmt: skip
    headers = {"Accept": "application/json, text/event-stream"}
    status, _, raw = daemon.http("POST", "/mcp", json.dumps(call).encode(), headers)
    assert status == 200 and "Proposed" in raw.decode(), raw


def believe(daemon: RealDaemon, paths: list[str]) -> None:
    """Beliefs in every state: said, in dispute, proposed, corrected, ended, for one branch."""
    say(
        daemon,
        paths[1],
        "Always deploy the shop to Heroku from the release branch.",
        "Never edit the generated files in src/api by hand.",
    )
    say(daemon, paths[1], "We no longer use Heroku.")
    propose(daemon, paths[0], "Run the migrations before the tests")
    added = [
        daemon.client.ask(
            "POST", "/api/knowledge", {"project": project, "title": title, "type": kind}
        )["record"]["record_id"]
        for project, kind, title in (
            (paths[0], "decision", "Deploys happen on Fridays"),
            (paths[0], "heuristic", "Mock the payment provider in every test"),
            (paths[0], "constraint", "The old importer stays until the customers have moved"),
            ("global", "constraint", "Write commit messages in English"),
        )
    ]
    wrong, out, branch, _ = (f"/api/beliefs/{one}" for one in added)
    daemon.client.ask("POST", f"{wrong}/correct", {"text": "Deploys happen on Tuesdays"})
    daemon.client.ask("POST", f"{out}/drop", {})
    daemon.client.ask("POST", f"{branch}/scope", {"scope": "branch", "name": "importer-2"})
