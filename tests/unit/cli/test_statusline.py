"""The line for an agent's status bar: what memory did in its session."""

import json
import pathlib

from tests.fakes.runtime import RuntimeHome
from tests.unit.cli.conftest import Terminal


def line(terminal: Terminal, here: pathlib.Path, session: str) -> str:
    given = {"session_id": session, "cwd": "/", "workspace": {"project_dir": str(here)}}
    done = terminal("statusline", typed=json.dumps(given))
    assert done.returncode == 0
    return done.stdout


def test_notes_of_this_session_are_counted_once(
    terminal: Terminal, runtime_home: RuntimeHome, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "Makefile").touch()
    note = {"project": str(tmp_path), "text": "Retries of the billing api are capped at five"}
    runtime_home.client.ask("POST", "/api/notes", note)
    assert line(terminal, tmp_path, "s1") == "Recollect: listening\n"
    for question in ("how are retries of the billing api capped?", "are retries capped at all?"):
        event = {
            "session_id": "s1",
            "kind": "prompt",
            "body": {"type": "text", "content": question},
            "source": {"surface": "other", "project_path": str(tmp_path)},
        }
        told = runtime_home.client.ask("POST", "/v1/events?retrieve=true", event)
    assert told["retrieval"]["receipt_id"]
    runtime_home.runtime.recall().receipts.flush()
    assert line(terminal, tmp_path, "s1") == "Recollect: 1 note\n"
    assert line(terminal, tmp_path, "s2") == "Recollect: listening\n"


def test_without_a_daemon_it_says_so_and_starts_none(alone: Terminal) -> None:
    done = alone("statusline", typed="not json")
    assert (done.returncode, done.stdout) == (0, "Recollect: not running\n")


def test_a_private_shell_is_told(alone: Terminal) -> None:
    alone.patch.setenv("RECOLLECT_PRIVATE", "1")
    assert alone("statusline").stdout == "Recollect: off in this shell\n"
