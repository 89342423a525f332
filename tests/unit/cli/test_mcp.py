"""MCP as agents meet it, in process: the SDK's own client over HTTP, and `recollect mcp`."""

import asyncio
import json
import pathlib
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
import pytest
from mcp import Client as SdkClient
from mcp.client.streamable_http import streamable_http_client

from recollect.cli.mcp import Proxy
from recollect.client import Client, NotRunning
from recollect.core.errors import RecollectError
from recollect.service import tools
from tests.fakes.mcp_agent import McpAgent
from tests.fakes.runtime import RuntimeHome
from tests.unit.cli.conftest import Terminal

Call = Callable[..., Awaitable[tuple[str, bool]]]


async def a_life(call: Call, thing: str) -> None:
    stored, failed = await call(
        "store_knowledge", type="decision", title=f"{thing} are ULIDs", reason="they sort",
        project="global",
    )  # fmt: skip
    assert not failed and stored.startswith("Stored: mr_")
    key = stored.split()[1]
    again, _ = await call(
        "store_knowledge", type="decision", title=f"{thing} are ULIDs", reason="they sort",
        project="global",
    )  # fmt: skip
    assert again == f"Already stored: {key}"
    await call("store_observation", title=f"{thing} of one millisecond have no order",
               facts=["they are random below the millisecond"], project="global")  # fmt: skip
    await call("store_summary", request=f"Choose {thing}", completed=["chose ULIDs"],
               next_steps=["write them down"], session_id="s", project="global")  # fmt: skip
    found, _ = await call("search_memory", query=f"what are {thing}?", project="global")
    assert key in found
    whole, _ = await call("get_observations", ids=[key])
    assert "Reason: they sort" in whole and "by assistant" in whole
    around, _ = await call("timeline", anchor=key)
    assert f"> {key}" in around and "no order" in around
    resumed, _ = await call("resume_session", project="global")
    assert "write them down" in resumed
    report, _ = await call("generate_report", period="day", project="global")
    assert f"{thing} are ULIDs" in report
    about, _ = await call("recall_entity", name=thing, project="global")
    assert key in about
    context, _ = await call("get_context", project="global")
    assert f"{thing} are ULIDs" in context and "ids: mr_" in context


def test_an_agent_lives_a_session_over_stdio(terminal: Terminal, runtime_home: RuntimeHome) -> None:
    agent = McpAgent(str(terminal.home))

    async def call(tool: str, **arguments: Any) -> tuple[str, bool]:
        runtime_home.clock.advance(seconds=1)
        return agent.call(tool, **arguments)

    (listed,) = agent.speak({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    assert [one["name"] for one in listed["result"]["tools"]] == [one.name for one in tools.TOOLS]
    asyncio.run(a_life(call, "Ids"))


def test_an_agent_lives_a_session_over_http(runtime_home: RuntimeHome) -> None:
    async def session() -> None:
        headers = {"Authorization": f"Bearer {runtime_home.token}"}
        door = httpx2.ASGITransport(app=runtime_home.runtime.app())
        async with httpx2.AsyncClient(transport=door, headers=headers) as http:
            url = f"http://127.0.0.1:{runtime_home.port}/mcp"
            async with SdkClient(streamable_http_client(url, http_client=http)) as client:

                async def call(tool: str, **arguments: Any) -> tuple[str, bool]:
                    runtime_home.clock.advance(seconds=1)
                    answer = await client.call_tool(tool, arguments)
                    return answer.content[0].text, bool(answer.is_error)  # type: ignore[union-attr]

                listed = await client.list_tools()
                assert [tool.name for tool in listed.tools] == [tool.name for tool in tools.TOOLS]
                assert client.instructions == tools.INSTRUCTIONS
                await a_life(call, "Keys")

    asyncio.run(session())
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert runtime_home.http("POST", "/mcp", json.dumps(message).encode(), token=False)[0] == 401


@pytest.mark.usefixtures("terminal")
def test_errors_are_told_as_text_that_says_what_to_do(tmp_path: pathlib.Path) -> None:
    agent = McpAgent(str(tmp_path))
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
        text, failed = agent.call(tool, **arguments)
        assert failed and words in text, (tool, arguments, text)


@pytest.mark.usefixtures("terminal")
def test_the_project_is_where_the_agent_works(tmp_path: pathlib.Path) -> None:
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "Makefile").touch()
    here, there = McpAgent(str(tmp_path / "here")), McpAgent(str(tmp_path / "there"))
    here.call("store_observation", title="only here")
    assert "only here" in here.call("search_memory", query="only")[0]
    assert "only here" not in there.call("search_memory", query="only")[0]
    assert "only here" in there.call("search_memory", query="only", project="all")[0]


@pytest.mark.usefixtures("terminal")
def test_a_tool_that_breaks_says_so_and_where_to_look(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> str:
        raise ZeroDivisionError("the reason")

    monkeypatch.setattr(tools, "call", broken)
    text, failed = McpAgent(str(tmp_path)).call("timeline")
    assert failed and text == "Unexpected error in Recollect; its log has the details."
    assert "the tool timeline failed" in caplog.text and "the reason" in caplog.text


# --- what the daemon cannot answer is answered by the command ------------------------------------

ASKED = b'{"jsonrpc": "2.0", "id": 7, "method": "tools/list"}'


def answered(raw: bytes, monkeypatch: pytest.MonkeyPatch, line: bytes = ASKED) -> dict[str, Any]:
    monkeypatch.setattr(Client, "send", lambda self, *request: (200, raw))
    told: dict[str, Any] = json.loads(Proxy("/").answer(line))
    return told


@pytest.mark.parametrize("line", [b"{", b"\xff", b"[" * 100_000])
def test_a_line_that_is_no_json_gets_an_error(line: bytes) -> None:
    assert json.loads(Proxy("/").answer(line))["error"] == {"code": -32700, "message": "not JSON"}


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "the daemon gave no answer; recollect logs"),
        (b"<html>", "the daemon gave no answer; recollect logs"),
        (b"[1]", "the daemon gave no answer; recollect logs"),
        (b'{"error": {"message": "too many"}}', "too many"),
        (b'{"error": "no"}', "the daemon refused"),
        (b"{}", "the daemon refused"),
    ],
)
def test_an_answer_that_is_no_json_rpc_becomes_an_error(
    monkeypatch: pytest.MonkeyPatch, alone: Terminal, raw: bytes, message: str
) -> None:
    told = answered(raw, monkeypatch)
    assert told["id"] == 7 and told["error"] == {"code": -32603, "message": message}


@pytest.mark.usefixtures("alone")
def test_an_error_of_the_daemon_gets_the_id_of_its_request(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = b'{"jsonrpc": "2.0", "id": "server-error", "error": {"code": -32600, "message": "no"}}'
    assert answered(raw, monkeypatch)["id"] == 7


@pytest.mark.usefixtures("alone")
def test_the_version_that_was_agreed_on_goes_with_every_request_after(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent: list[dict[str, str]] = []

    def send(self: Client, *request: Any) -> tuple[int, bytes]:
        sent.append(dict(request[3]))
        return 200, b'{"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": "2025-06-18"}}'

    monkeypatch.setattr(Client, "send", send)
    proxy = Proxy("/a b")
    proxy.answer(b'{"jsonrpc": "2.0", "id": 1, "method": "initialize"}')
    proxy.answer(ASKED)
    assert "MCP-Protocol-Version" not in sent[0] and sent[0]["X-Recollect-Cwd"] == "/a%20b"
    assert sent[1]["MCP-Protocol-Version"] == "2025-06-18"


@pytest.mark.usefixtures("alone")
def test_a_daemon_that_is_down_is_started_and_asked_once_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[str] = []

    def send(self: Client, *request: Any) -> tuple[int, bytes]:
        tried.append("send")
        if "start" not in tried:
            raise NotRunning
        return 200, b'{"jsonrpc": "2.0", "id": 7, "result": {}}'

    monkeypatch.setattr(Client, "send", send)
    monkeypatch.setattr("recollect.cli.process.start", lambda chosen: tried.append("start"))
    assert json.loads(Proxy("/").answer(ASKED))["result"] == {}
    assert tried == ["send", "start", "send"]


@pytest.mark.usefixtures("alone")
def test_a_daemon_that_does_not_start_is_an_error_and_silent_for_a_notification(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def send(self: Client, *request: Any) -> tuple[int, bytes]:
        raise RecollectError("no room", hint="Free some space.")

    monkeypatch.setattr(Client, "send", send)
    told = json.loads(Proxy("/").answer(ASKED))
    assert told["error"] == {"code": -32603, "message": "no room Free some space."}
    note = b'{"jsonrpc": "2.0", "method": "notifications/initialized"}'
    assert Proxy("/").answer(note) == ""
