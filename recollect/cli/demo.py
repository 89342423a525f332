"""`make run`: a short, real demonstration on this machine's own daemon.

In: nothing. Out: what a hook sends, what is stored, on the terminal. It works in a project of its
own inside the data directory, so that nothing of it is ever mixed with real work.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from typing import Any
from urllib.parse import quote

import click

from recollect.capture import launcher
from recollect.cli import hosts_context, process
from recollect.cli.output import print_text
from recollect.cli.run import print_error
from recollect.client import Client
from recollect.core import ids, oslayer, settings
from recollect.core.errors import RecollectError
from recollect.core.projects import DEMO, canonical
from recollect.core.settings import Settings

TURN: tuple[tuple[str, dict[str, Any]], ...] = (
    ("SessionStart", {"source": "startup"}),
    (
        "UserPromptSubmit",
        {"prompt": "The retries hammer the billing API. Cap them at 5 with backoff. "
         "The staging key is <private>not-for-memory</private>."},
    ),
    (
        "PostToolUse",
        {
            "tool_name": "Bash",
            "tool_use_id": "demo",
            "tool_input": {"command": "pytest tests/test_retry.py"},
            "tool_response": {"stdout": "4 passed in 0.31s"},
        },
    ),
    (
        "Stop",
        {"last_assistant_message": "Retries are capped at 5 with backoff, in src/retry.py."},
    ),
)  # fmt: skip


def main() -> int:
    try:
        show(settings.load())
    except RecollectError as error:
        print_error(error)
        return 1
    return 0


def show(chosen: Settings) -> None:
    _adopt_model(chosen)
    hosts_context.put_hook(chosen)
    started = process.start(chosen)
    client = Client(chosen)
    health = client.get("/healthz")
    _say(f"Recollect {'is up' if started else 'was already up'}: process {health['pid']}, "
         f"data in {chosen.directory}")  # fmt: skip

    place = chosen.path(DEMO)
    oslayer.private_directory(place)
    oslayer.private_file(os.path.join(place, "Makefile"))  # a marker: the demo is its own project
    session = f"demo-{ids.new_ulid()}"
    _say("\nAn agent's session, sent through the real hook program:")
    for event, payload in TURN:
        took = _hook(chosen, event, {**payload, "session_id": session, "cwd": place})
        _say(f"  {event:<17} {took:4.0f} ms  {_short(payload)}")

    page = client.get(f"/v1/events?project_path={quote(place)}&session_id={session}")
    _say("\nWhat is stored (committed to disk before the hook returned):")
    for row in reversed(page["items"]):
        _say(f"  {row['event']['kind']:<16} {_short(row['event']['body'])}")
    _say("\nThe next day, in another session, somebody asks:")
    question = "why do the billing API retries stop at 5?"
    _say(f"  {question}")
    answer = _recalled(chosen, question, place)
    if answer:
        _say("\nWhat the agent is given with that prompt:")
        for line in answer.splitlines():
            print_text(line, indent=2)
    else:
        _say("\nNothing was recalled. See why: .venv/bin/recollect why -p " + place)
    (project,) = (
        one["project_id"] for one in client.get("/api/projects")["items"]
        if any(mark["value"] == canonical(place) for mark in one["marks"])
    )  # fmt: skip
    _say("\nSee it in the dashboard, within a minute and once (later: .venv/bin/recollect open):")
    _say(f"  {client.ask('POST', '/api/open')['url']}#/projects/{project}")
    _say("\nNow set it up for your own work: it connects your agents and imports their history:")
    _say("  .venv/bin/recollect setup")


def _adopt_model(chosen: Settings) -> None:
    """The Makefile fetched the model into .venv; the daemon finds it in the data directory."""
    fetched = os.environ.pop("RECOLLECT_MODEL_DIR", "")
    target = chosen.path("models")
    if fetched and os.path.isdir(fetched) and not os.path.exists(target):
        oslayer.private_directory(chosen.directory)
        shutil.copytree(fetched, target)
        oslayer.private_directory(target)


def _hook(chosen: Settings, event: str, payload: dict[str, Any]) -> float:
    """Run the hook as an agent would; returns how long that took, in milliseconds."""
    began = time.monotonic()
    _run(chosen, event, payload)
    return (time.monotonic() - began) * 1000


def _run(chosen: Settings, event: str, payload: dict[str, Any]) -> bytes:
    done = subprocess.run(
        [chosen.path("bin", launcher.NAME), "claude-code", event],
        input=json.dumps(payload).encode(),
        env={**os.environ, "RECOLLECT_HOME": chosen.directory},
        stdout=subprocess.PIPE,
        check=True,
        timeout=10,
    )
    return done.stdout


def _recalled(chosen: Settings, question: str, place: str) -> str:
    """Ask until the memory is written, which takes a moment after the session's end."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        payload = {"session_id": f"demo-{ids.new_ulid()}", "cwd": place, "prompt": question}
        printed = _run(chosen, "UserPromptSubmit", payload)
        if printed:
            told: str = json.loads(printed)["hookSpecificOutput"]["additionalContext"]
            return told
        time.sleep(0.5)
    return ""


def _short(data: Any) -> str:
    text = json.dumps(data, ensure_ascii=False)
    return text if len(text) <= 100 else text[:99] + "…"


def _say(text: str) -> None:
    click.echo(text)


if __name__ == "__main__":
    sys.exit(main())
