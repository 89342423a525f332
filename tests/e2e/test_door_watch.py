"""Health looks at whether each door answers, says so, and what can be opened again is."""

import json
import pathlib
import time
from typing import Any

from recollect.capture import paths
from tests.e2e.test_postgres import recollect
from tests.fakes.daemons import RealDaemon
from tests.fakes.waiting import PATIENCE_S

RENEWED = (
    "The token file was empty, so a new token was made. Sign browsers in again: recollect open."
)


def until(daemon: RealDaemon, door: str, answers: bool) -> dict[str, Any]:
    """Health, as told over TCP, once a door answers or does not."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        health: dict[str, Any] = json.loads(daemon.http("GET", "/healthz")[2])
        if health["doors"][door]["answers"] is answers:
            return health
        assert time.monotonic() < deadline, health["doors"]
        time.sleep(0.3)


def test_a_socket_that_was_removed_is_noticed_told_and_opened_again(daemon: RealDaemon) -> None:
    """As cleaners of temporary directories do it, where long paths make sockets lie."""
    assert set(daemon.client.get("/healthz")["doors"]) == {"hooks", "socket", "tcp"}
    for name in ("hook.sock", "recollect.sock"):
        pathlib.Path(paths.socket_path(str(daemon.home), name)).unlink()
    health = until(daemon, "hooks", answers=False)
    assert health["status"] == "degraded"
    assert health["doors"]["hooks"]["since"] and health["doors"]["hooks"]["problem"]
    assert any("the door hooks" in one for one in health["errors_last_hour"]["latest"])
    assert until(daemon, "hooks", answers=True)["status"] == "ok"
    until(daemon, "socket", answers=True)
    payload = {"session_id": "s", "cwd": "/", "prompt": "open again"}
    assert daemon.run_hook("claude-code", "UserPromptSubmit", payload).returncode == 0
    assert daemon.events("/", expected=1)[-1]["body"]["content"] == "open again"


def test_doctor_and_status_say_what_was_wrong_with_the_token(daemon: RealDaemon) -> None:
    (daemon.home / "token").write_text("")
    (daemon.home / "settings.toml").write_text("")
    deadline = time.monotonic() + PATIENCE_S
    while len((daemon.home / "token").read_text()) != 65:  # nobody had to come for it
        assert time.monotonic() < deadline
        time.sleep(0.1)
    found = {
        one["what"]: one for one in json.loads(recollect(daemon.home, "doctor", "--json").stdout)
    }
    assert found["token"]["told"] == RENEWED
    assert found["token"]["hint"] == "recollect open"
    assert found["errors"]["verdict"] == "ok", "it is told once"
    assert "settings.toml is empty" in found["settings"]["told"]
    assert f"\n{RENEWED}\n" in recollect(daemon.home, "status").stdout


def test_a_token_that_was_damaged_while_nothing_ran_is_renewed_at_the_start(
    daemon: RealDaemon,
) -> None:
    daemon.stop()
    (daemon.home / "token").write_text("")
    daemon.start()
    assert len((daemon.home / "token").read_text()) == 65
    assert daemon.client.get("/healthz")["token_renewed"] == RENEWED
