"""MCP as agents meet it, in process: the SDK's own client over HTTP, and `recollect mcp`."""

import asyncio
import io
import json
import pathlib
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
import pytest
from mcp import Client as SdkClient
from mcp.client.streamable_http import streamable_http_client

from recollect.cli.mcp import DaemonLink, Proxy, serve
from recollect.client import Client, NoAnswer, NotRunning
from recollect.core import mcp_protocol, tool_schemas
from recollect.core.clock import ManualClock
from recollect.core.errors import RecollectError
from recollect.ingest.origins import McpClients
from recollect.service import tools
from tests.fakes.mcp_agent import McpAgent
from tests.fakes.runtime import RuntimeHome
from tests.fakes.waiting import PATIENCE_S, wait_until
from tests.unit.cli.conftest import Terminal

Call = Callable[..., Awaitable[tuple[str, bool]]]


async def a_life(call: Call, thing: str, place: pathlib.Path) -> None:
    here = str(place / "engine")  # a project: what holds everywhere needs the user's words
    (place / "engine").mkdir()
    (place / "engine" / "Makefile").touch()
    stored, failed = await call(
        "store_knowledge", type="decision", title=f"{thing} are ULIDs", reason="they sort",
        project=here,
    )  # fmt: skip
    assert not failed and stored.startswith("Stored: mr_")
    key = stored.split()[1]
    again, _ = await call(
        "store_knowledge", type="decision", title=f"{thing} are ULIDs", reason="they sort",
        project=here,
    )  # fmt: skip
    assert again == f"Already stored: {key}"
    await call("store_observation", title=f"{thing} of one millisecond have no order",
               facts=["they are random below the millisecond"], project=here)  # fmt: skip
    await call("store_summary", request=f"Choose {thing}", completed=["chose ULIDs"],
               next_steps=["write them down"], session_id="s", project=here)  # fmt: skip
    found, _ = await call("search_memory", query=f"what are {thing}?", project=here)
    assert key in found
    whole, _ = await call("get_observations", ids=[key])
    assert "Reason: they sort" in whole and "by assistant" in whole
    around, _ = await call("timeline", anchor=key)
    assert f"> {key}" in around and "no order" in around
    resumed, _ = await call("resume_session", project=here)
    assert "write them down" in resumed
    report, _ = await call("generate_report", period="day", project=here)
    assert f"{thing} are ULIDs" in report
    about, _ = await call("recall_entity", name=thing, project=here)
    assert key in about
    context, _ = await call("get_context", project=here)
    assert f"{thing} are ULIDs" in context and "ids: mr_" in context


def test_an_agent_lives_a_session_over_stdio(
    terminal: Terminal, runtime_home: RuntimeHome, tmp_path: pathlib.Path
) -> None:
    agent = McpAgent(str(terminal.home))

    async def call(tool: str, **arguments: Any) -> tuple[str, bool]:
        runtime_home.clock.advance(seconds=1)
        return agent.call(tool, **arguments)

    (listed,) = agent.speak({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    assert [one["name"] for one in listed["result"]["tools"]] == [
        one.name for one in tool_schemas.TOOLS
    ]
    asyncio.run(a_life(call, "Ids", tmp_path))


def test_an_agent_lives_a_session_over_http(
    runtime_home: RuntimeHome, tmp_path: pathlib.Path
) -> None:
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
                assert [tool.name for tool in listed.tools] == [
                    tool.name for tool in tool_schemas.TOOLS
                ]
                assert client.instructions == tool_schemas.INSTRUCTIONS
                await a_life(call, "Keys", tmp_path)

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
        ("get_observations", {"ids": ["mr_"]}, "ids"),
        ("recall_entity", {"name": "nobody"}, "nothing is known"),
        ("timeline", {"anchor": "mr_01M7H0H5P1BNFDHVBT75T84K25"}, "there is no memory"),
        ("store_knowledge", {"type": "opinion", "title": "x"}, "type"),
        ("no_such_tool", {}, "there is no tool"),
    ):
        text, failed = agent.call(tool, **arguments)
        assert failed and words in text, (tool, arguments, text)
    # What went wrong, and on a line of its own what to do.
    text, _ = agent.call("recall_entity", name="nobody")
    assert text == "nothing is known about 'nobody'\nTry: search_memory with other words"
    assert agent.call("search_memory", query="x", limit=0)[0].count("limit") == 1


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
    tmp_path: pathlib.Path,
    runtime_home: RuntimeHome,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(*_: object) -> str:
        raise ZeroDivisionError("the reason")

    monkeypatch.setattr(tools, "call", broken)
    text, failed = McpAgent(str(tmp_path)).call("timeline")
    assert failed and text == "Unexpected error in Recollect; its log has the details."
    assert "the tool timeline failed" in caplog.text and "the reason" in caplog.text
    told = runtime_home.runtime.counters.errors_last_hour()
    assert told == ["the tool timeline: ZeroDivisionError"]


# --- what the proxy does by itself ---------------------------------------------------------------

BEGIN: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
    "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}
}}  # fmt: skip
LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
CALL = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "timeline"}}


def spoken(proxy: Proxy, *messages: Any) -> list[bytes]:
    lines = io.BytesIO(b"".join(json.dumps(one).encode() + b"\n" for one in messages))
    out = io.BytesIO()
    serve(lines, out, proxy)
    return out.getvalue().splitlines()


def called(proxy: Proxy) -> tuple[str, bool]:
    (line,) = spoken(proxy, CALL)
    answer = json.loads(line)
    assert answer["id"] == 7
    return answer["result"]["content"][0]["text"], answer["result"]["isError"]


@pytest.mark.usefixtures("alone")
def test_tools_are_listed_without_a_daemon_and_always_in_the_same_bytes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    introduced: list[DaemonLink] = []
    monkeypatch.setattr(DaemonLink, "introduce", lambda self: introduced.append(self))
    first, again = (spoken(Proxy(cwd), BEGIN, LIST) for cwd in ("/", "/elsewhere"))
    assert first == again and len(introduced) == 2
    begun, listed = map(json.loads, first)
    assert begun["result"]["protocolVersion"] == "2025-06-18"
    assert begun["result"]["instructions"] == tool_schemas.INSTRUCTIONS
    assert listed["result"]["tools"] == [tool.described for tool in tool_schemas.TOOLS]
    newer = {**BEGIN, "params": {**BEGIN["params"], "protocolVersion": "2031-01-01"}}
    (line,) = spoken(Proxy("/"), newer)
    assert json.loads(line)["result"]["protocolVersion"] == mcp_protocol.VERSIONS[0]


def test_the_proxy_loads_nothing_slow_before_it_has_listed_its_tools() -> None:
    code = (
        "import io, json, sys; from recollect.cli import mcp; mcp.DaemonLink.introduce = print; "
        f"mcp.serve(io.BytesIO(json.dumps({LIST}).encode()), io.BytesIO(), mcp.Proxy('/')); "
        "slow = ('mcp', 'pydantic', 'msgspec', 'numpy', 'starlette', 'http.client', 'asyncio'); "
        "print([name for name in slow if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("line", [b"{", b"\xff", b"[" * 100_000])
def test_a_line_that_is_no_json_gets_an_error(line: bytes) -> None:
    out = io.BytesIO()
    serve(io.BytesIO(line), out, Proxy("/"))
    assert json.loads(out.getvalue())["error"] == {"code": -32700, "message": "not JSON"}


@pytest.mark.parametrize("message", [[], "text", 1, {"id": 1}, {"id": None, "method": "ping"},
                                     {"id": 1.5, "method": "ping"}])  # fmt: skip
def test_what_is_no_request_gets_an_error_without_an_id(message: Any) -> None:
    answer = Proxy("/").answer(message)
    assert answer is not None and answer["id"] is None and answer["error"]["code"] == -32600


def test_unknown_methods_and_wrong_parameters_are_errors_and_answers_of_clients_are_not() -> None:
    for message, code in (
        ({"id": 1, "method": "server/discover", "params": {}}, -32601),
        ({"id": 1, "method": "resources/list"}, -32601),
        ({"id": 1, "method": "tools/call", "params": {}}, -32602),
        ({"id": 1, "method": "tools/call", "params": [1]}, -32602),
    ):
        answer = Proxy("/").answer(message)
        assert answer is not None and answer["error"]["code"] == code, message
    for silent in ({"id": 1, "result": {}}, {"id": 1, "error": {}}, {"method": "notifications/x"}):
        assert Proxy("/").answer(silent) is None


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", "the daemon gave no answer; recollect logs"),
        (b"<html>", "the daemon gave no answer; recollect logs"),
        (b"[1]", "the daemon refused"),
        (b'{"error": {"message": "too many"}}', "too many"),
        (b'{"error": "no"}', "the daemon refused"),
        (b"{}", "the daemon refused"),
    ],
)
@pytest.mark.usefixtures("alone")
def test_a_call_that_the_daemon_does_not_answer_is_answered_in_words(
    monkeypatch: pytest.MonkeyPatch, raw: bytes, words: str
) -> None:
    monkeypatch.setattr(Client, "send", lambda self, *request: (200, raw))
    assert called(Proxy("/")) == (words, True)


@pytest.mark.usefixtures("alone")
def test_a_daemon_that_is_down_is_started_and_asked_once_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[str] = []

    def send(self: Client, *request: Any) -> tuple[int, bytes]:
        tried.append("send")
        assert request[3]["X-Recollect-Cwd"] == "/a%20b"
        if "start" not in tried:
            raise NotRunning
        return 200, b'{"id": 1, "result": {"content": [{"text": "x"}], "isError": false}}'

    monkeypatch.setattr(Client, "send", send)
    monkeypatch.setattr("recollect.cli.mcp.start_daemon", lambda: tried.append("start"))
    assert called(Proxy("/a b")) == ("x", False)
    assert tried == ["send", "start", "send"]


@pytest.mark.usefixtures("alone")
def test_a_call_waits_for_a_daemon_that_starts_only_so_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    up, starts = threading.Event(), []

    def send(self: Client, *request: Any) -> tuple[int, bytes]:
        raise NotRunning

    def start() -> None:
        starts.append(1)
        up.wait(PATIENCE_S)

    monkeypatch.setattr(Client, "send", send)
    monkeypatch.setattr("recollect.cli.mcp.start_daemon", start)
    monkeypatch.setattr("recollect.cli.mcp.START_S", 0.01)
    proxy = Proxy("/")
    told = "Recollect is still starting.\nTry: Go on without it, or try again in a moment."
    assert [called(proxy), called(proxy)] == [(told, True)] * 2
    assert len(starts) == 1  # both waited for the same start
    up.set()


@pytest.mark.usefixtures("alone")
def test_a_daemon_that_cannot_start_or_hangs_is_told_in_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def start() -> None:
        raise RecollectError("no room", hint="Free some space.")

    def send(self: Client, *request: Any) -> tuple[int, bytes]:
        raise problem

    monkeypatch.setattr(Client, "send", send)
    monkeypatch.setattr("recollect.cli.mcp.start_daemon", start)
    problem: RecollectError = NotRunning()
    assert called(Proxy("/")) == ("no room\nTry: Free some space.", True)
    problem = NoAnswer()  # it runs: starting another one would not help
    assert called(Proxy("/"))[0].startswith("The daemon runs and does not answer in time.")


def test_an_agent_that_hangs_up_ends_the_proxy_quietly() -> None:
    class HungUp(io.BytesIO):
        def write(self, raw: Any) -> int:
            raise BrokenPipeError

    serve(io.BytesIO(json.dumps(LIST).encode() + b"\n"), HungUp(), Proxy("/"))


def test_the_daemon_knows_which_projects_have_our_tools(
    terminal: Terminal, runtime_home: RuntimeHome, tmp_path: pathlib.Path
) -> None:
    clients, namespaces = runtime_home.runtime.mcp_clients, runtime_home.runtime.namespaces
    here, there = tmp_path / "here", tmp_path / "there"
    for one in (here, there):
        one.mkdir()
        (one / "Makefile").touch()
    assert not clients.present(namespaces.of(str(here)))
    DaemonLink(str(here)).introduce()
    assert wait_until(lambda: clients.present(namespaces.of(str(here))))
    assert not clients.present(namespaces.of(str(there)))


def test_a_proxy_that_has_ended_counts_for_a_day() -> None:
    """An agent may start its next one only after the first prompt of a session."""
    living = {1, 2}
    clock = ManualClock()
    clients = McpClients(clock, lambda cwd: f"/project{cwd}/", alive=living.__contains__)
    clients.seen(1, "/a")
    clients.seen(2, "/b")
    clock.advance(seconds=100 * 3600)
    assert clients.present("/project/a/")
    living.remove(1)
    clock.advance(seconds=23 * 3600)
    assert clients.present("/project/a/")
    clock.advance(seconds=2 * 3600)
    assert not clients.present("/project/a/") and clients.present("/project/b/")
