"""A developer's week through the real hook and daemon: what is told stays true.

Eight sessions in one project: rules are set, changed and withdrawn, a decision is revised, an
answer is corrected, and things are quoted, joked about or asked for once. Then a new session
begins, and it is told what holds and nothing else.
"""

import contextlib
import json
import pathlib
import time
from collections.abc import Iterator

import pytest

from recollect.client import Refused
from recollect.core.ids import new_ulid
from tests.fakes.daemons import RealDaemon
from tests.fakes.waiting import PATIENCE_S, wait_until

# Each session: prompts with what the agent answered.
WEEK = (
    (
        ("From now on use pnpm in this repository, not npm.", "Understood, I will use pnpm."),
        ("Never push to main directly.", "I will open pull requests instead."),
    ),
    (
        (
            "We decided to deploy the billing service on Heroku because it is simple.",
            "I added a Procfile for the billing service.",
        ),
        ("Always write a changelog entry for each change.", "Added CHANGELOG.md."),
    ),
    (
        (
            'A customer wrote: "Always send us invoices as XML, never as PDF." Draft a reply.',
            "Here is a draft of the reply.",
        ),
        ("use print here quickly to debug the parser", "Added a print in parser.py."),
    ),
    (
        (
            "How many workers does the importer start?",
            "The importer starts 4 workers, as configured in importer.toml.",
        ),
        (
            "No, that's wrong: the importer starts 8 workers, importer.toml is not read any more.",
            "You are right, the importer starts 8 workers.",
        ),
    ),
    (
        (
            "We moved the billing service from Heroku to Fly.io.",
            "I removed the Procfile and added fly.toml.",
        ),
    ),
    (
        (
            "We no longer need a changelog entry for each change; drop that rule.",
            "I will not add changelog entries any more.",
        ),
    ),
    (
        ("Never use tabs. Haha, just kidding, I don't care about that.", "Noted."),
        ("What if we used Bazel instead of make?", "Bazel would be a large change."),
    ),
    (("Add a health check to the billing service.", "Added GET /health to app.py."),),
)


@pytest.fixture
def place(tmp_path: pathlib.Path) -> pathlib.Path:
    made = tmp_path / "shop"
    made.mkdir()
    (made / "Makefile").touch()
    return made


def hook(daemon: RealDaemon, event: str, payload: dict[str, str]) -> str:
    done = daemon.run_hook("claude-code", event, payload)
    assert (done.returncode, done.stderr) == (0, b"")
    answer = json.loads(done.stdout) if done.stdout.strip() else {}
    return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


def live(daemon: RealDaemon, place: pathlib.Path) -> None:
    for session in WEEK:
        said = {"session_id": new_ulid(), "cwd": str(place)}
        hook(daemon, "SessionStart", {**said, "source": "startup"})
        for prompt, answer in session:
            hook(daemon, "UserPromptSubmit", {**said, "prompt": prompt})
            hook(daemon, "Stop", {**said, "last_assistant_message": answer})
        hook(daemon, "SessionEnd", {**said, "reason": "exit"})
        learn(daemon)


def learn(daemon: RealDaemon) -> None:
    """Wait until everything was extracted and has its vector."""

    def extracted() -> bool:
        with contextlib.suppress(Refused):
            return bool(daemon.client.ask("POST", "/api/queue/run", {"wait_s": 20})["done"])
        return False

    wait_until(extracted, daemon.log)
    wait_until(lambda: daemon.client.get("/healthz")["embedding"]["state"] == "idle", daemon.log)


def asked(daemon: RealDaemon, place: pathlib.Path, *prompts: str) -> Iterator[str]:
    """What a new session is told at its start and with each prompt."""
    said = {"session_id": new_ulid(), "cwd": str(place)}
    yield hook(daemon, "SessionStart", {**said, "source": "startup"})
    for prompt in prompts:
        yield hook(daemon, "UserPromptSubmit", {**said, "prompt": prompt})


def test_a_week_of_work_leaves_what_holds(daemon: RealDaemon, place: pathlib.Path) -> None:
    live(daemon, place)
    deadline = time.monotonic() + PATIENCE_S
    while "pnpm" not in (start := next(asked(daemon, place))):
        assert time.monotonic() < deadline, start
        time.sleep(0.1)
    assert "push to main" in start
    for gone in ("changelog", "XML", "print", "tabs", "Bazel"):
        assert gone.lower() not in start.lower(), start
    _, deployed = asked(daemon, place, "where is the billing service deployed?")
    assert "Fly.io" in deployed and "on Heroku because" not in deployed, deployed
    _, workers = asked(daemon, place, "how many workers does the importer start?")
    assert "8 workers" in workers or "4 workers" not in workers, workers
    held = daemon.client.get("/api/beliefs", project=str(place))["items"]
    texts = " ".join(one["title"] for one in held).lower()
    for quoted in ("xml", "kidding", "bazel", "quickly"):
        assert quoted not in texts, texts
