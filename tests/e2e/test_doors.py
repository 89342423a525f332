"""Every route and every tool that there is, asked over the real sockets of a real daemon."""

import json
import pathlib
import re
from typing import Any

from recollect.core import settings
from recollect.server.app import ENDPOINTS
from recollect.service import tools
from tests.fakes.daemons import RealDaemon
from tests.fakes.waiting import wait_until


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
    """Until every memory has its vector."""

    def all_embedded() -> bool:
        stats = get(daemon, "/api/embeddings/stats")
        return stats["memories"] and not stats["missing"]

    wait_until(all_embedded, daemon.log)


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
    "POST /api/beliefs/{record_id}/keep": {},
    "POST /api/beliefs/{record_id}/drop": {},
    "POST /api/beliefs/{record_id}/correct": {"text": "another rule holds"},
    "POST /api/beliefs/{record_id}/scope": {"scope": "project"},
    "POST /api/profile": {"text": "a backend engineer"},
    "POST /api/reflection": {"days": 7},
    "POST /api/jobs": {"job_id": "embedding", "act": "retry"},
    "PUT /api/plugins/{plugin}": {"enabled": False},
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
    "PUT /api/searches/{name}": {"filters": "q=note"},
    "POST /api/beliefs/{record_id}/merge": {"others": ["{twin}"]},
    "PATCH /api/projects/{project}": {"name": "another-name"},
    "PUT /api/settings/{name}": {"value": None},
}  # fmt: skip
# The belief that is corrected is dropped by that, and `name` is a search's elsewhere.
TARGETS = {
    "/api/beliefs/{record_id}/drop": "/api/beliefs/{dropped}/drop",
    "/api/settings/{name}": "/api/settings/extract_idle_s",
}
QUERIES = {
    "/api/search": "query=note", "/api/memories/search": "query=note",
    "/api/hybrid-search": "query=note", "/api/semantic-search": "query=note",
    "/api/explain": "query=note", "/api/recall-entity": "name=note",
    "/api/graph/paths": "source={entity_id}&target={other_entity}",
}  # fmt: skip


def known_values(daemon: RealDaemon, here: str) -> dict[str, str]:
    """Something of every kind, so that every route has something to say."""
    session = "the-session"
    post(daemon, "/v1/events", {**BODIES["POST /v1/events"], "session_id": session})
    stated = {
        "session_id": "another", "kind": "prompt",
        "body": {"type": "text", "content": "billing is deployed on fly.io"},
        "source": {"surface": "test", "project_path": here},
    }  # fmt: skip
    post(daemon, "/v1/events", stated)
    post(daemon, "/api/queue/run", {"wait_s": 25})
    (fact,) = get(daemon, "/api/facts", project=here)["facts"]
    entities = get(daemon, "/api/entities", project=here)["items"]
    named = {one["name"]: one["entity_id"] for one in entities}
    belief = {"type": "heuristic", "title": "a rule to keep", "project": here}
    kept = post(daemon, "/api/knowledge", belief)
    twin = post(daemon, "/api/knowledge", {**belief, "title": "the same rule to keep"})
    dropped = post(daemon, "/api/knowledge", {**belief, "title": "never mind the gap"})
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
        "thing_id": fact["fact_id"],
        "receipt_id": receipt["receipt_id"],
        "project": mine["project_id"],
        "here": here,
        "entity_id": named["billing"],
        "other_entity": named["fly.io"],
        "host": "claude-code",
        "plugin": "vault",
        "name": "notes",
        "twin": twin["record"]["record_id"],
        "dropped": dropped["record"]["record_id"],
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
    order = {"GET": 0, "PATCH": 1, "PUT": 1, "POST": 2, "DELETE": 3}
    late = ("/api/undo", "/api/operations/{op_id}/undo", "/api/memories/delete")
    wrong = []
    for one in sorted(ENDPOINTS, key=lambda one: (one.path in late, order[one.method], one.path)):
        if one.path == "/api/operations/{op_id}/undo":
            fresh = post(shared_daemon, "/api/notes", {"text": "to be undone"})
            values["op_id"] = fresh["op_id"]
        target = filled(TARGETS.get(one.path, one.path), values)
        if one.method == "GET" and one.path in QUERIES:
            target += f"?{filled(QUERIES[one.path], values)}"
        body = filled(BODIES.get(f"{one.method} {one.path}"), values)
        assert (one.body is None) == (body is None), f"{one.method} {one.path} needs a body here"
        raw = None if body is None else json.dumps(body).encode()
        status, _, text = shared_daemon.http(one.method, target, raw)
        if status != 200:
            wrong.append((one.method, one.path, status, text))
    assert wrong == []
    told = {one["name"]: one["default"] for one in get(shared_daemon, "/api/settings")["items"]}
    known = {one["name"]: one["default"] for one in settings.described()}
    assert told == json.loads(json.dumps(known))


def test_every_tool_answers_over_a_real_socket(
    shared_daemon: RealDaemon, tmp_path: pathlib.Path
) -> None:
    place = project(tmp_path, "every-tool")
    kept = post(shared_daemon, "/api/notes", {"text": "retries fail", "project": place})
    first = kept["record"]["record_id"]
    arguments: dict[str, dict[str, Any]] = {
        "search_memory": {"query": "retries"}, "get_context": {"query": "retries"},
        "timeline": {}, "get_observations": {"ids": [first]},
        "store_observation": {"title": "seen"},
        "store_knowledge": {"type": "rejected", "title": "no"},
        "remember": {"text": "found"}, "correct": {"id": first[-5:].lower(), "quote": "none"},
        "store_summary": {"request": "asked"}, "resume_session": {}, "generate_report": {},
        "recall_entity": {"name": "retries"},
        # Names that are not listed.
        "search": {"query": "retries"}, "hybrid_search": {"query": "retries"},
        "semantic_search": {"query": "retries"}, "embedding_stats": {},
        "save_observation": {"title": "noticed"}, "save_memory": {"title": "kept"},
        "save_session_summary": {"request": "wanted"},
        "compact_conversation": {"turns": [{"role": "user", "content": "retries fail"}]},
    }  # fmt: skip
    assert set(arguments) == set(tools.RUN)
    for name, given in arguments.items():
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": {"name": name, "arguments": {**given, "project": place}}}  # fmt: skip
        headers = {"Accept": "application/json, text/event-stream"}
        status, _, raw = shared_daemon.http("POST", "/mcp", json.dumps(call).encode(), headers)
        result = json.loads(raw)["result"]
        # What is the user's is corrected by the user's own words only.
        refused = name == "correct" and "nothing was changed, because" in raw.decode()
        assert status == 200 and bool(result.get("isError")) == refused, (name, result)
