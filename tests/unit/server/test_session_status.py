"""When a session runs and when it is over, as the dashboard shows it."""

from typing import Any

from tests.fakes.runtime import RuntimeHome


def status(home: RuntimeHome, session_id: str) -> tuple[str, str | None]:
    (found,) = [one for one in home.client.get("/api/sessions", project="all")["items"]
                if one["session_id"] == session_id]  # fmt: skip
    return found["status"], found["ended_at"]


def hook(home: RuntimeHome, event: str, host: str = "claude-code", **payload: Any) -> None:
    home.run_hook(host, event, {"session_id": "s", "cwd": "/", **payload})


def test_a_session_that_is_resumed_runs_again(runtime_home: RuntimeHome) -> None:
    hook(runtime_home, "SessionStart", source="startup")
    hook(runtime_home, "UserPromptSubmit", prompt="fix the retry")
    hook(runtime_home, "SessionEnd", reason="other")
    assert status(runtime_home, "s")[0] == "completed"
    runtime_home.clock.advance(hours=20)
    hook(runtime_home, "SessionStart", source="resume")
    assert status(runtime_home, "s") == ("active", None)
    hook(runtime_home, "UserPromptSubmit", prompt="go on")
    hook(runtime_home, "SessionEnd", reason="other")
    assert status(runtime_home, "s")[0] == "completed"


def test_a_session_of_an_agent_that_tells_no_end_is_over_after_hours_of_silence(
    runtime_home: RuntimeHome,
) -> None:
    upkeep, clock = runtime_home.runtime.upkeep, runtime_home.clock
    payload = {"cwd": "/", "session_id": "k", "prompt": "fix the retry"}
    runtime_home.run_hook("kiro-cli", "userPromptSubmit", payload)
    clock.advance(hours=3)
    upkeep.end_silent_sessions()
    assert status(runtime_home, "k") == ("active", None)
    clock.advance(hours=2)
    upkeep.end_silent_sessions()
    ended = status(runtime_home, "k")
    assert ended[0] == "completed" and ended[1] is not None
    runtime_home.run_hook("kiro-cli", "userPromptSubmit", {**payload, "prompt": "go on"})
    assert status(runtime_home, "k") == ("active", None)
