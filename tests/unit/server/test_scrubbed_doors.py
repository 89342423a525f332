"""No door stores what is private or secret: a canary in every text that a request can hold.

The routes come from the table of endpoints and their texts from the types of a request, the tools
from their schemas. A new one is tried without being named here, unless it needs something that
exists (`BODIES`, `Things`): then this test fails until it is told.
"""

import itertools
import json
import pathlib
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, quote, urlencode

import pytest
from msgspec import inspect

from recollect.core.tool_schemas import BY_NAME
from recollect.core.values import Fact
from recollect.server.app import ENDPOINTS
from recollect.server.endpoints import Endpoint
from tests.fakes.canaries import Canaries, found_on_disk
from tests.fakes.runtime import RuntimeHome
from tests.fakes.stored import put_graph

Place = tuple[str | int, ...]
PLAIN = "plain words"
JSON = {"Content-Type": "application/json"}

# What a request needs besides the text that is planted in it; {words} are made anew by `Things`.
BODIES: dict[str, Any] = {
    "POST /v1/events": {
        "session_id": "s", "kind": "prompt", "body": {"type": "text", "content": "hello"},
        "source": {"surface": "test"},
    },
    "POST /api/memories": {"title": "{title}", "kind": "observation"},
    "POST /api/memories/batch": {"ids": ["{note}"]},
    "POST /api/memories/delete": {"ids": ["{note}"]},
    "PATCH /api/memories/{record_id}": {"title": "{title}"},
    "POST /api/memories/{record_id}/move": {"project": "{elsewhere}"},
    "POST /api/observations": {"title": "{title}"},
    "POST /api/observations/batch": {"ids": ["{note}"]},
    "POST /api/summaries": {"request": "{title}"},
    "POST /api/knowledge": {"type": "heuristic", "title": "{title}"},
    "POST /api/notes": {"text": "{title}"},
    "POST /api/compact": {"turns": [{"role": "user", "content": "x" * 900}] * 3,
                          "token_budget": 100, "store": True},
    "POST /api/feedback": {"record_id": "{note}", "verdict": "useful"},
    "POST /api/doctor": {"what": "index"},
    "POST /api/beliefs/{record_id}/correct": {"text": "{title}"},
    "POST /api/beliefs/{record_id}/scope": {"scope": "branch", "name": "main"},
    "POST /api/beliefs/{record_id}/merge": {"others": ["{belief}"]},
    "POST /api/profile": {"text": "{title}"},
    "POST /api/jobs": {"job_id": "embedding", "act": "retry"},
    "PUT /api/plugins/{plugin}": {"enabled": False},
    "PATCH /api/known/{thing_id}": {"value": "{title}"},
    "PATCH /api/projects/{project}": {"name": "{title}"},
    "PUT /api/searches/{name}": {"filters": "q=note"},
    "PUT /api/settings/{name}": {"value": "20"},
    "POST /api/forget": {"dry_run": False, "never_again": True},
    "POST /api/move": {"target": "{elsewhere}", "dry_run": False},
    "POST /api/import": {"sources": ["claude-code"]},
    "POST /api/queue/run": {"wait_s": 0},
}  # fmt: skip
PARAMETERS: dict[str, dict[str, str]] = {
    "POST /v1/events": {"retrieve": "true"},
    "GET /api/context": {"receipt": "true"},
    "GET /api/context/{project}": {"receipt": "true"},
    "POST /api/beliefs/{record_id}/keep": {"record_id": "{ended}"},
    "PUT /api/settings/{name}": {"name": "extract_idle_s"},
}
# Texts that only choose among what there is: what nothing matches is answered with 4xx.
CHOOSE = {"project", "project_path", "namespace", "thing_id", "op_id", "plugin", "host", "job_id"}
CHOOSING = {"POST /api/forget", "POST /api/move", "POST /api/separate", "POST /api/import",
            "POST /api/import/offers", "PUT /api/settings/{name}",
            "DELETE /api/searches/{name}"}  # fmt: skip


class Things:
    """Makes what a request needs to exist, a new one for each request."""

    def __init__(self, home: RuntimeHome, directory: pathlib.Path) -> None:
        self._home = home
        self._number = itertools.count()
        self._fact: dict[str, Any] = {}
        self.here = self._project(directory / "here")
        self.elsewhere = self._project(directory / "elsewhere")
        first = self._add("/api/notes", text="the first note")
        self.namespace = first["record"]["namespace"]
        self.project = self.namespace.rstrip("/").rpartition("/")[2]

    def filled(self, tree: Any) -> Any:
        if isinstance(tree, str):
            return re.sub(r"{(\w+)}", lambda found: self._made(found.group(1)), tree)
        if isinstance(tree, list):
            return [self.filled(one) for one in tree]
        if isinstance(tree, dict):
            return {name: self.filled(part) for name, part in tree.items()}
        return tree

    def of_path(self, path: str) -> dict[str, str]:
        """A value for each parameter of a path."""
        kind = "{belief}" if path.startswith("/api/beliefs/") else "{note}"
        names = re.findall(r"{(\w+)}", path)
        return {name: self.filled(kind if name == "record_id" else f"{{{name}}}") for name in names}

    def _made(self, name: str) -> str:
        match name:
            case "title" | "name":
                return f"title {next(self._number)}"
            case "note":
                return str(self._note()["record"]["record_id"])
            case "op_id":
                return str(self._note()["op_id"])
            case "belief" | "ended":
                belief = self._add("/api/knowledge", type="heuristic", title=self._made("title"))
                found = str(belief["record"]["record_id"])
                if name == "ended":
                    self._home.client.ask("POST", f"/api/beliefs/{found}/drop", {})
                return found
            case "thing_id":
                return self._new_fact()
            case "host":
                return "claude-code"
            case "plugin":
                return "vault"
            case "session_id" | "entity_id" | "receipt_id":
                return PLAIN
        return str(getattr(self, name))

    def _note(self) -> dict[str, Any]:
        return self._add("/api/notes", text=self._made("title"))

    def _add(self, path: str, **body: str) -> dict[str, Any]:
        added: dict[str, Any] = self._home.client.ask("POST", path, {**body, "project": self.here})
        return added

    def _new_fact(self) -> str:
        fact_id = f"fact_{next(self._number)}"
        fact = Fact(
            fact_id=fact_id, namespace=self.namespace, subject="billing", predicate="uses",
            object=self._made("title"), valid_from=self._home.clock.now(), source_type="stated",
        )  # fmt: skip
        put_graph(self._home.runtime.store, fact)
        return fact_id

    @staticmethod
    def _project(place: pathlib.Path) -> str:
        place.mkdir()
        (place / "Makefile").touch()
        return str(place)


def texts(kind: inspect.Type) -> Iterator[Place]:
    """Where free text can stand in a value of a type. Ids have a pattern, which no canary fits."""
    match kind:
        case inspect.Metadata():
            yield from texts(kind.type)
        case inspect.StrType():
            if kind.pattern is None or "actor" in kind.pattern:
                yield ()
        case inspect.AnyType():
            yield ()
        case inspect.UnionType():
            yield from dict.fromkeys(place for one in kind.types for place in texts(one))
        case inspect.VarTupleType() | inspect.ListType():
            yield from ((0, *place) for place in texts(kind.item_type))
        case inspect.DictType():
            yield from (("name", *place) for place in texts(kind.value_type))
        case inspect.StructType():
            yield from texts_of(kind)


def texts_of(struct: Any) -> Iterator[Place]:
    for field in struct.fields:
        yield from ((field.encode_name, *place) for place in texts(field.type))


def with_text(tree: Any, place: Place, text: str) -> Any:
    """The tree with a text in this place, which need not be there yet."""
    if not place:
        return text
    first, *rest = place
    if isinstance(first, int):
        items = tree if isinstance(tree, list) and tree else [None]
        return [with_text(items[0], tuple(rest), text), *items[1:]]
    known = tree if isinstance(tree, dict) else {}
    return {**known, first: with_text(known.get(first), tuple(rest), text)}


def canaries(place: Place, birds: Canaries) -> tuple[str, str]:
    if place[-1:] == ("namespace",):
        return f"/actor/ada/project/{birds.open()}/", f"/actor/ada/project/{birds.secret()}/"
    return birds.private(), birds.secret()


class Door:
    """Sends requests of one endpoint, each with one text of its own."""

    def __init__(self, home: RuntimeHome, things: Things, endpoint: Endpoint) -> None:
        self._home, self._things, self._endpoint = home, things, endpoint
        self.name = f"{endpoint.method} {endpoint.path}"

    def places(self) -> Iterator[tuple[str, Place]]:
        for place in texts_of(inspect.type_info(self._endpoint.parameters)):
            yield "parameters", place
        if self._endpoint.body is not None:
            body = inspect.type_info(self._endpoint.body)
            yield from (("body", place) for place in dict.fromkeys(texts_of(body)))

    def send(self, part: str, place: Place, text: str) -> tuple[int, bytes]:
        things = self._things
        if place == ("alias",):
            text = f"/srv/{text}"
        given = things.of_path(self._endpoint.path) | things.filled(PARAMETERS.get(self.name, {}))
        body = things.filled(BODIES.get(self.name, {})) if self._endpoint.body else None
        if part == "parameters":
            given = with_text(given, place, text)
        else:
            body = with_text(body, place, text)
            body = shaped(body, place)
        path = self._endpoint.path
        for name in re.findall(r"{(\w+)}", path):
            path = path.replace(f"{{{name}}}", quote(given.pop(name), safe=""))
        target = f"{path}?{urlencode(given)}" if given else path
        raw = None if body is None else json.dumps(body).encode()
        return self._home.client.send(self._endpoint.method, target, raw, JSON)


def shaped(body: dict[str, Any], place: Place) -> dict[str, Any]:
    """An event whose body is of the shape that the planted text belongs to."""
    for name, kind in (("turns", "message"), ("data", "json")):
        if place[:2] == ("body", name):
            turns = [{"role": "user", "content": "hi", **one} for one in body["body"].get(name, ())
                     if isinstance(one, dict)]  # fmt: skip
            held = turns if name == "turns" else body["body"][name]
            return {**body, "body": {"type": kind, name: held}}
    return body


@pytest.fixture
def home(tmp_path: pathlib.Path) -> Iterator[RuntimeHome]:
    made = RuntimeHome(tmp_path / "home")
    made.start_extraction()
    yield made
    made.close()


def settled(home: RuntimeHome) -> None:
    """Everything is on disk that is written after the answer."""
    home.runtime.recall().receipts.flush()
    home.extract()


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
def test_no_route_stores_what_is_private(
    home: RuntimeHome, tmp_path: pathlib.Path, method: str
) -> None:
    things, birds = Things(home, tmp_path), Canaries(seed=5)
    came_by: dict[str, str] = {}
    not_reached = []
    for endpoint in ENDPOINTS:
        if endpoint.method != method:
            continue
        door = Door(home, things, endpoint)
        for part, place in door.places():
            where = f"{door.name}: {'.'.join(map(str, place))}"
            if method != "GET" and door.name not in CHOOSING and not CHOOSE & set(place):
                status, answer = door.send(part, place, PLAIN)
                if status >= 400:
                    not_reached.append((where, status, answer))
            planted = canaries(place, birds)
            came_by |= dict.fromkeys(birds.planted[-2:], where)
            for text in planted:
                status, answer = door.send(part, place, text)
                assert status < 500, (where, answer)
    assert not_reached == [], "these routes need something here to be tried"
    settled(home)
    found = found_on_disk(home.home, birds.planted)
    assert sorted({f"{came_by[bird]} in {path}" for path, bird in found}) == []


def test_a_door_that_does_not_scrub_is_found(
    home: RuntimeHome, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search of the tests above sees what comes in, wherever a route puts it."""
    monkeypatch.setattr(
        "recollect.server.endpoints.scrubbed", lambda runtime, given, as_sent: given
    )
    things, birds = Things(home, tmp_path), Canaries(seed=9)
    doors = ("POST /api/notes: text", "DELETE /api/memories/{record_id}: reason",
             "PATCH /api/projects/{project}: name", "PUT /api/searches/{name}: filters",
             "POST /api/beliefs/{record_id}/correct: text")  # fmt: skip
    for endpoint in ENDPOINTS:
        door = Door(home, things, endpoint)
        for part, place in door.places():
            if f"{door.name}: {place[0]}" in doors:
                door.send(part, place, birds.secret())
    assert len(birds.planted) == len(doors)
    assert {bird for _, bird in found_on_disk(home.home, birds.planted)} == {*birds.planted}


def test_the_words_of_a_saved_search_are_scrubbed_as_the_dashboard_sends_them(
    home: RuntimeHome,
) -> None:
    filters = urlencode({"q": "<private>heron</private> nests", "kind": "knowledge"})
    home.client.ask("PUT", "/api/searches/birds", {"filters": filters})
    (kept,) = home.client.get("/api/searches")["items"]
    assert parse_qs(kept["filters"]) == {"q": ["[REDACTED] nests"], "kind": ["knowledge"]}


def test_what_an_agent_has_compacted_comes_back_as_it_was(home: RuntimeHome) -> None:
    turns = [{"role": "user", "content": "keep <private>heron</private>"}]
    assert home.client.ask("POST", "/api/compact", {"turns": turns})["turns"] == turns


ARGUMENTS: dict[str, dict[str, Any]] = {
    "correct": {"id": "{note}", "text": "{title}"},
    "compact_conversation": BODIES["POST /api/compact"],
    "store_knowledge": {"type": "decision"},
}


def test_no_tool_stores_what_is_private(home: RuntimeHome, tmp_path: pathlib.Path) -> None:
    things, birds = Things(home, tmp_path), Canaries(seed=6)
    came_by: dict[str, str] = {}
    for name, tool in BY_NAME.items():
        needed = {**dict.fromkeys(tool.required, "{title}"), **ARGUMENTS.get(name, {})}
        for place in texts_of_schema(tool.schema):
            for text in canaries(place, birds):
                where = f"{name}: {place}"
                came_by[next(one for one in birds.planted if one in text)] = where
                given = with_text(things.filled({**needed, "project": things.here}), place, text)
                call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                        "params": {"name": name, "arguments": given}}  # fmt: skip
                status, raw = home.client.send("POST", "/mcp", json.dumps(call).encode(), JSON)
                assert status == 200 and b"Unexpected error" not in raw, (where, raw)
    settled(home)
    found = found_on_disk(home.home, birds.planted)
    assert sorted({f"{came_by[bird]} in {path}" for path, bird in found}) == []


def texts_of_schema(schema: dict[str, Any]) -> Iterator[Place]:
    for name, described in schema["properties"].items():
        if name == "turns":
            yield from ((name, 0, "role"), (name, 0, "content"))
        elif described.get("type") == "array":
            yield (name, 0)
        elif described.get("type") == "string" and "enum" not in described:
            yield (name,)


def test_a_correction_is_told_without_what_is_private(
    home: RuntimeHome, tmp_path: pathlib.Path
) -> None:
    things, birds = Things(home, tmp_path), Canaries(seed=7)
    belief = things.filled("{belief}")
    span = f"<private>{birds.open()}</private></private>"
    text = f"connection pools {span} are 30 now, by {birds.secret()}"
    home.client.ask("POST", f"/api/beliefs/{belief}/correct", {"text": text, "reason": text})
    told = home.client.get("/api/context", query="how large are connection pools?")["context"]
    assert "connection pools [REDACTED] are 30 now" in told
    assert not [bird for bird in birds.planted if bird in told]
    operations = json.dumps(home.client.get("/api/operations", project="all"))
    assert "[REDACTED]" in operations and not [one for one in birds.planted if one in operations]


def test_the_receipt_of_a_prompt_holds_what_was_stored_of_it(home: RuntimeHome) -> None:
    birds = Canaries(seed=8)
    prompt = {
        "session_id": "s", "kind": "prompt", "source": {"surface": "test"},
        "body": {"type": "text", "content": f"why {birds.open()}</private> {birds.secret()}?"},
    }  # fmt: skip
    home.client.ask("POST", "/v1/events?retrieve=true", prompt)
    home.runtime.recall().receipts.flush()
    (receipt,) = home.client.get("/api/receipts", project="global")["items"]
    (row,) = home.client.get("/v1/events")["items"]
    assert receipt["query"] == row["event"]["body"]["content"]
    assert "[REDACTED]" in receipt["query"]
