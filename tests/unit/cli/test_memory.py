"""One memory in a terminal: shown in full, changed, pinned; and what happened today."""

import json
import pathlib
from datetime import timedelta

import pytest

from recollect.cli.date_options import TIME
from tests.fakes.runtime import RuntimeHome
from tests.unit.cli.conftest import Terminal


@pytest.fixture
def place(tmp_path: pathlib.Path) -> str:
    made = tmp_path / "shop"
    made.mkdir()
    (made / "Makefile").touch()
    return str(made)


@pytest.fixture
def memory(terminal: Terminal, place: str) -> str:
    added = terminal("add", "-p", place, "--json", "Retries are capped at 5", "Seen in staging.")
    record_id: str = json.loads(added.stdout)["record"]["record_id"]
    return record_id


def test_a_memory_is_shown_by_the_end_of_its_id(terminal: Terminal, memory: str) -> None:
    shown = terminal("show", memory[-5:].lower()).stdout
    assert "Retries are capped at 5" in shown and memory in shown
    assert "Told: never" in shown


def test_a_memory_that_is_not_there_is_refused_in_words(terminal: Terminal) -> None:
    for wrong in ("zzzzz", "not an id"):
        refused = terminal("show", wrong)
        assert refused.returncode != 0 and "Traceback" not in refused.stderr
        assert wrong in refused.stderr


def test_an_edit_keeps_the_old_version_and_can_be_undone(terminal: Terminal, memory: str) -> None:
    done = terminal("edit", memory, "--title", "Retries are capped at 7", "--reason", "measured")
    assert done.returncode == 0 and "recollect undo op_" in done.stdout
    shown = terminal("show", memory).stdout
    assert shown.startswith("Retries are capped at 7")
    assert "Earlier versions" in shown and "measured" in shown
    assert "Retries are capped at 5" in shown
    assert terminal("undo", done.stdout.split("recollect undo ")[1].split()[0]).returncode == 0
    assert terminal("show", memory).stdout.startswith("Retries are capped at 5")


def test_an_edit_without_options_opens_the_editor(
    terminal: Terminal, memory: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nsed -i 's/capped at 5/capped at 9/' \"$1\"\n")
    editor.chmod(0o700)
    monkeypatch.setenv("VISUAL", str(editor))
    assert "Changed: Retries are capped at 9" in terminal("edit", memory, person=True).stdout
    monkeypatch.setenv("VISUAL", "true")
    assert "Nothing was changed" in terminal("edit", memory, person=True).stdout
    piped = terminal("edit", memory)
    assert piped.returncode == 2 and "give --title or --text" in piped.stderr


def test_a_deleted_memory_is_still_shown_with_the_way_back(terminal: Terminal, memory: str) -> None:
    terminal("forget", memory, "--yes")
    shown = terminal("show", memory).stdout
    assert "State: deleted" in shown
    back = shown.split("recollect undo ")[1].split()[0]
    assert terminal("undo", back).returncode == 0
    assert "State: deleted" not in terminal("show", memory).stdout


def test_a_pin_is_put_and_taken_off(terminal: Terminal, memory: str) -> None:
    assert terminal("pin", memory).stdout.startswith("Pinned: Retries")
    assert ", pinned" in terminal("show", memory).stdout
    assert terminal("pin", memory, "--off").stdout.startswith("No longer pinned")
    assert ", pinned" not in terminal("show", memory).stdout


def test_today_tells_what_was_learned_since_midnight(
    terminal: Terminal, runtime_home: RuntimeHome, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal("add", "-p", place, "--kind", "knowledge", "Deploy with make ship only")
    morning = runtime_home.clock.now() - timedelta(hours=1)
    monkeypatch.setattr(TIME, "convert", lambda *_: morning)
    today = terminal("today", "-p", place).stdout
    assert "Deploy with make ship only" in today and "told nothing in 0 look-ups" in today
    assert "Nothing happened" not in today
    evening = runtime_home.clock.now() + timedelta(hours=1)
    monkeypatch.setattr(TIME, "convert", lambda *_: evening)
    runtime_home.clock.advance(seconds=7200)
    later = terminal("today", "-p", place).stdout
    assert "Deploy with make ship only" not in later and "Nothing happened yet today" in later
