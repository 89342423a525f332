"""What the dashboard asks for: counts of memories, a session as a trace, a project on a page."""

import pathlib
from typing import Any
from urllib.parse import quote

import pytest

from recollect.client import Refused
from recollect.core import store_key
from recollect.core.projects import namespace
from recollect.lifecycle.file_freshness import cite
from tests.fakes.agent_turns import tell, tool
from tests.fakes.runtime import RuntimeHome
from tests.make import record


def stored(home: RuntimeHome, title: str, **fields: Any) -> str:
    (made,) = home.runtime.memories.add([record(title, **fields)])
    return made.record_id


def listed(home: RuntimeHome, query: str) -> set[str]:
    return {one["title"] for one in home.client.get(f"/api/memories?{query}")["items"]}


def of_shop(home: RuntimeHome) -> tuple[str, str]:
    """The id of the project that was worked in, and its namespace."""
    (found,) = [one for one in home.client.get("/api/projects")["items"] if one["name"] == "shop"]
    return found["project_id"], found["namespace"]


# --- counts -------------------------------------------------------------------------------------


def test_each_count_says_what_choosing_it_would_show(runtime_home: RuntimeHome) -> None:
    client = runtime_home.client
    stored(runtime_home, "a rule", kind="knowledge", knowledge_type="constraint")
    stored(runtime_home, "a fix", observation_type="error", files=("src/a.py",))
    used = stored(runtime_home, "a find", observation_type="discovery", freshness="drifted")
    stored(runtime_home, "everywhere", namespace=namespace("ada"))
    here = record().namespace
    runtime_home.runtime.store.records.touch(here, [used], runtime_home.clock.now())
    found = client.get("/api/memories/counts")
    assert found["total"] == 4 and found["kinds"] == {"observation": 3, "knowledge": 1}
    assert found["types"] == {"constraint": 1, "error": 1, "discovery": 1}
    assert found["projects"] == {"engine": 3, "global": 1} and found["branches"] == {}
    assert found["freshness"] == {"unknown": 3, "drifted": 1}
    assert found["used"] == {"false": 3, "true": 1}
    narrow = client.get("/api/memories/counts?kind=observation&used=false")
    assert narrow["total"] == 2 and narrow["kinds"] == {"observation": 2, "knowledge": 1}
    assert narrow["used"] == {"false": 2, "true": 1}
    assert client.get("/api/memories/counts?file=a.py")["total"] == 1


def test_lists_and_searches_are_narrowed_by_use_freshness_and_the_end_of_a_path(
    runtime_home: RuntimeHome,
) -> None:
    stored(runtime_home, "note one", files=("src/deep/a.py",), freshness="drifted")
    used = stored(runtime_home, "note two", files=("data.py",))
    runtime_home.runtime.store.records.touch(record().namespace, [used], runtime_home.clock.now())
    assert listed(runtime_home, "used=true") == {"note two"}
    assert listed(runtime_home, "freshness=drifted") == {"note one"}
    assert listed(runtime_home, "file=a.py") == {"note one"}
    assert listed(runtime_home, "file=deep/a.py&used=false") == {"note one"}
    for query, title in (("used=true", "note two"), ("freshness=drifted", "note one")):
        (hit,) = runtime_home.client.get(f"/api/search?query=note&{query}")["items"]
        assert hit["record"]["title"] == title


def test_memories_of_a_branch_are_those_of_its_sessions(worked: RuntimeHome) -> None:
    project, space = of_shop(worked)
    stored(worked, "on the branch", namespace=space, session_id="s")
    stored(worked, "elsewhere", namespace=space, session_id="other")
    shown = listed(worked, f"project={project}&branch={quote('fix/retry')}&kind=observation")
    assert "on the branch" in shown and "elsewhere" not in shown
    counts = worked.client.get(f"/api/memories/counts?project={project}&kind=observation")
    assert counts["branches"] == {"fix/retry": len(shown)}
    asked = f"/api/search?query=branch&project={project}&branch={quote('fix/retry')}"
    assert "on the branch" in {one["record"]["title"] for one in worked.client.get(asked)["items"]}
    assert listed(worked, f"project={project}&branch=none") == set()


def test_a_memory_gets_another_type_of_its_kind_and_no_other(runtime_home: RuntimeHome) -> None:
    client = runtime_home.client
    note = stored(runtime_home, "a fix", observation_type="error")
    done = client.ask("PATCH", f"/api/memories/{note}", {"type": "discovery"})
    assert done["record"]["observation_type"] == "discovery"
    client.ask("POST", f"/api/operations/{done['op_id']}/undo")
    assert client.get(f"/api/memories/{note}")["observation_type"] == "error"
    with pytest.raises(Refused, match="a note cannot be of the type constraint"):
        client.ask("PATCH", f"/api/memories/{note}", {"type": "constraint"})
    summary = stored(runtime_home, "summed up", kind="summary")
    with pytest.raises(Refused, match="a summary cannot be of the type"):
        client.ask("PATCH", f"/api/memories/{summary}", {"type": "session_summary"})


# --- searches that have a name ------------------------------------------------------------------


def test_a_search_is_kept_replaced_and_deleted(runtime_home: RuntimeHome) -> None:
    client = runtime_home.client
    assert client.get("/api/searches") == {"items": []}
    client.ask("PUT", "/api/searches/Open%20ends", {"filters": "q=todo"})
    client.ask("PUT", "/api/searches/Bugs", {"filters": "type=error"})
    found = client.ask("PUT", "/api/searches/Open%20ends", {"filters": "q=next"})["items"]
    assert [(one["name"], one["filters"]) for one in found] == [
        ("Bugs", "type=error"), ("Open ends", "q=next"),
    ]  # fmt: skip
    assert client.get("/api/searches")["items"] == found
    client.ask("DELETE", "/api/searches/Bugs")
    with pytest.raises(Refused, match="there is no search 'Bugs'"):
        client.ask("DELETE", "/api/searches/Bugs")
    (runtime_home.home / "searches.json").write_text("broken")
    assert client.get("/api/searches")["items"] == []


def test_the_searches_of_an_encrypted_store_are_sealed(
    runtime_home: RuntimeHome, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_key, "_known", {})
    key = store_key.make(f"file:{tmp_path / 'key'}")
    store_key.write_public_key(str(runtime_home.home), key)
    found = runtime_home.client.ask("PUT", "/api/searches/Salaries", {"filters": "q=salaries"})
    assert runtime_home.client.get("/api/searches") == found and len(found["items"]) == 1
    assert b"alaries" not in (runtime_home.home / "searches.json").read_bytes()


# --- a session ----------------------------------------------------------------------------------


def test_a_session_is_traced_turn_by_turn(worked: RuntimeHome) -> None:
    _, space = of_shop(worked)
    first = worked.client.get("/api/sessions/s/trace")["items"][0]
    stored(worked, "httpx it is", namespace=space, session_id="s",
           source_event_ids=(first["event_id"],))  # fmt: skip
    found = worked.client.get("/api/sessions/s/trace")
    turns = found["items"]
    assert found["total"] == 3 and found["next"] is None
    assert [one["prompt"] for one in turns] == [
        "go on with part 0", "go on with part 1", "add httpx",
    ]  # fmt: skip
    assert turns[0]["answer"] == "Done." and turns[0]["branch"] == "fix/retry"
    assert turns[0]["edited"] == ["src/client.py", "tests/test_client.py"]
    ran = [(one["command"], one["failed"]) for one in turns[0]["commands"]]
    assert ran == [("pytest -q", True), ("pytest -q", False)]
    assert [one["title"] for one in turns[0]["learned"]] == ["httpx it is"]
    told = [one["trigger"] for turn in turns for one in turn["told"]]
    assert told.count("prompt") == 3
    part = worked.client.get("/api/sessions/s/trace?after=1&limit=1")
    assert [one["prompt"] for one in part["items"]] == ["go on with part 1"] and part["next"] == 2


def test_a_trace_has_the_very_text_that_an_agent_was_given(
    runtime_home: RuntimeHome, project: pathlib.Path
) -> None:
    body = {"project": str(project), "type": "constraint", "title": "Retries need jitter"}
    runtime_home.client.ask("POST", "/api/knowledge", body)
    tell(runtime_home, project, "SessionStart", source="startup")
    tell(runtime_home, project, "UserPromptSubmit", prompt="Do our retries need jitter?")
    turns = runtime_home.client.get("/api/sessions/s/trace")["items"]
    texts = [one["text"] for turn in turns for one in turn["told"]]
    assert any("Retries need jitter" in one for one in texts)
    receipts = runtime_home.client.get("/api/receipts?project=all")["items"]
    assert sorted(filter(None, texts)) == sorted(
        one["detail"]["text"] for one in receipts if one["detail"].get("text")
    )


# --- a project ----------------------------------------------------------------------------------


def test_a_project_shows_branches_files_commands_and_open_ends(
    worked: RuntimeHome, project: pathlib.Path
) -> None:
    place, (project_id, space) = project, of_shop(worked)
    edited = ("src/client.py", "tests/test_client.py")
    for path in edited:
        (place / path).parent.mkdir()
        (place / path).write_text("before")
    stored(worked, "about the client", namespace=space, files=("src/client.py",))
    stored(worked, "outdated", namespace=space, files=edited, citations=cite(edited, str(place)),
           freshness="drifted")  # fmt: skip
    (place / "src/client.py").write_text("after")
    summed = {"project": project_id, "session_id": "s", "request": "Retries",
              "next_steps": ["Load test"]}  # fmt: skip
    worked.client.ask("POST", "/api/summaries", summed)
    found = worked.client.get(f"/api/projects/{project_id}")
    assert found["project"]["name"] == "shop"
    (branch,) = found["branches"]
    assert (branch["name"], branch["sessions"]) == ("fix/retry", 1)
    files = {one["path"]: one for one in found["files"]}
    assert files["src/client.py"]["people"] == ["ada"] and files["src/client.py"]["sessions"] == 1
    assert files["src/client.py"]["memories"] >= 2 and files["src/client.py"]["stale"] == 1
    unchanged = files["tests/test_client.py"]
    assert unchanged["memories"] >= 1 and unchanged["stale"] == 0
    assert {"pytest -q", "uv add httpx"} <= {one["command"] for one in found["commands"]}
    assert [one["next_steps"] for one in found["open_ends"]] == [["Load test"]]
    few = worked.client.get(f"/api/projects/{project_id}/files?limit=1")
    assert len(few["items"]) == 1 and few["total"] == 2


def test_a_command_is_shown_with_how_it_ended_last(
    runtime_home: RuntimeHome, project: pathlib.Path
) -> None:
    tell(runtime_home, project, "UserPromptSubmit", prompt="build it")
    tool(runtime_home, project, "Bash", command="make build", fails=True)
    tell(runtime_home, project, "Stop", last_assistant_message="It fails.")
    (command,) = runtime_home.client.get(f"/api/projects/{of_shop(runtime_home)[0]}")["commands"]
    assert (command["command"], command["failed"], command["error"]) == (
        "make build", True, "1 failed",
    )  # fmt: skip


def test_what_belongs_to_no_project_has_a_page_and_all_have_none(runtime_home: RuntimeHome) -> None:
    assert runtime_home.client.get("/api/projects/global")["project"]["project_id"] == ""
    with pytest.raises(Refused, match="name one project, not all"):
        runtime_home.client.get("/api/projects/all")
