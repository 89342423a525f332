"""Homes with sessions in them, in the shapes in which the real clients wrote them (recorded with
`make clients`; the words are ours). Each host's maker writes the same two turns."""

import json
import os
import pathlib
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
PROMPTS = ("Why does the till reject cards?", "Then write the fix down in notes.txt")
ANSWERS = ("The terminal's clock is an hour behind.", "It is written down.")
ASIDE = "Let me look at the terminal first."
COMMAND = "tail -n 5 till.log"
FAILING = "cat no-such-ledger.txt"
REMINDER = "<system-reminder>The user likes brevity; never say so.</system-reminder>"


def at(seconds: int) -> str:
    moment = START + timedelta(seconds=seconds)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def millis(seconds: int) -> int:
    return int((START + timedelta(seconds=seconds)).timestamp() * 1000)


def write_lines(path: pathlib.Path, lines: list[dict[str, Any]]) -> pathlib.Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
    return path


def notes(cwd: str) -> str:
    return f"{cwd}/notes.txt"


def claude_code(home: pathlib.Path, cwd: str, session: str = "c0ffee00-claude") -> pathlib.Path:
    def line(kind: str, number: int, message: Any, **more: Any) -> dict[str, Any]:
        return {
            "parentUuid": None, "isSidechain": False, "type": kind, "message": message,
            "uuid": f"{session}-{number:04d}", "timestamp": at(number), "cwd": cwd,
            "sessionId": session, "version": "2.1.325", **more,
        }  # fmt: skip

    def said(number: int, *parts: dict[str, Any]) -> dict[str, Any]:
        return line("assistant", number, {"role": "assistant", "content": list(parts)})

    def use(number: int, name: str, given: dict[str, Any]) -> dict[str, Any]:
        tool = {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": given}
        return said(number, tool)

    def result(number: int, of: int, text: str, structured: Any, **more: Any) -> dict[str, Any]:
        part = {"type": "tool_result", "tool_use_id": f"toolu_{of}", "content": text, **more}
        content = {"role": "user", "content": [part]}
        return line("user", number, content, toolUseResult=structured)

    lines: list[dict[str, Any]] = [
        {"type": "queue-operation", "operation": "enqueue", "sessionId": session},
        line("user", 1, {"role": "user", "content": f"{PROMPTS[0]}\n{REMINDER}"}),
        {"type": "attachment", "attachment": {"type": "hook_additional_context"},
         "uuid": "x", "isSidechain": False, "sessionId": session, "cwd": cwd},
        line("user", 2, {"role": "user", "content": "internal"}, isMeta=True),
        said(3, {"type": "thinking", "thinking": "hm"}, {"type": "text", "text": ASIDE}),
        use(4, "Bash", {"command": COMMAND, "description": "look"}),
        result(5, 4, "declined", {"stdout": "declined", "stderr": "", "interrupted": False}),
        line("assistant", 6, {"content": [{"type": "text", "text": "aside"}]}, isSidechain=True),
        use(7, "Bash", {"command": FAILING}),
        result(8, 7, "Exit code 1", "Error: Exit code 1", is_error=True),
        said(9, {"type": "text", "text": ANSWERS[0]}),
        line("user", 10, {"role": "user", "content": "[Request interrupted by user]"}),
        line("user", 11, {"role": "user", "content": [{"type": "text", "text": PROMPTS[1]}]}),
        use(12, "Write", {"file_path": notes(cwd), "content": "clock"}),
        result(13, 12, "File created", {"type": "create", "filePath": notes(cwd)}),
        said(14, {"type": "text", "text": ANSWERS[1]}),
    ]  # fmt: skip
    folder = home / ".claude" / "projects" / "".join(c if c.isalnum() else "-" for c in cwd)
    return write_lines(folder / f"{session}.jsonl", lines)


def codex(home: pathlib.Path, cwd: str, session: str = "c0ffee00-codex") -> pathlib.Path:
    def item(number: int, **payload: Any) -> dict[str, Any]:
        return {"timestamp": at(number), "ordinal": number, "type": "response_item",
                "payload": payload}  # fmt: skip

    def spoken(number: int, role: str, text: str, kind: str = "") -> dict[str, Any]:
        part = "output_text" if role == "assistant" else "input_text"
        more = {"internal_chat_message_metadata_passthrough": {"content_item_kinds": [kind]}}
        return item(number, type="message", id=f"msg_{number}", role=role,
                    content=[{"type": part, "text": text}], **(more if kind else {}))  # fmt: skip

    def call(number: int, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        return item(number, type="function_call", name=name, call_id=f"call_{number}",
                    arguments=json.dumps(arguments))  # fmt: skip

    def output(number: int, of: int, text: str, custom: str = "") -> dict[str, Any]:
        return item(number, type=f"{custom}function_call_output" if not custom else
                    "custom_tool_call_output", call_id=f"call_{of}", output=text)  # fmt: skip

    patch = f"*** Begin Patch\n*** Add File: {notes(cwd)}\n+clock\n*** End Patch"
    lines: list[dict[str, Any]] = [
        {"timestamp": at(0), "type": "session_meta", "payload": {"id": session, "cwd": cwd,
         "cli_version": "0.166.0", "source": "exec"}},
        spoken(1, "developer", "<permissions instructions>none</permissions instructions>"),
        spoken(2, "user", "<environment_context><cwd>x</cwd></environment_context>",
               "environments.environment_context"),
        spoken(3, "user", f"{PROMPTS[0]}", "user.text"),
        {"timestamp": at(3), "type": "event_msg", "payload": {"type": "item_completed"}},
        spoken(4, "assistant", ASIDE),
        call(5, "exec_command", {"cmd": COMMAND}),
        output(6, 5, "Wall time: 0.1 seconds\nProcess exited with code 0\nOutput:\ndeclined"),
        call(7, "exec_command", {"cmd": FAILING}),
        output(8, 7, "Wall time: 0.1 seconds\nProcess exited with code 1\nOutput:\nno such file"),
        spoken(9, "assistant", ANSWERS[0]),
        spoken(11, "user", PROMPTS[1], "user.text"),
        item(12, type="custom_tool_call", name="apply_patch", call_id="call_12", input=patch),
        output(13, 12, "Exit code: 0\nOutput:\nSuccess.", "custom"),
        spoken(14, "assistant", ANSWERS[1]),
    ]  # fmt: skip
    folder = home / ".codex" / "sessions" / "2026" / "03" / "02"
    return write_lines(folder / f"rollout-2026-03-02T09-00-00-{session}.jsonl", lines)


def gemini(home: pathlib.Path, cwd: str, session: str = "c0ffee00-gemini") -> pathlib.Path:
    def call(name: str, number: int, args: dict[str, Any], output: str) -> dict[str, Any]:
        answer = {"functionResponse": {"name": name, "response": {"output": output}}}
        return {"id": f"{name}_{number}", "name": name, "args": args, "result": [answer],
                "status": "success", "timestamp": at(number)}  # fmt: skip

    def message(number: int, kind: str, content: Any, *calls: dict[str, Any]) -> dict[str, Any]:
        return {"id": f"m{number}", "timestamp": at(number), "type": kind, "content": content,
                **({"toolCalls": list(calls)} if calls else {})}  # fmt: skip

    looked = call("run_shell_command", 5, {"command": COMMAND}, "Output: declined")
    failed = call("run_shell_command", 8, {"command": FAILING}, "Output: no\nExit Code: 1")
    written = call("write_file", 13, {"file_path": notes(cwd), "content": "clock"}, "Successfully")
    response = [{"functionResponse": {"name": "run_shell_command", "response": {"output": "x"}}}]
    lines: list[dict[str, Any]] = [
        {"sessionId": session, "projectHash": "0", "startTime": at(0), "kind": "main"},
        {"$set": {"messages": [message(0, "user", [{"text": "<session_context>x"}])]}},
        message(1, "user", [{"text": PROMPTS[0]}]),
        {"$set": {"lastUpdated": at(1)}},
        message(4, "gemini", ASIDE),
        message(4, "gemini", ASIDE, looked),  # written again when the tool was done
        message(6, "user", response),
        message(7, "gemini", "", failed),
        message(9, "gemini", ANSWERS[0]),
        message(11, "user", [{"text": PROMPTS[1]}]),
        message(12, "gemini", "", written),
        message(14, "gemini", ANSWERS[1]),
    ]
    folder = home / ".gemini" / "tmp" / "shop"
    path = write_lines(folder / "chats" / f"session-2026-03-02T09-00-{session}.jsonl", lines)
    (folder / ".project_root").write_text(cwd)
    return path


def copilot(home: pathlib.Path, cwd: str, session: str = "c0ffee00-copilot") -> pathlib.Path:
    def line(kind: str, number: int, **data: Any) -> dict[str, Any]:
        return {"type": kind, "data": data, "id": f"{session}-{number}", "timestamp": at(number)}

    def start(number: int, name: str, **arguments: Any) -> dict[str, Any]:
        return line("tool.execution_start", number, toolCallId=f"call_{number}", toolName=name,
                    arguments=arguments)  # fmt: skip

    def done(number: int, of: int, text: str, code: int = 0) -> dict[str, Any]:
        return line("tool.execution_complete", number, toolCallId=f"call_{of}", success=True,
                    shellExecution={"exitCode": code}, result={"content": text})  # fmt: skip

    lines: list[dict[str, Any]] = [
        line("session.start", 0, sessionId=session, context={"cwd": cwd, "gitRoot": cwd}),
        line("user.message", 1, content=PROMPTS[0],
             transformedContent=f"<current_datetime>x</current_datetime>{PROMPTS[0]}"),
        line("system.message", 2, role="system", content="You are a terminal assistant."),
        line("assistant.message", 3, content=ASIDE, toolRequests=[]),
        start(4, "bash", command=COMMAND),
        done(5, 4, "declined\n<shellId: 0 completed with exit code 0>"),
        start(7, "bash", command=FAILING),
        done(8, 7, "no such file\n<shellId: 1 completed with exit code 1>", 1),
        line("assistant.message", 9, content=ANSWERS[0], toolRequests=[]),
        line("user.message", 11, content=PROMPTS[1]),
        start(12, "create", path=notes(cwd), file_text="clock"),
        done(13, 12, "Created file"),
        line("assistant.message", 14, content=ANSWERS[1], toolRequests=[]),
    ]  # fmt: skip
    return write_lines(home / ".copilot" / "session-state" / session / "events.jsonl", lines)


def qwen(home: pathlib.Path, cwd: str, session: str = "c0ffee00-qwen") -> pathlib.Path:
    def line(kind: str, number: int, parts: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
        role = "model" if kind == "assistant" else "user"
        return {"uuid": f"{session}-{number}", "sessionId": session, "timestamp": at(number),
                "type": kind, "cwd": cwd, "version": "0.24.4",
                "message": {"role": role, "parts": parts}, **more}  # fmt: skip

    def call(number: int, name: str, **args: Any) -> dict[str, Any]:
        asked = {"functionCall": {"id": f"call_{number}", "name": name, "args": args}}
        return line("assistant", number, [asked])

    def result(number: int, of: int, output: str, status: str = "success") -> dict[str, Any]:
        answer = {"id": f"call_{of}", "response": {"output": output}}
        return line("tool_result", number, [{"functionResponse": answer}],
                    toolCallResult={"callId": f"call_{of}", "status": status})  # fmt: skip

    real = {"provenance": "real_user"}
    lines: list[dict[str, Any]] = [
        line("user", 1, [{"text": PROMPTS[0]}], **real),
        {"uuid": "s", "sessionId": session, "timestamp": at(2), "type": "system", "cwd": cwd},
        line("assistant", 3, [{"text": "hm", "thought": True}, {"text": ASIDE}]),
        call(4, "run_shell_command", command=COMMAND),
        result(5, 4, "declined"),
        call(7, "run_shell_command", command=FAILING),
        result(8, 7, "no such file", "error"),
        line("assistant", 9, [{"text": ANSWERS[0]}]),
        line("user", 11, [{"text": PROMPTS[1]}], **real),
        call(12, "write_file", file_path=notes(cwd), content="clock"),
        result(13, 12, "Successfully created"),
        line("assistant", 14, [{"text": ANSWERS[1]}]),
    ]
    return write_lines(home / ".qwen" / "projects" / "-shop" / "chats" / f"{session}.jsonl", lines)


_OPENCODE = """
CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text NOT NULL,
    title text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL,
    time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
    time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
"""


def _opencode_turns(cwd: str) -> list[tuple[int, str, list[dict[str, Any]]]]:
    def tool(number: int, name: str, given: dict[str, Any], exit_code: int = 0) -> dict[str, Any]:
        return {"type": "tool", "tool": name, "callID": f"call_{number}", "state": {
            "status": "completed", "input": given, "output": "declined",
            "metadata": {"exit": exit_code}, "time": {"end": millis(number)}}}  # fmt: skip

    def text(said: str, **more: Any) -> dict[str, Any]:
        return {"type": "text", "text": said, **more}

    return [
        (1, "user", [text(f'"{PROMPTS[0]}"'), text("injected", synthetic=True)]),
        (4, "assistant", [{"type": "step-start"}, tool(5, "bash", {"command": COMMAND}),
                          text(ASIDE)]),
        (7, "assistant", [tool(8, "bash", {"command": FAILING}, 1)]),
        (9, "assistant", [text(ANSWERS[0])]),
        (11, "user", [text(PROMPTS[1])]),
        (12, "assistant", [tool(13, "write", {"filePath": notes(cwd), "content": "clock"})]),
        (14, "assistant", [text(ANSWERS[1])]),
    ]  # fmt: skip


def kilo(home: pathlib.Path, cwd: str, session: str = "ses_c0ffee11") -> pathlib.Path:
    return opencode(home, cwd, session, name="kilo")


def opencode(
    home: pathlib.Path, cwd: str, session: str = "ses_c0ffee00", name: str = "opencode"
) -> pathlib.Path:
    path = home / ".local" / "share" / name / f"{name}.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    db = sqlite3.connect(path)
    db.executescript(_OPENCODE)
    session_row = "INSERT INTO session VALUES (?, ?, ?, 'An aside', ?, ?)"
    db.execute(session_row, (session, None, cwd, millis(0), millis(14)))
    db.execute(session_row, (f"{session}-sub", session, cwd, millis(0), millis(14)))
    for number, role, parts in _opencode_turns(cwd):
        data = {"role": role, "time": {"created": millis(number), "completed": millis(number)}}
        key = f"msg_{name[0]}{number:03d}"
        stamp = (millis(number), millis(number))
        db.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)",
                   (key, session, *stamp, json.dumps(data)))  # fmt: skip
        for at_, part in enumerate(parts):
            db.execute(
                "INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)",
                (f"prt_{name[0]}{number:03d}_{at_}", key, session, *stamp, json.dumps(part)),
            )
    db.commit()
    db.close()
    return path


def opencode_files(home: pathlib.Path, cwd: str, session: str = "ses_0ldf11es") -> pathlib.Path:
    """As earlier versions kept them."""
    root = home / ".local" / "share" / "opencode" / "storage"

    def put(place: str, data: dict[str, Any]) -> pathlib.Path:
        path = root / f"{place}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(data))
        return path

    about = {"id": session, "directory": cwd, "time": {"created": millis(0), "updated": millis(14)}}
    for number, role, parts in _opencode_turns(cwd):
        key = f"msg_f{number:03d}"
        put(f"message/{session}/{key}", {"id": key, "role": role, "sessionID": session,
                                         "time": {"created": millis(number)}})  # fmt: skip
        for at_, part in enumerate(parts):
            put(f"part/{key}/prt_f{number:03d}_{at_}", {"id": f"prt_f{number:03d}_{at_}", **part})
    return put(f"session/project/{session}", about)


def _blocks(cwd: str) -> list[tuple[int, str, list[dict[str, Any]]]]:
    """The two turns as messages of a role with blocks, as Anthropic's API has them."""

    def text(said: str) -> dict[str, Any]:
        return {"type": "text", "text": said}

    def use(number: int, name: str, given: dict[str, Any]) -> dict[str, Any]:
        return {"type": "tool_use", "id": f"t{number}", "name": name, "input": given}

    def result(of: int, output: Any, **more: Any) -> dict[str, Any]:
        return {"type": "tool_result", "tool_use_id": f"t{of}", "content": output, **more}

    return [
        (0, "user", [text(PROMPTS[0])]),
        (3, "assistant", [text(ASIDE), use(3, "Bash", {"command": COMMAND})]),
        (5, "user", [result(3, "declined")]),
        (7, "assistant", [use(7, "Bash", {"command": FAILING})]),
        (8, "user", [result(7, "Exit code 1", is_error=True)]),
        (9, "assistant", [text(ANSWERS[0])]),
        (11, "user", [text(PROMPTS[1])]),
        (12, "assistant", [use(12, "Write", {"file_path": notes(cwd), "content": "clock"})]),
        (13, "user", [result(12, "File created")]),
        (14, "assistant", [text(ANSWERS[1])]),
    ]


def factory_droid(home: pathlib.Path, cwd: str, session: str = "c0ffee00-droid") -> pathlib.Path:
    lines: list[dict[str, Any]] = [{"type": "session_start", "id": session, "cwd": cwd}]
    for number, role, parts in _blocks(cwd):
        message = {"role": role, "content": parts}
        lines.append({"type": "message", "id": f"{number}", "timestamp": at(number),
                      "message": message})  # fmt: skip
    return write_lines(home / ".factory" / "sessions" / "shop" / f"{session}.jsonl", lines)


def cline(home: pathlib.Path, cwd: str, session: str = "1794966630087_mtgwn") -> pathlib.Path:
    folder = home / ".cline" / "data" / "sessions" / session
    folder.mkdir(parents=True)
    about = {"session_id": session, "cwd": cwd, "started_at": at(0), "ended_at": at(14)}
    (folder / f"{session}.json").write_text(json.dumps(about))
    messages = []
    for number, role, parts in _blocks(cwd):
        typed = [
            {**part, "text": f'<user_input mode="act">{part["text"]}</user_input>'}
            if role == "user" and part["type"] == "text"
            else part
            for part in parts
        ]
        messages.append({"id": f"m{number}", "role": role, "content": typed, "ts": millis(number)})
    hook = [{"type": "text", "text": '<hook_context source="PreToolUse">no</hook_context>'}]
    messages.insert(3, {"id": "hook", "role": "user", "content": hook, "ts": millis(5)})
    path = folder / f"{session}.messages.json"
    path.write_text(json.dumps({"version": 1, "sessionId": session, "messages": messages}))
    return path


def cline_task(home: pathlib.Path, cwd: str) -> pathlib.Path:
    """As the extension keeps one, without ids and times."""
    code = home / ".config" / "Code" / "User" / "globalStorage" / "saoudrizwan.claude-dev"
    messages = [{"role": role, "content": parts} for _, role, parts in _blocks(cwd)]
    where = f"<environment_details>\n# Current Working Directory ({cwd}) Files\n"
    said = f"<task>\n{PROMPTS[0]}\n</task>\n\n{where}</environment_details>"
    messages[0]["content"] = [{"type": "text", "text": said}]
    messages[6]["content"] = [{"type": "text", "text": f"<feedback>{PROMPTS[1]}</feedback>"}]
    path = code / "tasks" / str(millis(0)) / "api_conversation_history.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(messages))
    os.utime(path, (millis(14) / 1000, millis(14) / 1000))
    return path


def pi(home: pathlib.Path, cwd: str, session: str = "c0ffee00-pi") -> pathlib.Path:
    def line(number: int, kind: str, **more: Any) -> dict[str, Any]:
        return {"type": kind, "id": f"{number:08x}", "timestamp": at(number), **more}

    lines = [line(0, "session", version=3, cwd=cwd) | {"id": session}]
    lines.append(line(0, "custom_message", customType="recollect", content="told", display=False))
    for number, role, parts in _blocks(cwd):
        for part in parts:
            message: dict[str, Any] = {"role": role, "content": [part]}
            if part["type"] == "tool_use":
                call = {"type": "toolCall", "id": part["id"], "name": part["name"].lower()}
                given = {name.replace("file_path", "path"): value
                         for name, value in part["input"].items()}  # fmt: skip
                message["content"] = [{**call, "arguments": given}]
            elif part["type"] == "tool_result":
                message = {
                    "role": "toolResult", "toolCallId": part["tool_use_id"], "toolName": "bash",
                    "content": [{"type": "text", "text": part["content"]}],
                    "isError": part.get("is_error", False),
                }  # fmt: skip
            lines.append(line(number, "message", message=message))
    return write_lines(home / ".pi" / "agent" / "sessions" / "--shop--" / f"{session}.jsonl", lines)


def continue_cli(home: pathlib.Path, cwd: str, session: str = "c0ffee00-cn") -> pathlib.Path:
    """Without times: the session's own and that of the file are all there is."""
    outputs = {part["tool_use_id"]: part for _, role, parts in _blocks(cwd) for part in parts
               if part["type"] == "tool_result"}  # fmt: skip
    history = []
    for _, role, parts in _blocks(cwd):
        texts = [part["text"] for part in parts if part["type"] == "text"]
        states = [
            {
                "toolCallId": part["id"],
                "toolCall": {"function": {"name": part["name"],
                                          "arguments": json.dumps(part["input"])}},
                "status": "errored" if outputs[part["id"]].get("is_error") else "done",
                "output": [{"content": outputs[part["id"]]["content"]}],
            }
            for part in parts if part["type"] == "tool_use"
        ]  # fmt: skip
        if texts or states:
            message = {"role": role, "content": "".join(texts)}
            history.append({"message": message, "contextItems": [], "toolCallStates": states})
    folder = home / ".continue" / "sessions"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{session}.json"
    path.write_text(json.dumps(
        {"sessionId": session, "workspaceDirectory": cwd, "history": history}))  # fmt: skip
    os.utime(path, (millis(14) / 1000, millis(14) / 1000))
    index = folder / "sessions.json"
    about = json.loads(index.read_text()) if index.exists() else []
    index.write_text(json.dumps([*about, {"sessionId": session, "dateCreated": str(millis(0))}]))
    return path


MAKERS: dict[str, Callable[..., pathlib.Path]] = {
    "claude-code": claude_code,
    "codex": codex,
    "gemini": gemini,
    "copilot": copilot,
    "qwen": qwen,
    "opencode": opencode,
    "kilo": kilo,
    "pi": pi,
    "cline": cline,
    "continue-cli": continue_cli,
    "factory-droid": factory_droid,
}
