"""A model server on 127.0.0.1 that really speaks Anthropic's and OpenAI's protocols.

    with LlmServer(["<skip/>", Behaviour("status", status=429)]) as server: server.url

In: requests, streaming or not. Out: the next answer of the list (the last one again when the list
is done): a text, or a Behaviour that goes wrong. Every request is kept, headers and body.
"""

import contextlib
import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

from tests.fakes.waiting import PATIENCE_S

Kind = Literal[
    "answer", "hang", "slow", "cut", "status", "garbage", "over-long", "wrong-types", "whole"
]  # fmt: skip


@dataclass(frozen=True)
class Behaviour:
    """What the server does. `usage` None: the server does not count tokens."""

    kind: Kind = "answer"
    text: str = "an answer"
    status: int = 500
    message: str = "something went wrong"
    usage: tuple[int, int] | None = (11, 7)
    pause_s: float = 0.05


@dataclass(frozen=True)
class Seen:
    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def anthropic(self) -> bool:
        return self.path.endswith("/messages")


@dataclass
class LlmServer:
    answers: Sequence[str | Behaviour] = ("an answer",)
    seen: list[Seen] = field(default_factory=list)

    def __enter__(self) -> "LlmServer":
        self.stopping = threading.Event()
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self._server.owner = self  # type: ignore[attr-defined]
        threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        ).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        """For provider anthropic; OpenAI's clients add /v1 to it."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def openai_url(self) -> str:
        return f"{self.url}/v1"

    def next(self, seen: Seen) -> Behaviour:
        with self._lock:
            answer = self.answers[min(len(self.seen), len(self.answers) - 1)]
            self.seen.append(seen)
        return Behaviour(text=answer) if isinstance(answer, str) else answer


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        seen = Seen(self.path, headers, json.loads(raw))
        owner: LlmServer = self.server.owner  # type: ignore[attr-defined]
        behaviour = owner.next(seen)
        # A client that gives up does what it should do.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._behave(owner, seen, behaviour)
        self.close_connection = True

    def _behave(self, owner: LlmServer, seen: Seen, how: Behaviour) -> None:
        if how.kind == "hang":
            owner.stopping.wait(PATIENCE_S)
            return
        if how.kind == "status":
            error = {"type": "error", "error": {"type": "x", "message": how.message}}
            self._whole(how.status, json.dumps(error).encode())
            return
        if how.kind == "garbage":
            self._whole(200, b"\x00\xff<html>not what you asked for</html>", "text/html")
            return
        if how.kind == "whole" or not seen.body.get("stream"):
            whole = _anthropic_whole if seen.anthropic else _openai_whole
            self._whole(200, json.dumps(whole(how, seen.body)).encode())
            return
        parts = (
            _anthropic_parts(how, seen.body) if seen.anthropic else _openai_parts(how, seen.body)
        )
        self._stream(owner, how, parts)

    def _whole(self, status: int, body: bytes, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, owner: LlmServer, how: Behaviour, parts: Iterator[bytes]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for number, part in enumerate(parts):
            if how.kind == "cut" and number == 3:
                return  # without the last chunk: the connection just ends
            self.wfile.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
            self.wfile.flush()
            if how.kind == "slow" and owner.stopping.wait(how.pause_s):
                return
        self.wfile.write(b"0\r\n\r\n")


def _texts(how: Behaviour) -> Iterator[Any]:
    if how.kind == "over-long":
        for _ in range(100_000):
            yield "word " * 100
    elif how.kind == "wrong-types":
        yield {"text": ["not", "a", "text"]}
        yield 7
    elif how.kind == "slow":
        for _ in range(10_000):
            yield "w "
    else:
        middle = len(how.text) // 2
        yield how.text[:middle]
        yield how.text[middle:]


def _event(data: dict[str, Any], name: str = "") -> bytes:
    return (f"event: {name}\n" if name else "").encode() + b"data: " + _json(data) + b"\n\n"


def _json(data: Any) -> bytes:
    return json.dumps(data).encode()


def _anthropic_parts(how: Behaviour, body: dict[str, Any]) -> Iterator[bytes]:
    wrong = how.kind == "wrong-types"
    used = how.usage or (None, None)
    usage = {"input_tokens": "many" if wrong else used[0], "output_tokens": 1}
    message = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": body["model"],
        "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage,
    }  # fmt: skip
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    ]
    for event in events:
        yield _event(event, event["type"])
    for text in _texts(how):
        delta = {"type": "text_delta", "text": text}
        event = {"type": "content_block_delta", "index": 0, "delta": delta}
        yield _event(event, "content_block_delta")
    yield _event({"type": "content_block_stop", "index": 0}, "content_block_stop")
    last = {"stop_reason": "end_turn", "stop_sequence": None}
    ending = {"type": "message_delta", "delta": last, "usage": {"output_tokens": used[1]}}
    yield _event(ending, "message_delta")
    yield _event({"type": "message_stop"}, "message_stop")


def _openai_parts(how: Behaviour, body: dict[str, Any]) -> Iterator[bytes]:
    def chunk(delta: Any, reason: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return {
            "id": "c1", "object": "chat.completion.chunk", "created": 1, "model": body["model"],
            "choices": [choice],
        }  # fmt: skip

    yield _event(chunk({"role": "assistant", "content": ""}))
    for text in _texts(how):
        yield _event(chunk({"content": text}))
    yield _event(chunk({}, "stop"))
    if how.usage and body.get("stream_options", {}).get("include_usage"):
        yield _event(chunk({}) | {"choices": [], "usage": _openai_usage(how.usage)})
    yield b"data: [DONE]\n\n"


def _openai_usage(usage: tuple[int, int]) -> dict[str, int]:
    return {
        "prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage),
    }  # fmt: skip


def _anthropic_whole(how: Behaviour, body: dict[str, Any]) -> dict[str, Any]:
    used = how.usage or (0, 0)
    text = 7 if how.kind == "wrong-types" else how.text
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": body["model"],
        "content": [{"type": "text", "text": text}], "stop_reason": "end_turn",
        "stop_sequence": None, "usage": {"input_tokens": used[0], "output_tokens": used[1]},
    }  # fmt: skip


def _openai_whole(how: Behaviour, body: dict[str, Any]) -> dict[str, Any]:
    text = 7 if how.kind == "wrong-types" else how.text
    message = {"role": "assistant", "content": text}
    return {
        "id": "c1", "object": "chat.completion", "created": 1, "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": _openai_usage(how.usage or (0, 0)),
    }  # fmt: skip
