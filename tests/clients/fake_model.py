"""A model on 127.0.0.1 that does what a script says, in the four protocols that agents speak.

In: requests of a real client (Anthropic messages, OpenAI chat completions and responses, Gemini
generateContent). Out: the script's next tool call, or its answer when all tools have answered;
every request is kept in `requests`. A path that no protocol knows gets 404 and is kept too.
"""

import json
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal
from urllib.parse import urlsplit

from recollect.capture.foreign import strip_own

TURN = re.compile(r"TURN-[0-9a-z]+")
COMPACT = re.compile("(?i)summary of the conversation|state_snapshot|being compacted")
PROOF = re.compile(r"lantern\d{6}")
FEW = 10
ASIDE = "An aside"  # the answer to requests for titles and the like

Protocol = Literal["anthropic", "chat", "responses", "gemini"]


@dataclass(frozen=True)
class Shell:
    """A step of the script: run this."""

    command: str


@dataclass(frozen=True)
class Write:
    """A step of the script: write this file."""

    path: str
    content: str


@dataclass(frozen=True)
class Ask:
    """A step of the script: call this tool of an MCP server, whatever the client calls it."""

    tool: str
    arguments: dict[str, Any]


Step = Shell | Write | Ask
SEARCH = "tool_search"  # the tool of Codex that finds tools
MOST_SEARCHES = 4
BRIDGE = "tool_call"


@dataclass(frozen=True)
class Call:
    """A tool call in the client's own words."""

    name: str
    arguments: dict[str, Any]
    freeform: str | None = None  # for tools of Codex that take text instead of JSON
    namespace: str = ""  # of a tool of an MCP server, in Codex


@dataclass(frozen=True)
class Request:
    """One request as it came."""

    protocol: Protocol | None
    method: str
    path: str
    body: Any

    @property
    def text(self) -> str:
        return json.dumps(self.body, ensure_ascii=False)


@dataclass(frozen=True)
class State:
    """Where in the script a request is: its turn, and how many tools have answered in it."""

    turn: str | None
    results: int
    tools: dict[str, str]  # name -> function, freeform, search, or a namespace of Codex


@dataclass
class FakeModel:
    """The server. `steps` are taken in each turn, then comes `answer(turn)`."""

    steps: tuple[Step, ...]
    requests: list[Request] = field(default_factory=list)
    # Called once, when the first tool of a turn has answered and the next is asked for.
    in_the_middle: Callable[[], object] | None = None
    # What the next answers say of the conversation's length, in tokens; later ones say FEW.
    tokens: list[int] = field(default_factory=list)

    def __enter__(self) -> "FakeModel":
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self._server.model = self  # type: ignore[attr-defined]
        self._lock = threading.Lock()
        self._counter = 0
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def answer(self, turn: str) -> str:
        return f"All is done. ANSWER-{turn.removeprefix('TURN-')}"

    def asked(self, turn: str) -> list[Request]:
        """The requests of a turn that could use tools: what the agent itself asked."""
        return [
            request
            for request in list(self.requests)
            if request.protocol
            and (state := _state(request.protocol, request.body)).turn == turn
            and state.tools
        ]

    def strangers(self) -> list[str]:
        """Requests to paths that no protocol knows, and attempts to leave this machine."""
        return [f"{one.method} {one.path}" for one in list(self.requests) if not one.protocol]

    def number(self) -> int:
        with self._lock:
            self._counter += 1
            return self._counter

    def length(self, said: Call | str, body: Any) -> int:
        if said == ASIDE:
            return len(json.dumps(body)) // 4
        return self.tokens.pop(0) if self.tokens else FEW

    def next(self, protocol: Protocol, body: Any) -> Call | str:
        state = _state(protocol, body)
        if state.turn is None or not state.tools:
            known = PROOF.search(json.dumps(body))  # of `recollect doctor --live`
            return known[0] if known else ASIDE
        if state.results == 1 and (happens := self.in_the_middle):
            self.in_the_middle = None
            happens()
        for step in self.steps[state.results :]:
            call = _call(_of_turn(step, state.turn), state.tools)
            if call is not None:
                return call
        return self.answer(state.turn)


# --- the script ----------------------------------------------------------------------------------


def _of_turn(step: Step, turn: str) -> Step:
    """`{turn}` in a step is the turn's name, so that each turn leaves its own traces."""
    if isinstance(step, Shell):
        return Shell(step.command.replace("{turn}", turn))
    if isinstance(step, Ask):
        return step
    return Write(step.path.replace("{turn}", turn), step.content.replace("{turn}", turn))


def _call(step: Step, tools: dict[str, str]) -> Call | None:
    """The step with a tool that the client offers."""
    if isinstance(step, Ask):
        named = sorted(name for name in tools if name.endswith(step.tool))
        if not named and BRIDGE in tools:  # the tool of Qwen Code that calls tools it keeps back
            return Call(
                BRIDGE, {"name": f"mcp__recollect__{step.tool}", "arguments": step.arguments}
            )
        if not named and SEARCH in tools:  # Codex keeps tools back until they are looked for
            return Call(SEARCH, {"query": step.tool.replace("_", " ")})
        if not named:
            return None
        kind = tools[named[0]]
        space = "" if kind in ("function", "freeform") else kind
        return Call(named[0], step.arguments, namespace=space)
    known = _shell_calls(step) if isinstance(step, Shell) else _write_calls(step)
    for name, arguments in known.items():
        if name in tools:
            text = arguments if isinstance(arguments, str) else None
            return Call(name, {} if text else dict(arguments), text)
    return None


def _shell_calls(step: Shell) -> dict[str, Any]:
    described = {"command": step.command, "description": "Do what was asked"}
    return {
        "Bash": described,
        "bash": described,
        "run_shell_command": {**described, "is_background": False},
        "exec_command": {"cmd": step.command},
        "shell_command": {"command": step.command},
        "run_commands": {"commands": [step.command]},
        "shell": {"command": ["bash", "-lc", step.command]},
    }


def _write_calls(step: Write) -> dict[str, Any]:
    added = "".join(f"+{line}\n" for line in step.content.splitlines())
    patch = f"*** Begin Patch\n*** Add File: {step.path}\n{added}*** End Patch"
    return {
        "Write": {"file_path": step.path, "content": step.content},
        "write_file": {"file_path": step.path, "content": step.content},
        "editor": {"path": step.path, "new_text": step.content},
        "create": {"path": step.path, "file_text": step.content},
        "write": {"filePath": step.path, "path": step.path, "content": step.content},
        "apply_patch": f"{patch}\n",
        # Codex understands this form of its patch tool where the model has no other.
        "exec_command": {"cmd": f"apply_patch <<'EOF'\n{patch}\nEOF"},
    }


# --- reading requests ----------------------------------------------------------------------------


def _state(protocol: Protocol, body: Any) -> State:
    """Tool results are counted after the last thing the user said in this conversation."""
    if not isinstance(body, dict):
        return State(None, 0, {})
    turn, results = None, 0
    kind = text = ""
    for kind, text in _happenings(protocol, body):
        if kind == "result":
            results += 1
        elif found := TURN.findall(strip_own(text)):  # a brief may quote an earlier turn
            turn, results = found[-1], 0
    if kind == "said" and COMPACT.search(text):
        turn = None  # the last words are the client's own
    return State(turn, results, _tools(protocol, body))


def _happenings(protocol: Protocol, body: dict[str, Any]) -> Iterator[tuple[str, str]]:
    match protocol:
        case "anthropic":
            for message in body.get("messages", []):
                if message.get("role") != "user":
                    continue
                content = message.get("content")
                for part in content if isinstance(content, list) else [{"text": content}]:
                    is_result = part.get("type") == "tool_result"
                    yield ("result", "") if is_result else ("said", str(part.get("text")))
        case "chat":
            for message in body.get("messages", []):
                if message.get("role") == "tool":
                    yield "result", ""
                elif message.get("role") == "user":
                    yield "said", json.dumps(message.get("content"))
        case "responses":
            items = body.get("input", [])
            for item in items if isinstance(items, list) else [{"role": "user", "content": items}]:
                if str(item.get("type", "")).endswith("_call_output"):
                    yield "result", ""
                elif item.get("role") == "user":
                    yield "said", json.dumps(item.get("content"))
        case "gemini":
            for content in body.get("contents", []):
                for part in content.get("parts", []):
                    if "functionResponse" in part:
                        yield "result", ""
                    elif content.get("role") == "user":
                        yield "said", str(part.get("text"))


def _tools(protocol: Protocol, body: dict[str, Any]) -> dict[str, str]:
    tools = body.get("tools") or []
    match protocol:
        case "gemini":
            groups = (group.get("functionDeclarations") or [] for group in tools)
            return {tool["name"]: "function" for group in groups for tool in group}
        case "chat":
            return {tool["function"]["name"]: "function" for tool in tools if "function" in tool}
        case _:
            found = _flat(tools)
            items = body.get("input")
            searched = [
                item
                for item in (items if isinstance(items, list) else [])
                if item.get("type") == "tool_search_output"
            ]
            for item in searched:
                found |= _flat(item.get("tools") or [])
            if len(searched) >= MOST_SEARCHES:
                found.pop(SEARCH, None)
            return found


def _flat(tools: list[dict[str, Any]]) -> dict[str, str]:
    """Tools by name, those of a namespace (an MCP server) among them."""
    found: dict[str, str] = {}
    for tool in tools:
        if tool.get("type") == SEARCH:
            found[SEARCH] = "search"
        elif tool.get("type") == "namespace":
            found |= {one["name"]: tool["name"] for one in tool.get("tools") or []}
        elif "name" in tool:
            found[tool["name"]] = "freeform" if tool.get("type") == "custom" else "function"
    return found


# --- writing answers -----------------------------------------------------------------------------

Frames = list[tuple[str | None, Any]]  # server-sent events: name and data


def _anthropic(said: Call | str, body: Any, number: int, tokens: int) -> tuple[Any, Frames]:
    if isinstance(said, str):
        block: dict[str, Any] = {"type": "text", "text": said}
        empty: dict[str, Any] = {"type": "text", "text": ""}
        delta: dict[str, Any] = {"type": "text_delta", "text": said}
    else:
        block = {"type": "tool_use", "id": f"toolu_{number:06}", "name": said.name}
        empty = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(said.arguments)}
        block["input"] = said.arguments
    reason = "end_turn" if isinstance(said, str) else "tool_use"
    usage = {"input_tokens": tokens, "output_tokens": 10}
    message = {
        "id": f"msg_{number:06}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "fake"),
        "content": [block],
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": usage,
    }
    begun = {**message, "content": [], "stop_reason": None}
    ended = {"stop_reason": reason, "stop_sequence": None}
    data: list[dict[str, Any]] = [
        {"type": "message_start", "message": begun},
        {"type": "content_block_start", "index": 0, "content_block": empty},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": ended, "usage": usage},
        {"type": "message_stop"},
    ]
    return message, [(one["type"], one) for one in data]


def _chat(said: Call | str, body: Any, number: int, tokens: int) -> tuple[Any, Frames]:
    if isinstance(said, str):
        message: dict[str, Any] = {"role": "assistant", "content": said}
    else:
        function = {"name": said.name, "arguments": json.dumps(said.arguments)}
        call = {"id": f"call_{number:06}", "type": "function", "function": function}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
    reason = "stop" if isinstance(said, str) else "tool_calls"
    usage = {"prompt_tokens": tokens, "completion_tokens": 10, "total_tokens": tokens + 10}
    head = {"id": f"chatcmpl-{number:06}", "created": 1, "model": body.get("model", "fake")}
    whole = {
        **head,
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": usage,
    }
    delta = dict(message)
    for call in delta.get("tool_calls", []):
        call["index"] = 0
    chunk = {**head, "object": "chat.completion.chunk"}
    frames: Frames = [
        (None, {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}),
        (None, {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}),
        (None, {**chunk, "choices": [], "usage": usage}),
        (None, "[DONE]"),
    ]
    return whole, frames


def _responses(said: Call | str, body: Any, number: int, tokens: int) -> tuple[Any, Frames]:
    call_id = f"call_{number:06}"
    if isinstance(said, str):
        content = [{"type": "output_text", "text": said, "annotations": []}]
        item: dict[str, Any] = {
            "type": "message",
            "id": f"item_{number:06}",
            "role": "assistant",
            "status": "completed",
            "content": content,
        }
    elif said.name == SEARCH:
        item = {
            "type": "tool_search_call",
            "id": f"item_{number:06}",
            "call_id": call_id,
            "execution": "client",
            "arguments": said.arguments,
            "status": "completed",
        }
    elif said.freeform is not None:
        item = {
            "type": "custom_tool_call",
            "id": f"item_{number:06}",
            "call_id": call_id,
            "name": said.name,
            "input": said.freeform,
            "status": "completed",
        }
    else:
        item = {
            "type": "function_call",
            "id": f"item_{number:06}",
            "call_id": call_id,
            "name": said.name,
            "arguments": json.dumps(said.arguments),
            "status": "completed",
            **({"namespace": said.namespace} if said.namespace else {}),
        }
    details = {
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    counts = {"input_tokens": tokens, "output_tokens": 10, "total_tokens": tokens + 10}
    usage = counts | details
    response = {
        "id": f"resp_{number:06}",
        "object": "response",
        "created_at": 1,
        "model": body.get("model", "fake"),
        "status": "completed",
        "output": [item],
        "usage": usage,
    }
    begun = {**response, "status": "in_progress", "output": [], "usage": None}
    data: list[dict[str, Any]] = [
        {"type": "response.created", "response": begun},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
    ]
    if isinstance(said, str):
        place = {"item_id": item["id"], "output_index": 0, "content_index": 0}
        data.append({"type": "response.output_text.delta", **place, "delta": said})
    data += [
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": response},
    ]
    return response, [(one["type"], one) for one in data]


def _gemini(said: Call | str, body: Any, number: int, tokens: int) -> tuple[Any, Frames]:
    part = (
        {"text": said}
        if isinstance(said, str)
        else {"functionCall": {"name": said.name, "args": said.arguments}}
    )
    whole = {
        "candidates": [
            {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
        ],
        "usageMetadata": {
            "promptTokenCount": tokens,
            "candidatesTokenCount": 10,
            "totalTokenCount": tokens + 10,
        },
        "modelVersion": "fake",
        "responseId": f"r{number:06}",
    }
    return whole, [(None, whole)]


_ANSWERS = {"anthropic": _anthropic, "chat": _chat, "responses": _responses, "gemini": _gemini}
_MODELS = ("fake-model", "gemini-2.5-pro", "gemini-2.5-flash", "claude-sonnet-4-5", "gpt-5.4")


# --- HTTP ----------------------------------------------------------------------------------------


def _protocol(path: str) -> Protocol | None:
    if path.endswith("/messages"):
        return "anthropic"
    if path.endswith("/chat/completions"):
        return "chat"
    if path.endswith("/responses"):
        return "responses"
    return "gemini" if path.endswith((":generateContent", ":streamGenerateContent")) else None


def _aside(path: str) -> Any:
    """What clients ask for besides answers."""
    if path.endswith("/count_tokens"):
        return {"input_tokens": 10}
    if path.endswith(":countTokens"):
        return {"totalTokens": 10}
    if path.endswith("/models"):
        listed = [{"id": name, "object": "model", "type": "model"} for name in _MODELS]
        return {"object": "list", "data": listed, "models": [], "has_more": False}
    return None


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._take(None)

    do_HEAD = do_PUT = do_DELETE = do_OPTIONS = do_CONNECT = do_GET

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            self._take(json.loads(raw))
        except ValueError:
            self._take(raw.decode("utf-8", "replace"))

    def _take(self, body: Any) -> None:
        model: FakeModel = self.server.model  # type: ignore[attr-defined]
        path = urlsplit(self.path).path
        aside = _aside(path)
        protocol = _protocol(path) if self.command == "POST" else None
        if aside is None:
            model.requests.append(Request(protocol, self.command, self.path, body))
        if protocol is None or not isinstance(body, dict):
            found = aside is not None
            self._send(200 if found else 404, aside or {"error": {"message": "not here"}})
            return
        said = model.next(protocol, body)
        tokens = model.length(said, body)
        whole, frames = _ANSWERS[protocol](said, body, model.number(), tokens)
        streaming = body.get("stream") is True or "stream" in path.rpartition(":")[2]
        if streaming:
            self._stream(frames)
        else:
            self._send(200, whole)

    def _send(self, status: int, value: Any) -> None:
        raw = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(raw)

    def _stream(self, frames: Frames) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for name, data in frames:
            text = data if isinstance(data, str) else json.dumps(data)
            head = f"event: {name}\n" if name else ""
            self.wfile.write(f"{head}data: {text}\n\n".encode())
        self.close_connection = True

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except ConnectionError:
            self.close_connection = True  # clients leave without saying goodbye

    def log_message(self, format: str, *args: Any) -> None:
        """Silent: what came is in `requests`."""
