"""MCP as agents meet it: the SDK's own client over stdio and over HTTP, on a real daemon."""

import asyncio
import json
import pathlib
import subprocess
import sys
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from recollect.cli import process
from recollect.service import tools
from tests.fakes.daemons import RealDaemon
from tests.fakes.waiting import PATIENCE_S


def stdio(daemon: RealDaemon, cwd: pathlib.Path | None = None) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "recollect", "mcp"],
        env=daemon.environment,
        cwd=str(cwd or daemon.home.parent),
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


async def a_life(client: Client, thing: str) -> None:
    listed = await client.list_tools()
    assert [tool.name for tool in listed.tools] == [tool.name for tool in tools.TOOLS]
    assert client.instructions == tools.INSTRUCTIONS
    stored, failed = await said(
        client, "store_knowledge", type="decision", title=f"{thing} are ULIDs", reason="they sort",
        project="global",
    )  # fmt: skip
    assert not failed and stored.startswith("Stored: mr_")
    key = stored.split()[1]
    again, _ = await said(
        client, "store_knowledge", type="decision", title=f"{thing} are ULIDs", reason="they sort",
        project="global",
    )  # fmt: skip
    assert again == f"It is stored already: {key}"
    await said(client, "store_observation", title=f"{thing} of one millisecond have no order",
               facts=["they are random below the millisecond"], project="global")  # fmt: skip
    await said(client, "store_summary", request=f"Choose {thing}", completed=["chose ULIDs"],
               next_steps=["write them down"], session_id="s", project="global")  # fmt: skip
    found, _ = await said(client, "search_memory", query=f"what are {thing}?", project="global")
    assert key in found
    whole, _ = await said(client, "get_observations", ids=[key])
    assert "Reason: they sort" in whole and "by assistant" in whole
    around, _ = await said(client, "timeline", anchor=key)
    assert f"> {key}" in around and "no order" in around
    resumed, _ = await said(client, "resume_session", project="global")
    assert "write them down" in resumed
    report, _ = await said(client, "generate_report", period="day", project="global")
    assert f"{thing} are ULIDs" in report
    about, _ = await said(client, "recall_entity", name=thing, project="global")
    assert key in about
    context, _ = await said(client, "get_context", project="global")
    assert f"{thing} are ULIDs" in context and "ids: mr_" in context


def test_an_agent_lives_a_session_over_stdio(shared_daemon: RealDaemon) -> None:
    async def session() -> None:
        async with Client(stdio(shared_daemon)) as client:
            await a_life(client, "Ids")

    asyncio.run(session())


def test_an_agent_lives_a_session_over_http(shared_daemon: RealDaemon) -> None:
    async def session() -> None:
        headers = {"Authorization": f"Bearer {shared_daemon.token}"}
        async with httpx2.AsyncClient(headers=headers) as http:
            url = f"http://127.0.0.1:{shared_daemon.port}/mcp"
            async with Client(streamable_http_client(url, http_client=http)) as client:
                await a_life(client, "Keys")

    asyncio.run(session())
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert shared_daemon.http("POST", "/mcp", json.dumps(message).encode(), token=False)[0] == 401


def test_errors_are_told_as_text_that_says_what_to_do(shared_daemon: RealDaemon) -> None:
    async def session() -> None:
        async with Client(stdio(shared_daemon)) as client:
            for tool, arguments, words in (
                ("search_memory", {}, "query"),
                ("search_memory", {"query": "x", "limit": 0}, "limit"),
                ("search_memory", {"query": "x", "wrong": 1}, "has no argument 'wrong'"),
                ("search_memory", {"query": "x", "project": "nowhere"}, "there is no project"),
                ("get_observations", {"ids": ["nothing"]}, "ids"),
                ("recall_entity", {"name": "nobody"}, "nothing is known"),
                ("timeline", {"anchor": "mr_01M7H0H5P1BNFDHVBT75T84K25"}, "there is no memory"),
                ("store_knowledge", {"type": "opinion", "title": "x"}, "type"),
                ("no_such_tool", {}, "there is no tool"),
            ):
                text, failed = await said(client, tool, **arguments)
                assert failed and words in text, (tool, arguments, text)

    asyncio.run(session())


def test_the_project_is_where_the_agent_works(
    shared_daemon: RealDaemon, tmp_path: pathlib.Path
) -> None:
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "Makefile").touch()

    async def session() -> None:
        async with Client(stdio(shared_daemon, tmp_path / "here")) as client:
            await said(client, "store_observation", title="only here")
            assert "only here" in (await said(client, "search_memory", query="only"))[0]
        async with Client(stdio(shared_daemon, tmp_path / "there")) as client:
            assert "only here" not in (await said(client, "search_memory", query="only"))[0]
            everywhere, _ = await said(client, "search_memory", query="only", project="all")
            assert "only here" in everywhere

    asyncio.run(session())


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
        )  # fmt: skip
        assert [one["id"] for one in answers] == [1, 2, "three", 4, 5, None, None]
        assert answers[0]["error"]["code"] == -32601
        assert answers[1]["result"]["protocolVersion"] == "2025-06-18"
        assert len(answers[2]["result"]["tools"]) == 10
        assert answers[4]["error"]["code"] == -32601
    finally:
        process.stop(person.settings)


def test_a_daemon_that_cannot_start_is_an_error_and_not_the_end(tmp_path: pathlib.Path) -> None:
    person = RealDaemon(tmp_path / "home")
    person.environment["RECOLLECT_RESERVE_MB"] = "-1"
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    for answer in speak(person, asked, asked):
        assert "reserve_mb" in answer["error"]["message"]


@pytest.mark.parametrize("module", ["recollect.daemon.__main__", "recollect.server.app"])
def test_starting_imports_nothing_of_the_sdk(module: str) -> None:
    heavy = "('mcp', 'pydantic', 'httpx2')"
    code = f"import sys, {module}; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                          cwd=pathlib.Path(__file__).parents[2])  # fmt: skip
    assert done.stdout.strip() == "[]"


def test_the_door_for_mcp_costs_the_start_next_to_nothing() -> None:
    """CPU of importing the whole application, with MCP's door and with an empty one instead."""
    without = (
        "import sys, types; stub = types.ModuleType('recollect.server.mcp'); stub.Mcp = object; "
        "sys.modules['recollect.server.mcp'] = stub; "
    )
    measure = "import recollect.server.app, time; print(time.process_time())"

    def cpu(code: str) -> float:
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                              check=True, cwd=pathlib.Path(__file__).parents[2])  # fmt: skip
        return float(done.stdout)

    pairs = [(cpu(measure), cpu(without + measure)) for _ in range(5)]
    ours, bare = (sorted(column)[2] for column in zip(*pairs, strict=True))
    assert ours <= 1.25 * bare, f"{ours * 1000:.0f} ms against {bare * 1000:.0f} ms"
