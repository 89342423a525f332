"""`install` asks once whether a connected agent may extract memories."""

import pathlib

import pytest

from recollect.cli import import_, install, output
from recollect.client import Client
from recollect.core import settings
from recollect.hosts import registry
from tests.unit.cli.conftest import Keyboard, Terminal

CLAUDE = registry.installers()["claude-code"]


def offer(terminal: Terminal, typed: str) -> None:
    terminal.patch.setattr("sys.stdin", Keyboard(typed))
    terminal.patch.setattr(output, "_asked", [])
    install.offer_model([CLAUDE])


def test_a_yes_makes_the_agent_the_model(
    terminal: Terminal, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal.patch.setattr(import_, "tokens_a_day", lambda facts: 31_000)
    offer(terminal, "y\n")
    chosen = settings.load()
    assert (chosen.provider, chosen.agent) == ("agent", "claude-code")
    asked = " ".join(capsys.readouterr().out.split())
    assert "about 31,000 tokens a day" in asked and "stops at 2,000,000 a day" in asked


def test_a_no_is_remembered_and_not_asked_again(
    terminal: Terminal, capsys: pytest.CaptureFixture[str]
) -> None:
    offer(terminal, "n\n")
    assert settings.load().provider == "none" and settings.is_in_file("provider")
    capsys.readouterr()
    offer(terminal, "y\n")
    assert settings.load().provider == "none" and capsys.readouterr().out == ""


def test_what_it_would_take_comes_from_the_sessions_on_this_machine(
    terminal: Terminal, tmp_path: pathlib.Path
) -> None:
    assert import_.tokens_a_day(CLAUDE.facts) == 0
    told = {"sessions": 40, "first": "2026-11-01T08:00:00Z", "last": "2026-11-11T09:00:00Z"}
    found = {"offers": [told], "llm_estimate": {"tokens": 500_000}}
    terminal.patch.setattr(Client, "ask", lambda *_: found)
    # Ten days: 500,000 tokens of text, and what Claude Code adds to one question a session.
    assert import_.tokens_a_day(CLAUDE.facts) == 50_000 + 4 * 1500
