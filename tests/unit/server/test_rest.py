"""The REST surface as a client meets it, in process: one Runtime for the module."""

import json
import os
import pathlib
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest

from recollect.cli import doctor
from recollect.client import Refused
from tests.fakes.runtime import RuntimeHome
from tests.make import event, record


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RuntimeHome]:
    made = RuntimeHome(tmp_path_factory.mktemp("rest") / "home", embedding=True)
    yield made
    made.close()


def get(home: RuntimeHome, path: str, **query: Any) -> Any:
    return home.client.get(path, **query)


def ask(home: RuntimeHome, method: str, path: str, body: Any = None) -> Any:
    """What changes something takes a second."""
    done = home.client.ask(method, path, body)
    home.clock.advance(seconds=1)
    return done


def post(home: RuntimeHome, path: str, body: Any = None) -> Any:
    return ask(home, "POST", path, body)


def project(tmp_path: pathlib.Path, name: str) -> str:
    place = tmp_path / name
    place.mkdir()
    (place / "Makefile").touch()
    return str(place)


def test_a_memory_lives_its_life_over_rest(home: RuntimeHome, tmp_path: Any) -> None:
    here, there = project(tmp_path, "billing"), project(tmp_path, "shop")
    added = post(
        home,
        "/api/knowledge",
        {
            "project": here, "type": "decision", "title": "Retries stop at 5 with backoff",
            "content": "More of them hammered the billing API.", "reason": "the storm of May",
            "alternatives": ["a queue"], "files": ["src/retry.py"], "concepts": ["retries"],
        },
    )  # fmt: skip
    record = added["record"]
    assert added["stored"] and record["strategy"] == "user" and record["importance"] == 8
    assert record["facts"] == ["Reason: the storm of May", "Alternative: a queue"]
    key = record["record_id"]

    # Found at once, by words and, when it has its vector, by meaning.
    for mode in ("keyword", "hybrid", "semantic"):
        found = get(home, "/api/search", query="billing retries", project=here, mode=mode)
        assert [one["record"]["record_id"] for one in found["items"]] == [key], found
        assert found["items"][0]["score"] > 0 and found["items"][0]["parts"]
    assert get(home, "/api/search", query="retries", project=there)["items"] == []

    # The same words again are the same memory.
    again = post(
        home,
        "/api/knowledge",
        {
            "project": here, "type": "decision", "title": "Retries stop at 5  with backoff",
            "content": "More of them hammered the billing API.", "reason": "the storm of May",
            "alternatives": ["a queue"],
        },
    )  # fmt: skip
    assert not again["stored"] and again["record"]["record_id"] == key

    before_edit = home.client.get("/healthz")["started_at"]
    edited = ask(
        home, "PATCH", f"/api/memories/{key}", {"title": "Retries stop at 7", "version": 1}
    )
    assert edited["record"]["version"] == 2
    with pytest.raises(Refused, match="version 2, not 1"):
        ask(home, "PATCH", f"/api/memories/{key}", {"title": "x", "version": 1})
    history = get(home, f"/api/memories/{key}/history")
    assert [one["record"]["title"] for one in history["versions"]] == [
        "Retries stop at 5 with backoff"
    ]
    assert "vector" not in json.dumps(history)
    then = history["versions"][0]["since"]
    old = get(home, "/api/search", query="retries", project=here, as_of=then)
    assert old["items"][0]["record"]["title"] == "Retries stop at 5 with backoff"
    assert get(home, "/api/search", query="x", project=here, as_of=before_edit)

    moved = post(home, f"/api/memories/{key}/move", {"project": there})
    assert get(home, "/api/search", query="retries", project=here)["items"] == []
    assert get(home, "/api/search", query="retries", project=there)["items"]
    undone = post(home, f"/api/operations/{moved['op_id']}/undo")
    assert undone["restored"] == [key]
    assert get(home, "/api/search", query="retries", project=here)["items"]

    gone = ask(home, "DELETE", f"/api/memories/{key}")
    with pytest.raises(Refused, match="there is no memory"):
        get(home, f"/api/memories/{key}")
    assert get(home, "/api/search", query="retries", project=here)["items"] == []
    assert post(home, "/api/undo")["undoes"] == gone["op_ids"][0]
    assert get(home, f"/api/memories/{key}")["title"] == "Retries stop at 7"
    kinds = [one["kind"] for one in get(home, "/api/operations", project=here)["items"]]
    assert kinds[:3] == ["undo", "delete", "undo"] and kinds[-1] == "add"


def test_private_words_never_reach_the_store(home: RuntimeHome) -> None:
    added = post(
        home,
        "/api/observations",
        {"title": "The key <private>is under the mat</private>", "content": "AKIAIOSFODNN7EXAMPLE"},
    )
    assert "mat" not in json.dumps(added) and "AKIAIOSFODNN7EXAMPLE" not in json.dumps(added)
    note = post(home, "/api/notes", {"text": "<private>all of it</private>"})
    assert "all of it" not in json.dumps(note)
    with pytest.raises(Refused):
        post(home, "/api/notes", {"text": "  "})


def test_lists_go_on_with_their_cursor_over_all_projects(home: RuntimeHome, tmp_path: Any) -> None:
    places = [project(tmp_path, name) for name in ("one", "two", "three")]
    wanted = [
        post(home, "/api/notes", {"text": f"note {number}", "project": places[number % 3]})
        for number in range(11)
    ]
    ids = [one["record"]["record_id"] for one in reversed(wanted)]
    seen: list[str] = []
    before: dict[str, str] = {}
    while True:
        page = get(home, "/api/observations", limit=3, **before)
        seen += [one["record_id"] for one in page["items"]]
        if page["next"] is None:
            break
        before = {"before": page["next"]}
    assert len(seen) == len(set(seen)) and seen[: len(ids)] == ids
    operations: list[str] = []
    before = {}
    while True:
        page = get(home, "/api/operations", limit=4, **before)
        operations += [one["op_id"] for one in page["items"]]
        if page["next"] is None:
            break
        before = {"before": page["next"]}
    assert len(operations) == len(set(operations))
    assert {one["op_id"] for one in wanted} <= set(operations)

    around = get(home, "/api/timeline", anchor=ids[-1], before=5, after=2)
    assert around["anchor"] == ids[-1] and around["items"][0]["record_id"] == ids[-1]
    assert [one["record_id"] for one in around["items"]] == [ids[-1], ids[-4], ids[-7]]
    many = [f"mr_{number:026d}" for number in range(101)]
    for path in ("/api/observations/batch", "/api/memories/batch", "/api/memories/delete"):
        with pytest.raises(Refused, match="100"):
            post(home, path, {"ids": many})
    assert len(post(home, "/api/memories/batch", {"ids": many[:100]})["missing"]) == 100
    got = post(home, "/api/observations/batch", {"ids": [ids[2], ids[0], ids[2]]})
    assert [one["record_id"] for one in got["items"]] == [ids[2], ids[0]]


def test_what_was_imported_is_found_and_placed_by_when_it_happened(
    home: RuntimeHome, tmp_path: Any
) -> None:
    here = project(tmp_path, "days")
    namespace = home.runtime.namespaces.of(here)
    noted = post(home, "/api/notes", {"text": "the importer walks the sluice", "project": here})
    now = home.clock.now()
    old = record("the sluice leaked", namespace=namespace, valid_from=now - timedelta(days=3))
    home.runtime.store.records.put([old])
    ids = [old.record_id, noted["record"]["record_id"]]
    around = get(home, "/api/timeline", anchor=ids[1])
    assert [one["record_id"] for one in around["items"]] == ids
    at = (now - timedelta(days=2)).isoformat()
    around = get(home, "/api/timeline", at=at, before=1, after=0, project=here)
    assert [one["record_id"] for one in around["items"]] == ids[:1]
    for given, wanted in (({"until": at}, ids[:1]), ({"since": at}, ids[1:])):
        listed = get(home, "/api/memories", project=here, **given)
        assert [one["record_id"] for one in listed["items"]] == wanted
        found = get(home, "/api/search", query="sluice", project=here, **given)
        assert {one["record"]["record_id"] for one in found["items"]} & set(ids) == set(wanted)


def test_a_session_can_be_summed_up_resumed_and_reported(home: RuntimeHome, tmp_path: Any) -> None:
    here = project(tmp_path, "report")
    session = "session-of-the-report"
    for kind, body in (
        ("prompt", {"type": "text", "content": "why do retries stop?"}),
        ("tool_use", {"type": "json", "data": {"tool": "Bash", "command": "make test"}}),
        ("session_summary", {"type": "text", "content": "because of the cap in src/retry.py"}),
    ):
        sent = {"session_id": session, "kind": kind, "body": body,
                 "source": {"surface": "test", "project_path": here}}  # fmt: skip
        post(home, "/v1/events", sent)
    post(
        home,
        "/api/summaries",
        {
            "project": here, "session_id": session, "request": "Find out why retries stop",
            "completed": ["found the cap"], "learned": ["the cap is 5"],
            "next_steps": ["raise it to 7"], "questions": ["who needs more?"],
            "files": ["src/retry.py"],
        },
    )  # fmt: skip
    listed = get(home, "/api/sessions", project=here)["items"]
    assert [one["session_id"] for one in listed] == [session]
    everywhere = get(home, "/v1/events", session_id=session)["items"]
    assert everywhere == get(home, "/v1/events", project=here, session_id=session)["items"]
    kinds = [one["event"]["kind"] for one in everywhere]
    assert kinds[-3:] == ["session_summary", "tool_use", "prompt"]
    told = get(home, f"/api/sessions/{session}/conversation")["items"]
    assert [(one["role"], one["text"]) for one in told] == [
        ("user", "why do retries stop?"),
        ("tool", "make test"),
        ("assistant", "because of the cap in src/retry.py"),
    ]
    assert get(home, f"/api/sessions/{session}/checkpoint")["next_steps"] == ["raise it to 7"]
    assert get(home, "/api/checkpoint", project=here)["task"].startswith("Find out")
    resumed = get(home, "/api/resume", project=here)["text"]
    assert "raise it to 7" in resumed and "who needs more?" in resumed
    report = get(home, "/api/report", project=here, format="markdown")
    assert [one["text"] for one in report["learnings"]] == ["the cap is 5"]
    assert [one["text"] for one in report["tasks"]] == ["found the cap"]
    assert [one["text"] for one in report["next_steps"]] == ["raise it to 7"]
    assert report["hotspots"] == [{"path": "src/retry.py", "memories": 1}]
    whole = [f"{here}/src/retry.py", "./src/retry.py"]
    post(home, "/api/observations", {"title": "The cap", "files": whole, "project": here})
    again = get(home, "/api/report", project=here)["hotspots"]
    assert again == [{"path": "src/retry.py", "memories": 2}]
    (pathlib.Path(here) / "docs").mkdir()
    folders = [here, f"{here}/src", "src/", "./docs", ".", os.path.dirname(here)]
    for number in range(3):
        looked = {"title": f"Looked around {number}", "files": folders, "project": here}
        post(home, "/api/observations", looked)
    assert get(home, "/api/report", project=here)["hotspots"] == again
    assert report["overview"]["prompts"] == 1 and "## Learned" in report["markdown"]
    assert get(home, "/api/prompts", project=here)["items"][0]["prompt_number"] == 1
    assert get(home, "/api/stats", project=here)["event_kinds"]["prompt"] == 1
    assert get(home, "/api/analytics", project=here)["events"] == 3
    assert sum(map(sum, get(home, "/api/analytics/heatmap", project=here)["rows"])) == 3
    assert len(get(home, "/api/analytics/timeline", project=here, days=9)["items"]) == 9


def test_context_shows_what_would_be_injected_and_writes_nothing(
    home: RuntimeHome, tmp_path: Any
) -> None:
    here = project(tmp_path, "context")
    post(
        home,
        "/api/knowledge",
        {"project": here, "type": "constraint", "title": "Deploys to Fly need the blue token"},
    )
    home.embed()
    said = get(home, "/api/context", query="how do we deploy to Fly?", project=here)
    assert "blue token" in said["context"] and said["candidates"][0]["injected"]
    again = get(home, "/api/context", query="how do we deploy to Fly?", project=here)
    assert again["records"] == said["records"]
    assert get(home, "/api/receipts", project=here)["items"] == []
    start = get(home, f"/api/context/{quote('context')}")
    assert "blue token" in start["context"]
    explained = get(home, "/api/explain", query="deploy to Fly", project=here)
    assert explained["speaks"] and explained["items"][0]["weighed"]
    silent = get(home, "/api/explain", query="deploy to Fly", project=here, threshold=9)
    assert not silent["speaks"] and silent["items"]
    kept = get(home, "/api/context", query="deploy to Fly?", project=here, receipt="true")
    assert get(home, f"/api/receipts/{kept['receipt_id']}")["query"] == "deploy to Fly?"


def test_a_project_gets_a_name_and_another_path(home: RuntimeHome, tmp_path: Any) -> None:
    here, other = project(tmp_path, "aliased"), project(tmp_path, "worktree")
    post(home, "/api/notes", {"text": "only once", "project": here})
    (mine,) = [one for one in get(home, "/api/projects")["items"]
               if one["name"] == "aliased"]  # fmt: skip
    changed = ask(
        home, "PATCH", f"/api/projects/{mine['project_id']}", {"name": "engine", "alias": other}
    )
    assert changed["name"] == "engine" and changed["records"] == 1
    found = get(home, "/api/memories", project=other)["items"]
    assert [one["title"] for one in found] == ["only once"]
    with pytest.raises(Refused, match="belongs to project"):
        project_of = project(tmp_path, "third")
        post(home, "/api/notes", {"text": "taken", "project": project_of})
        ask(home, "PATCH", "/api/projects/engine", {"alias": project_of})


def test_a_deleted_episode_stays_deleted_after_a_restart(tmp_path: pathlib.Path) -> None:
    home = RuntimeHome(tmp_path / "home")
    home.put([event("the old key", kind="note")])
    (found,) = get(home, "/api/memories")["items"]
    ask(home, "DELETE", f"/api/memories/{found['record_id']}")
    home.close()
    again = RuntimeHome(tmp_path / "home", home.clock)
    again.put([event("the new key", kind="note")])
    assert [one["title"] for one in get(again, "/api/memories")["items"]] == ["the new key"]
    again.close()


def test_what_no_route_expected_is_counted_where_the_doctor_looks(
    runtime_home: RuntimeHome, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> None:
        raise ZeroDivisionError("the reason")

    monkeypatch.setattr(runtime_home.runtime.store.projects, "all", broken)
    status, _, raw = runtime_home.http("GET", "/api/projects")
    assert status == 500 and b"the reason" not in raw and "the reason" in caplog.text
    monkeypatch.undo()
    health = runtime_home.client.get("/healthz")
    assert health["errors_last_hour"]["latest"] == ["GET /api/projects: ZeroDivisionError"]
    assert doctor._errors(health).verdict == "warn"
