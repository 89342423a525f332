"""Whatever is sent to the API, the answer is an answer: never a server error, never a traceback."""

import json
import os
import random
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from recollect.core import tool_schemas
from recollect.core.ids import new_ulid
from recollect.server import dashboard_files
from recollect.server.app import ENDPOINTS, build
from tests.fakes.runtime import RuntimeHome

REQUESTS = int(os.environ.get("RECOLLECT_FUZZ", "1500"))
ODD: list[Any] = [
    None, True, 0, -1, 2**63, 2**64, 1e308, float("nan"), "", " ", "\0", "é" * 300, "x" * 5000,
    "/actor/a/", "../../etc/passwd", "'; DROP TABLE events; --", "<script>", [], {}, [[]],
    {"type": "text"}, {"type": "json", "data": {"a": [None] * 50}}, "2026-01-01T00:00:00Z",
    "9999-99-99", "\ud7ff", "💥", "true", "1:2", ":", "-1:x",
]  # fmt: skip


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RuntimeHome]:
    made = RuntimeHome(tmp_path_factory.mktemp("fuzz") / "home", embedding=True)
    made.start_extraction()
    yield made
    made.close()


class Fuzzer:
    """Makes requests from the OpenAPI document: mostly right, with something wrong in them."""

    def __init__(self, document: dict[str, Any], seed: int) -> None:
        self.dice = random.Random(seed)
        self._schemas = document["components"]["schemas"]
        self.operations = [
            (method.upper(), path, operation)
            for path, methods in document["paths"].items()
            if path in {one.path for one in ENDPOINTS}  # /api/events never ends, /mcp is below
            for method, operation in methods.items()
        ]

    def request(self) -> tuple[str, str, bytes | None]:
        method, path, operation = self.dice.choice(self.operations)
        query = []
        for parameter in operation["parameters"]:
            value = self.value(parameter["schema"])
            if parameter["in"] == "path":
                path = path.replace("{" + parameter["name"] + "}", _quoted(str(value)) or "x")
            elif self.dice.random() < 0.4:
                query.append(f"{parameter['name']}={_quoted(str(value))}")
        if self.dice.random() < 0.1:
            query.append(f"{_quoted(str(self.dice.choice(ODD)))}=1")
        target = path + ("?" + "&".join(query) if query else "")
        if self.dice.random() < 0.05:
            method = self.dice.choice(["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD"])
        return method, target, self.body(operation)

    def body(self, operation: dict[str, Any]) -> bytes | None:
        content = operation.get("requestBody", {}).get("content", {}).get("application/json")
        if content is None:
            return None
        tree = self.value(content["schema"])
        raw = json.dumps(tree).encode("utf-8", "replace")
        if self.dice.random() < 0.1:
            cut = self.dice.randrange(len(raw) + 1)
            raw = raw[:cut] + self.dice.randbytes(self.dice.randrange(8))
        return raw

    def value(self, schema: dict[str, Any]) -> Any:
        if self.dice.random() < 0.08:
            return self.dice.choice(ODD)
        if "$ref" in schema:
            return self.value(self._schemas[schema["$ref"].rpartition("/")[2]])
        if "enum" in schema:
            return self.dice.choice(schema["enum"])
        for key in ("anyOf", "oneOf"):
            if key in schema:
                return self.value(self.dice.choice(schema[key]))
        return self.typed(schema)

    def typed(self, schema: dict[str, Any]) -> Any:
        match schema.get("type"):
            case "object":
                required = schema.get("required", [])
                return {
                    name: self.value(part)
                    for name, part in schema.get("properties", {}).items()
                    if name in required or self.dice.random() < 0.5
                }
            case "array":
                return [self.value(schema.get("items", {})) for _ in range(self.dice.randrange(4))]
            case "integer":
                return self.dice.choice([0, 1, 50, 200, 201])
            case "number":
                return self.dice.random()
            case "boolean":
                return self.dice.random() < 0.5
            case "null":
                return None
            case "string":
                return self.string(schema)
        return self.dice.choice(ODD)

    def string(self, schema: dict[str, Any]) -> str:
        if schema.get("format") == "date-time":
            return "2026-02-03T04:05:06+01:00"
        pattern = schema.get("pattern", "")
        if pattern.startswith("^mr_"):
            return "mr_" + new_ulid()
        if "0-7" in pattern:
            return new_ulid()
        if "actor" in pattern:
            return self.dice.choice(["/actor/ada/", "/actor/ada/project/p/"])
        return self.dice.choice(["x", "hello world", "/tmp", "s1"])


def _quoted(text: str) -> str:
    return quote(text.encode("utf-8", "replace"), safe="")


def ask(home: RuntimeHome, method: str, target: str, body: bytes | None) -> tuple[int, bytes]:
    head = [("Content-Type", "application/json")] if body is not None else []
    status, _, raw = home.request(method, target, head, body)
    return status, raw


def test_no_request_brings_about_a_server_error(home: RuntimeHome) -> None:
    seed = int(os.environ.get("RECOLLECT_SEED", "20261115"))
    document = home.client.get("/openapi.json")
    fuzzer = Fuzzer(document, seed)
    seen: dict[int, int] = {}
    for number in range(REQUESTS):
        method, target, body = fuzzer.request()
        status, raw = ask(home, method, target, body)
        assert status < 500, f"seed {seed}, request {number}: {method} {target} {body!r} {raw!r}"
        assert b"Traceback" not in raw
        if status >= 400 and method != "HEAD":
            assert json.loads(raw)["error"]["message"]
        seen[status] = seen.get(status, 0) + 1
    assert seen[200] > REQUESTS // 20 and seen[400] > REQUESTS // 20, seen
    assert home.client.get("/healthz")["status"] == "ok"


def test_no_call_of_a_tool_brings_about_a_server_error(home: RuntimeHome) -> None:
    seed = int(os.environ.get("RECOLLECT_SEED", "20261115"))
    fuzzer = Fuzzer({"components": {"schemas": {}}, "paths": {}}, seed)
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    failed = 0
    for number in range(REQUESTS // 5):
        tool = fuzzer.dice.choice(tool_schemas.TOOLS)
        arguments = fuzzer.value(tool.schema)
        call = {"jsonrpc": "2.0", "id": number, "method": "tools/call",
                "params": {"name": tool.name, "arguments": arguments}}  # fmt: skip
        raw = json.dumps(call).encode("utf-8", "replace")
        status, answered = home.client.send("POST", "/mcp", raw, headers)
        told = f"seed {seed}, call {number}: {tool.name} {arguments!r} {answered!r}"
        assert status < 500 and b"Traceback" not in answered, told
        answer = json.loads(answered)
        if "result" in answer:
            assert "Unexpected error" not in answer["result"]["content"][0]["text"], told
            failed += bool(answer["result"].get("isError"))
        else:
            assert answer["error"]["code"] in (-32600, -32602, -32700), told
    assert 0 < failed < REQUESTS // 5
    assert home.client.get("/healthz")["status"] == "ok"


def test_deep_and_strange_bodies_are_only_bad_input(home: RuntimeHome) -> None:
    for body in (
        b'{"a":' * 100_000, b"[" * 1_000_000, b"0" * 1_000_000, b'"' + b"\\u0000" * 100_000 + b'"',
        b"\x1f\x8b" + b"\0" * 1000, b"null", b"true", b"{}", b"", b"\xef\xbb\xbf{}",
    ):  # fmt: skip
        status, raw = ask(home, "POST", "/v1/events", body)
        assert status in (400, 413), (status, body[:20], raw)


def test_the_document_describes_every_route(home: RuntimeHome) -> None:
    document = home.client.get("/openapi.json")
    assert document["openapi"] == "3.1.0"
    assert "/api/events" in document["paths"]
    for one in ENDPOINTS:
        operation = document["paths"][one.path][one.method.lower()]
        assert operation["summary"].endswith(".")
        assert {"200", "400", "401", "413"} <= set(operation["responses"])


def test_every_route_that_is_served_is_in_the_document(home: RuntimeHome) -> None:
    """Also one that is not in the table from which the document is made."""
    paths = home.client.get("/openapi.json")["paths"]
    pages = {one.path for one in dashboard_files.routes(home.runtime.tokens, home.runtime.port)}
    served: Any = build(home.runtime)
    for route in served._app.routes:
        if route.path not in pages:
            methods = {one.lower() for one in route.methods - {"HEAD"}}
            assert methods <= set(paths.get(route.path, ())), route.path
