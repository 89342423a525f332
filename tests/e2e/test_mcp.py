"""`recollect mcp` as an agent starts it, with a daemon and without."""

import json
import pathlib
import subprocess
import sys
from typing import Any

from tests.fakes.daemons import RealDaemon


def speak(daemon: RealDaemon, *messages: dict[str, Any]) -> list[dict[str, Any]]:
    run = subprocess.run(
        [sys.executable, "-m", "recollect", "mcp"],
        input="".join(json.dumps(message) + "\n" for message in messages).encode(),
        env=daemon.environment,
        cwd=daemon.home.parent,
        capture_output=True,
        timeout=30,
    )
    assert (run.returncode, run.stderr) == (0, b"")
    return [json.loads(line) for line in run.stdout.splitlines()]


def call(name: str, **arguments: Any) -> dict[str, Any]:
    parameters = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": parameters}


def test_a_server_offers_a_tool_because_some_agents_call_one_without_any_broken(
    tmp_path: pathlib.Path,
) -> None:
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    (answer,) = speak(RealDaemon(tmp_path / "data"), asked)
    assert [tool["name"] for tool in answer["result"]["tools"]] == ["timeline"]


def test_the_timeline_tells_what_was_typed(daemon: RealDaemon) -> None:
    cwd = str(daemon.home.parent)
    payload = {"session_id": "s", "cwd": cwd, "prompt": "make it blue"}
    daemon.run_hook("claude-code", "UserPromptSubmit", payload, cwd=cwd)
    (answer,) = speak(daemon, call("timeline", limit=5))
    assert "prompt: make it blue" in answer["result"]["content"][0]["text"]
    assert not answer["result"]["isError"]


def test_without_a_daemon_the_tool_says_what_to_do(tmp_path: pathlib.Path) -> None:
    (answer,) = speak(RealDaemon(tmp_path / "data"), call("timeline"))
    assert answer["result"]["isError"]
    assert "recollect up" in answer["result"]["content"][0]["text"]


def test_what_is_not_known_is_an_error_at_once(tmp_path: pathlib.Path) -> None:
    unknown = {"jsonrpc": "2.0", "id": 2, "method": "server/discover"}
    answers = speak(RealDaemon(tmp_path / "data"), call("nothing"), unknown)
    assert [answer["error"]["code"] for answer in answers] == [-32602, -32601]
