"""Who the person is: kept by a command, told first at every start, and nowhere else."""

import json
import pathlib

from recollect.core.text_words import count_tokens
from recollect.inject.render import PROFILE_TOKENS
from tests.fakes.runtime import RuntimeHome
from tests.unit.cli.conftest import Terminal


def told(home: RuntimeHome, place: pathlib.Path, event: str, **more: str) -> str:
    said = {"session_id": "s1", "cwd": str(place), **more}
    reply = home.run_hook("claude-code", event, said)
    answer = json.loads(reply.stdout) if reply.stdout.strip() else {}
    return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


def test_the_profile_comes_first_at_a_start_and_only_there(
    terminal: Terminal, runtime_home: RuntimeHome, tmp_path: pathlib.Path
) -> None:
    assert "empty" in terminal("profile", "list").stdout
    terminal("profile", "add", "backend engineer", "Go and PostgreSQL")
    assert "already" in terminal("profile", "add", "backend engineer Go and PostgreSQL").stdout
    start = told(runtime_home, tmp_path, "SessionStart", source="startup").splitlines()
    assert start[2] == "About the person: backend engineer Go and PostgreSQL"
    prompt = told(
        runtime_home, tmp_path, "UserPromptSubmit", prompt="fix the backend engineer page"
    )
    assert "About the person" not in prompt


def test_a_line_can_be_removed_and_comes_back(terminal: Terminal) -> None:
    terminal("profile", "add", "answers in German")
    (line,) = json.loads(terminal("profile", "list", "--json").stdout)
    assert "your profile" in terminal("rules").stdout  # not a heuristic of the project
    undo = terminal("profile", "remove", line["id"]).stdout.split("recollect undo ")[1]
    assert "empty" in terminal("profile", "list").stdout
    terminal("undo", undo.strip())
    assert "answers in German" in terminal("profile", "list").stdout


def test_a_long_profile_stays_within_its_budget(
    terminal: Terminal, runtime_home: RuntimeHome, tmp_path: pathlib.Path
) -> None:
    for number in range(30):
        terminal("profile", "add", f"knows about the {number}th subsystem of the product")
    start = told(runtime_home, tmp_path, "SessionStart", source="startup")
    (line,) = [one for one in start.splitlines() if one.startswith("About the person")]
    assert line.count("subsystem") == 3 and "0th subsystem" in line
    assert count_tokens(line) <= PROFILE_TOKENS + 10


def test_what_is_said_of_oneself_is_kept_for_every_project(
    terminal: Terminal, runtime_home: RuntimeHome, tmp_path: pathlib.Path
) -> None:
    here, there = tmp_path / "billing", tmp_path / "shop"
    for place in (here, there):
        place.mkdir()
        (place / "Makefile").touch()
    prompt = "I'm a senior backend engineer. I mostly write Go and SQL. Fix the login test."
    told(runtime_home, here, "UserPromptSubmit", prompt=prompt)
    told(runtime_home, here, "Stop", last_assistant_message="The login test passes now.")
    other = {"prompt": "I'm a bit lost. I am not an engineer of trains. He said: I work at Acme."}
    told(runtime_home, here, "UserPromptSubmit", **other)
    told(runtime_home, here, "Stop", last_assistant_message="Let us see.")
    runtime_home.extract()
    found = json.loads(terminal("profile", "list", "--json").stdout)
    said = ["I'm a senior backend engineer", "I mostly write Go and SQL"]
    assert [one["line"].rstrip(".") for one in found] == said
    start = told(runtime_home, there, "SessionStart", source="startup", session_id="s2")
    (line,) = [one for one in start.splitlines() if one.startswith("About the person")]
    assert all(one in line for one in said) and "Rules here" not in start
    terminal("profile", "remove", found[0]["id"])
    assert len(json.loads(terminal("profile", "list", "--json").stdout)) == 1


def test_the_line_for_the_user_says_that_the_profile_was_told(
    runtime_home: RuntimeHome, tmp_path: pathlib.Path
) -> None:
    told(runtime_home, tmp_path, "UserPromptSubmit", prompt="I'm a frontend developer at a bank.")
    told(runtime_home, tmp_path, "Stop", last_assistant_message="Noted.")
    runtime_home.extract()
    start = {"session_id": "s2", "cwd": str(tmp_path), "source": "startup"}
    answer = json.loads(runtime_home.run_hook("claude-code", "SessionStart", start).stdout)
    assert "frontend developer" in answer["hookSpecificOutput"]["additionalContext"]
    assert answer["systemMessage"] == "Recollect: your profile (recollect why)"
