"""The REST surface as a client meets it: over a real socket, on a real daemon."""

import json
import pathlib
import time
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from recollect.client import Refused
from tests.fakes.daemons import RealDaemon
from tests.fakes.waiting import PATIENCE_S


def get(daemon: RealDaemon, path: str, **query: Any) -> Any:
    return daemon.client.get(path + ("?" + urlencode(query) if query else ""))


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


def test_a_memory_lives_its_life_over_rest(shared_daemon: RealDaemon, tmp_path: Any) -> None:
    here, there = project(tmp_path, "billing"), project(tmp_path, "shop")
    added = post(
        shared_daemon,
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
        found = get(shared_daemon, "/api/search", query="billing retries", project=here, mode=mode)
        assert [one["record"]["record_id"] for one in found["items"]] == [key], found
        assert found["items"][0]["score"] > 0 and found["items"][0]["parts"]
    assert get(shared_daemon, "/api/search", query="retries", project=there)["items"] == []

    # The same words again are the same memory.
    again = post(
        shared_daemon,
        "/api/knowledge",
        {
            "project": here, "type": "decision", "title": "Retries stop at 5  with backoff",
            "content": "More of them hammered the billing API.", "reason": "the storm of May",
            "alternatives": ["a queue"],
        },
    )  # fmt: skip
    assert not again["stored"] and again["record"]["record_id"] == key

    before_edit = shared_daemon.client.get("/healthz")["started_at"]
    edited = shared_daemon.client.ask(
        "PATCH", f"/api/memories/{key}", {"title": "Retries stop at 7", "version": 1}
    )
    assert edited["record"]["version"] == 2
    with pytest.raises(Refused, match="version 2 by now"):
        shared_daemon.client.ask("PATCH", f"/api/memories/{key}", {"title": "x", "version": 1})
    history = get(shared_daemon, f"/api/memories/{key}/history")
    assert [one["record"]["title"] for one in history["versions"]] == [
        "Retries stop at 5 with backoff"
    ]
    assert "vector" not in json.dumps(history)
    then = history["versions"][0]["since"]
    old = get(shared_daemon, "/api/search", query="retries", project=here, as_of=then)
    assert old["items"][0]["record"]["title"] == "Retries stop at 5 with backoff"
    assert get(shared_daemon, "/api/search", query="x", project=here, as_of=before_edit)

    moved = post(shared_daemon, f"/api/memories/{key}/move", {"project": there})
    assert get(shared_daemon, "/api/search", query="retries", project=here)["items"] == []
    assert get(shared_daemon, "/api/search", query="retries", project=there)["items"]
    undone = post(shared_daemon, f"/api/operations/{moved['op_id']}/undo")
    assert undone["restored"] == [key]
    assert get(shared_daemon, "/api/search", query="retries", project=here)["items"]

    gone = shared_daemon.client.ask("DELETE", f"/api/memories/{key}")
    with pytest.raises(Refused, match="there is no memory"):
        get(shared_daemon, f"/api/memories/{key}")
    assert get(shared_daemon, "/api/search", query="retries", project=here)["items"] == []
    assert post(shared_daemon, "/api/undo")["undoes"] == gone["op_ids"][0]
    assert get(shared_daemon, f"/api/memories/{key}")["title"] == "Retries stop at 7"
    kinds = [one["kind"] for one in get(shared_daemon, "/api/operations", project=here)["items"]]
    assert kinds[:3] == ["undo", "delete", "undo"] and kinds[-1] == "add"


def test_private_words_never_reach_the_store(shared_daemon: RealDaemon) -> None:
    added = post(
        shared_daemon,
        "/api/observations",
        {"title": "The key <private>is under the mat</private>", "content": "AKIAIOSFODNN7EXAMPLE"},
    )
    assert "mat" not in json.dumps(added) and "AKIAIOSFODNN7EXAMPLE" not in json.dumps(added)
    note = post(shared_daemon, "/api/notes", {"text": "<private>all of it</private>"})
    assert "all of it" not in json.dumps(note)
    with pytest.raises(Refused):
        post(shared_daemon, "/api/notes", {"text": "  "})


def test_lists_go_on_with_their_cursor_over_all_projects(
    shared_daemon: RealDaemon, tmp_path: Any
) -> None:
    places = [project(tmp_path, name) for name in ("one", "two", "three")]
    wanted = [
        post(shared_daemon, "/api/notes", {"text": f"note {number}", "project": places[number % 3]})
        for number in range(11)
    ]
    ids = [one["record"]["record_id"] for one in reversed(wanted)]
    seen: list[str] = []
    before: dict[str, str] = {}
    while True:
        page = get(shared_daemon, "/api/observations", limit=3, **before)
        seen += [one["record_id"] for one in page["items"]]
        if page["next"] is None:
            break
        before = {"before": page["next"]}
    assert len(seen) == len(set(seen)) and seen[: len(ids)] == ids
    operations: list[str] = []
    before = {}
    while True:
        page = get(shared_daemon, "/api/operations", limit=4, **before)
        operations += [one["op_id"] for one in page["items"]]
        if page["next"] is None:
            break
        before = {"before": page["next"]}
    assert len(operations) == len(set(operations))
    assert {one["op_id"] for one in wanted} <= set(operations)

    around = get(shared_daemon, "/api/timeline", anchor=ids[-1], before=5, after=2)
    assert around["anchor"] == ids[-1] and around["items"][0]["record_id"] == ids[-1]
    assert [one["record_id"] for one in around["items"]] == [ids[-1], ids[-4], ids[-7]]
    got = post(shared_daemon, "/api/observations/batch", {"ids": [ids[2], ids[0], ids[2]]})
    assert [one["record_id"] for one in got["items"]] == [ids[2], ids[0]]


def test_a_session_can_be_summed_up_resumed_and_reported(
    shared_daemon: RealDaemon, tmp_path: Any
) -> None:
    here = project(tmp_path, "report")
    session = "session-of-the-report"
    for kind, body in (
        ("prompt", {"type": "text", "content": "why do retries stop?"}),
        ("tool_use", {"type": "json", "data": {"tool": "Bash", "command": "make test"}}),
        ("session_summary", {"type": "text", "content": "because of the cap in src/retry.py"}),
    ):
        event = {"session_id": session, "kind": kind, "body": body,
                 "source": {"surface": "test", "project_path": here}}  # fmt: skip
        post(shared_daemon, "/v1/events", event)
    post(
        shared_daemon,
        "/api/summaries",
        {
            "project": here, "session_id": session, "request": "Find out why retries stop",
            "completed": ["found the cap"], "learned": ["the cap is 5"],
            "next_steps": ["raise it to 7"], "questions": ["who needs more?"],
            "files": ["src/retry.py"],
        },
    )  # fmt: skip
    listed = get(shared_daemon, "/api/sessions", project=here)["items"]
    assert [one["session_id"] for one in listed] == [session]
    told = get(shared_daemon, f"/api/sessions/{session}/conversation")["items"]
    assert [(one["role"], one["text"]) for one in told] == [
        ("user", "why do retries stop?"),
        ("tool", "make test"),
        ("assistant", "because of the cap in src/retry.py"),
    ]
    assert get(shared_daemon, f"/api/sessions/{session}/checkpoint")["next_steps"] == [
        "raise it to 7"
    ]
    assert get(shared_daemon, "/api/checkpoint", project=here)["task"].startswith("Find out")
    resumed = get(shared_daemon, "/api/resume", project=here)["text"]
    assert "raise it to 7" in resumed and "who needs more?" in resumed
    report = get(shared_daemon, "/api/report", project=here, format="markdown")
    assert [one["text"] for one in report["learnings"]] == ["the cap is 5"]
    assert [one["text"] for one in report["tasks"]] == ["found the cap"]
    assert [one["text"] for one in report["next_steps"]] == ["raise it to 7"]
    assert report["hotspots"] == [{"path": "src/retry.py", "memories": 1}]
    assert report["overview"]["prompts"] == 1 and "## Learned" in report["markdown"]
    assert get(shared_daemon, "/api/prompts", project=here)["items"][0]["prompt_number"] == 1
    assert get(shared_daemon, "/api/stats", project=here)["event_kinds"]["prompt"] == 1
    assert get(shared_daemon, "/api/analytics", project=here)["events"] == 3
    assert sum(map(sum, get(shared_daemon, "/api/analytics/heatmap", project=here)["rows"])) == 3
    assert len(get(shared_daemon, "/api/analytics/timeline", project=here, days=9)["items"]) == 9


def test_context_shows_what_would_be_injected_and_writes_nothing(
    shared_daemon: RealDaemon, tmp_path: Any
) -> None:
    here = project(tmp_path, "context")
    post(
        shared_daemon,
        "/api/knowledge",
        {"project": here, "type": "constraint", "title": "Deploys to Fly need the blue token"},
    )
    settled(shared_daemon)
    said = get(shared_daemon, "/api/context", query="how do we deploy to Fly?", project=here)
    assert "blue token" in said["context"] and said["candidates"][0]["injected"]
    again = get(shared_daemon, "/api/context", query="how do we deploy to Fly?", project=here)
    assert again["records"] == said["records"]
    assert get(shared_daemon, "/api/receipts", project=here)["items"] == []
    start = get(shared_daemon, f"/api/context/{quote('context')}")
    assert "blue token" in start["context"]
    explained = get(shared_daemon, "/api/explain", query="deploy to Fly", project=here)
    assert explained["speaks"] and explained["items"][0]["weighed"]
    silent = get(shared_daemon, "/api/explain", query="deploy to Fly", project=here, threshold=9)
    assert not silent["speaks"] and silent["items"]
    kept = get(shared_daemon, "/api/context", query="deploy to Fly?", project=here, receipt="true")
    assert get(shared_daemon, f"/api/receipts/{kept['receipt_id']}")["query"] == "deploy to Fly?"


def test_a_project_gets_a_name_and_another_path(shared_daemon: RealDaemon, tmp_path: Any) -> None:
    here, other = project(tmp_path, "aliased"), project(tmp_path, "worktree")
    post(shared_daemon, "/api/notes", {"text": "only once", "project": here})
    (mine,) = [one for one in get(shared_daemon, "/api/projects")["items"]
               if one["name"] == "aliased"]  # fmt: skip
    changed = shared_daemon.client.ask(
        "PATCH", f"/api/projects/{mine['project_id']}", {"name": "engine", "alias": other}
    )
    assert changed["name"] == "engine" and changed["records"] == 1
    found = get(shared_daemon, "/api/memories", project=other)["items"]
    assert [one["title"] for one in found] == ["only once"]
    with pytest.raises(Refused, match="belongs to project"):
        project_of = project(tmp_path, "third")
        post(shared_daemon, "/api/notes", {"text": "taken", "project": project_of})
        shared_daemon.client.ask("PATCH", "/api/projects/engine", {"alias": project_of})


def test_a_deleted_episode_stays_deleted_after_a_restart(
    daemon: RealDaemon, tmp_path: pathlib.Path
) -> None:
    event = {"session_id": "s", "kind": "note", "body": {"type": "text", "content": "the old key"},
             "source": {"surface": "test"}}  # fmt: skip
    post(daemon, "/v1/events", event)
    deadline = time.monotonic() + PATIENCE_S
    while not (found := get(daemon, "/api/memories")["items"]):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    daemon.client.ask("DELETE", f"/api/memories/{found[0]['record_id']}")
    daemon.stop()
    daemon.start()
    post(daemon, "/v1/events", {**event, "body": {"type": "text", "content": "the new key"}})
    while not (found := get(daemon, "/api/memories")["items"]):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert [one["title"] for one in found] == ["the new key"]
