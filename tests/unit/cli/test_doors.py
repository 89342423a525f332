"""Four doors, one behaviour: what REST, MCP, the command line and Python say is the same."""

import contextlib
import io
import json
import pathlib
import re
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from recollect import Memory
from recollect.core.errors import BadInput
from recollect.core.ids import new_ulid
from tests.fakes.daemons import REPOSITORY
from tests.fakes.mcp_agent import McpAgent
from tests.fakes.runtime import RuntimeHome
from tests.unit.cli.conftest import Terminal

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
BOTH_FIRST = round(2 / 61, 6)  # rank fusion of what is first by words and by meaning
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


@pytest.fixture(scope="module")
def runtime_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RuntimeHome]:
    """One for all questions, with vectors."""
    made = RuntimeHome(tmp_path_factory.mktemp("doors") / "home", embedding=True)
    yield made
    made.close()


def project(tmp_path: pathlib.Path, name: str) -> str:
    place = tmp_path / name
    place.mkdir()
    (place / "Makefile").touch()
    return str(place)


@pytest.fixture(scope="module")
def place(runtime_home: RuntimeHome, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A project with forty memories, all with their vectors."""
    here = project(tmp_path_factory.mktemp("place"), "billing")
    for number, thing in enumerate(THINGS):
        for at, saying in enumerate(SAYINGS):
            title = saying.format(thing=thing)
            body = {"project": here, "title": title, "files": [f"src/f{number}.py"]}
            if at == 1:
                runtime_home.client.ask("POST", "/api/knowledge", {**body, "type": "decision"})
            else:
                runtime_home.client.ask("POST", "/api/observations", body)
    runtime_home.embed()
    runtime_home.clock.advance(minutes=1)
    return here


def without_time(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: part for name, part in answer.items() if name != "latency_ms"}


def test_fifty_questions_get_the_same_answer_at_every_door(
    runtime_home: RuntimeHome, terminal: Terminal, place: str
) -> None:
    assert len(QUESTIONS) == 50
    memory, agent = Memory(place), McpAgent(place)
    for question in QUESTIONS:
        by_rest = without_time(
            runtime_home.client.get("/api/search", query=question, project=place)
        )
        assert by_rest["items"] and by_rest["semantic"], question
        done = terminal("search", "--json", "--project", place, question)
        assert done.returncode == 0 and without_time(json.loads(done.stdout)) == by_rest
        answer = msgspec.to_builtins(memory.search(question))
        assert without_time(json.loads(json.dumps(answer))) == by_rest
        text, _ = agent.call("search_memory", query=question)
        rows = re.findall(r"^(mr_\w+) .*\(score ([\d.]+)\)$", text, re.MULTILINE)
        wanted = [(one["record"]["record_id"], f"{one['score']:.2f}") for one in by_rest["items"]]
        assert rows == wanted, question


def test_rank_fusion_can_be_chosen_at_every_door(
    runtime_home: RuntimeHome, terminal: Terminal, place: str
) -> None:
    question = QUESTIONS[0]

    def rest(**chosen: Any) -> list[float]:
        found = runtime_home.client.get("/api/search", query=question, project=place, **chosen)
        return [one["score"] for one in found["items"]]

    fused = rest(fusion="rrf")
    assert 1 / 65 < fused[0] <= BOTH_FIRST < rest()[0]
    assert rest(fusion="rrf", k=1, fetch_depth=1)[0] > 0.5
    done = terminal("search", "--json", "--fusion", "rrf", "--project", place, question)
    assert [one["score"] for one in json.loads(done.stdout)["items"]] == fused
    by_python = Memory(place).search(question, fusion="rrf", k=60, fetch_depth=4)
    assert [one.score for one in by_python.items] == fused
    text, _ = McpAgent(place).call("search", query=question, fusion="rrf")
    assert f"(score {fused[0]:.2f})" in text
    explained = runtime_home.client.get("/api/explain", query=question, project=place, fusion="rrf")
    assert explained["items"][0]["score"] <= BOTH_FIRST


def test_a_turn_from_python_is_a_pair_or_has_role_and_content(
    runtime_home: RuntimeHome, terminal: Terminal, place: str
) -> None:
    memory = Memory(place)
    said: list[Any] = [
        ("user", "why do retries stop?"), {"role": "assistant", "content": "The cap."},
    ]  # fmt: skip
    fitted = memory.compact_conversation(said)
    told = [("user", "why do retries stop?"), ("assistant", "The cap.")]
    assert [(one.role, one.content) for one in fitted.turns] == told
    for wrong in ({"role": "user", "text": "x"}, {"role": "user", "content": 3}, "ab", ("user",)):
        with pytest.raises(BadInput, match="a turn is"):
            memory.compact_conversation([wrong])  # type: ignore[list-item]


def test_rank_fusion_can_be_the_setting(tmp_path: pathlib.Path) -> None:
    home = RuntimeHome(tmp_path / "home", embedding=True, fusion="rrf")
    try:
        place = project(tmp_path, "billing")
        for title in ("Invoices are rounded down", "Invoices are sent on Mondays"):
            home.client.ask("POST", "/api/observations", {"title": title, "project": place})
        home.embed()
        query = "when are invoices sent?"
        found = home.client.get("/api/search", query=query, project=place)
        assert found["semantic"] and 0 < found["items"][0]["score"] <= BOTH_FIRST
        told = home.client.get("/api/context", query=query, project=place, token_budget=500)
        assert "sent on Mondays" in told["context"]
        assert 0 < max(one["score"] for one in told["candidates"]) < 0.033
    finally:
        home.close()


def test_the_same_life_through_every_door_leaves_the_same_rows(
    runtime_home: RuntimeHome, terminal: Terminal, tmp_path: pathlib.Path
) -> None:
    """Add, add again, edit or delete, undo: each door in a project of its own."""

    ask = runtime_home.client.ask

    def rest(here: str) -> None:
        first = ask("POST", "/api/observations", {**told(), "project": here})
        assert not ask("POST", "/api/observations", {**told(), "project": here})["stored"]
        known = {
            "type": "decision",
            "title": "Ids are ULIDs",
            "reason": "they sort",
            "project": here,
        }
        ask("POST", "/api/knowledge", known)
        gone = ask("DELETE", f"/api/memories/{first['record']['record_id']}")
        ask("POST", f"/api/operations/{gone['op_ids'][0]}/undo")

    def told() -> dict[str, Any]:
        return {"title": "The port is 7325", "content": "unless it is taken", "author": "assistant",
                "files": ["a.py"], "concepts": ["ports"]}  # fmt: skip

    def python(here: str) -> None:
        memory = Memory(here)
        first = memory.add("The port is 7325", "unless it is taken", files=["a.py"],
                           concepts=["ports"])  # fmt: skip
        assert not memory.add("The port is 7325", "unless it is taken").stored
        memory.add_knowledge("decision", "Ids are ULIDs", reason="they sort")
        memory.undo(memory.delete(first.record.record_id).op_ids[0])

    def command_line(here: str) -> None:
        note = ("add", "--project", here, "--kind", "observation", "--content",
                "unless it is taken", "--file", "a.py", "--concept", "ports")  # fmt: skip
        first = json.loads(terminal(*note, "--json", "The port is 7325").stdout)
        assert "Already stored" in terminal(*note, "The port is 7325").stdout
        terminal("add", "-p", here, "--kind", "knowledge", "--type", "decision", "--reason",
                 "they sort", "Ids are ULIDs")  # fmt: skip
        gone = terminal("forget", "--yes", first["record"]["record_id"])
        assert gone.returncode == 0
        assert terminal("undo", re.findall(r"op_\w+", gone.stdout)[0]).returncode == 0

    def mcp(here: str) -> None:
        agent = McpAgent(here)
        given = {name: part for name, part in told().items() if name != "author"}
        first, _ = agent.call("store_observation", **given)
        assert "Already stored" in agent.call("store_observation", **given)[0]
        agent.call("store_knowledge", type="decision", title="Ids are ULIDs", reason="they sort")
        # Agents have no tool to delete: a person does that.
        Memory(here).undo(Memory(here).delete(first.split()[1]).op_ids[0])

    rows: dict[str, Any] = {}
    for door in (rest, python, command_line, mcp):
        here = project(tmp_path, door.__name__)
        door(here)
        found = runtime_home.client.get("/api/memories", project=here)["items"]
        log = runtime_home.client.get("/api/operations", project=here)["items"]
        left = {
            "record_id",
            "namespace",
            "created_at",
            "updated_at",
            "valid_from",
            "author",
            "source_type",
        }
        rows[door.__name__] = (
            [{name: part for name, part in one.items() if name not in left} for one in found],
            [one["kind"] for one in log],
        )
    assert rows["rest"][1] == ["undo", "delete", "add", "add"]
    assert rows["python"] == rows["rest"]
    assert rows["command_line"] == rows["rest"]
    assert rows["mcp"] == rows["rest"]


@pytest.mark.usefixtures("terminal")
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


def test_every_command_that_reads_does_its_work(terminal: Terminal, place: str) -> None:
    for arguments, words in (
        (("search", "-p", place, "retries"), "retries fail when"),
        (("search", "-p", place, "--kind", "knowledge"), "because of row locks"),
        (("search", "-p", place, "--mode", "keyword", "--file", "f3.py", "invoices"), "invoices"),
        (("context", "-p", place, "why", "do", "retries", "fail?"), "[recollect "),
        (("resume", "-p", place), ""),
        (("report", "-p", place), "Learned"),
        (("report", "-p", place, "--markdown"), "## Learned"),
        (("change", "list", "-p", place), "op_"),
        (("settings", "show", "port"), ""),
        (("completion", "fish"), "complete --no-files --command recollect"),
        (("why", "-p", place), "Nothing was injected"),
        (("receipt", "list", "-p", place), "Nothing was injected"),
        (("model", "show"), "with vectors of"),
        (("queue", "list"), "no agent has sent anything yet"),
        (("status",), "is ok"),
    ):
        done = terminal(*arguments)
        assert done.returncode == 0 and words in done.stdout, (arguments, done)
    wrong = terminal("search", "--since", "someday")
    assert wrong.returncode == 2 and "is not a time" in wrong.stderr
    absent = terminal("forget", "-y", "mr_01M7H0H5P1BNFDHVBT75T84K25")
    assert absent.returncode == 1 and "there is no memory" in absent.stderr


def test_a_report_says_at_every_door_what_waits_for_a_decision(
    terminal: Terminal, runtime_home: RuntimeHome, tmp_path: pathlib.Path
) -> None:
    here = project(tmp_path, "deciding")
    agent, line = McpAgent(here), "to decide about: recollect review"

    def doors() -> dict[str, str]:
        plain = terminal("report", "-p", here).stdout
        marked = terminal("report", "-p", here, "--markdown").stdout
        tool = agent.call("generate_report")[0]
        rest = runtime_home.client.get("/api/report", project=here, format="markdown")
        as_json = json.loads(terminal("report", "-p", here, "--json").stdout)
        assert rest["waiting"] == as_json["waiting"]
        told = {"plain": plain, "marked": marked, "tool": tool, "rest": rest["markdown"]}
        assert not rest["waiting"] or f"{rest['waiting']} belief" in plain
        return {door: text for door, text in told.items() if line in text}

    agent.call("remember", text="The port is 4000")
    assert doors() == {}
    agent.call("remember", text="Never deploy on a Friday", type="constraint")
    assert len(doors()) == 4 and all("1 belief to decide" in text for text in doors().values())


# The last one: an agent has sent something after it.
def test_what_holds_on_one_branch_is_told_there_at_every_door(
    runtime_home: RuntimeHome, terminal: Terminal, tmp_path: pathlib.Path
) -> None:
    here = tmp_path / "shop"
    head = here / ".git" / "HEAD"
    (here / ".git" / "objects").mkdir(parents=True)
    head.write_text("ref: refs/heads/hotfix/qa\n")
    rule, place = "Never touch the schema of the ledger", str(here)
    client, namespace = runtime_home.client, runtime_home.runtime.namespaces.of(place)
    known = {"title": rule, "type": "constraint", "project": place}
    made = client.ask("POST", "/api/knowledge", known)["record"]["record_id"]
    scope = {"scope": "branch", "name": "hotfix/qa"}
    client.ask("POST", f"/api/beliefs/{made}/scope", scope)

    def doors() -> dict[str, bool]:
        start = {"session_id": new_ulid(), "cwd": place, "source": "startup"}
        one = client.get("/api/projects")["items"]
        (project_id,) = [found["project_id"] for found in one if found["namespace"] == namespace]
        told = {
            "hook": runtime_home.run_hook("claude-code", "SessionStart", start).stdout.decode(),
            "by path": client.get("/api/context", project=place)["context"],
            "by id": client.get(f"/api/context/{project_id}")["context"],
            "by namespace": client.get("/api/context", namespace=namespace)["context"],
            "context": terminal("context", "-p", place).stdout,
            "rules": terminal("rules", "-p", place).stdout,
            "mcp": McpAgent(place).call("get_context")[0],
        }
        return {door: rule in " ".join(text.split()) for door, text in told.items()}

    assert set(doors().values()) == {True}, doors()
    head.write_text("ref: refs/heads/main\n")
    assert set(doors().values()) == {False}, doors()
