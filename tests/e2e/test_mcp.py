"""`recollect mcp` as agents start it: its process, its daemon, and what starting them costs."""

import asyncio
import json
import os
import pathlib
import socket
import subprocess
import sys
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from recollect.cli import process
from tests.fakes.daemons import RealDaemon
from tests.fakes.waiting import PATIENCE_S


def stdio(daemon: RealDaemon) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "recollect", "mcp"],
        env=daemon.environment,
        cwd=str(daemon.home.parent),
    )


async def said(client: Client, tool: str, **arguments: Any) -> tuple[str, bool]:
    answer = await client.call_tool(tool, arguments)
    return answer.content[0].text, bool(answer.is_error)  # type: ignore[union-attr]


def speak(daemon: RealDaemon, *messages: Any) -> list[dict[str, Any]]:
    run = subprocess.run(
        [sys.executable, "-m", "recollect", "mcp"],
        input="".join(json.dumps(message) + "\n" for message in messages).encode(),
        env=daemon.environment,
        cwd=daemon.home.parent,
        capture_output=True,
        timeout=PATIENCE_S,
    )
    assert (run.returncode, run.stderr) == (0, b"")
    return [json.loads(line) for line in run.stdout.splitlines()]


def test_a_session_goes_on_after_the_daemon_was_restarted(daemon: RealDaemon) -> None:
    async def session() -> None:
        async with Client(stdio(daemon)) as client:
            await said(client, "store_observation", title="before the fall")
            daemon.stop()
            daemon.start()
            assert "before the fall" in (await said(client, "search_memory", query="fall"))[0]

    asyncio.run(session())


def test_the_proxy_starts_the_daemon_and_answers_what_nobody_knows(
    tmp_path: pathlib.Path,
) -> None:
    person = RealDaemon(tmp_path / "home")
    try:
        answers = speak(
            person,
            {"jsonrpc": "2.0", "id": 1, "method": "server/discover"},
            {"jsonrpc": "2.0", "id": 2, "method": "initialize", "params": {
                "protocolVersion": "2025-06-18", "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"}}},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "id": "three", "method": "tools/list"},
            {"jsonrpc": "2.0", "id": 4, "method": "ping"},
            {"jsonrpc": "2.0", "id": 5, "method": "no/such/method"},
            {"jsonrpc": "2.0", "id": 6, "result": {}},
            [],
            "text",
            {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "timeline"}},
        )  # fmt: skip
        assert [one["id"] for one in answers] == [1, 2, "three", 4, 5, None, None, 7]
        assert answers[0]["error"]["code"] == -32601
        assert answers[1]["result"]["protocolVersion"] == "2025-06-18"
        assert len(answers[2]["result"]["tools"]) == 10
        assert answers[4]["error"]["code"] == -32601
        assert not answers[7]["result"]["isError"]  # it waited for the daemon
    finally:
        process.stop(person.settings)


def test_the_daemon_is_no_descendant_of_the_proxy_that_started_it(tmp_path: pathlib.Path) -> None:
    """Copilot stops its servers with all their descendants."""
    person = RealDaemon(tmp_path / "home")
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "timeline"}}
    try:
        with subprocess.Popen(
            [sys.executable, "-m", "recollect", "mcp"], env=person.environment,
            cwd=person.home.parent, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        ) as proxy:  # fmt: skip
            assert proxy.stdin is not None and proxy.stdout is not None
            proxy.stdin.write(json.dumps(call).encode() + b"\n")
            proxy.stdin.flush()
            assert not json.loads(proxy.stdout.readline())["result"]["isError"]
            daemon = process.running(person.settings)
            assert daemon is not None
            parent = int(pathlib.Path(f"/proc/{daemon}/stat").read_text().rsplit(")")[1].split()[1])
            assert parent not in (proxy.pid, os.getpid())
            proxy.kill()
        assert process.running(person.settings) == daemon
    finally:
        process.stop(person.settings)


def test_a_daemon_that_cannot_start_is_an_error_and_not_the_end(tmp_path: pathlib.Path) -> None:
    person = RealDaemon(tmp_path / "home")
    person.environment["RECOLLECT_RESERVE_MB"] = "-1"
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "timeline"}}
    for answer in speak(person, asked, asked):
        assert answer["result"]["isError"]
        assert "reserve_mb" in answer["result"]["content"][0]["text"]


@pytest.mark.parametrize("module", ["recollect.daemon.__main__", "recollect.server.app"])
def test_starting_imports_nothing_of_the_sdk(module: str) -> None:
    heavy = "('mcp', 'pydantic', 'httpx2', 'httpx')"
    code = f"import sys, {module}; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                          cwd=pathlib.Path(__file__).parents[2])  # fmt: skip
    assert done.stdout.strip() == "[]"


def test_a_client_that_hangs_up_leaves_no_traceback(daemon: RealDaemon) -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "timeline"}}
    body = json.dumps(call).encode()
    head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    head += f"Content-Length: {len(body)}\r\n\r\n"
    for part in (body[:10], body):  # in the middle of its question, and before the answer
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            client.connect(daemon.settings.path("recollect.sock"))
            client.sendall(head.encode() + part)
    daemon.http("GET", "/healthz")
    daemon.stop()
    log = pathlib.Path(daemon.settings.path("logs", "recollect.log")).read_text()
    assert "Traceback" not in log and "ERROR" not in log, log
