"""Four doors, one behaviour: what REST, MCP, the command line and Python say is the same."""

import asyncio
import contextlib
import io
import json
import pathlib
import re
import time
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from mcp import Client

from recollect import Memory
from recollect.cli.run import run
from recollect.server.app import ENDPOINTS
from recollect.service import tools
from tests.e2e.test_mcp import said, stdio
from tests.fakes.daemons import REPOSITORY, RealDaemon
from tests.fakes.waiting import PATIENCE_S

THINGS = (
    "retries", "the cache", "logins", "invoices", "deploys", "migrations", "the queue", "search",
    "uploads", "webhooks",
)  # fmt: skip
SAYINGS = (
    "{thing} fail when the clock goes back",
    "we chose Postgres for {thing} because of row locks",
    "{thing} must never block the request thread",
    "the flaky test of {thing} waits for a port",
)
QUESTIONS = tuple(
    template.format(thing=thing)
    for thing in THINGS
    for template in (
        "why do {thing} fail?",
        "which database did we choose for {thing}",
        "{thing}",
        "may {thing} block?",
        "flaky test {thing} port",
    )
)


def get(daemon: RealDaemon, path: str, **query: Any) -> Any:
    return daemon.client.get(path, **query)


def post(daemon: RealDaemon, path: str, body: Any = None) -> Any:
    return daemon.client.ask("POST", path, body)


def project(tmp_path: pathlib.Path, name: str) -> str:
    place = tmp_path / name
    place.mkdir()
    (place / "Makefile").touch()
    return str(place)


def settled(daemon: RealDaemon) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        stats = get(daemon, "/api/embeddings/stats")
        if stats["memories"] and not stats["missing"]:
            return
        assert time.monotonic() < deadline, stats
        time.sleep(0.05)


@pytest.fixture(scope="module")
def place(shared_daemon: RealDaemon, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A project with forty memories, all with their vectors."""
    here = project(tmp_path_factory.mktemp("place"), "billing")
    for number, thing in enumerate(THINGS):
        for at, saying in enumerate(SAYINGS):
            title = saying.format(thing=thing)
            body = {"project": here, "title": title, "files": [f"src/f{number}.py"]}
            if at == 1:
                post(shared_daemon, "/api/knowledge", {**body, "type": "decision"})
            else:
                post(shared_daemon, "/api/observations", body)
    settled(shared_daemon)
    return here


@pytest.fixture
def at_home(shared_daemon: RealDaemon, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """This process looks at the daemon under test."""
    for name in ("HOME", "ACTOR", "PORT", "RESERVE_MB"):
        variable = f"RECOLLECT_{name}"
        monkeypatch.setenv(variable, shared_daemon.environment[variable])
    yield


def typed(name: str, *arguments: str) -> tuple[int, str]:
    """A command in this process, over the real socket: starting Python each time proves no more."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = run([name, *arguments])
    return code, out.getvalue()


def without_time(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: part for name, part in answer.items() if name != "latency_ms"}


@pytest.mark.usefixtures("at_home")
def test_fifty_questions_get_the_same_answer_at_every_door(
    shared_daemon: RealDaemon, place: str
) -> None:
    assert len(QUESTIONS) == 50
    memory = Memory(place)

    async def by_mcp() -> list[str]:
        async with Client(stdio(shared_daemon, pathlib.Path(place))) as client:
            return [(await said(client, "search_memory", query=one))[0] for one in QUESTIONS]

    texts = asyncio.run(by_mcp())
    for question, text in zip(QUESTIONS, texts, strict=True):
        by_rest = without_time(get(shared_daemon, "/api/search", query=question, project=place))
        assert by_rest["items"] and by_rest["semantic"], question
        code, printed = typed("search", "--json", "--project", place, question)
        assert code == 0 and without_time(json.loads(printed)) == by_rest
        answer = msgspec.to_builtins(memory.search(question))
        assert without_time(json.loads(json.dumps(answer))) == by_rest
        rows = re.findall(r"^(mr_\w+) .*\(score ([\d.]+)\)$", text, re.MULTILINE)
        wanted = [(one["record"]["record_id"], f"{one['score']:.2f}") for one in by_rest["items"]]
        assert rows == wanted, question


@pytest.mark.usefixtures("at_home")
def test_the_same_life_through_every_door_leaves_the_same_rows(
    shared_daemon: RealDaemon, tmp_path: pathlib.Path
) -> None:
    """Add, add again, edit or delete, undo: each door in a project of its own."""

    def rest(here: str) -> None:
        first = post(shared_daemon, "/api/observations", {**told(), "project": here})
        assert not post(shared_daemon, "/api/observations", {**told(), "project": here})["stored"]
        known = {"type": "decision", "title": "Use ULIDs", "reason": "they sort", "project": here}
        post(shared_daemon, "/api/knowledge", known)
        gone = shared_daemon.client.ask("DELETE", f"/api/memories/{first['record']['record_id']}")
        post(shared_daemon, f"/api/operations/{gone['op_ids'][0]}/undo")

    def told() -> dict[str, Any]:
        return {"title": "The port is 7325", "content": "unless it is taken", "author": "assistant",
                "files": ["a.py"], "concepts": ["ports"]}  # fmt: skip

    def python(here: str) -> None:
        memory = Memory(here)
        first = memory.add("The port is 7325", "unless it is taken", files=["a.py"],
                           concepts=["ports"])  # fmt: skip
        assert not memory.add("The port is 7325", "unless it is taken").stored
        memory.add_knowledge("decision", "Use ULIDs", reason="they sort")
        memory.undo(memory.delete(first.record.record_id).op_ids[0])

    def command_line(here: str) -> None:
        note = ("add", "--project", here, "--kind", "observation", "--content",
                "unless it is taken", "--file", "a.py", "--concept", "ports")  # fmt: skip
        first = json.loads(typed(*note, "--json", "The port is 7325")[1])
        assert "stored already" in typed(*note, "The port is 7325")[1]
        typed("add", "-p", here, "--kind", "knowledge", "--type", "decision", "--reason",
              "they sort", "Use ULIDs")  # fmt: skip
        code, printed = typed("forget", "--yes", first["record"]["record_id"])
        assert code == 0
        assert typed("undo", re.findall(r"op_\w+", printed)[0])[0] == 0

    def mcp(here: str) -> None:
        async def session() -> None:
            async with Client(stdio(shared_daemon, pathlib.Path(here))) as client:
                given = {name: part for name, part in told().items() if name != "author"}
                first, _ = await said(client, "store_observation", **given)
                again, _ = await said(client, "store_observation", **given)
                assert "stored already" in again
                await said(client, "store_knowledge", type="decision", title="Use ULIDs",
                           reason="they sort")  # fmt: skip
                key = first.split()[1]
                # Agents have no tool to delete: a person does that.
                Memory(here).undo(Memory(here).delete(key).op_ids[0])

        asyncio.run(session())

    rows: dict[str, Any] = {}
    for door in (rest, python, command_line, mcp):
        here = project(tmp_path, door.__name__)
        door(here)
        found = get(shared_daemon, "/api/memories", project=here)["items"]
        log = get(shared_daemon, "/api/operations", project=here)["items"]
        left = {"record_id", "namespace", "created_at", "updated_at", "valid_from", "author"}
        rows[door.__name__] = (
            [{name: part for name, part in one.items() if name not in left} for one in found],
            [one["kind"] for one in log],
        )
    assert rows["rest"][1] == ["undo", "delete", "add", "add"]
    assert rows["python"] == rows["rest"]
    assert rows["command_line"] == rows["rest"]
    assert rows["mcp"] == rows["rest"]


@pytest.mark.usefixtures("at_home")
def test_the_examples_for_python_run(tmp_path: pathlib.Path, monkeypatch: Any) -> None:
    here = project(tmp_path, "examples")
    monkeypatch.chdir(here)
    page = (REPOSITORY / "docs" / "howto" / "python.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) >= 6
    names: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        for block in blocks:
            exec(compile(block, "python.md", "exec"), names)  # noqa: S102 - our own page
    assert "The retry cap is 5" in printed.getvalue()


# --- everything that exists is used, and everything in the docs exists ---------------------------

BODIES: dict[str, Any] = {
    "POST /api/memories": {"title": "a memory", "kind": "note"},
    "POST /api/memories/batch": {"ids": ["{record_id}"]},
    "POST /api/memories/delete": {"ids": ["{spare}"]},
    "PATCH /api/memories/{record_id}": {"title": "another title"},
    "POST /api/memories/{record_id}/pin": {},
    "POST /api/memories/{record_id}/move": {"project": "global"},
    "POST /api/observations": {"title": "an observation"},
    "POST /api/observations/batch": {"ids": ["{record_id}"]},
    "POST /api/summaries": {"request": "to sum up", "session_id": "{session_id}"},
    "POST /api/knowledge": {"type": "heuristic", "title": "a rule"},
    "POST /api/notes": {"text": "a note"},
    "POST /api/compact": {"turns": [{"role": "user", "content": "hi"}]},
    "POST /api/feedback": {"record_id": "{record_id}", "verdict": "useful"},
    "POST /api/doctor": {"what": "index"},
    "PATCH /api/known/{thing_id}": {"value": "another value"},
    "POST /v1/events": {
        "session_id": "{session_id}", "kind": "prompt", "body": {"type": "text", "content": "hi"},
        "source": {"surface": "test"},
    },
    "POST /api/queue/run": {"wait_s": 10},
    "POST /api/queue/retry": {},
    "POST /api/import": {"sources": ["claude-code"], "dry_run": True},
    "POST /api/import/offers": {},
    "POST /api/forget": {"record_ids": ["{record_id}"], "dry_run": True},
    "POST /api/scrub": {"dry_run": True},
    "POST /api/move": {"record_ids": ["{record_id}"], "target": "{project}", "dry_run": True},
    "POST /api/separate": {"path": "{here}"},
    "PATCH /api/projects/{project}": {"name": "another-name"},
}  # fmt: skip
QUERIES = {
    "/api/search": "query=note", "/api/memories/search": "query=note",
    "/api/hybrid-search": "query=note", "/api/semantic-search": "query=note",
    "/api/explain": "query=note", "/api/recall-entity": "name=note",
    "/api/graph/paths": "source=Fly&target=billing",
}  # fmt: skip


def known_values(daemon: RealDaemon, here: str) -> dict[str, str]:
    """Something of every kind, so that every route has something to say."""
    session = "the-session"
    post(daemon, "/v1/events", {**BODIES["POST /v1/events"], "session_id": session})
    kept = post(daemon, "/api/notes", {"text": "a note to keep", "project": here})
    spare = post(daemon, "/api/notes", {"text": "a note to lose", "project": here})
    summed = {"request": "sum up", "session_id": session, "project": "global"}
    post(daemon, "/api/summaries", summed)
    receipt = get(daemon, "/api/context", query="a note", project=here, receipt="true")
    (mine,) = [one for one in get(daemon, "/api/projects")["items"]
               if one["name"] == pathlib.Path(here).name]  # fmt: skip
    return {
        "record_id": kept["record"]["record_id"],
        "spare": spare["record"]["record_id"],
        "op_id": spare["op_id"],
        "session_id": session,
        "thing_id": "fa_nothing",
        "receipt_id": receipt["receipt_id"],
        "project": mine["project_id"],
        "here": here,
        "entity_id": "nothing",
        "host": "claude-code",
    }


def filled(tree: Any, values: dict[str, str]) -> Any:
    if isinstance(tree, str):
        return re.sub(r"{(\w+)}", lambda found: values[found.group(1)], tree)
    if isinstance(tree, list):
        return [filled(one, values) for one in tree]
    if isinstance(tree, dict):
        return {name: filled(part, values) for name, part in tree.items()}
    return tree


def test_every_route_answers_over_a_real_socket(
    shared_daemon: RealDaemon, tmp_path: pathlib.Path
) -> None:
    values = known_values(shared_daemon, project(tmp_path, "every-route"))
    settled(shared_daemon)
    # What nothing makes yet is asked for all the same: it is not there, and that is said.
    absent = {"/api/entities/{entity_id}", "/api/entities/{entity_id}/neighbours",
              "/api/graph/paths", "/api/known/{thing_id}"}  # fmt: skip
    order = {"GET": 0, "PATCH": 1, "PUT": 1, "POST": 2, "DELETE": 3}
    late = ("/api/undo", "/api/operations/{op_id}/undo", "/api/memories/delete")
    wrong = []
    for one in sorted(ENDPOINTS, key=lambda one: (one.path in late, order[one.method], one.path)):
        if one.path == "/api/operations/{op_id}/undo":
            fresh = post(shared_daemon, "/api/notes", {"text": "to be undone"})
            values["op_id"] = fresh["op_id"]
        target = filled(one.path, values)
        if one.method == "GET" and one.path in QUERIES:
            target += f"?{QUERIES[one.path]}"
        body = filled(BODIES.get(f"{one.method} {one.path}"), values)
        assert (one.body is None) == (body is None), f"{one.method} {one.path} needs a body here"
        raw = None if body is None else json.dumps(body).encode()
        status, _, text = shared_daemon.http(one.method, target, raw)
        if status != (404 if one.path in absent else 200):
            wrong.append((one.method, one.path, status, text))
    assert wrong == []


def test_every_tool_answers_over_a_real_socket(shared_daemon: RealDaemon, place: str) -> None:
    first = get(shared_daemon, "/api/memories", project=place, limit=1)["items"][0]["record_id"]
    arguments: dict[str, dict[str, Any]] = {
        "search_memory": {"query": "retries"}, "get_context": {"query": "retries"},
        "timeline": {}, "get_observations": {"ids": [first]},
        "store_observation": {"title": "seen"},
        "store_knowledge": {"type": "rejected", "title": "no"},
        "store_summary": {"request": "asked"}, "resume_session": {}, "generate_report": {},
        "recall_entity": {"name": "retries"},
    }  # fmt: skip
    assert set(arguments) == set(tools.BY_NAME)
    for name, given in arguments.items():
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": {"name": name, "arguments": {**given, "project": place}}}  # fmt: skip
        headers = {"Accept": "application/json, text/event-stream"}
        status, _, raw = shared_daemon.http("POST", "/mcp", json.dumps(call).encode(), headers)
        result = json.loads(raw)["result"]
        assert status == 200 and not result.get("isError"), (name, result)


@pytest.mark.usefixtures("at_home")
def test_every_new_command_does_its_work_over_a_real_socket(place: str) -> None:
    for arguments, words in (
        (("search", "-p", place, "retries"), "retries fail when"),
        (("search", "-p", place, "--kind", "knowledge"), "because of row locks"),
        (("search", "-p", place, "--mode", "keyword", "--file", "f3.py", "invoices"), "invoices"),
        (("context", "-p", place, "why", "do", "retries", "fail?"), "<recollect id="),
        (("resume", "-p", place), ""),
        (("report", "-p", place), "Learned"),
        (("report", "-p", place, "--markdown"), "## Learned"),
        (("change", "list", "-p", place), "op_"),
        (("status",), "is ok"),
        (("settings", "show", "port"), ""),
        (("completion", "fish"), "complete --no-files --command recollect"),
        (("why", "-p", place), "Nothing was injected"),
        (("receipt", "list", "-p", place), "Nothing was injected"),
        (("model", "show"), "with vectors of"),
        (("queue", "list"), "Nothing was captured yet."),
    ):
        code, printed = typed(*arguments)
        assert code == 0 and words in printed, (arguments, printed)
    code, printed = typed("search", "--since", "yesterday")
    assert code == 2 and "is not a time" in printed
    code, printed = typed("forget", "-y", "mr_01M7H0H5P1BNFDHVBT75T84K25")
    assert code == 1 and "there is no memory" in printed
